"""Feedback: what a student may see of the checks, and nothing that a submission could run in the page."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.feedback import StudentsView

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
