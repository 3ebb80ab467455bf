"""What came out of a submission: what the workers send, and what the gradebook writes."""

from dataclasses import dataclass, field
from typing import Any, Literal

from autograder.assemble import Placed

Status = Literal["graded", "crashed", "timed out", "could not be read", "needs a person"]


@dataclass(frozen=True)
class CellOutcome:
    """What a cell did.

    Attributes
    ----------
    outputs : tuple of dict
        As in a notebook's file.
    score : float or None
        Points of a check; None for any other cell, and where a person has to decide.
    note : str
        A sentence for the student, empty if all is usual.
    """

    outputs: tuple[dict[str, Any], ...] = ()
    score: float | None = None
    note: str = ""


@dataclass(frozen=True)
class NotebookOutcome:
    """The cells of a notebook, in order, each with what it did."""

    cells: tuple[tuple[Placed, CellOutcome], ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What came out of a submission.

    Attributes
    ----------
    student, problem_set : str
    status : str
        ``"graded"``, or why not. A submission of another status gets the points of the cells that it has.
    note : str
        One sentence, empty if all is usual.
    notebooks : dict
        By the name that the problem set gives a notebook. One that is not there could not be read or was not handed
        in; it gets no points.
    """

    student: str
    problem_set: str
    status: Status
    note: str = ""
    notebooks: dict[str, NotebookOutcome] = field(default_factory=dict)
