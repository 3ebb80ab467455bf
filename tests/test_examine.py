"""The teacher's tests of any nbgrader assignment, against functions in the student's process."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.build import source_notebook
from autograder.examine import TEST_LIMIT, examine, outputs_of
from autograder.session import Session
from autograder.teacher import Teacher


def cell(source, grade_id="", *, points=None, solution=False, locked=False):
    made = new_code_cell(source)
    if grade_id:
        made.metadata.nbgrader = {
            "grade_id": grade_id, "grade": points is not None, "solution": solution,
            "locked": locked or (points is not None and not solution), "schema_version": 3, "task": False,
        }  # fmt: skip
        if points is not None:
            made.metadata.nbgrader["points"] = points
    return made


def another_course():
    """An assignment that has nothing to do with this book."""
    return new_notebook(
        cells=[
            new_markdown_cell("Circles"),
            cell("import math\nUNIT = 'cm'\ndef near(a, b):\n    return abs(a - b) < 1e-9", "setup", locked=True),
            cell("import statistics as st\ndef area(r):\n    return math.pi * r**2", "area", solution=True),
            cell("assert near(area(2), 4 * math.pi), 'pi r squared'\nprint('well', UNIT)", "test-area", points=3),
            cell("assert st.mean([area(1), area(1)]) == area(1)", "test-mean", points=1),
            cell("2 * sum(near(area(r), math.pi * r * r) for r in (1, 2))", "partial", points=4),
            cell("def words(text):\n    return {w: len(w) for w in text.split()}\nanswer = 42", "words", solution=True),
            cell("assert words('a bc') == {'a': 1, 'bc': 2}\ntry:\n    words(3)\nexcept AttributeError:\n    pass\n"
                 "else:\n    assert False", "test-words", points=2),
            cell("assert answer == 42", "test-answer", points=5),
            cell("Write an essay", "essay", points=7, solution=True),
        ]
    )  # fmt: skip


def grade(tmp_path, **written):
    """Examine the solved notebook with some cells written anew."""
    notebook = another_course()
    teacher = Teacher(notebook)
    cells = [
        (c.metadata.get("nbgrader", {}).get("grade_id", ""), c.source) for c in notebook.cells if c.cell_type == "code"
    ]
    cells = [(grade_id, written.get(grade_id.replace("-", "_"), source)) for grade_id, source in cells]
    with Session(tmp_path) as session:
        examination = examine(teacher, [each for each in cells if each[1] is not None], session)
    assert examination.reports == {}
    return {each.grade_id: each for each in examination.cells}


def test_solved(tmp_path):
    cells = grade(tmp_path)
    scores = {name: each.score for name, each in cells.items() if each.score is not None}
    assert scores == {"test-area": 3, "test-mean": 1, "partial": 4, "test-words": 2}
    assert cells["test-area"].outputs == [{"output_type": "stream", "name": "stdout", "text": "well cm\n"}]
    assert cells["partial"].outputs[0]["data"] == {"text/plain": "4"}


def test_a_test_that_needs_a_variable_is_for_a_person_and_says_so(tmp_path):
    assert Teacher(another_course()).beyond_functions == {"test-answer": ["answer"]}
    answer = grade(tmp_path)["test-answer"]
    assert answer.score is None
    assert answer.note == "This test needs more than functions (answer): a person has to look at it."


@pytest.mark.parametrize(
    "area, scores, message",
    [
        ("import statistics as st\ndef area(r): return math.pi * r", (0, 1, 2), "AssertionError: pi r squared"),
        ("def area(r): return 1 / 0", (0, 0, 0), "division by zero (line 1: `def area(r): return 1 / 0`)"),
        ("raise OSError('mine')", (0, 0, 0), "In this notebook area is not defined."),
        ("area = 3", (0, 0, 0), "In this notebook area is a int, not a function."),
        ("def area(r): raise SystemExit", (0, 0, 0), "SystemExit"),
        ("import os\ndef area(r): os._exit(0)", (0, 0, 0), "Python ended with exit status 0"),
    ],
)  # fmt: skip
def test_a_wrong_function_costs_its_tests(tmp_path, area, scores, message):
    cells = grade(tmp_path, area=area)
    assert tuple(cells[name].score for name in ("test-area", "test-mean", "partial")) == scores
    assert message in cells["test-area"].note
    assert message in cells["test-area"].outputs[-1]["evalue"]
    assert cells["test-words"].score == 2


def test_a_loop_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr("autograder.examine.TEST_LIMIT", 0.5)
    assert TEST_LIMIT > 10
    cells = grade(tmp_path, area="def area(r):\n    while True: pass")
    assert cells["test-area"].note.startswith("The test was still running")
    assert cells["test-words"].score == 2


@pytest.mark.parametrize(
    "partial, score",
    [
        ("0", 0),
        ("2.5", 2.5),
        ("-1", None),
        ("5", None),
        ("float('nan')", None),
        ("'text'", 4),
        ("True", 4),
        ("None", 4),
    ],
)
def test_partial_credit(tmp_path, partial, score):
    """As nbgrader has it, but that a number out of range goes to a person and not to full marks."""
    notebook = another_course()
    (test,) = (c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "partial")
    test.source = f"area(1)\n{partial}"
    with Session(tmp_path) as session:
        cells = examine(Teacher(notebook), [("area", "import math\ndef area(r): return 1")], session).cells
    (examined,) = (each for each in cells if each.grade_id == "partial")
    assert examined.score == score
    assert bool(examined.note) == (score is None)


def test_the_submission_cannot_replace_tests_or_locked_cells(tmp_path):
    cells = grade(
        tmp_path,
        setup="def near(a, b): return True",
        test_area="'nothing'",
        area="def near(a, b): return True\nimport builtins\nbuiltins.abs = lambda x: 0\ndef area(r): return 7",
    )
    assert cells["test-area"].score == 0


def test_missing_cells_are_put_in_and_copies_count_once(tmp_path):
    notebook = another_course()
    area = ("area", "import math\ndef area(r): return math.pi * r**2")
    with Session(tmp_path) as session:
        examination = examine(Teacher(notebook), [area, ("test-area", ""), ("test-area", ""), ("", "x = 1")], session)
    assert examination.missing == ["setup", "test-mean", "partial", "test-words", "test-answer"]
    assert [each.grade_id for each in examination.cells][:4] == ["area", "test-area", "", ""]
    # The locked cell runs at the end, where it is: a test before it lacks its functions.
    assert {each.grade_id: each.score for each in examination.cells}["test-mean"] == 1


def test_what_a_process_sends_as_outputs_is_held_to_the_form_of_a_notebook():
    sent = [
        {"output_type": "stream", "name": "stdout", "text": "a", "more": 1},
        {"output_type": "stream", "name": 3, "text": "a"},
        {"output_type": "display_data", "data": {"text/html": "<b>", "x": 3, 4: "y"}, "metadata": {"z": 1}},
        {"output_type": "execute_result", "data": {}},
        {"output_type": "error", "ename": "E", "evalue": "e", "traceback": ["a", 1]},
        {"output_type": "other"}, "text", None,
    ]  # fmt: skip
    kept = outputs_of(sent)
    assert [each["output_type"] for each in kept] == ["stream", "display_data", "execute_result", "error"]
    notebook = new_notebook(cells=[new_code_cell("", outputs=kept)])
    nbformat.validate(notebook)
    assert outputs_of(None) == outputs_of({"output_type": "stream"}) == []


def test_a_set_whose_test_needs_a_variable_is_not_built(monkeypatch):
    monkeypatch.setattr("autograder.build.Teacher.beyond_functions", {"one_hot-x": ["answer"]})
    with pytest.raises(ValueError, match="the test one_hot-x needs more than functions: answer"):
        source_notebook('```{code-cell} ipython3\nexercise("one_hot")\n```\n', "ps9")


@pytest.mark.parametrize("body", ["while True: pass", "raise SystemExit", "return 1 / 0", "import os; os._exit(0)"])
def test_a_locked_cell_that_calls_what_the_student_wrote(tmp_path, monkeypatch, body):
    monkeypatch.setattr("autograder.examine.TEST_LIMIT", 0.5)
    notebook = another_course()
    notebook.cells.insert(4, cell("shown = 1\narea(3)", "shown", locked=True))
    cells = [("area", f"def area(r):\n    {body}"), ("shown", ""), ("words", notebook.cells[7].source)]
    with Session(tmp_path, cell_limit=2) as session:
        examined = {each.grade_id: each for each in examine(Teacher(notebook), cells, session).cells}
    assert examined["shown"].note
    assert examined["test-area"].score == 0
    assert examined["test-words"].score == 2


def test_what_a_notebook_shows_has_a_limit_in_all(tmp_path, monkeypatch):
    monkeypatch.setattr("autograder.examine.MOST_OUTPUT", 1000)
    cells = [("", f"print('x' * {n})") for n in (700, 700, 100)]
    with Session(tmp_path) as session:
        examined = examine(Teacher(another_course()), cells, session).cells
    texts = [each.outputs[0]["text"] for each in examined[:3]]
    assert texts == ["x" * 700 + "\n", "[Left out: this notebook shows too much.]\n", "x" * 100 + "\n"]
