"""One walk of nbgrader's own commands, as its documentation tells teacher and student to type them.

Three students hand in both problem sets: one solved everything, one wrote nothing, one fell into the fancy-indexing
trap in ps2. No environment is activated. nbgrader's commands take about two seconds each, so they run once, in
`walk`, and the tests look at what they left.
"""

import csv
import html
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbgrader.api import Gradebook

from autograder.exercises import PROBLEM_SETS, Exercise, exercise, exercises_in

SETS = ("ps1", "ps2")
#: Right, and NumPy warns of it. nbgrader gives no points to a cell that writes to stderr.
WARNS = """\
def embedding_forward(E, ids):
    np.zeros(0).mean()  # RuntimeWarning: mean of empty slice
    return E[ids]
"""
TRAP = """
def embedding_backward(ids, grad_out, V, padding_idx=None):
    grad = np.zeros((V, grad_out.shape[-1]), dtype=grad_out.dtype)
    grad[ids] += grad_out
    if padding_idx is not None:
        grad[padding_idx] = 0
    return grad
"""
REPEATS = {"embedding_backward-repeats_add_up", "embedding_backward-many_repeats_add_up"}


def exercises_in_set(name: str) -> list[Exercise]:
    return [exercise(each) for each in exercises_in((PROBLEM_SETS / f"{name}.md").read_text(encoding="utf-8"))]


def points_of(name: str) -> int:
    return sum(each.points for each in exercises_in_set(name))


def nbgrader(folder: Path, *arguments: str) -> str:
    """Run ``nbgrader`` in that folder and return all that it said."""
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=folder,
        env=os.environ | {"PATH": os.defpath},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"nbgrader {' '.join(arguments)} failed:\n{done.stdout}"
    return done.stdout


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def text_of_page(page: str) -> str:
    """What a browser shows of an HTML page, near enough to search for a sentence."""
    return " ".join(html.unescape(re.sub("<[^>]*>", "", page)).split())


@dataclass
class Walk:
    """The folder in which the walk was made."""

    top: Path

    @property
    def course(self) -> Path:
        return self.top / "course"

    @property
    def student(self) -> Path:
        """Where the student who uses the exchange works."""
        return self.top / "home"

    def said(self, command: str) -> str:
        return (self.top / f"{command}.txt").read_text(encoding="utf-8")

    def grades(self, student: str, problem_set: str) -> dict[str, tuple[float, float]]:
        """Points got and points to get of each check."""
        with Gradebook(f"sqlite:///{self.course / 'gradebook.db'}", "token-embeddings") as gradebook:
            notebook = gradebook.find_submission_notebook(problem_set, problem_set, student)
            assert not notebook.needs_manual_grade
            return {grade.name: (grade.score, grade.max_score) for grade in notebook.grades}

    def feedback(self, student: str, problem_set: str) -> str:
        path = self.course / "feedback" / student / problem_set / f"{problem_set}.html"
        return path.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def walk(course: Path, solve: Callable, made_once: Callable) -> Walk:
    """Release, fetch, validate, submit, collect, autograde, generate feedback and return it, export."""

    def make(top: Path) -> None:
        shutil.copytree(course, top / "course")
        walk_through(Walk(top), solve)

    return Walk(made_once("nbgrader", make))


def walk_through(walk: Walk, solve: Callable) -> None:
    def keep(command: str, said: str) -> None:
        (walk.top / f"{command}.txt").write_text(said, encoding="utf-8")

    course, student = walk.course, walk.student
    student.mkdir()
    # What a student's nbgrader must know of the course; on a JupyterHub the teacher sets it for all.
    (student / "nbgrader_config.py").write_text(
        "c = get_config()\n"
        f"c.Exchange.root = {str(course / 'exchange')!r}\n"
        f"c.Exchange.cache = {str(student / 'cache')!r}\n"
        "c.CourseDirectory.course_id = 'token-embeddings'\n",
        encoding="utf-8",
    )
    nbgrader(course, "release_assignment", "ps2")
    keep("list", nbgrader(student, "list"))
    nbgrader(student, "fetch_assignment", "ps2")
    keep("validate untouched", nbgrader(student, "validate", "ps2/ps2.ipynb"))
    released = {name: read(course / "release" / name / f"{name}.ipynb") for name in SETS}
    nbformat.write(solve(released["ps2"]), student / "ps2" / "ps2.ipynb")
    keep("validate solved", nbgrader(student, "validate", "ps2/ps2.ipynb"))
    nbgrader(student, "submit", "ps2", "--student=solved")
    keep("collect", nbgrader(course, "collect", "ps2"))
    handed_in = {
        ("solved", "ps1"): solve(released["ps1"]),
        ("untouched", "ps1"): released["ps1"],
        ("untouched", "ps2"): released["ps2"],
        ("trap", "ps1"): solve(released["ps1"], embedding_forward=WARNS),
        ("trap", "ps2"): solve(released["ps2"], embedding_backward=TRAP),
    }
    for (name, problem_set), notebook in handed_in.items():
        path = course / "submitted" / name / problem_set / f"{problem_set}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)
    for name in SETS:
        nbgrader(course, "autograde", name)
        nbgrader(course, "generate_feedback", name)
    # Without --student it stops at the first submission that did not come through the exchange.
    nbgrader(course, "release_feedback", "ps2", "--student=solved")
    nbgrader(student, "fetch_feedback", "ps2", "--student=solved")
    nbgrader(course, "export", "--to", "grades.csv")


