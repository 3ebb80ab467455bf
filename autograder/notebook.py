"""Grade one problem-set notebook, without a course and without a gradebook."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import nbformat
from tqdm import tqdm

from autograder.build import source_notebook
from autograder.examine import examine
from autograder.exercises import PROBLEM_SETS, exercises_in
from autograder.reading import UnreadableError, read_file, read_notebook
from autograder.report import Report
from autograder.session import Session
from autograder.teacher import Teacher


class UngradableError(Exception):
    """The file cannot be graded; the text says why, and what to do."""


@dataclass(frozen=True)
class NotebookReport:
    """What came out of grading a notebook.

    Attributes
    ----------
    problem_set : str
        Name of the problem set that the notebook answers.
    exercises : tuple of Report
        One for each exercise, in the order of the problem set.
    notes : tuple of str
        Sentences on what was unusual: cells that stopped with an error, cells that are missing.
    """

    problem_set: str
    exercises: tuple[Report, ...]
    notes: tuple[str, ...]

    @property
    def points(self) -> int:
        return sum(each.points for each in self.exercises)

    @property
    def max_points(self) -> int:
        return sum(each.max_points for each in self.exercises)

    def __str__(self) -> str:
        parts = [str(each) for each in self.exercises]
        if self.notes:
            parts.append("\n".join(["Notes:", *(f"  - {note}" for note in self.notes)]))
        parts.append(f"{self.problem_set}: {self.points} of {self.max_points} points")
        return "\n\n".join(parts)

    def as_data(self) -> dict[str, Any]:
        """The report as dictionaries and lists, for JSON."""
        return {
            "problem_set": self.problem_set,
            "points": self.points,
            "max_points": self.max_points,
            "exercises": [
                {
                    "name": each.exercise,
                    "points": each.points,
                    "max_points": each.max_points,
                    "checks": [asdict(result) for result in each.checks],
                }
                for each in self.exercises
            ],
            "notes": list(self.notes),
        }


def grade_notebook(path: Path) -> NotebookReport:
    """Run a student's notebook in a process of its own, and the checks in this one.

    Cells run in order, each once. Cells that the problem set locks run as the problem set has them, whatever stands in
    the notebook. Where a cell with a check stands, the check runs; the checks of cells that are missing run at the end.

    Parameters
    ----------
    path : Path
        The notebook, under any name.

    Returns
    -------
    NotebookReport

    Raises
    ------
    UngradableError
        If there is no such file, it is no notebook, or it answers no problem set of this book.
    """
    cells, odd = _code_cells(path)
    name, source = _problem_set({cell_id for cell_id, _ in cells})
    with Session(path.resolve().parent) as session:
        examination = examine(
            Teacher(source),
            cells,
            session,
            lambda cells: tqdm(cells, path.name, unit="cell", leave=False, disable=None),
        )
    notes = [*odd] + [
        f"Code cell {number} ({cell.grade_id or 'yours'}) stopped: {cell.note}"
        for number, cell in enumerate(examination.cells, 1)
        if cell.note and cell.score is None
    ]
    if examination.missing:
        notes.append(f"Cells of the problem set are missing, and were put in: {', '.join(examination.missing)}.")
    names = exercises_in((PROBLEM_SETS / f"{name}.md").read_text(encoding="utf-8"))
    return NotebookReport(name, tuple(examination.reports[each] for each in names), tuple(notes))


def _code_cells(path: Path) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """The grade id of each code cell, empty for the student's own, and its source; and what is odd about the file."""
    if path.is_dir():
        raise UngradableError(f"{path} is a folder; name the notebook in it.")
    try:
        notebook = read_notebook(read_file(path, follow_links=True))
    except FileNotFoundError:
        raise UngradableError(f"There is no file {path}.") from None
    except UnreadableError as error:
        hint = " Open it in JupyterLab, save it, and try again." if "not a notebook" in str(error) else ""
        raise UngradableError(f"{path} {error}.{hint}") from None
    return [(cell.grade_id, cell.source) for cell in notebook.cells if cell.kind == "code"], notebook.notes


def _problem_set(ids: set[str]) -> tuple[str, nbformat.NotebookNode]:
    """Find the problem set that shares the most cells with a notebook."""
    found = []
    for path in sorted(PROBLEM_SETS.glob("*.md")):
        source = source_notebook(path.read_text(encoding="utf-8"), path.stem)
        common = ids & {cell.metadata.nbgrader.grade_id for cell in source.cells if cell.cell_type == "code"}
        found.append((len(common), path.stem, source))
    most, name, source = max(found, key=lambda each: each[0])
    if not most:
        sets = ", ".join(name for _, name, _ in found)
        raise UngradableError(
            f"The notebook has no cell of a problem set of this book ({sets}). Start from a released problem set, "
            "and write into its cells: a copy of their text alone has lost what marks them."
        )
    return name, source
