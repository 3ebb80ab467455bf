"""Known mistakes of chapter 02: batches and sequences."""

import numpy as np

from autograder.misconceptions import misconception
from solutions import embedding_forward

VALUES = "one_row_for_each_id a_batch_of_sequences any_shape_of_ids any_dtype"
ALL = f"{VALUES} a_copy_of_the_table"
SHAPES = "a_batch_of_sequences any_shape_of_ids"


@misconception("embedding_forward", fails="a_copy_of_the_table", hint="For ids 2 the result is a view of E")
def view_for_a_single_id(E, ids):
    """For a single id you return a view of E: `E[int(ids)]` is E's own memory. Copy it, or index with the array:
    `E[ids]` is a copy.
    """
    return E[int(ids)] if ids.ndim == 0 else E[ids]


@misconception("embedding_forward", fails="a_copy_of_the_table", hint="For ids [1, 2, 3] the result is a view of E")
def view_for_a_slice(E, ids):
    """For ids that follow each other you return a slice of E, and a slice is a view: writing into it changes the
    table. Copy it, or index with ids.
    """
    flat = ids.ravel().astype(int)
    if ids.ndim == 1 and np.all(np.diff(flat) == 1):
        return E[flat[0] : flat[-1] + 1]
    return E[ids]


@misconception("embedding_forward", fails=SHAPES, hint="The shape is (6, 4); it should be (2, 3, 4)")
def flattened_output(E, ids):
    """The ids were flattened, and the result kept that form. Give it the shape of ids back, with d at the end."""
    return E[ids.ravel()]


@misconception("embedding_forward", fails=SHAPES, hint="every sequence, not the first alone")
def first_sequence_only(E, ids):
    """Only the first sequence of the batch was looked up. Every position of ids has its row."""
    return E[ids[0]] if ids.ndim > 1 else E[ids]


@misconception("embedding_forward", fails=SHAPES, hint="every sequence, not the first alone")
def first_sequence_for_all(E, ids):
    """Every sequence of the batch has the rows of the first one. Position (b, t) holds row ids[b, t]: both indices
    count.
    """
    return np.broadcast_to(E[ids[0]], (*ids.shape, E.shape[1])).copy() if ids.ndim > 1 else E[ids]


@misconception("embedding_forward", fails=SHAPES, hint="The shape is (3, 2, 4); it should be (2, 3, 4)")
def time_before_batch(E, ids):
    """The axes of batch and sequence are swapped. The result keeps the order that ids have: (B, T) gives
    (B, T, d).
    """
    return np.swapaxes(E[ids], 0, 1).copy() if ids.ndim > 1 else E[ids]


@misconception("embedding_forward", fails=SHAPES, hint="The shape is (2, 4, 3); it should be (2, 3, 4)")
def width_before_the_sequence(E, ids):
    """The width comes before the sequence, as channels do for a convolution. Here d is the last axis: (B, T, d)."""
    return np.swapaxes(E[ids], -1, -2).copy() if ids.ndim > 1 else E[ids]


@misconception("embedding_forward", fails=SHAPES, hint="The shape is (2, 12); it should be (2, 3, 4)")
def rows_joined_into_one(E, ids):
    """The rows of a sequence were joined into one long row. Each position keeps an axis of its own: (B, T, d), not
    (B, T * d).
    """
    return E[ids].reshape(len(ids), ids[0].size * E.shape[1]) if ids.ndim > 1 else E[ids]


@misconception("embedding_forward", fails=SHAPES, hint="The shape is (2, 4); it should be (2, 3, 4)")
def mean_over_the_sequence(E, ids):
    """Each sequence was averaged into one row. A lookup keeps a row for every position; pooling comes later."""
    return E[ids].mean(axis=1) if ids.ndim > 1 else E[ids]


@misconception("embedding_forward", fails=VALUES, hint="Result n is row ids[n] of E")
def row_before(E, ids):
    """Each position has the row above its own: ids count from 0, and so do the rows of E. Do not subtract 1."""
    return np.take(E, ids.astype(int) - 1, axis=0)


@misconception("embedding_forward", fails=ALL, hint="Result n is row ids[n] of E, a whole row")
def take_without_axis(E, ids):
    """Each id gives one number: np.take without an axis reads from the flattened table. Write `np.take(E, ids,
    axis=0)`.
    """
    return np.take(E, ids)


@misconception("embedding_forward", fails=ALL, hint="Result n is row ids[n] of E, a whole row")
def first_number_of_each_row(E, ids):
    """Each id gives the first number of its row only. Take the whole row, `E[ids]`, not `E[ids, 0]`."""
    return E[ids, 0]


@misconception("embedding_forward", fails=VALUES, hint="Result n is row ids[n] of E, a whole row")
def returned_in_the_loop(E, ids):
    """Only the row of the first id came back. If a loop collects the rows, `return` stands after it, not in it."""
    for i in ids.ravel():
        return E[i].copy()
    return np.zeros((*ids.shape, E.shape[1]), E.dtype)


