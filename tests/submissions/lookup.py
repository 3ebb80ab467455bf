"""Chapter 01: `one_hot`."""

import numpy as np
import scipy.sparse

import solutions
from submissions import right, wrong

right("one_hot")(solutions.one_hot)


@right("one_hot")
def rows_of_the_identity(ids, V):
    return np.eye(V)[ids]


@right("one_hot")
def loop_over_positions(ids, V):
    out = np.zeros(ids.shape + (V,))
    for position in np.ndindex(ids.shape):
        out[position][ids[position]] = 1
    return out


@right("one_hot")
def put_along_axis(ids, V):
    out = np.zeros((*ids.shape, V))
    np.put_along_axis(out, ids[..., None], 1, axis=-1)
    return out


@right("one_hot")
def flat_places(ids, V):
    out = np.zeros(ids.size * V)
    out[np.arange(ids.size) * V + ids.ravel()] = 1
    return out.reshape(*ids.shape, V)


@right("one_hot")
def list_comprehension(ids, V):
    rows = [[1.0 if v == i else 0.0 for v in range(V)] for i in ids.ravel()]
    return np.array(rows, dtype=float).reshape(ids.shape + (V,))


@right("one_hot")
def outer_comparison_in_float32(ids, V):
    return np.equal.outer(ids, np.arange(V)).astype(np.float32).astype(np.float64)


@right("one_hot")
def sparse_matrix(ids, V):
    N = ids.size
    return scipy.sparse.csr_array((np.ones(N), (np.arange(N), ids.ravel())), (N, V)).toarray().reshape(*ids.shape, V)


@right("one_hot")
def bincount_of_each_id(ids, V):
    out = np.zeros((ids.size, V))
    for n, i in enumerate(ids.flat):
        out[n] = np.bincount([i], minlength=V)
    return out.reshape(*ids.shape, V)


ONE_HOT_VALUES = "each_row_has_one_1 product_is_lookup any_shape_of_ids any_integer_dtype"
ONE_HOT_ALL = f"{ONE_HOT_VALUES} leaves_ids_alone"


@wrong("one_hot", "each_row_has_one_1 any_shape_of_ids any_integer_dtype", "V columns, not max(ids) + 1")
def width_from_the_largest_id(ids, V):
    return np.eye(ids.max(initial=0) + 1)[ids]


@wrong("one_hot", ONE_HOT_VALUES, "in column ids[n], counted from 0")
def counted_from_one(ids, V):
    return np.eye(V)[ids.astype(int) - 1]


@wrong(
    "one_hot",
    "each_row_has_one_1 any_shape_of_ids any_integer_dtype",
    "The dtype is int64; it should be float64",
)
def integers(ids, V):
    return np.eye(V, dtype=np.int64)[ids]


@wrong(
    "one_hot",
    "each_row_has_one_1 any_shape_of_ids any_integer_dtype",
    "The dtype is bool; it should be float64",
)
def booleans(ids, V):
    return ids[..., None] == np.arange(V)


@wrong("one_hot", "each_row_has_one_1 any_shape_of_ids any_integer_dtype", "is float32; it should be float64")
def single_precision(ids, V):
    return np.eye(V, dtype=np.float32)[ids]


@wrong("one_hot", "any_shape_of_ids", "IndexError")
def one_dimension_only(ids, V):
    out = np.zeros((len(ids), V))
    out[np.arange(len(ids)), ids] = 1
    return out


@wrong("one_hot", "any_shape_of_ids", "The shape is (6, 7); it should be (2, 1, 3, 7)")
def flattened(ids, V):
    return np.eye(V)[ids.ravel()]


@wrong("one_hot", "any_shape_of_ids", "it should be (3, 0, 4)")
def no_row_for_no_id_lost_its_shape(ids, V):
    return np.eye(V)[ids] if ids.size else np.zeros((0, V))


@wrong("one_hot", ONE_HOT_VALUES, "The shape is (6, 3); it should be (3, 6)")
def transposed(ids, V):
    return np.eye(V)[ids].T


@wrong("one_hot", "leaves_ids_alone", "Your function changed ids from [4, 0, 2, 4] to [0, 0, 0, 0]")
def ids_zeroed_afterwards(ids, V):
    out = np.eye(V)[ids]
    ids[...] = 0
    return out


@wrong("one_hot", "any_integer_dtype", "OverflowError")
def places_counted_in_the_dtype_of_ids(ids, V):
    out = np.zeros(ids.size * V)
    out[np.arange(ids.size, dtype=ids.dtype) * V + ids.ravel()] = 1
    return out.reshape(*ids.shape, V)


@wrong("one_hot", ONE_HOT_VALUES, "got 0, expected 1")
def nothing_filled_in(ids, V):
    return np.zeros((*ids.shape, V))


@wrong("one_hot", "any_shape_of_ids", "The shape is (")
def squeezed(ids, V):
    return solutions.one_hot(ids, V).squeeze()
