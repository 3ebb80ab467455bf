"""Known mistakes of chapter 01: the table is a lookup."""

import numpy as np

from autograder.misconceptions import misconception
from solutions import one_hot

VALUES = "each_row_has_one_1 product_is_lookup any_shape_of_ids any_integer_dtype"
KINDS = "each_row_has_one_1 any_shape_of_ids any_integer_dtype"  # the product comes out right


@misconception("one_hot", fails=KINDS, hint="V columns, not max(ids) + 1")
def width_from_the_largest_id(ids, V):
    """The rows are as wide as the largest id plus one. They have V columns, whichever ids occur."""
    return np.eye(ids.max(initial=0) + 1)[ids]


@misconception("one_hot", fails=VALUES, hint="in column ids[n], counted from 0")
def counted_from_one(ids, V):
    """The 1 stands one column to the left of its own: ids count from 0, and so do columns. Do not subtract 1."""
    return np.eye(V)[ids.astype(int) - 1]


@misconception("one_hot", fails=VALUES, hint="in column ids[n], counted from 0")
def column_0_kept_free(ids, V):
    """The 1 stands one column to the right of its own, as if column 0 were reserved. Id 0 has column 0."""
    return np.eye(V)[(ids.astype(int) + 1) % V]


@misconception("one_hot", fails=VALUES, hint="The shape is (3, 7); it should be (3, 6)")
def a_column_too_many(ids, V):
    """The rows have V + 1 columns. Ids run from 0 to V - 1, so V columns hold all of them."""
    return np.eye(V + 1)[ids]


@misconception("one_hot", fails=VALUES, hint="The shape is (3, 5); it should be (3, 6)")
def first_column_dropped(ids, V):
    """Column 0 was left out, as dummy variables in a regression do. A lookup needs all V: without it, id 0 reads no
    row of E.
    """
    return np.eye(V)[ids][..., 1:]


@misconception("one_hot", fails=VALUES, hint="The shape is (3, 2); it should be (3, 6)")
def columns_for_the_distinct_ids(ids, V):
    """There is a column for each distinct id of the input, as a label encoder makes them. Column i belongs to id i,
    and there are V of them whichever ids occur.
    """
    rows, place = np.unique(ids, return_inverse=True)
    return np.eye(len(rows))[place.reshape(ids.shape)]


@misconception("one_hot", fails=KINDS, hint="The dtype is int64; it should be float64")
def integers(ids, V):
    """The ones and zeros are integers. Make them float64, as np.zeros and np.eye do unless told otherwise."""
    return np.eye(V, dtype=np.int64)[ids]


@misconception("one_hot", fails=KINDS, hint="The dtype is bool; it should be float64")
def booleans(ids, V):
    """A comparison gives True and False. Turn them into numbers: `.astype(np.float64)`."""
    return ids[..., None] == np.arange(V)


@misconception("one_hot", fails=KINDS, hint="is float32; it should be float64")
def single_precision(ids, V):
    """The result is float32, the usual dtype in PyTorch. This exercise asks for float64, which is NumPy's own."""
    return np.eye(V, dtype=np.float32)[ids]


@misconception("one_hot", fails=VALUES, hint="Row n is 1 in column ids[n]")
def all_ids_in_every_row(ids, V):
    """Every row has a 1 for each of the ids: `out[:, ids] = 1` writes whole columns. Name the row too, as in
    `out[np.arange(N), ids] = 1`.
    """
    out = np.zeros((*ids.shape, V))
    out[..., ids] = 1
    return out


@misconception("one_hot", fails=VALUES, hint="got 0, expected 1")
def nothing_filled_in(ids, V):
    """All numbers are 0. If you wrote `out[rows][:, ids] = 1`, the 1s went into a copy that `out[rows]` made: use one
    pair of brackets, `out[rows, ids] = 1`.
    """
    out = np.zeros((ids.size, V))
    out[np.arange(ids.size)][:, ids.ravel()] = 1  # into a copy
    return out.reshape(*ids.shape, V)


@misconception("one_hot", fails=VALUES, hint="got 3, expected 1")
def id_in_the_place_of_1(ids, V):
    """The id itself stands in its column. The column says which id it is; the number there is 1."""
    return np.eye(V)[ids] * np.arange(V)


@misconception("one_hot", fails=VALUES, hint="Row n is 1 in column ids[n]")
def ones_up_to_the_id(ids, V):
    """A row is 1 in all columns up to the id's. It is 1 in the id's own column only: compare with ==, not <=."""
    return (np.arange(V) <= ids[..., None]).astype(np.float64)


