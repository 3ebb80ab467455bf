"""The checks of every exercise, one module a chapter, and the registry that holds them.

A check is an ordinary function. It takes the student's function, calls it on inputs of its own, and raises
AssertionError with a message for the student when an answer is wrong. Its docstring says in one sentence what it
holds the function to. Its source is pasted into a problem-set notebook, where only NumPy and the functions of
``tools.py`` are at hand: it uses nothing else.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One check of one exercise.

    Attributes
    ----------
    exercise : str
        Name of the function that is checked.
    points : int
        What passing is worth; a check gives all of it or nothing.
    hidden : bool
        Whether students see the check's source before they hand in.
    enforces : tuple of str
        What the check holds the function to, in the words of the solution's docstring.
    run : callable
        ``run(function)`` returns None, or raises.
    """

    exercise: str
    points: int
    hidden: bool
    enforces: tuple[str, ...]
    run: Callable[[Callable], None]

    @property
    def name(self) -> str:
        return self.run.__name__

    @property
    def sentence(self) -> str:
        """What the check holds the function to, in words."""
        return " ".join((inspect.getdoc(self.run) or "").split())

    @property
    def source(self) -> str:
        """The function's source without its decorator."""
        source = textwrap.dedent(inspect.getsource(self.run))
        first_line = ast.parse(source).body[0].lineno  # of `def`; decorators stand above it
        return "".join(source.splitlines(keepends=True)[first_line - 1 :]).rstrip()


_registry: dict[str, list[Check]] = {}


def check_of(
    exercise: str, *, points: int, enforces: str | tuple[str, ...], hidden: bool = False
) -> Callable[[Callable], Callable]:
    """Register the decorated function as a check of ``exercise``, after those already there."""
    words = (enforces,) if isinstance(enforces, str) else enforces

    def register(run: Callable) -> Callable:
        checks = _registry.setdefault(exercise, [])
        if any(check.name == run.__name__ for check in checks):
            raise ValueError(f"{exercise} has two checks named {run.__name__}; rename one")
        checks.append(Check(exercise, points, hidden, words, run))
        return run

    return register


def checks_of(exercise: str) -> tuple[Check, ...]:
    """The checks of ``exercise``, in the order of their source."""
    return tuple(_registry[exercise])


from autograder.checks import (  # noqa: E402  (they fill the registry)
    backward,  # noqa: F401
    bags,  # noqa: F401
    batches,  # noqa: F401
    counting,  # noqa: F401
    lookup,  # noqa: F401
    pitfalls,  # noqa: F401
    positions,  # noqa: F401
    smaller,  # noqa: F401
    training,  # noqa: F401
    tying,  # noqa: F401
)
