"""Run the checks of an exercise on a function, and show what came out."""

import html
import re
import textwrap
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import __main__
import autograder.checks
from autograder.checks import Check, checks_of
from autograder.diagnosis import difference, name_mistakes
from autograder.exercises import exercise
from autograder.misconceptions import misconceptions_of
from autograder.session import NotDefinedError, StudentProcessError
from autograder.trace import TIME_LIMIT, OutOfTimeError, Trace, describe, run

CHECKS = Path(autograder.checks.__file__).parent


@dataclass(frozen=True)
class Result:
    """What one check said.

    Attributes
    ----------
    name, sentence : str
        The check's name, and what it holds the function to.
    points : int
        What passing it is worth.
    passed : bool
    message : str
        What went wrong; empty if nothing did.
    mistake : str
        Name of the misconception behind it, where the catalogue has it; else empty.
    """

    name: str
    sentence: str
    points: int
    passed: bool
    message: str
    mistake: str = ""


@dataclass(frozen=True)
class Report:
    """The results of all checks of one exercise; displays as a table."""

    exercise: str
    checks: tuple[Result, ...]

    @property
    def points(self) -> int:
        return sum(result.points for result in self.checks if result.passed)

    @property
    def max_points(self) -> int:
        return sum(result.points for result in self.checks)

    def _told(self) -> Iterator[tuple[Result, str]]:
        """Each result with its message, less what was said just before."""
        sentences = {known.name: known.sentence for known in misconceptions_of(self.exercise)}
        message = mistake = ""  # the last ones told
        for result in self.checks:
            told = result.message
            if told and told == message:
                told = "The same."
            elif result.mistake and result.mistake == mistake:
                told = f"The same mistake.{told.removeprefix(sentences[mistake])}"
            yield result, told
            if not result.passed:
                message, mistake = result.message, result.mistake

    def __str__(self) -> str:
        lines = [f"{self.exercise}: {self.points} of {self.max_points} points"]
        for result, told in self._told():
            got = result.points if result.passed else 0
            lines.append(f"  {'pass' if result.passed else 'FAIL'}  {got}/{result.points}  {result.name}")
            lines += textwrap.wrap(told, 80, initial_indent=" " * 13, subsequent_indent=" " * 13)
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = []
        for result, told in self._told():
            message = re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(told or result.sentence))
            rows.append(
                f'<tr class="{"passed" if result.passed else "failed"}" style="vertical-align: top">'
                f"<td>{'✓ pass' if result.passed else '<strong>✗ fail</strong>'}</td>"
                f"<td>{result.points if result.passed else 0} / {result.points}</td>"
                f'<td style="text-align: left"><code>{result.name}</code><br>{message}</td></tr>'
            )
        # JupyterLab puts cells to the right and captions in the middle. Its colours, light or dark, are its own.
        return (
            '<table class="book-report"><caption style="font-weight: 600; text-align: left">'
            f"{self.exercise}: {self.points} of {self.max_points} points</caption>"
            '<thead><tr><th scope="col">Result</th><th scope="col">Points</th>'
            f'<th scope="col" style="text-align: left">Check</th></tr></thead><tbody>{"".join(rows)}</tbody></table>'
        )


def check(name: str, function: Callable | None = None) -> Report:
    """Run every check of an exercise on your function.

    Parameters
    ----------
    name : str
        The exercise, for example ``"one_hot"``.
    function : callable, optional
        Your function. Whatever it raises becomes a message in the report. If you leave it out, it is the function of
        that name in your notebook.

    Returns
    -------
    Report
        ``points``, ``max_points``, and in ``checks`` one `Result` for each check.

    Raises
    ------
    KeyError
        If there is no exercise of that name.
    TypeError
        If ``function`` cannot be called.
    """
    exercise(name)
    if function is None:
        function = getattr(__main__, name, _undefined(name))
    if not callable(function):
        raise TypeError(f"check() needs the function itself, as in check({name!r}, {name}); got {function!r}")
    return report_on(name, {each: run(each, function) for each in checks_of(name)}, function)


def _undefined(name: str) -> Callable:
    """Stand in for a function that is not there: a check that calls it says so."""

    def undefined(*args: object, **kwargs: object) -> None:
        raise NotDefinedError(f"{name} is not defined yet: run the cell in which you write it, then this one.")

    return undefined


def report_on(name: str, traces: dict[Check, Trace], function: Callable) -> Report:
    """Make the report of what a function did in the checks of an exercise.

    Parameters
    ----------
    name : str
        The exercise.
    traces : dict
        What `autograder.trace.run` recorded in each check.
    function : callable
        The function that was checked, to find its lines in a traceback.

    Returns
    -------
    Report
    """
    named = name_mistakes(name, traces)
    results = []
    for each, trace in traces.items():
        message = mistake = ""
        if trace.error is not None:
            message = _message(trace.error, name, function)
            found = difference(each, trace) if isinstance(trace.error, AssertionError) else None
            if each in named:
                mistake = named[each].name
                if found:
                    seen = f"Look at {found.place}: got {found.got}, expected {found.want}."
                elif isinstance(trace.error, AssertionError):  # the shape or the dtype, without the check's hint
                    seen = "".join(re.findall(r"^The (?:shape|dtype) is .*?; it should be .*?\.(?= |$)", message))
                else:
                    seen = message
                message = f"{named[each].sentence} {seen}".strip()
            elif found and found.told:
                message += f" That is {found.place}."
        results.append(Result(each.name, each.sentence, each.points, not trace.failed, message, mistake))
    return Report(name, tuple(results))


def _message(error: BaseException, name: str, function: Callable) -> str:
    """One or two sentences that a student can act on."""
    if isinstance(error, NotImplementedError) and not error.args:
        return f"{name} is not written yet: write its body in place of `raise NotImplementedError`."
    if isinstance(error, OutOfTimeError):
        return f"Your function was still running after {TIME_LIMIT:g} seconds: look for a loop that never ends."
    if isinstance(error, (NotDefinedError, StudentProcessError)):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, AssertionError) and Path(frames[-1].filename).parent == CHECKS:
        return str(error)
    told = f"Your function raised {describe(error)}"
    if getattr(error, "student_line", ""):  # from another process, autograder/session.py
        return f"{told} ({error.student_line})"  # type: ignore[attr-defined]
    code = getattr(function, "__code__", None)
    for frame in reversed(frames):
        if code and frame.filename == code.co_filename and frame.name == code.co_name and frame.line:
            return f"{told} (line {frame.lineno}: `{frame.line.strip()}`)"
    return told
