"""Checks of chapter 03: the backward pass."""

import numpy as np

from autograder.checks import check_of
from autograder.checks.tools import expect


@check_of(
    "embedding_backward",
    points=3,
    enforces=("Row i is the sum of the upstream rows", "the row of an id that does not occur is zero."),
)
def each_upstream_row_lands_in_its_row(embedding_backward):
    """Ids that differ send each upstream row to its own row of the gradient; the other rows are zero."""
    G = np.array([[0.5, -1.5], [2.5, 3.5], [-4.5, 0.25]])
    got = embedding_backward(np.array([4, 0, 2]), G, 6)
    want = np.array([[2.5, 3.5], [0, 0], [-4.5, 0.25], [0, 0], [0.5, -1.5], [0, 0]])
    expect(got, want, "Row ids[n] receives grad_out[n]. The gradient has V rows, whichever ids occur.")


@check_of(
    "embedding_backward", points=4, enforces="Row i is the sum of the upstream rows at every position where id i stands"
)
def repeats_add_up(embedding_backward):
    """Ids [2, 0, 2]: row 2 occurs twice and receives the sum of both its upstream rows."""
    G = np.array([[1.0, 0.0, -1.0], [0.5, 0.5, 0.5], [2.0, 1.0, 0.0]])
    got = embedding_backward(np.array([2, 0, 2]), G, 4)
    want = np.array([[0.5, 0.5, 0.5], [0, 0, 0], [3.0, 1.0, -1.0], [0, 0, 0]])
    hint = (
        "Row 2 should be the sum of upstream rows 0 and 2. If it holds upstream row 2 alone, this is the "
        "fancy-indexing trap: `grad[ids] += grad_out` keeps only the last of the repeats. np.add.at adds every one."
    )
    expect(got, want, hint)


@check_of("embedding_backward", points=3, enforces="grad_out : ndarray of floats, shape ``ids.shape + (d,)``")
def a_batch_of_sequences(embedding_backward):
    """Ids of shape (B, T) with an upstream gradient of shape (B, T, d): every position of the batch counts."""
    ids = np.array([[5, 1, 0], [3, 6, 2]])
    G = 0.5 + np.arange(24.0).reshape(2, 3, 4)
    want = np.zeros((7, 4))
    for b in range(2):
        for t in range(3):
            want[ids[b, t]] += G[b, t]
    expect(embedding_backward(ids, G, 7), want, "Treat ids as one list of B * T positions.")


@check_of(
    "embedding_backward",
    points=3,
    hidden=True,
    enforces="Row i is the sum of the upstream rows at every position where id i stands",
)
def many_repeats_add_up(embedding_backward):
    """A few ids that occur many times, apart and side by side, in every sequence of a batch."""
    rng = np.random.default_rng(7)
    ids = rng.choice([0, 3, 4, 8], size=(6, 35))
    G = rng.uniform(0.5, 1.5, size=(6, 35, 3))
    want = np.zeros((9, 3))
    for b in range(6):
        for t in range(35):
            want[ids[b, t]] += G[b, t]
    hint = (
        f"Each row is the sum of all its upstream rows, no mean and no last one; id 3, for one, occurs "
        f"{np.sum(ids == 3)} times. `grad[ids] += grad_out` keeps only the last of them: use np.add.at."
    )
    expect(embedding_backward(ids, G, 9), want, hint)


@check_of(
    "embedding_backward",
    points=3,
    hidden=True,
    enforces=(
        "This row of the gradient is zero, whatever reaches it.",
        "A negative number counts from the end",
        "0 is a row like any other; None means no such row.",
    ),
)
def padding_row_is_zero(embedding_backward):
    """The row of padding_idx is zero, for 0, for the last row, and for a negative index; all others are as before."""
    ids = np.array([3, 0, 4, 1])
    G = np.array([[0.5, -1.5], [2.5, 3.5], [-4.5, 0.25], [1.25, 0.75]])
    full = np.array([[2.5, 3.5], [1.25, 0.75], [0, 0], [0.5, -1.5], [-4.5, 0.25]])
    for padding_idx in (3, 0, 4, -1, -5, 1, 2):
        want = full.copy()
        want[padding_idx] = 0
        hint = f"padding_idx was {padding_idx}: row {padding_idx} is zero, and no other row changes."
        if padding_idx <= 0:
            hint += " 0 is a padding index too: compare with None. -1 is the last row, -2 the one before it."
        expect(embedding_backward(ids.copy(), G.copy(), 5, padding_idx=padding_idx), want, hint)
    want = np.array([[0, 0], [0, 0], [2.5, 3.5]])
    got = embedding_backward(np.array([0, 2, 0, 0]), G.copy(), 3, padding_idx=0)
    expect(got, want, "padding_idx was 0, and id 0 stood at three positions: none of them counts.")
    expect(embedding_backward(ids, G.copy(), 5, padding_idx=None), full, "padding_idx was None: no row is left out.")


@check_of(
    "embedding_backward",
    points=2,
    hidden=True,
    enforces=(
        "A single id (shape ``()``) and no ids at all (a 0 in the shape) are allowed.",
        "ndarray of grad_out's dtype, shape (V, d)",
    ),
)
def any_shape_of_ids(embedding_backward):
    """Ids may be a single one of shape (), have three axes, or be none at all; the gradient has shape (V, d)."""
    got = embedding_backward(np.array(2), np.array([0.5, -1.5, 2.5]), 4)
    want = np.array([[0, 0, 0], [0, 0, 0], [0.5, -1.5, 2.5], [0, 0, 0]])
    expect(got, want, "The id had shape () and grad_out shape (d,).")
    ids = np.array([[[4, 0, 6], [2, 5, 1]]])
    got = embedding_backward(ids, 0.5 + np.arange(6.0).reshape(1, 2, 3, 1), 7)
    want = np.array([[1.5], [5.5], [3.5], [0], [0.5], [4.5], [2.5]])
    expect(got, want, "The ids had shape (1, 2, 3), and d was 1.")
    none = embedding_backward(np.zeros((3, 0), dtype=np.int64), np.zeros((3, 0, 2)), 4)
    expect(none, np.zeros((4, 2)), "There were no ids, and the gradient is V rows of zeros.")


@check_of(
    "embedding_backward",
    points=2,
    hidden=True,
    enforces=(
        "ids : ndarray of any integer dtype and any shape",
        "ndarray of grad_out's dtype",
        "The array is not modified.",
        "It is not modified.",
    ),
)
def dtypes_and_inputs(embedding_backward):
    """The gradient has grad_out's dtype for ids of every integer dtype, and the inputs stay as they were."""
    values = np.array([[0.5, -1.5], [2.5, 3.5], [-4.5, 0.25]])
    want = np.array([[2.5, 3.5], [0, 0], [0, 0], [-4.5, 0.25], [0.5, -1.5]])
    for dtype in (np.float32, np.float64):
        for ids_dtype in (np.uint8, np.int32, np.int64, np.uint32):
            got = embedding_backward(np.array([4, 0, 3], dtype=ids_dtype), values.astype(dtype), 5)
            expect(got, want.astype(dtype), f"grad_out was {np.dtype(dtype)}, the ids {np.dtype(ids_dtype)}.")
    ids, G = np.array([[4, 3, 4]]), values[None].copy()
    embedding_backward(ids, G, 5, padding_idx=3)
    assert np.array_equal(ids, [[4, 3, 4]]), f"Your function changed ids from [[4, 3, 4]] to {ids.tolist()}."
    assert np.array_equal(G, values[None]), "Your function changed grad_out: zero a row of the gradient, not of G."
