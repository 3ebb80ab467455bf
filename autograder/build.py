"""Build the problem sets: nbgrader source notebooks from the text, the solutions and the checks.

``python -m autograder.build [COURSE [NAME ...]]`` writes ``source/`` and has nbgrader make ``release/`` from it.
"""

import inspect
import re
import shutil
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from tempfile import TemporaryDirectory

import jupytext
import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.checks import tools
from autograder.exercises import PROBLEM_SETS, Exercise, exercise, exercises_in, test_source
from autograder.teacher import Teacher

COURSE = Path(__file__).parent
#: nbgrader gives no points to a cell that writes to stderr, and a warning is no mistake.
IMPORTS = """\
import textwrap
import traceback
import warnings

import numpy as np

warnings.simplefilter("ignore")  # a warning costs no points"""


def source_notebook(text: str, name: str) -> nbformat.NotebookNode:
    """The nbgrader source notebook of a problem set.

    Parameters
    ----------
    text : str
        The problem set as a MyST notebook. A code cell ``exercise("NAME")`` stands for the cells of an exercise.
    name : str
        Name of the problem set, such as ``"ps1"``.

    Returns
    -------
    NotebookNode
        All cells are locked but the solutions; each check is a test cell of its own.

    Raises
    ------
    ValueError
        If a code cell holds anything but one ``exercise("NAME")``, or there is no exercise of that name.
    """
    notebook = jupytext.reads(text, fmt="md:myst")
    cells: list[nbformat.NotebookNode] = []
    exercises: list[Exercise] = []
    begin = 0
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            cells.append(_locked(new_markdown_cell(cell.source), f"{name}-text-{number}"))
            continue
        if not re.fullmatch(r'exercise\("\w+"\)', cell.source.strip()):
            raise ValueError(f'{name}: a code cell must be one line exercise("NAME"), not:\n{cell.source}')
        try:
            exercises.append(exercise(*exercises_in(cell.source)))
        except KeyError as error:
            raise ValueError(f"{name}: {error.args[0]}") from None
        begin = begin or len(cells)
        cells += _exercise_cells(exercises[-1])
    cells[begin:begin] = _setup(name, exercises)  # above the first exercise
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    result = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.validate(result)
    for grade_id, names in Teacher(result).beyond_functions.items():
        raise ValueError(f"{name}: the test {grade_id} needs more than functions: {', '.join(names)}")
    return result


def _setup(name: str, exercises: list[Exercise]) -> list[nbformat.NotebookNode]:
    """What is imported, and the functions of ``tools.py`` that the test cells of these exercises call."""
    called = "\n".join(test_source(check, 1) for each in exercises for check in each.checks)
    functions = [
        inspect.getsource(function).strip()
        for function in vars(tools).values()
        if inspect.isfunction(function) and re.search(rf"\b{function.__name__}\(", called)
    ]
    head = "# What the checks below call. You need not read it.\n"
    return [
        _locked(new_code_cell(IMPORTS), f"{name}-imports"),
        _locked(new_code_cell(head + "\n\n\n".join(functions)), f"{name}-tools"),
    ]


def _exercise_cells(exercise: Exercise) -> list[nbformat.NotebookNode]:
    """The cell to write in, and a test cell for each check."""
    solution = _cell(new_code_cell(exercise.marked_source.rstrip()), f"{exercise.name}-solution", solution=True)
    tests = [
        _cell(
            new_code_cell(test_source(check, number)),
            f"{exercise.name}-{check.name}",
            points=check.points,
        )
        for number, check in enumerate(exercise.checks, 1)
    ]
    return [solution, *tests]


def _locked(cell: nbformat.NotebookNode, grade_id: str) -> nbformat.NotebookNode:
    return _cell(cell, grade_id, locked=True)


def _cell(
    cell: nbformat.NotebookNode,
    grade_id: str,
    *,
    solution: bool = False,
    locked: bool = False,
    points: int | None = None,
) -> nbformat.NotebookNode:
    """Give the cell nbgrader's metadata, and an id that is the same at every build."""
    cell.id = grade_id[:64].rstrip("-")
    cell.metadata.nbgrader = {
        "schema_version": 3,
        "cell_type": cell.cell_type,
        "grade_id": grade_id,
        "grade": points is not None,
        "solution": solution,
        "locked": locked or points is not None,
        "task": False,
    }
    if points is not None:
        cell.metadata.nbgrader["points"] = points
        cell.metadata.tags = ["raises-exception"]  # "Run All" goes on after a check that fails
    return cell


def build(course: Path = COURSE, only: Collection[str] = ()) -> list[str]:
    """Write ``source/`` of the course and have nbgrader make ``release/``.

    Parameters
    ----------
    course : Path
        The nbgrader course: the folder with ``nbgrader_config.py``.
    only : collection of str
        Names of problem sets; all if empty.

    Returns
    -------
    list of str
        Names of the problem sets.

    Raises
    ------
    SystemExit
        If nbgrader cannot make a release. The one that was there before is put back.
    """
    names = []
    for text in sorted(PROBLEM_SETS.glob("*.md")):
        name = text.stem
        if only and name not in only:
            continue
        source = course / "source" / name / f"{name}.ipynb"
        source.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(source_notebook(text.read_text(encoding="utf-8"), name), source)
        print(f"{name}: source written, nbgrader makes the release", flush=True)
        _release(course, name)
        names.append(name)
    return names


def _release(course: Path, name: str) -> None:
    """Have nbgrader make the release; it removes the old one first, and may then find that it cannot make a new one."""
    released = course / "release" / name
    with TemporaryDirectory() as folder:
        kept = Path(folder) / name
        if released.exists():
            shutil.copytree(released, kept)
        command = [sys.executable, "-m", "nbgrader", "generate_assignment", name, "--force", "--log-level=ERROR"]
        done = subprocess.run(command, cwd=course, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            if kept.exists():
                shutil.copytree(kept, released, dirs_exist_ok=True)
            reason = "".join(done.stderr.splitlines(keepends=True)[-3:])
            raise SystemExit(
                f"{reason}\n{name}: nbgrader could not make the release; the old one is in place. If students' work "
                f"on {name} is graded already, its cells can no longer change in this gradebook: undo the change, or "
                "start a new gradebook (autograder/README.md, the last section)."
            )


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else COURSE, sys.argv[2:])