@misconception("one_hot", fails="product_is_lookup any_shape_of_ids any_integer_dtype", hint="picks one row of E")
def id_0_taken_for_padding(ids, V):
    """The row of id 0 is all zeros, as for padding. Here id 0 is an id like any other: its row has a 1 in column 0."""
    return np.eye(V)[ids] * (ids != 0)[..., None]


@misconception("one_hot", fails=VALUES, hint="The shape is (6,); it should be (3, 6)")
def counts_of_the_ids(ids, V):
    """You return how often each id occurs: one row, a sum over positions. Each position has a row of its own."""
    return np.bincount(ids.ravel(), minlength=V).astype(np.float64)


@misconception("one_hot", fails=VALUES, hint="The shape is (6, 3); it should be (3, 6)")
def transposed(ids, V):
    """Rows and columns are swapped. The V columns are the last axis, after the shape of ids."""
    return np.eye(V)[ids].T


@misconception("one_hot", fails="any_shape_of_ids", hint="The shape is (6, 7); it should be (2, 1, 3, 7)")
def flattened(ids, V):
    """The ids were flattened, and the result kept that form. Give it the shape of ids back, with V columns at the
    end.
    """
    return np.eye(V)[ids.ravel()]


@misconception("one_hot", fails="any_shape_of_ids", hint="The shape is (2, 7); it should be (2, 1, 3, 7)")
def one_row_for_each_sequence(ids, V):
    """The loop runs over the first axis of ids only, so that a whole sequence shares one row. Each single id has a
    row: loop over all positions, or flatten ids first.
    """
    if ids.ndim == 0:
        return np.eye(V)[ids]
    out = np.zeros((len(ids), V))
    for n, i in enumerate(ids):
        out[n, i] = 1
    return out


@misconception("one_hot", fails="any_shape_of_ids", hint="The shape is (1, 3, 7); it should be (2, 1, 3, 7)")
def first_sequence_of_the_batch(ids, V):
    """Only the first entry along the first axis of ids counts. Every position of ids has its row."""
    return np.eye(V)[ids[0] if ids.ndim > 1 else ids]


@misconception("one_hot", fails="any_shape_of_ids", hint="The shape is (2, 3); it should be (2, 1, 3)")
def last_axis_of_length_1_dropped(ids, V):
    """Ids of shape (N, 1) lost their last axis, as Keras's to_categorical takes it away. The result has shape
    (N, 1, V): V comes after all axes of ids.
    """
    return np.eye(V)[ids[..., 0] if ids.ndim > 1 and ids.shape[-1] == 1 else ids]


@misconception("one_hot", fails="any_shape_of_ids", hint="The shape is (2, 3, 7)")
def squeezed(ids, V):
    """An axis of length 1 was dropped. The result has all axes of ids, of whatever length, and then V columns."""
    return one_hot(ids, V).squeeze()


@misconception("one_hot", fails="any_shape_of_ids", hint="The shape is (1, 4); it should be (4,)")
def an_axis_for_a_single_id(ids, V):
    """A single id of shape () was given an axis, as np.atleast_1d does. Its result is one row, of shape (V,)."""
    return np.eye(V)[np.atleast_1d(ids)]


@misconception("one_hot", fails="any_shape_of_ids", hint="it should be (3, 0, 4)")
def no_row_for_no_id_lost_its_shape(ids, V):
    """Where there are no ids the result lost their shape. It is ids.shape + (V,) there too: (3, 0) gives (3, 0, V)."""
    return np.eye(V)[ids] if ids.size else np.zeros((0, V))


@misconception("one_hot", fails="any_integer_dtype", hint="200 out of bounds for int8")
def places_counted_in_the_dtype_of_ids(ids, V):
    """Your function computes with numbers of the dtype of ids, and int8 holds none above 127. Turn ids into int64
    before you multiply by V.
    """
    out = np.zeros(ids.size * V)
    out[np.arange(ids.size, dtype=ids.dtype) * V + ids.ravel()] = 1
    return out.reshape(*ids.shape, V)


@misconception("one_hot", fails="any_integer_dtype leaves_ids_alone", hint="The ids were int8")
def places_counted_in_ids(ids, V):
    """Your function counts places in ids itself, which belong to the caller, and whose dtype may be too small. Write
    `ids + ...`, which makes a new array, instead of `+=`.
    """
    out, flat = np.zeros(ids.size * V), ids.reshape(-1)
    flat += np.arange(ids.size) * V
    out[flat] = 1
    return out.reshape(*ids.shape, V)


@misconception("one_hot", fails="any_shape_of_ids", hint="Your function changed the shape of ids")
def ids_reshaped_in_place(ids, V):
    """Your function changed the shape of ids itself. `ids.reshape(-1)` gives a flat view and leaves ids as they
    were.
    """
    shape = ids.shape
    ids.shape = -1
    return np.eye(V)[ids].reshape(*shape, V)
