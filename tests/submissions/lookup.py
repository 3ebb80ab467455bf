"""Chapter 01: `one_hot`."""

import numpy as np
import scipy.sparse

import solutions
from submissions import right, two_mistakes, wrong

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
KINDS = "each_row_has_one_1 any_shape_of_ids any_integer_dtype"
ONE_HOT_ALL = f"{ONE_HOT_VALUES} leaves_ids_alone"


@wrong("one_hot", "any_shape_of_ids", "IndexError")
def one_dimension_only(ids, V):
    out = np.zeros((len(ids), V))
    out[np.arange(len(ids)), ids] = 1
    return out


@wrong("one_hot", "leaves_ids_alone", "Your function changed ids from [4, 0, 2, 4] to [0, 0, 0, 0]")
def ids_zeroed_afterwards(ids, V):
    out = np.eye(V)[ids]
    ids[...] = 0
    return out


@wrong("one_hot", ONE_HOT_ALL, "it returned a list")
def list_of_lists(ids, V):
    return solutions.one_hot(ids, V).tolist()


@wrong("one_hot", ONE_HOT_VALUES, "values are wrong")
def off_by_a_thousandth(ids, V):
    return solutions.one_hot(ids, V) * 1.001


@wrong("one_hot", "any_shape_of_ids", "it should be (2, 1, 3, 7)")
def flattened_and_sorted(ids, V):
    return np.eye(V)[ids if ids.ndim < 2 else np.sort(ids, axis=None)]


@wrong("one_hot", ONE_HOT_VALUES, mistake="all_ids_in_every_row")
def largest_of_all_rows(ids, V):
    rows = np.zeros(V)
    rows[ids] = 1
    return rows + np.zeros((*ids.shape, 1))


@wrong("one_hot", ONE_HOT_VALUES, mistake="ones_up_to_the_id")
def sums_from_the_right(ids, V):
    return np.cumsum(np.eye(V)[ids][..., ::-1], axis=-1)[..., ::-1]


@wrong("one_hot", KINDS, mistake="width_from_the_largest_id")
def columns_up_to_the_largest_id(ids, V):
    return (ids[..., None] == np.arange(max(ids.ravel(), default=0) + 1)).astype(float)


@wrong("one_hot", ONE_HOT_VALUES, mistake="counts_of_the_ids")
def sum_over_all_positions(ids, V):
    return np.eye(V)[ids.ravel()].sum(axis=0)


@wrong("one_hot", "any_shape_of_ids", mistake="flattened")
def loop_over_a_flat_list(ids, V):
    out = np.zeros((ids.size, V))
    for n, i in enumerate(ids.flat):
        out[n, i] = 1
    return out


@wrong("one_hot", "any_integer_dtype leaves_ids_alone", mistake="places_counted_in_ids")
def places_added_in_place(ids, V):
    shape = ids.shape
    places = ids.reshape(ids.size)  # a view
    np.add(places, np.arange(ids.size) * V, out=places, casting="unsafe")
    out = np.zeros(ids.size * V)
    out[places] = 1
    return out.reshape(*shape, V)


# Two mistakes at once


@two_mistakes("one_hot", "width_from_the_largest_id counted_from_one")
def from_one_and_as_wide_as_the_largest_id(ids, V):
    return np.eye(ids.max(initial=0) + 1)[ids.astype(int) - 1]


@two_mistakes("one_hot", "integers flattened")
def integers_flattened(ids, V):
    return np.eye(V, dtype=np.int64)[ids.ravel()]


@two_mistakes("one_hot", "transposed booleans")
def transposed_booleans(ids, V):
    return (ids[..., None] == np.arange(V)).T


@two_mistakes("one_hot", "flattened ids_reshaped_in_place")
def flattened_in_place(ids, V):
    ids.shape = -1
    return np.eye(V)[ids]
