"""What students might hand in for each exercise, one module a chapter: correct solutions and mistakes.

A correct solution stands under ``@right(exercise)``. A mistake stands under ``@wrong(exercise, failing checks,
message)``: the checks that must fail, all of them and no other, and a part of what the first of them tells the
student. ``test_checks.py`` hands all of them in.
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

    def __str__(self) -> str:
        return f"{self.exercise}-{self.function.__name__}"


RIGHT: list[Submission] = []
WRONG: list[Submission] = []


def right(exercise: str) -> Callable[[Callable], None]:
    """Register a correct solution."""
    return lambda function: RIGHT.append(Submission(exercise, function))


def wrong(exercise: str, failing: str, message: str) -> Callable[[Callable], None]:
    """Register a mistake."""
    return lambda function: WRONG.append(Submission(exercise, function, frozenset(failing.split()), message))


for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
