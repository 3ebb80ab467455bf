"""Chapter 12: pitfalls, a field guide."""

import numpy as np


def checked_lookup(E: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Look up one row of the table for each id, and refuse ids that have none.

    Parameters
    ----------
    E : ndarray of floats, shape (V, d)
        The table, with V at least 1. It is not modified.
    ids : ndarray of any shape
        Token ids, of any integer dtype, signed or unsigned. A single id (shape
        ``()``) is allowed. The array is not modified. An array without ids (a
        0 in the shape) is allowed whatever its dtype, since no id in it can be
        wrong: ``np.array([])``, which NumPy makes float64, is one.

    Returns
    -------
    ndarray of E's dtype, shape ``ids.shape + (d,)``
        A copy: writing into it does not change the table.

    Raises
    ------
    TypeError
        If there are ids and their dtype is not an integer one. Floats that are
        whole numbers, such as 2.0, and bools are no integers here. The dtype
        is looked at first: a float that is out of range, too, is a TypeError.
    IndexError
        If an id is negative, or V or more. The message holds two numbers in
        plain digits, for instance 128256: the first such id in reading order
        (the last axis fastest, however the array lies in memory), with its
        minus sign if it is negative, and V. It holds no later one of these ids.
    """
    ### BEGIN SOLUTION
    V = len(E)
    if ids.size == 0:
        return np.zeros(ids.shape + E.shape[1:], dtype=E.dtype)
    if ids.dtype.kind not in "iu":  # signed and unsigned integers
        raise TypeError(f"ids must be integers; their dtype is {ids.dtype}")
    outside = (ids < 0) | (ids >= V)
    if outside.any():
        first = ids[outside].item(0)  # a mask picks in reading order
        raise IndexError(f"id {first} is out of range for a table of {V} rows")
    return E[ids]
    ### END SOLUTION
