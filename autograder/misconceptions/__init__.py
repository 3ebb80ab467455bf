"""The catalogue of known mistakes, one module a chapter, and the registry that holds it.

A misconception is a short wrong implementation. Its name says what it does, and its docstring is what a student reads
who made the same mistake: one or two sentences that say what went wrong and what to do. ``diagnosis.py`` compares a
student's answers with those of the catalogue.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Misconception:
    """One known mistake in one exercise.

    Attributes
    ----------
    exercise : str
        Name of the function that it gets wrong.
    function : callable
        The wrong function, with the signature of the right one.
    fails : frozenset of str
        The checks that it fails: all of them, and no other.
    hint : str
        Part of what the first of these checks says by itself, as in a plain nbgrader notebook.
    """

    exercise: str
    function: Callable
    fails: frozenset[str]
    hint: str

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def sentence(self) -> str:
        """What is said to the student."""
        return " ".join((inspect.getdoc(self.function) or "").split())

    def __str__(self) -> str:
        return f"{self.exercise}-{self.name}"


_registry: dict[str, list[Misconception]] = {}


def misconception(exercise: str, *, fails: str, hint: str) -> Callable[[Callable], Callable]:
    """Register the decorated function as a known mistake; ``fails`` names checks, with blanks between."""

    def register(function: Callable) -> Callable:
        known = _registry.setdefault(exercise, [])
        if any(each.name == function.__name__ for each in known):
            raise ValueError(f"{exercise} has two misconceptions named {function.__name__}; rename one")
        known.append(Misconception(exercise, function, frozenset(fails.split()), hint))
        return function

    return register


def misconceptions_of(exercise: str) -> tuple[Misconception, ...]:
    """The known mistakes in ``exercise``, in the order of their source."""
    return tuple(_registry.get(exercise, ()))


for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
