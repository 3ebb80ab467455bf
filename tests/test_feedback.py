"""Feedback: what a student may see of the checks, and nothing that a submission could run in the page."""

import base64

import nbformat
import pytest
from axe_playwright_python.base import AXE_SCRIPT
from bs4 import BeautifulSoup
from grading import copy_of, essay, grade_all, hand_in
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor
from test_nbgrader import TRAP, nbgrader, read, text_of_page

from autograder.exercises import exercise
from autograder.feedback import StudentsView, described, markdown_to_html

#: A picture of one pixel.
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
HIDDEN = "# Check 2 of 2, hidden\n### BEGIN HIDDEN TESTS\nassert f(3) == 'secret'\n### END HIDDEN TESTS"


def graded_cell(source, outputs=()):
    cell = new_code_cell(source, outputs=list(outputs))
    cell.metadata.nbgrader = {"grade_id": "f-x", "grade": True, "solution": False, "locked": True, "points": 1}
    return cell


def seen(cell, **options):
    view = StudentsView(**options)
    assert isinstance(view, NbGraderPreprocessor)
    notebook, _ = view.preprocess(new_notebook(cells=[cell]), {})
    nbformat.validate(notebook)
    return notebook.cells[0]


def test_a_hidden_test_and_its_traceback_are_taken_out():
    error = new_output("error", ename="AssertionError", evalue="row 2", traceback=["----> assert f(3) == 'secret'"])
    cell = seen(graded_cell(HIDDEN, [error]))
    assert cell.source == "# Check 2 of 2, hidden"
    assert cell.outputs[0].traceback == ["AssertionError: row 2"]


def test_a_teacher_can_ask_for_them():
    error = new_output("error", ename="AssertionError", evalue="row 2", traceback=["----> assert f(3) == 'secret'"])
    cell = seen(graded_cell(HIDDEN, [error]), show_hidden=True)
    assert cell.source == HIDDEN
    assert "secret" in cell.outputs[0].traceback[0]


def test_a_visible_test_stays():
    error = new_output("error", ename="AssertionError", evalue="row 2", traceback=["----> assert f(3) == 2"])
    cell = seen(graded_cell("assert f(3) == 2", [error]))
    assert cell.source == "assert f(3) == 2"
    assert cell.outputs[0].traceback == ["----> assert f(3) == 2"]


@pytest.mark.parametrize(
    "kind", ["text/html", "application/javascript", "image/svg+xml", "text/markdown", "text/latex"]
)
def test_what_could_hold_a_script_is_not_shown(kind):
    shown = new_output("display_data", data={kind: "<script>alert(1)</script>", "text/plain": "plain"})
    cell = seen(new_code_cell("", outputs=[shown]))
    assert cell.outputs[0].data == {"text/plain": "plain"}


def test_a_comment_is_text():
    cell = new_code_cell("")
    cell.metadata.nbgrader = {"solution": True, "grade": False, "comment": "raised <img src=x onerror=alert(1)>"}
    assert seen(cell).metadata.nbgrader.comment == "raised &lt;img src=x onerror=alert(1)&gt;"
    assert seen(cell).metadata.nbgrader.comment == "raised &lt;img src=x onerror=alert(1)&gt;"  # and not twice


@pytest.mark.parametrize(
    "score, points, word", [(2, 2, "pass"), (3, 2, "pass"), (0, 2, "FAIL"), (1, 2, "partly"), (0, 0, "pass")]
)
def test_a_check_passed_or_failed_by_its_points(score, points, word):
    cell = graded_cell("")
    cell.metadata.nbgrader.update(score=score, points=points)
    assert described(cell, nothing_read=False).result == word
    assert described(cell, nothing_read=True).result == "not run"


def test_a_check_worth_nothing_can_fail():
    cell = graded_cell("", [new_output("error", ename="AssertionError", evalue="row 2", traceback=["row 2"])])
    cell.metadata.nbgrader.update(score=0, points=0)
    assert described(cell, nothing_read=False).result == "FAIL"


def test_what_a_person_grades_neither_passed_nor_failed():
    told = {}
    for cell in essay().cells[1:]:
        cell.metadata.nbgrader["score"] = cell.metadata.nbgrader.get("points", 0)
        told[cell.metadata.nbgrader.grade_id] = described(cell, nothing_read=False)
    assert {name: each.result for name, each in told.items()} == {
        "check_y": "pass", "partly_y": "pass", "y": "by hand", "z": "by hand", "why": "by hand", "draw": "by hand",
    }  # fmt: skip
    assert (told["check_y"].exercise, told["check_y"].name) == ("", "check_y")


@pytest.mark.parametrize(
    "address",
    [
        "http://example.org/x.png",
        "//example.org/x.png",
        "http://[",
        "HTTPS:example.org/x.png",
        "attachment:x",
    ],
)
def test_a_picture_of_another_host_is_left_out(address):
    page = BeautifulSoup(markdown_to_html({}, f"see ![a *plot*]({address})"), "html.parser")
    assert not page.find_all("img")
    assert page.get_text().strip() == "see [Picture left out: a plot]"


@pytest.mark.parametrize("address", ["attachment:x.png", "x.png", "data:image/png;base64,AAAA"])
def test_a_picture_of_the_submission_is_shown(address):
    cell = {"attachments": {"x.png": {"image/png": "AAAA"}}}
    image = BeautifulSoup(markdown_to_html({"cell": cell}, f"![plot]({address})"), "html.parser").img
    assert image["src"] == ("x.png" if address == "x.png" else "data:image/png;base64,AAAA")


def test_a_submission_cannot_describe_its_cells():
    cell = new_code_cell("")
    cell.metadata.feedback = {"result": "pass", "shown": True}
    assert "feedback" not in seen(cell).metadata


