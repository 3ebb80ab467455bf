"""What the tests of the grading engine share: courses, submissions, and all that the gradebook says."""

import ast
import inspect
import json
import shutil
import textwrap
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook as TheirGradebook

from autograder.autograded import as_bytes
from autograder.build import source_notebook
from autograder.course import Course
from autograder.exercises import PROBLEM_SETS
from autograder.grade import grade
from autograder.misconceptions import misconceptions_of


def mistaken(name: str, number: int) -> str:
    """A known wrong function as a student would have written it."""
    known = misconceptions_of(name)
    if not known:
        return f"def {name}(*arguments):\n    return {number}"
    tree = ast.parse(textwrap.dedent(inspect.getsource(known[number % len(known)].function)))
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    function.name, function.decorator_list = name, []
    return ast.unparse(function)


def hand_in(course: Path, student: str, problem_set: str, notebook, name: str = "") -> Path:
    """Write a notebook, or any bytes, into ``submitted``."""
    path = course / "submitted" / student / problem_set / (name or f"{problem_set}.ipynb")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(notebook if isinstance(notebook, bytes) else as_bytes(notebook))
    return path


def grade_all(root: Path, *, students: tuple[str, ...] = ()) -> dict[tuple[str, str], str]:
    """Grade all that is not graded yet, as ``autograder grade`` does, and say what came of each."""
    course = Course(root)
    statuses = {}
    for problem_set in course.problem_sets:
        there = [student for student, _ in course.students(problem_set)]
        chosen = [student for student in there if not students or student in students]
        if chosen:
            statuses |= dict.fromkeys(((student, problem_set) for student in chosen), "unchanged")
            for each in grade(course, problem_set, students=chosen, jobs=1).outcomes:
                if each["graded_now"]:
                    statuses[each["student"], problem_set] = each["status"]
    return statuses


def rows(root: Path) -> dict[tuple, tuple]:
    """All that the gradebook says of each cell of each submission."""
    found: dict[tuple, tuple] = {}
    with TheirGradebook(f"sqlite:///{root / 'gradebook.db'}", "token-embeddings") as gradebook:
        for assignment in gradebook.assignments:
            for submission in assignment.submissions:
                key = (submission.student.id, assignment.name)
                found[key] = (
                    submission.score,
                    submission.max_score,
                    submission.needs_manual_grade,
                    submission.timestamp,
                    submission.late_submission_penalty,
                )
                for notebook in submission.notebooks:
                    for grade in notebook.grades:
                        found[(*key, notebook.name, grade.name)] = (
                            grade.auto_score,
                            grade.manual_score,
                            grade.score,
                            grade.max_score,
                            grade.needs_manual_grade,
                            grade.failed_tests,
                        )
                    for comment in notebook.comments:
                        found[(*key, notebook.name, comment.name, "comment")] = (comment.auto_comment, comment.comment)
    return found


def marked(cell, grade_id: str, *, points: float | None = None, solution=False, locked=False, task=False):
    """Mark a cell as nbgrader's Create Assignment does."""
    cell.metadata.nbgrader = {
        "schema_version": 3,
        "cell_type": cell.cell_type,
        "grade_id": grade_id,
        "grade": points is not None and not task,
        "solution": solution,
        "locked": locked,
        "task": task,
    }
    if points is not None:
        cell.metadata.nbgrader["points"] = points
    return cell


def essay() -> nbformat.NotebookNode:
    """A problem set with cells of every kind that nbgrader has."""
    code, text = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    return nbformat.v4.new_notebook(
        cells=[
            marked(text("# Essay"), "title", locked=True),
            marked(code("def y():\n    ### BEGIN SOLUTION\n    return 2\n    ### END SOLUTION"), "y", solution=True),
            marked(code("assert y() == 2"), "check_y", points=3, locked=True),
            marked(code("y() / 2"), "partly_y", points=2, locked=True),
            marked(code("### BEGIN SOLUTION\nz = 3\n### END SOLUTION"), "z", points=4, solution=True),
            marked(text("### BEGIN SOLUTION\nBecause.\n### END SOLUTION"), "why", points=5, solution=True),
            marked(text("Draw something."), "draw", points=6, task=True, locked=True),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )


def teacher_of(problem_set: str) -> nbformat.NotebookNode:
    return source_notebook((PROBLEM_SETS / f"{problem_set}.md").read_text(encoding="utf-8"), problem_set)


def copy_of(course: Path, folder: Path) -> Path:
    """A course to write in."""
    return Path(shutil.copytree(course, folder))


def as_json(notebook) -> bytes:
    """A notebook as it is: nbformat would mend what is broken."""
    return json.dumps(notebook).encode()
