"""An exercise: the solution and the checks, seen as one thing.

Everything that a page or a problem set shows of an exercise is made here, from ``solutions/`` and
``autograder/checks/``.
"""

import inspect
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import solutions
from autograder.checks import Check, checks_of

#: What stands in a stub where the solution stood. nbgrader_config.py tells nbgrader to write the same.
STUB_BODY = "raise NotImplementedError"

PROBLEM_SETS = Path(__file__).parent / "problem_sets"

_SOLUTION = re.compile(r"^( *)### BEGIN SOLUTION\n(.*?)^ *### END SOLUTION\n?", re.DOTALL | re.MULTILINE)
_PLACE = re.compile(r'^exercise\("(\w+)"\)$', re.MULTILINE)


def exercises_in(text: str) -> list[str]:
    """Names of the exercises that a chapter or problem set (MyST text) asks for, in order."""
    return _PLACE.findall(text)


@dataclass(frozen=True)
class Exercise:
    """One exercise; displays in a notebook as stub, checks in words, and folded solution.

    Attributes
    ----------
    name : str
        Name of the function to write.
    """

    name: str

    @property
    def function(self) -> Callable:
        """The reference solution."""
        return getattr(solutions, self.name)

    @property
    def checks(self) -> tuple[Check, ...]:
        return checks_of(self.name)

    @property
    def points(self) -> int:
        return sum(check.points for check in self.checks)

    @cached_property
    def marked_source(self) -> str:
        """The solution's source, nbgrader's markers included."""
        source = inspect.getsource(self.function).rstrip() + "\n"
        if len(_SOLUTION.findall(source)) != 1:
            raise ValueError(
                f"solutions: the body of {self.name} must stand between one line '### BEGIN SOLUTION' "
                "and one line '### END SOLUTION'"
            )
        return source

    @property
    def stub(self) -> str:
        """What the student starts from: the docstring, and a body that raises."""
        return _SOLUTION.sub(rf"\g<1>{STUB_BODY}\n", self.marked_source).rstrip()

    @property
    def solution(self) -> str:
        """The solution as it reads without the markers."""
        return _SOLUTION.sub(r"\g<2>", self.marked_source).rstrip()

    @property
    def problem_set(self) -> str:
        """Name of the problem set that holds the exercise."""
        for path in sorted(PROBLEM_SETS.glob("*.md")):
            if self.name in exercises_in(path.read_text(encoding="utf-8")):
                return path.stem
        raise LookupError(f'no file in {PROBLEM_SETS} has a cell exercise("{self.name}")')

    def _repr_markdown_(self) -> str:
        visible = [check for check in self.checks if not check.hidden]
        hidden = sum(check.points for check in self.checks if check.hidden)
        lines = [f"- {check.sentence} *({in_points(check.points)})*" for check in visible]
        if hidden:
            lines.append(f"- Hidden checks hold the function to the rest of its docstring. *({in_points(hidden)})*")
        return "\n".join(
            [
                f"`{self.name}` is worth {in_points(self.points)} in problem set {self.problem_set}.",
                "",
                f"```python\n{self.stub}\n```",
                "",
                "What the checks look at:",
                "",
                *lines,
                "",
                f"<details><summary>Solution of <code>{self.name}</code></summary>",
                "",
                f"```python\n{self.solution}\n```",
                "",
                "</details>",
            ]
        )


def exercise(name: str) -> Exercise:
    """The exercise of that name; show it as the last line of a notebook cell.

    Raises
    ------
    KeyError
        If there is no such exercise; the message lists those that there are.
    """
    if name not in solutions.__all__:
        raise KeyError(f"no exercise is named {name!r}; there are: {', '.join(solutions.__all__)}")
    return Exercise(name)


def test_source(check: Check, number: int) -> str:
    """The test cell of a check, the ``number``-th of its exercise, counted from 1."""
    call = f'{check.source}\n\n\nrun_check({check.name}, "{check.exercise}", points={check.points})'
    title = f"Check {number} of {len(exercise(check.exercise).checks)}, {in_points(check.points)}"
    if check.hidden:
        head = textwrap.fill(f"{title}, hidden: {check.sentence}", 88, initial_indent="# ", subsequent_indent="# ")
        return f"{head}\n### BEGIN HIDDEN TESTS\n{call}\n### END HIDDEN TESTS"
    return f"# {title}\n{call}"


def in_points(number: int) -> str:
    """Write a number of points in words: "1 point", "2 points"."""
    return f"{number} point" if number == 1 else f"{number} points"
