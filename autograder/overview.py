"""What there is to read and to do: the chapters, and the problem sets with points and time."""

import re
from dataclasses import dataclass
from pathlib import Path

from autograder.exercises import PROBLEM_SETS, Exercise, exercise, exercises_in

CHAPTERS = Path(__file__).parent.parent / "chapters"


@dataclass(frozen=True)
class ProblemSet:
    """A problem set, as a list of them shows it.

    Attributes
    ----------
    name, title : str
        Such as ``"ps1"``, and its heading.
    time : str
        How long it takes, such as ``"about two hours"``.
    exercises : tuple of Exercise
    chapter : str
        The chapter after which it can be done: the last that has one of its exercises.
    """

    name: str
    title: str
    time: str
    exercises: tuple[Exercise, ...]
    chapter: str

    @property
    def points(self) -> int:
        return sum(each.points for each in self.exercises)


def chapters() -> dict[str, str]:
    """The title of each chapter, by the name of its file, such as ``"01_lookup"``."""
    return {path.stem: _title(path.read_text(encoding="utf-8")) for path in sorted(CHAPTERS.glob("*.md"))}


def problem_sets() -> list[ProblemSet]:
    """The problem sets, in their order.

    Raises
    ------
    ValueError
        If the text of one does not say how long it takes.
    """
    taught = {
        name: path.stem
        for path in sorted(CHAPTERS.glob("*.md"))
        for name in exercises_in(path.read_text(encoding="utf-8"))
    }
    found = []
    for path in sorted(PROBLEM_SETS.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        time = re.search(r"Plan ([\w ]+ hours?), reading included", " ".join(text.split()))
        if time is None:
            raise ValueError(f"{path.name} lacks the sentence 'Plan ... hours, reading included.'")
        names = exercises_in(text)
        last = max(taught[name] for name in names)
        found.append(ProblemSet(path.stem, _title(text), time[1], tuple(map(exercise, names)), last))
    return found


def _title(text: str) -> str:
    """The first heading of a MyST notebook."""
    return re.search(r"^# (.+)$", text, re.MULTILINE)[1]  # type: ignore[index]
