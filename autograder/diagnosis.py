"""Say which mistake a function makes: compare what it did in a check with what known mistakes do there.

A check hands its function the same inputs every time. So all that a function did in a check, its calls and what came
back, can be held against the same record of each misconception in the catalogue and of the solution.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from autograder.checks import Check, checks_of
from autograder.exercises import exercise
from autograder.misconceptions import Misconception, misconceptions_of
from autograder.trace import Trace, close, equal, parts_of, run, same, same_answers


@cache
def _trace_of_solution(check: Check) -> Trace:
    return run(check, exercise(check.exercise).function)


@cache
def _trace_of(known: Misconception, check: Check) -> Trace:
    return run(check, known.function)


def name_mistakes(name: str, traces: dict[Check, Trace]) -> dict[Check, Misconception]:
    """Find the known mistake behind each check that failed.

    Parameters
    ----------
    name : str
        The exercise.
    traces : dict
        What the student's function did in every check of the exercise.

    Returns
    -------
    dict
        The checks whose mistake is known, each with it. A misconception explains a check if it did there, call by call,
        what the student's function did (or, if none did, gave the same wrong answers), and if the student's function
        fails wherever the misconception does. Where several explain a check, the one that explains all failed checks is taken; if that is not one, none is. An
        exception proves little: a check that ended with one is named only after a mistake that explains another
        check by its answers, or all of them.
    """
    failed = [check for check, trace in traces.items() if trace.failed]
    candidates = [
        known
        for known in misconceptions_of(name)
        if all(traces[check].failed for check in checks_of(name) if _trace_of(known, check).failed)
    ]
    explains = {check: _that_do_the_same(check, traces[check], candidates) for check in failed}
    everywhere = [known for known in candidates if all(known in explains[check] for check in failed)]
    named = {}
    for check in failed:
        found = explains[check]
        if len(found) > 1:
            found = [known for known in found if known in everywhere]
        if len(found) == 1:
            named[check] = found[0]
    proven = {
        known for check, known in named.items() if not any(call.raised for call in traces[check].calls[-1:])
    } | set(everywhere)
    return {check: known for check, known in named.items() if known in proven}


def _that_do_the_same(check: Check, trace: Trace, candidates: list[Misconception]) -> list[Misconception]:
    """Those that failed a check as a function did: in all that it did, or, if none, in its wrong answers alone."""
    failing = [known for known in candidates if _trace_of(known, check).failed]
    exactly = [known for known in failing if same(trace, _trace_of(known, check))]
    calls, right = trace.calls, _trace_of_solution(check).calls
    if exactly or not calls or len(calls) > len(right) or equal(calls[-1].result, right[len(calls) - 1].result):
        return exactly
    return [known for known in failing if same_answers(trace, _trace_of(known, check))]


@dataclass(frozen=True)
class Difference:
    """The first number in which the answer of a failed check is wrong.

    Attributes
    ----------
    place : str
        Where it stands, in the terms of the exercise, as from `place_in_words`.
    got, want : str
        The row that it stands in, as it is and as it should be; the number alone where the row is wide.
    """

    place: str
    got: str
    want: str


def difference(check: Check, trace: Trace) -> Difference | None:
    """Hold the last answer of a failed check against the solution's.

    Parameters
    ----------
    check : Check
    trace : Trace
        What the student's function did in it.

    Returns
    -------
    Difference or None
        Of an answer in several parts, the part that the check's message is about. None where the last answer is of
        another kind than the solution's (shape, dtype, an exception), or is right (a check may fail for what became of
        an argument).
    """
    wanted = _trace_of_solution(check).calls
    if not trace.calls or len(trace.calls) > len(wanted):
        return None
    call, right = trace.calls[-1], wanted[len(trace.calls) - 1]
    got_parts, want_parts = parts_of(call.result), parts_of(right.result)
    if call.raised or right.raised or len(got_parts) != len(want_parts):
        return None
    names = PARTS.get(check.exercise, ("",) * len(want_parts))
    found: list[Difference] = []
    for part, got, want in zip(names, got_parts, want_parts, strict=True):
        if type(got) is not type(want):
            return None
        if isinstance(want, np.ndarray):
            if (got.shape, got.dtype) != (want.shape, want.dtype):
                return None
            wrong = ~close(got, want)
            if wrong.any():
                place = tuple(int(i) for i in np.argwhere(wrong)[0])
                if f"got {got[place]:.6g}, expected {want[place]:.6g}" in str(trace.error):
                    found.clear()  # the check speaks of this part
                words = place_in_words(check.exercise, right.arguments, place)
                row = place[:-1]
                if want[row].size > 8:  # too wide to show: the one number
                    row, words = place, f"column {place[-1]} of {words}"
                found.append(Difference(f"{part}, {words}" if part else words, _numbers(got[row]), _numbers(want[row])))
        elif not equal(got, want):
            found.append(Difference(part or "the answer", f"{got!r}", f"{want!r}"))
    return found[0] if found else None


def _numbers(values: np.ndarray) -> str:
    """A row, or one number, as text."""
    return f"[{', '.join(f'{value:.6g}' for value in values)}]" if values.ndim else f"{values[()]:.6g}"


#: What the parts of an answer are called, where there are several.
PARTS = {
    "lazy_adam_step": ("E", "m", "v"),
    "tied_bigram_loss_grad": ("the loss", "the gradient"),
    "table_cost": ("the number of parameters", "the number of bytes"),
}


def place_in_words(name: str, arguments: dict[str, Any], place: tuple[int, ...]) -> str:
    """Say which row, position or bag a place in the answer is, and what the ids have to do with it.

    Parameters
    ----------
    name : str
        The exercise.
    arguments : dict
        What its function was called with.
    place : tuple of int
        Index of one number of the answer.

    Returns
    -------
    str
        Such as ``"row 2 (id 2 stands at positions 0 and 2)"``.
    """
    first = place[0] if place else 0
    if name in ("one_hot", "embedding_forward"):
        ids = arguments["ids"]
        position = place[: ids.ndim]
        return f"{_position(position)}, where the id is {ids[position]}" if position else f"the only id, {ids}"
    if name == "embedding_bag_mean":
        ids, offsets = arguments["ids"], arguments["offsets"]
        end = offsets[first + 1] if first + 1 < len(offsets) else len(ids)
        return f"bag {first} (ids {_few(ids[offsets[first] : end])})"
    if name == "tied_bigram_loss_grad":
        return f"row {first} ({_standing(first, arguments['x'], 'x')}; {_standing(first, arguments['y'], 'y')})"
    if "ids" in arguments:  # the answer has the rows of the table
        words = _standing(first, arguments["ids"], "ids")
        if "offsets" in arguments:
            at = np.flatnonzero(arguments["ids"] == first)
            bags = np.unique(np.searchsorted(arguments["offsets"], at, side="right") - 1)
            words += f", in bag {bags[0]}" if len(bags) == 1 else f", in bags {_few(bags)}" if len(bags) else ""
        return f"row {first} ({words})"
    return f"place {list(place)}"


def _standing(row: int, ids: np.ndarray, name: str) -> str:
    """Say where in ids the id of a row stands."""
    at = [tuple(int(i) for i in place) for place in np.argwhere(ids == row)]
    if not at:
        return f"id {row} does not stand in {name}"
    if len(at) == 1:
        return f"id {row} stands once in {name}" + (f", at {_position(at[0])}" if at[0] else "")
    return f"id {row} stands {len(at)} times in {name}, first at {_position(at[0])}"


def _position(place: tuple[int, ...]) -> str:
    return f"position {place[0]}" if len(place) == 1 else f"position {place}"


def _few(ids: np.ndarray) -> str:
    shown = [str(i) for i in ids[:8].tolist()] + ["…"] * (len(ids) > 8)
    return f"[{', '.join(shown)}]"
