"""What students might hand in for each exercise, one module a chapter: correct solutions, and wrong ones.

A correct solution stands under ``@right(exercise)``. Known mistakes are in ``autograder/misconceptions/``. Other wrong
functions stand here under ``@wrong(exercise, failing checks, ...)``, with the checks that must fail, all of them and no
other: either with ``message``, a part of what the first of them tells the student, and then no known mistake may be
named; or with ``mistake``, the known one that this is another way to make, and then it must be named. A function that
makes two known mistakes at once stands under ``@two_mistakes(exercise, both)``: where only one of them shows it may be
named; no third one may be.
"""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Submission:
    """One function handed in for one exercise; a mistake names the checks that it must fail."""

    exercise: str
    function: Callable
    failing: frozenset[str] = field(default_factory=frozenset)
    message: str = ""
    mistake: str = ""

    def __str__(self) -> str:
        return f"{self.exercise}-{self.function.__name__}"


RIGHT: list[Submission] = []
WRONG: list[Submission] = []


def right(exercise: str) -> Callable[[Callable], None]:
    """Register a correct solution."""
    return lambda function: RIGHT.append(Submission(exercise, function))


def wrong(exercise: str, failing: str, message: str = "", *, mistake: str = "") -> Callable[[Callable], None]:
    """Register a wrong function."""
    assert bool(message) != bool(mistake)
    return lambda function: WRONG.append(Submission(exercise, function, frozenset(failing.split()), message, mistake))


TWO_MISTAKES: list[tuple[Submission, frozenset[str]]] = []


def two_mistakes(exercise: str, both: str) -> Callable[[Callable], None]:
    """Register a function that makes two known mistakes."""
    assert len(both.split()) == 2
    return lambda function: TWO_MISTAKES.append((Submission(exercise, function), frozenset(both.split())))


for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