@pytest.fixture(scope="module")
def feedback(course, solve, tmp_path_factory):
    """The folder of the pages on ps2 of a student who fell into a trap, and of others who handed in no notebook."""
    root = copy_of(course, tmp_path_factory.mktemp("feedback") / "course")
    notebook = solve(read(root / "release" / "ps2" / "ps2.ipynb"), embedding_backward=TRAP)
    shown = "![spy](http://example.org/x.png) ![plot](plot.png) <img src='http://example.org/y.png'> $E_{ids}$"
    notebook.cells += [new_markdown_cell(shown), new_code_cell("print('x' * 300)\n1 / 0")]
    hand_in(root, "alice", "ps2", nbformat.writes(notebook).encode())
    hand_in(root, "alice", "ps2", base64.b64decode(DOT), "plot.png")
    hand_in(root, "broken", "ps2", b"{")
    hand_in(root, "<b>nothing", "ps2", b"", "readme.txt")
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}", "token-embeddings") as gradebook:
        gradebook.add_student("alice", first_name="Alice", last_name="Lee <b>")
    grade_all(root)
    nbgrader(root, "generate_feedback", "ps2")
    return root / "feedback"


def page_of(feedback, student):
    return BeautifulSoup((feedback / student / "ps2" / "ps2.html").read_text(encoding="utf-8"), "html.parser")


def test_the_page_says_whose_it_is_and_the_score(feedback):
    said = page_of(feedback, "alice").header.get_text(" ", strip=True)
    assert said == "Feedback on ps2 Alice Lee <b>, alice 33 of 40 points"
    assert page_of(feedback, "<b>nothing").header.get_text(" ", strip=True) == (
        "Feedback on ps2 <b>nothing 0 of 40 points"
    )


def test_the_table_names_every_check_and_leads_to_it(feedback):
    page = page_of(feedback, "alice")
    told, name = [], ""
    for row in page.table.tbody.find_all("tr"):
        cells = [" ".join(each.get_text().split()) for each in row.find_all(["th", "td"])]
        if len(cells) == 1:
            name = name if row.a else cells[0]
            continue
        told.append((name, *cells))
        head = page.find(id=row.a["href"].removeprefix("#"))
        assert cells[0] in head.get_text()
        assert cells[1] in " ".join(head.get_text().split())
        assert f"{cells[2]} points" in head.get_text()
        assert head.parent["class"] == row["class"] == [cells[1][2:]]  # the colour
    failed = {"repeats_add_up", "many_repeats_add_up"}
    assert told == [
        (each, check.name, "✗ FAIL", f"0 / {check.points}")
        if each == "embedding_backward" and check.name in failed
        else (each, check.name, "✓ pass", f"{check.points} / {check.points}")
        for each in ("embedding_backward", "sparse_sgd_step", "lazy_adam_step")
        for check in exercise(each).checks
    ]


def test_hidden_and_visible_checks_speak_alike(feedback):
    page = page_of(feedback, "alice")
    messages = [each.get_text() for each in page.select(".message")]
    assert len(messages) == 2
    assert all(each.startswith("This is the fancy-indexing trap") for each in messages)
    assert not any(details.select(".message") for details in page.find_all("details"))


@pytest.mark.parametrize("student", ["broken", "<b>nothing"])
def test_without_a_notebook_the_page_says_so_and_shows_no_empty_one(feedback, student):
    page = page_of(feedback, student)
    said = text_of_page(str(page.body))
    assert "About this submission." in said.split("Checks")[0]
    assert "NotImplementedError" not in said
    assert "Exercise 1" not in said
    assert said.count("– not run") == sum(
        len(exercise(each.get_text()).checks) for each in page.table.select("th code")
    )
    assert page.section.select_one(".comment")  # a person's would stand there, too


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("student", ["alice", "broken"])
def test_the_page_in_a_browser(feedback, browser, student, width):
    """Readable without a sideways move, in reach of all (axe), and nothing is asked of another host."""
    context = browser.new_context(viewport={"width": width, "height": 900}, bypass_csp=True)
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((feedback / student / "ps2" / "ps2.html").as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert all(url.startswith(feedback.as_uri()) for url in asked)
    assert len(asked) == (2 if student == "alice" else 1)  # the page, and the plot beside it
    assert page.evaluate("document.documentElement.scrollWidth") == width
    outside = """() => [...document.querySelectorAll("body *:not(.code *)")]
        .filter(each => each.checkVisibility() && each.getBoundingClientRect().right > innerWidth).length"""
    assert page.evaluate(outside) == 0
    over = """() => [...document.querySelectorAll(".head *")].filter(each =>
        each.getBoundingClientRect().bottom > each.closest(".head").getBoundingClientRect().bottom).length"""
    assert page.evaluate(over) == 0
    page.evaluate(AXE_SCRIPT)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
    context.close()


def test_the_page_itself_forbids_scripts_and_other_hosts(feedback, browser):
    page = browser.new_page()
    page.goto((feedback / "alice" / "ps2" / "ps2.html").as_uri())
    forbidden = """markup => new Promise(done => {
        document.addEventListener("securitypolicyviolation", event => done(event.effectiveDirective), {once: true});
        setTimeout(() => done("nothing"), 5000);
        document.body.append(document.createRange().createContextualFragment(markup));
    })"""
    assert page.evaluate(forbidden, "<img src='http://127.0.0.1:9/x.png'>") == "img-src"
    assert page.evaluate(forbidden, "<script>document.title = 'ran'</script>") == "script-src-elem"
    assert page.title() == "ps2, alice: feedback"
    page.close()