@misconception("embedding_forward", fails=VALUES, hint="Result n is row ids[n] of E, a whole row")
def last_row_everywhere(E, ids):
    """Every position has the row of the last id: one array was written again and again. Write into the place of the
    position, `out[n] = E[i]`.
    """
    out = np.zeros((*ids.shape, E.shape[1]), E.dtype)
    for i in ids.ravel():
        out[...] = E[i]
    return out


@misconception("embedding_forward", fails=VALUES, hint="The shape is (2, 2); it should be (3, 2)")
def one_row_for_each_distinct_id(E, ids):
    """An id that repeats has one row only, as np.unique or set leave it. Every position has a row, and two
    positions with one id have equal rows.
    """
    return E[np.unique(ids)]


@misconception("embedding_forward", fails=VALUES, hint="Result n is row ids[n] of E")
def sorted_ids(E, ids):
    """The rows come in the order of the sorted ids. They come in the order of the positions: do not sort ids."""
    return E[np.sort(ids, axis=None).reshape(ids.shape)]


@misconception("embedding_forward", fails="any_dtype", hint="The dtype is float64; it should be float16")
def double_precision_always(E, ids):
    """The result is float64 whatever the table was. np.zeros and np.eye make float64: give them dtype=E.dtype."""
    return np.eye(len(E))[ids] @ E


@misconception("embedding_forward", fails=VALUES, hint="The dtype is float32; it should be float64")
def single_precision_always(E, ids):
    """The result is float32 whatever the table was. It has the dtype of E."""
    return E[ids].astype(np.float32)


@misconception("embedding_forward", fails=VALUES, hint="The dtype is int64; it should be float64")
def made_like_the_ids(E, ids):
    """The result has the dtype of ids, and integers cut off all after the decimal point. Make it with
    dtype=E.dtype.
    """
    return E[ids].astype(ids.dtype)


@misconception(
    "embedding_forward", fails=f"{SHAPES} any_dtype a_copy_of_the_table", hint="Position (b, t) holds row ids[b, t]"
)
def padding_row_zeroed_in_the_table(E, ids):
    """Your function sets row 0 of E to zero, as for padding. E belongs to the caller, and id 0 is an id like any
    other.
    """
    E[0] = 0
    return E[ids]


@misconception(
    "embedding_forward",
    fails="a_batch_of_sequences any_shape_of_ids any_dtype",
    hint="Position (b, t) holds row ids[b, t]",
)
def id_0_taken_for_padding(E, ids):
    """Id 0 gives zeros, as for padding. Here id 0 is an id like any other: it gives row 0 of E."""
    return E[ids] * (ids != 0)[..., None].astype(E.dtype)


@misconception("embedding_forward", fails=VALUES, hint="values are wrong")
def scaled_by_the_square_root_of_the_width(E, ids):
    """The rows were multiplied by sqrt(d), as the first Transformer does after its lookup. Return them as they stand
    in E.
    """
    return (E[ids] * np.sqrt(E.shape[1])).astype(E.dtype)


@misconception("embedding_forward", fails=VALUES, hint="values are wrong")
def rows_of_length_one(E, ids):
    """The rows were divided by their length. A lookup changes no number: return them as they stand in E."""
    return (E / np.linalg.norm(E, axis=1, keepdims=True)).astype(E.dtype)[ids]


@misconception("embedding_forward", fails="any_shape_of_ids", hint="need at least one array")
def stack_of_nothing(E, ids):
    """Without ids there is no row to stack, and np.stack of an empty list raises. Make the result with np.zeros of
    shape ids.shape + (d,), then fill it.
    """
    return E[ids] if ids.ndim == 0 else np.stack([E[i] for i in ids.ravel()]).reshape(*ids.shape, -1)


@misconception("embedding_forward", fails="any_shape_of_ids", hint="it should be (2,). A single id of shape ()")
def an_axis_for_a_single_id(E, ids):
    """A single id of shape () was given an axis, as np.atleast_1d does. Its result is one row, of shape (d,)."""
    return E[np.atleast_1d(ids)]


@misconception("embedding_forward", fails="any_shape_of_ids", hint="The shape is (")
def squeezed(E, ids):
    """An axis of length 1 was dropped. The result has all axes of ids, of whatever length, and then d."""
    return embedding_forward(E, ids).squeeze()


@misconception("embedding_forward", fails="any_shape_of_ids", hint="it should be (2, 0, 2)")
def no_ids_lost_their_shape(E, ids):
    """Where there are no ids the result lost their shape. It is ids.shape + (d,) there too: (2, 0) gives (2, 0, d)."""
    return E[ids] if ids.size else np.zeros((0, E.shape[1]), E.dtype)


@misconception(
    "embedding_forward", fails="any_shape_of_ids a_copy_of_the_table", hint="Your function changed the shape of ids"
)
def ids_reshaped_in_place(E, ids):
    """Your function changed the shape of ids itself. `ids.reshape(-1)` gives a flat view and leaves ids as they
    were.
    """
    shape = ids.shape
    ids.shape = -1
    return E[ids].reshape(*shape, E.shape[1])
