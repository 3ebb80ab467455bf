"""Say which mistake a function makes: compare what it did in a check with what known mistakes do there.

A check hands its function the same inputs every time. So all that a function did in a check, its calls and what came
back, can be held against the same record of each misconception in the catalogue and of the solution.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from autograder.checks import Check
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
        What the student's function did in each check of the exercise that was run.

    Returns
    -------
    dict
        The checks whose mistake is known, each with it. A misconception explains a check if it did there, call by call,
        what the student's function did (or, if none did, gave the same wrong answers). Likeness in one check alone may
        be chance: it must explain two thirds of the checks that it fails, and the student's function must fail the
        others, too, where a second mistake may cover the first. Where several explain a check, the one that explains
        all failed checks is taken; if that is not one, none is.
    """
    explained: dict[Check, list[Misconception]] = {check: [] for check, trace in traces.items() if trace.failed}
    proven = set()
    for known in misconceptions_of(name):
        theirs = [check for check in traces if _trace_of(known, check).failed]
        if all(traces[check].failed for check in theirs):
            alike = [check for check in theirs if _does_the_same(check, traces[check], known)]
            for check in alike:
                explained[check].append(known)
            if 3 * len(alike) >= 2 * len(theirs):
                proven.add(known)
    named = {}
    for check, candidates in explained.items():
        if len(candidates) > 1:
            candidates = [known for known in candidates if all(known in each for each in explained.values())]
        if len(candidates) == 1 and candidates[0] in proven:
            named[check] = candidates[0]
    return named


def _does_the_same(check: Check, trace: Trace, known: Misconception) -> bool:
    """Whether a function did in a check what a known mistake does, or, where its answer is wrong, answered the same."""
    theirs, calls, right = _trace_of(known, check), trace.calls, _trace_of_solution(check).calls
    if not calls or len(calls) > len(right) or equal(calls[-1].result, right[len(calls) - 1].result):
        return same(trace, theirs)
    return same_answers(trace, theirs)


@dataclass(frozen=True)
class Difference:
    """The first number in which the answer of a failed check is wrong.

    Attributes
    ----------
    place : str
        Where it stands, in the terms of the exercise, as from `place_in_words`.
    got, want : str
        The row that it stands in, as it is and as it should be; the number alone where the row is wide.
    told : bool
        Whether the check's message speaks of this number in an array.
    """

    place: str
    got: str
    want: str
    told: bool = False


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
        if isinstance(got, (float, np.floating)) and isinstance(want, (float, np.floating)):
            if not equal(got, want) and _speaks_of_a_number(trace):
                found.append(Difference(part or "the answer", f"{got:.6g}", f"{want:.6g}"))
            continue
        if type(got) is not type(want):
            return None
        if isinstance(want, np.ndarray):
            if (got.shape, got.dtype) != (want.shape, want.dtype):
                return None
            wrong = ~close(got, want)
            if wrong.any():
                place = tuple(int(i) for i in np.argwhere(wrong)[0])
                told = f"got {got[place]:.6g}, expected {want[place]:.6g}" in str(trace.error)
                if told:
                    found.clear()
                words = place_in_words(check.exercise, right.arguments, place, part)
                row = place if part == "the scales" else place[:-1]
                if want[row].size > 8:  # too wide to show: the one number
                    row, words = place, f"column {place[-1]} of {words}"
                words = f"{part}, {words}" if part else words
                found.append(Difference(words, _numbers(got[row]), _numbers(want[row]), told))
        elif not equal(got, want):
            words = place_in_words(check.exercise, right.arguments, ())
            found.append(Difference(f"{part} {words}", _in_digits(got), _in_digits(want)))
    return found[0] if found else None


def _speaks_of_a_number(trace: Trace) -> bool:
    """Whether the check complains of a number, and not of an array that came back with it."""
    return "values are wrong" not in str(trace.error)


def _in_digits(value: Any) -> str:
    """An answer that is no array; Python writes no integer of more than 4,300 digits."""
    if type(value) is int:
        return f"{value:,}" if abs(value) < 10**100 else "more than 100 digits"
    return repr(value)


