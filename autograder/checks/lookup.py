"""Checks of chapter 01: the table is a lookup."""

import numpy as np

from autograder.checks import check_of
from autograder.checks.tools import expect


@check_of("one_hot", points=2, enforces="1 in the id's column, 0 elsewhere.")
def each_row_has_one_1(one_hot):
    """Three ids of a vocabulary of six give three rows of six numbers, with a single 1 in the id's column."""
    got = one_hot(np.array([3, 1, 3]), 6)
    want = np.array([[0.0, 0, 0, 1, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0]])
    expect(got, want, "Row n is 1 in column ids[n], counted from 0, and has V columns, not max(ids) + 1.")


@check_of("one_hot", points=2, enforces="``one_hot(ids, V) @ E`` gives the rows that ``E[ids]`` reads.")
def product_is_lookup(one_hot):
    """The product with a table gives the rows that indexing reads, the first and the last row of it included."""
    E = np.array([[0.7, -1.3, 2.9], [0.2, 1.9, -0.6], [-2.3, 0.4, 1.1], [3.7, -0.8, 0.9], [1.7, 2.6, -3.1]])
    got = one_hot(np.array([4, 0, 2, 4]), 5)
    assert isinstance(got, np.ndarray), "Your function should return a NumPy array."
    assert got.shape == (4, 5), f"The shape is {got.shape}; it should be (4, 5): a row of V numbers for each id."
    expect(got @ E, E[[4, 0, 2, 4]], "A one-hot row times E picks one row of E.")


@check_of(
    "one_hot",
    points=2,
    hidden=True,
    enforces="A single id (shape ``()``) and no ids at all (a 0 in the shape) are allowed.",
)
def any_shape_of_ids(one_hot):
    """The V columns come after the shape of ids, whether ids is one number, has three axes, or is empty."""
    ids = np.array([[[5, 0, 6]], [[2, 2, 1]]])
    want = np.zeros((2, 1, 3, 7))
    for b in range(2):
        for t in range(3):
            want[b, 0, t, ids[b, 0, t]] = 1
    expect(one_hot(ids, 7), want, "Ids of shape (2, 1, 3) give shape (2, 1, 3, V).")
    assert ids.shape == (2, 1, 3), f"Your function changed the shape of ids from (2, 1, 3) to {ids.shape}."
    want = np.array([[[0.0, 0, 1]], [[1, 0, 0]]])
    expect(one_hot(np.array([[2], [0]]), 3), want, "Ids of shape (2, 1) give shape (2, 1, V).")
    expect(one_hot(np.array(2), 4), np.array([0.0, 0, 1, 0]), "A single id of shape () gives shape (V,).")
    empty = one_hot(np.zeros((3, 0), dtype=np.int64), 4)
    expect(empty, np.zeros((3, 0, 4)), "No ids give no rows: shape (3, 0) becomes (3, 0, V).")


@check_of(
    "one_hot",
    points=1,
    hidden=True,
    enforces=("ids : ndarray of any integer dtype and any shape", "ndarray of float64, shape ``ids.shape + (V,)``"),
)
def any_integer_dtype(one_hot):
    """Ids of every integer dtype work, and the result is float64 for each."""
    want = np.zeros((3, 200))
    want[[0, 1, 2], [120, 0, 77]] = 1
    for dtype in (np.int64, np.int8, np.uint8, np.int16, np.int32, np.uint32):
        expect(one_hot(np.array([120, 0, 77], dtype=dtype), 200), want, f"The ids were {np.dtype(dtype)}.")


@check_of("one_hot", points=1, hidden=True, enforces="The array is not modified.")
def leaves_ids_alone(one_hot):
    """The array of ids is the same after the call as before it."""
    ids = np.array([4, 0, 2, 4])
    got = one_hot(ids, 5)
    assert isinstance(got, np.ndarray), "Your function should return a NumPy array."
    assert np.array_equal(ids, [4, 0, 2, 4]), f"Your function changed ids from [4, 0, 2, 4] to {ids.tolist()}."
