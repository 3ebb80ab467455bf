"""What the checks call. This source stands in every problem-set notebook, in a cell above the checks."""

import numpy as np


def expect(got, want, hint):
    """Fail with a message unless `got` is an array with the shape, dtype and values of `want`."""
    if not isinstance(got, np.ndarray):
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


def two_numbers(got, names):
    """Return the two numbers of a tuple (or list) `got`, or fail with a message; `names` says what they should be."""
    kind = "nothing: is there a `return`?" if got is None else f"a {type(got).__name__}."
    if isinstance(got, (tuple, list)):
        kind = f"{len(got)}: {', '.join(type(each).__name__ for each in got)}."
        if len(got) == 2 and all(isinstance(each, (int, float, np.integer, np.floating)) for each in got):
            return got
    raise AssertionError(f"Your function should return two numbers, {names}; it returned {kind}")
