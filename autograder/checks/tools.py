"""What the checks call. The functions that a problem set needs stand in its notebook, in a cell above the checks."""

import textwrap
import traceback

import numpy as np


def run_check(check, name, points):
    """Run a check on the function of that name, and say what came out. If it fails, raise AssertionError."""
    try:
        if name not in globals():
            raise AssertionError(f"{name} is not defined yet: run the cell in which you write it, then this one.")
        check(globals()[name])
    except NotImplementedError as error:
        message = str(error) or f"{name} is not written yet: write its body in place of `raise NotImplementedError`."
    except AssertionError as error:
        message = str(error) or "An `assert` in your function failed."
    except Exception as error:
        lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.name == name]
        place = f" (line {lines[-1].lineno}: `{lines[-1].line}`)" if lines else ""
        message = f"Your function raised {type(error).__name__}: {error}{place}"
    else:
        print(f"pass  {points}/{points}  {check.__name__}")
        return
    told = [f"FAIL  0/{points}  {check.__name__}", *textwrap.wrap(message, 80)]
    failed = AssertionError(message)
    vars(failed)["_render_traceback_"] = lambda: told  # a notebook shows these lines in place of a traceback
    raise failed


def expect(got, want, hint):
    """Fail with a message unless `got` is an array with the shape, dtype and values of `want`."""
    if type(got) is not np.ndarray:
        kind = "nothing: is there a `return`?" if got is None else f"a {type(got).__name__}."
        raise AssertionError(f"Your function should return a NumPy array; it returned {kind} {hint}")
    assert got.shape == want.shape, f"The shape is {got.shape}; it should be {want.shape}. {hint}"
    assert got.dtype == want.dtype, f"The dtype is {got.dtype}; it should be {want.dtype}. {hint}"
    # Orders of summation differ by a few roundings: a hundred thousandth of the value passes, or a millionth of
    # the largest value where large terms cancel. Both are relative; neither lets a wrong formula through.
    allowed = 1e-5 * np.abs(want) + 1e-6 * np.max(np.abs(want), initial=0)
    wrong = ~(np.abs(got - want) <= allowed)  # `not (a <= b)`, so that NaN is wrong
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise AssertionError(
            f"{wrong.sum()} of {wrong.size} values are wrong. The first stands at {list(place)}: "
            f"got {got[place]:.6g}, expected {want[place]:.6g}. {hint}"
        )


def two_of(got, what):
    """Give back the two parts of `got`; fail with a message unless it is a tuple of two."""
    if isinstance(got, (tuple, list)) and len(got) == 2:
        return got
    length = f" of length {len(got)}" if isinstance(got, (tuple, list)) else ""
    kind = "nothing: is there a `return`?" if got is None else f"a {type(got).__name__}{length}."
    raise AssertionError(f"Your function should return two things, {what}; it returned {kind}")


def expect_number(got, want, hint):
    """Fail with a message unless `got` is a Python or NumPy float with the value of `want`."""
    is_float = isinstance(got, (float, np.floating))
    assert is_float, f"The number should be a Python or NumPy float; it is a {type(got).__name__}. {hint}"
    assert abs(got - want) <= 1e-5 * abs(want), f"Got {got:.6g}, expected {want:.6g}. {hint}"


def two_numbers(got, names):
    """Return the two numbers of a tuple (or list) `got`, or fail with a message; `names` says what they should be."""
    kind = "nothing: is there a `return`?" if got is None else f"a {type(got).__name__}."
    if isinstance(got, (tuple, list)):
        kind = f"{len(got)}: {', '.join(type(each).__name__ for each in got)}."
        if len(got) == 2 and all(isinstance(each, (int, float, np.integer, np.floating)) for each in got):
            return got
    raise AssertionError(f"Your function should return two numbers, {names}; it returned {kind}")


def raised_by(function, *args):
    """Return what `function(*args)` raises, or None if it gives an answer."""
    try:
        function(*args)
    except Exception as error:
        return error
    return None