def _numbers(values: np.ndarray) -> str:
    """A row, or one number, as text."""
    return f"[{', '.join(f'{value:.6g}' for value in values)}]" if values.ndim else f"{values[()]:.6g}"


#: What the parts of an answer are called, where there are several.
PARTS = {
    "lazy_adam_step": ("E", "m", "v"),
    "tied_bigram_loss_grad": ("the loss", "the gradient"),
    "table_cost": ("the number of parameters", "the number of bytes"),
    "factorized_backward": ("the gradient of A", "the gradient of W"),
    "quantize_rows": ("the codes", "the scales"),
}


#: Exercises whose answer has the shape of ids, and then one axis.
LOOKUPS = ("one_hot", "embedding_forward", "factorized_forward", "quantized_lookup", "checked_lookup")


def place_in_words(name: str, arguments: dict[str, Any], place: tuple[int, ...], part: str = "") -> str:
    """Say which row, position or bag a place in the answer is, and what the ids have to do with it.

    Parameters
    ----------
    name : str
        The exercise.
    arguments : dict
        What its function was called with.
    place : tuple of int
        Index of one number of the answer.
    part : str
        Of an answer in several parts, what the part is called in `PARTS`.

    Returns
    -------
    str
        Such as ``"row 2 (id 2 stands at positions 0 and 2)"``.
    """
    first = place[0] if place else 0
    if name in LOOKUPS:
        ids = arguments["ids"]
        position = place[: ids.ndim]
        return f"{_position(position)}, where the id is {ids[position]}" if position else f"the only id, {ids}"
    if name == "embedding_bag_mean":
        ids, offsets = arguments["ids"], arguments["offsets"]
        end = offsets[first + 1] if first + 1 < len(offsets) else len(ids)
        bag = ids[offsets[first] : end]
        return f"bag {first} (ids {_few(bag)})" if len(bag) else f"bag {first}, which is empty"
    if name == "tied_bigram_loss_grad":
        x, y = arguments["x"], arguments["y"]
        if first not in x and first not in y:
            return f"row {first} (id {first} stands neither in x nor in y)"
        return f"row {first} (id {first} stands {_times(first, x, 'x')}, and {_times(first, y, 'y')})"
    if name == "table_cost":
        V, d, tied, m = (arguments.get(key) for key in ("V", "d", "tied", "factor_m"))
        factor = "" if m is None else f", factor_m = {m:,}"
        return f"for V = {V:,}, d = {d:,}{factor}, {'tied' if tied else 'untied'}"
    if name == "embed_with_positions":
        ids = arguments["ids"]
        *sequence, t = place[: ids.ndim]
        where = f"position {t}" + (f" of sequence {sequence[0]}" if sequence else "")
        return f"{where}, where the token is {ids[(*sequence, t)]}"
    if name == "sinusoidal_positions":
        return f"position {first}"
    if name == "quantize_rows":
        E = arguments["E"]
        largest = np.abs(E[first]).max()
        return f"row {first} ({f'its largest entry without sign is {largest:.6g}' if largest else 'all zeros'})"
    if part == "the gradient of W":
        return f"row {first}"
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
    return f"id {row} stands {_times(row, ids, name)}" if row in ids else f"id {row} does not stand in {name}"


def _times(row: int, ids: np.ndarray, name: str) -> str:
    """Say how often the id of a row stands in ids, and where."""
    at = [tuple(int(i) for i in place) for place in np.argwhere(ids == row)]
    if not at:
        return f"not in {name}"
    if len(at) == 1:
        return f"once in {name}" + (f", at {_position(at[0])}" if at[0] else "")
    return f"{'twice' if len(at) == 2 else f'{len(at)} times'} in {name}, first at {_position(at[0])}"


def _position(place: tuple[int, ...]) -> str:
    return f"position {place[0]}" if len(place) == 1 else f"position {place}"


def _few(ids: np.ndarray) -> str:
    shown = [str(i) for i in ids[:8].tolist()] + ["…"] * (len(ids) > 8)
    return f"[{', '.join(shown)}]"
