"""Run a check on a function and record what the function did, so that it can be held against what others do there."""

import copy
import inspect
import re
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np

from autograder.checks import Check
from autograder.exercises import exercise

#: Seconds that a check may take. The slowest takes a few hundredths of one with the solution.
TIME_LIMIT = 10.0


class OutOfTimeError(BaseException):
    """The function ran too long. No Exception: a bare ``except Exception`` of the student's does not catch it."""


@dataclass
class Call:
    """One call of the student's function.

    Attributes
    ----------
    arguments : dict
        Copies of what the function was given, by the names of the solution's parameters.
    result : object
        A copy of what it returned; None if it raised.
    raised : str
        Name of the exception's type; empty if it returned.
    told : str
        What counts of the exception's text, as from `_text_of`.
    after : dict
        Copies of the arguments after the call: it may have changed them.
    shares : bool
        Whether a result is, in part, the memory of an argument.
    """

    arguments: dict[str, Any]
    result: Any = None
    raised: str = ""
    told: str = ""
    after: dict[str, Any] = field(default_factory=dict)
    shares: bool = False


@dataclass
class Trace:
    """All that a function did in one check."""

    calls: list[Call] = field(default_factory=list)
    error: BaseException | None = None

    @property
    def failed(self) -> bool:
        return self.error is not None


def run(check: Check, function: Callable) -> Trace:
    """Run a check on a function and record the calls.

    Parameters
    ----------
    check : Check
    function : callable
        The student's function.

    Returns
    -------
    Trace
        ``error`` is what the check or the function raised, and None where the check passed.
    """
    trace = Trace()
    signature = inspect.signature(exercise(check.exercise).function)

    def recorded(*args: object, **kwargs: object) -> object:
        given = signature.bind(*args, **kwargs)
        call = Call(_copy(given.arguments))
        trace.calls.append(call)
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            call.raised = type(error).__name__
            call.told = _text_of(error, check.exercise, call.arguments)
            raise
        finally:
            call.after = _copy(given.arguments)
        call.result = _copy(result)
        call.shares = any(
            np.shares_memory(part, argument)
            for part in parts_of(result)
            for argument in given.arguments.values()
            if isinstance(part, np.ndarray) and isinstance(argument, np.ndarray)
        )
        return result

    try:
        with warnings.catch_warnings(), time_limit(TIME_LIMIT):
            warnings.simplefilter("ignore")  # a warning costs no points
            check.run(recorded)
    except (Exception, SystemExit, OutOfTimeError) as error:  # a student's function may raise anything
        trace.error = error
    return trace


def same(one: Trace, known: Trace) -> bool:
    """Whether a function did in a check what a known one does: answers, exceptions, and changes to the arguments."""
    return same_answers(one, known) and all(
        a.shares == b.shares and equal(a.after, b.after) for a, b in zip(one.calls, known.calls, strict=True)
    )


def same_answers(one: Trace, known: Trace) -> bool:
    """Whether a function answered in a check what a known one does, or raised the same.

    Exceptions of one type are the same if they say the same, or if the known one says nothing.
    """
    return len(one.calls) == len(known.calls) and all(
        a.raised == b.raised and b.told in ("", a.told) and equal(a.result, b.result)
        for a, b in zip(one.calls, known.calls, strict=True)
    )


def _text_of(error: BaseException, exercise: str, arguments: dict[str, Any]) -> str:
    """What counts of what an exception says.

    That is all but names of variables. Where an exercise asks for numbers in a message, its words are the student's
    own, and only the numbers count.
    """
    try:
        text = str(error)
        if numbers_count(exercise, error, arguments):
            numbers = {int(n) for n in re.findall(r"(?<![A-Za-z0-9])-?[0-9]+", text)}
            if exercise == "checked_lookup":  # a valid id may be said, too
                numbers -= set(range(len(arguments["E"])))
            return f"numbers {sorted(numbers)}"
        if exercise == "checked_lookup" and isinstance(error, TypeError):
            return ""
        return re.sub("'[^']*'", "", text)
    except Exception:  # the student's own class may do anything
        return "?"


def numbers_count(exercise: str, error: BaseException, arguments: dict[str, Any]) -> bool:
    """Whether an exercise asks for numbers in the message of an exception."""
    if exercise == "embed_with_positions":
        return isinstance(error, ValueError) and len(arguments["P"]) <= arguments["ids"].shape[-1]
    return exercise == "checked_lookup" and isinstance(error, IndexError)


def equal(a: Any, b: Any) -> bool:
    """Equality of arguments and results, with room for the order in which sums were taken."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return bool(
            type(a) is type(b)
            and (a.shape, a.dtype) == (b.shape, b.dtype)
            and (close(a, b).all() if a.dtype.kind in "iufc" else np.array_equal(a, b))
        )
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return type(b) is dict and a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, (float, np.floating)):  # Python's or NumPy's: the exercises take both for a number
        return isinstance(b, (float, np.floating)) and bool(close(np.asarray(a), np.asarray(b)).all())
    if isinstance(a, np.generic):  # its == gives no Python bool
        return type(a) is type(b) and bool(a == b)
    return type(a) is type(b) and (a is b or a == b) is True


def close(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Where two arrays of one dtype agree, by the measure of ``expect`` in checks/tools.py; NaN agrees with NaN."""
    if want.dtype.kind in "iu":
        return got == want  # a difference may not fit into int8
    with np.errstate(all="ignore"):
        finite = np.abs(want[np.isfinite(want)])
        allowed = 1e-5 * np.abs(want) + 1e-6 * np.max(finite, initial=0)
        near = (np.abs(got - want) <= allowed) & np.isfinite(want)  # all is within infinity's thousandth
        return (got == want) | near | (np.isnan(got) & np.isnan(want))


def describe(error: BaseException) -> str:
    """Name and text of an exception."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # the text of a student's exception is the student's code
        return type(error).__name__


def parts_of(result: Any) -> tuple[Any, ...]:
    """The parts of an answer that may be several."""
    return tuple(result) if type(result) in (tuple, list) else (result,)


def _copy(value: Any) -> Any:
    """A copy that later changes do not reach; what cannot be copied stands for itself."""
    if type(value) is np.ndarray:
        if value.nbytes > 1e7:  # wrong by its shape: what it holds is not looked at, and many would take the memory
            return np.broadcast_to(np.zeros((), value.dtype), value.shape)
        return value.copy()
    if type(value) in (tuple, list):
        return type(value)(map(_copy, value))
    if type(value) is dict:
        return {key: _copy(each) for key, each in value.items()}
    try:
        return copy.copy(value)
    except Exception:  # the student's own class may do anything
        return value


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTimeError in the block after that many seconds of wall time.

    Python looks for it between two instructions, so a long call into a compiled library is not cut short. Outside the
    main thread, and on Windows, there is no limit. Inside a block that has a limit already, that one holds.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or not hasattr(signal, "setitimer")
        or signal.getitimer(signal.ITIMER_REAL)[0] > 0
    ):
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise OutOfTimeError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