def test_the_student_sees_and_collects_what_was_released(walk):
    assert "token-embeddings ps2" in walk.said("list")
    assert "Collecting submission: solved ps2" in walk.said("collect")


def test_validate_counts_the_visible_checks_of_an_untouched_notebook(walk):
    said = walk.said("validate untouched")
    visible = [check for each in exercises_in_set("ps2") for check in each.checks if not check.hidden]
    assert f"VALIDATION FAILED ON {len(visible)} CELL(S)!" in said
    assert said.count("is not written yet: write its body in place of `raise") == len(visible)


def test_validate_passes_a_solved_notebook(walk):
    assert "Success! Your notebook passes all the tests." in walk.said("validate solved")
    assert "FAILED" not in walk.said("validate solved")


@pytest.mark.parametrize("problem_set", SETS)
@pytest.mark.parametrize("student", ["solved", "untouched", "trap"])
def test_points_of_each_check(walk, student, problem_set):
    grades = walk.grades(student, problem_set)
    assert sum(maximum for _, maximum in grades.values()) == points_of(problem_set)
    lost = {name for name, (score, maximum) in grades.items() if score != maximum}
    assert {score for name, (score, _) in grades.items() if name in lost} <= {0}
    if student == "untouched":
        assert lost == grades.keys()
    elif (student, problem_set) == ("trap", "ps2"):
        assert lost == REPEATS
    else:
        assert lost == set()


def test_export(walk):
    with open(walk.course / "grades.csv", encoding="utf-8", newline="") as file:
        rows = {(row["student_id"], row["assignment"]): row for row in csv.DictReader(file)}
    points = {check.name: check.points for check in exercise("embedding_backward").checks}
    assert {key: float(rows[key]["score"]) for key in rows if key[1] in ("ps1", "ps2")} == {
        ("solved", "ps1"): points_of("ps1"),
        ("solved", "ps2"): points_of("ps2"),
        ("untouched", "ps1"): 0,
        ("untouched", "ps2"): 0,
        ("trap", "ps1"): points_of("ps1"),
        ("trap", "ps2"): points_of("ps2") - points["repeats_add_up"] - points["many_repeats_add_up"],
    }
    assert all(float(row["max_score"]) == points_of(row["assignment"]) for row in rows.values())


def test_feedback_names_the_trap(walk):
    said = text_of_page(walk.feedback("trap", "ps2"))
    trap = "this is the fancy-indexing trap: `grad[ids] += grad_out` keeps only the last of the repeats"
    # The check's source also holds these words, but not behind what was seen.
    assert re.search(r"FAIL 0/4 repeats_add_up \d of 12 values are wrong[^#]*" + re.escape(trap), said)
    assert not re.search(r"FAIL 0/\d", text_of_page(walk.feedback("solved", "ps2")))  # code says FAIL, too


def test_feedback_of_an_untouched_notebook_says_that_nothing_is_written(walk):
    assert "one_hot is not written yet" in text_of_page(walk.feedback("untouched", "ps1"))


def test_feedback_returns_through_the_exchange(walk):
    (page,) = (walk.student / "ps2" / "feedback").rglob("ps2.html")
    assert page.read_text(encoding="utf-8") == walk.feedback("solved", "ps2")


def test_the_run_goes_on_after_a_failed_check(walk):
    """The tag `raises-exception` on test cells lets "Run All" go on, and costs no failed check its zero."""
    graded = read(walk.course / "autograded" / "untouched" / "ps2" / "ps2.ipynb")
    cells = [cell for cell in graded.cells if cell.metadata.nbgrader.grade]
    assert len(cells) == sum(len(each.checks) for each in exercises_in_set("ps2"))
    for cell in cells:
        assert "raises-exception" in cell.metadata.tags
        assert [output.ename for output in cell.outputs] == ["AssertionError"]


def test_feedback_shows_no_hidden_check(walk: Walk) -> None:
    page = BeautifulSoup(walk.feedback("trap", "ps2"), "html.parser")
    text = page.get_text()
    for check in exercise("embedding_backward").checks:
        assert check.name in text
        for line in check.source.splitlines()[2:]:
            if check.hidden and len(line.strip()) > 40:
                assert line.strip() not in text
    assert "keeps only the last" in text
    assert "BEGIN HIDDEN" not in text
    assert not page.select("script")
