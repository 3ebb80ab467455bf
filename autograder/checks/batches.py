"""Checks of chapter 02: batches and sequences."""

import numpy as np

from autograder.checks import check_of
from autograder.checks.tools import expect


@check_of("embedding_forward", points=3, enforces="Look up one row of the table for each id.")
def one_row_for_each_id(embedding_forward):
    """Ids [3, 1, 3] give rows 3, 1 and 3 of the table, so the first and the last result are the same."""
    E = np.array([[0.7, -1.3], [0.2, 1.9], [-2.3, 0.4], [3.7, -0.8], [1.7, 2.6]])
    got = embedding_forward(E, np.array([3, 1, 3]))
    expect(got, np.array([[3.7, -0.8], [0.2, 1.9], [3.7, -0.8]]), "Result n is row ids[n] of E, a whole row.")


@check_of("embedding_forward", points=3, enforces="ndarray of E's dtype, shape ``ids.shape + (d,)``")
def a_batch_of_sequences(embedding_forward):
    """Ids of shape (B, T) give a block of shape (B, T, d), the first and the last row of the table included."""
    V, d, B, T = 7, 4, 2, 3
    E = 0.5 + np.arange(V * d, dtype=np.float64).reshape(V, d)
    ids = np.array([[6, 0, 2], [5, 2, 6]])
    want = np.zeros((B, T, d))
    for b in range(B):
        for t in range(T):
            want[b, t] = E[ids[b, t]]
    expect(embedding_forward(E, ids), want, "Position (b, t) holds row ids[b, t]: every sequence, not the first alone.")


@check_of(
    "embedding_forward",
    points=2,
    hidden=True,
    enforces="A single id (shape ``()``) and no ids at all (a 0 in the shape) are allowed.",
)
def any_shape_of_ids(embedding_forward):
    """The width d comes after the shape of ids, whether ids is one number, has three axes, or is empty."""
    E = np.array([[0.7, -1.3], [0.2, 1.9], [-2.3, 0.4]])
    expect(embedding_forward(E.copy(), np.array(2)), E[2], "A single id of shape () gives shape (d,).")
    ids = np.array([[[2, 1]], [[0, 0]], [[1, 2]]])
    want = np.array([[[E[i] for i in row] for row in block] for block in ids])
    expect(embedding_forward(E, ids), want, "Ids of shape (3, 1, 2) give shape (3, 1, 2, d).")
    assert ids.shape == (3, 1, 2), f"Your function changed the shape of ids from (3, 1, 2) to {ids.shape}."
    empty = embedding_forward(E, np.zeros((2, 0), dtype=np.int64))
    expect(empty, np.zeros((2, 0, 2)), "No ids give no rows: shape (2, 0) becomes (2, 0, d).")


@check_of(
    "embedding_forward",
    points=2,
    hidden=True,
    enforces=("ids : ndarray of any integer dtype and any shape", "ndarray of E's dtype"),
)
def any_dtype(embedding_forward):
    """Ids of every integer dtype work, and the result has the table's dtype, float32 and float16 too."""
    table = np.array([[0.75, -1.5, 2.25], [0.5, 1.25, -0.625], [-2.5, 0.375, 1.75]])
    for table_dtype in (np.float16, np.float32, np.float64):
        E = table.astype(table_dtype)
        for ids_dtype in (np.int8, np.uint8, np.int32, np.int64, np.uint32):
            hint = f"The table was {E.dtype}, the ids {np.dtype(ids_dtype)}."
            got = embedding_forward(E.copy(), np.array([2, 0, 2, 1], dtype=ids_dtype))
            expect(got, E[[2, 0, 2, 1]], hint)


@check_of(
    "embedding_forward",
    points=2,
    hidden=True,
    enforces=(
        "It is not modified.",
        "The array is not modified.",
        "A copy: writing into it does not change the table.",
    ),
)
def a_copy_of_the_table(embedding_forward):
    """The call leaves its inputs as they were, and writing into the result does not change the table."""
    E = np.array([[0.7, -1.3], [0.2, 1.9], [-2.3, 0.4], [3.7, -0.8]])
    for values in ([0, 3, 0], [1, 2, 3], [2], 2):  # neighbours and lone ids, which a part of E could answer
        table, ids = E.copy(), np.array(values)
        got = embedding_forward(table, ids)
        assert isinstance(got, np.ndarray), "Your function should return a NumPy array."
        assert np.array_equal(table, E), "Your function changed the table."
        assert np.array_equal(ids, values), f"Your function changed ids from {values} to {ids.tolist()}."
        shared = np.shares_memory(got, table)
        assert not shared, f"For ids {values} the result is a view of E: writing into it changes E. Return a copy."
