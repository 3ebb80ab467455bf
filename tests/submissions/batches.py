"""Chapter 02: `embedding_forward`."""

import numpy as np
import scipy.sparse

import solutions
from submissions import right, two_mistakes, wrong

right("embedding_forward")(solutions.embedding_forward)


@right("embedding_forward")
def plain_indexing(E, ids):
    return E[ids]


@right("embedding_forward")
def take(E, ids):
    return np.take(E, ids, axis=0)


@right("embedding_forward")
def one_hot_product(E, ids):
    return np.eye(len(E), dtype=E.dtype)[ids] @ E


@right("embedding_forward")
def loop_over_places(E, ids):
    out = np.empty(ids.shape + (E.shape[1],), dtype=E.dtype)
    for position in np.ndindex(ids.shape):
        out[position] = E[ids[position]]
    return out


@right("embedding_forward")
def list_of_rows(E, ids):
    return np.array([E[i] for i in ids.flatten()], dtype=E.dtype).reshape(ids.shape + (E.shape[1],))


@right("embedding_forward")
def einsum_in_float64(E, ids):
    one_hot = np.equal.outer(ids, np.arange(E.shape[0]))
    return np.einsum("...v,vd->...d", one_hot, E.astype(np.float64)).astype(E.dtype)


@right("embedding_forward")
def float32_inside(E, ids):
    return E.astype(np.float32)[ids].astype(E.dtype)


@right("embedding_forward")
def sparse_product(E, ids):
    N = ids.size
    P = scipy.sparse.csr_matrix((np.ones(N), (np.arange(N), ids.ravel())), shape=(N, len(E)))
    return (P @ E.astype(np.float64)).astype(E.dtype).reshape(*ids.shape, -1 if N else E.shape[1])


@right("embedding_forward")
def column_by_column(E, ids):
    return np.stack([E[:, j][ids] for j in range(E.shape[1])], axis=-1)


@right("embedding_forward")
def choose_by_mask(E, ids):
    out = np.zeros((*ids.shape, E.shape[1]), E.dtype)
    for v in range(E.shape[0]):
        out[ids == v] = E[v]
    return out


@right("embedding_forward")
def copy_of_a_slice(E, ids):
    flat = ids.ravel()
    if ids.ndim == 1 and np.all(np.diff(flat.astype(int)) == 1):
        return E[flat[0] : flat[-1] + 1].copy()
    return E[ids]


FORWARD_VALUES = "one_row_for_each_id a_batch_of_sequences any_shape_of_ids any_dtype"
FORWARD_ALL = f"{FORWARD_VALUES} a_copy_of_the_table"


@wrong("embedding_forward", FORWARD_ALL, "Your function raised IndexError: index 3 is out of bounds for axis 1")
def columns(E, ids):
    return E[:, ids]


@wrong("embedding_forward", "a_copy_of_the_table", "Your function changed the table")
def table_zeroed_afterwards(E, ids):
    out = E[ids]
    E[...] = 0
    return out


@wrong("embedding_forward", "a_copy_of_the_table", "Your function changed ids from [0, 3, 0] to [0, 0, 0]")
def ids_zeroed_too(E, ids):
    out = E[ids]
    ids[...] = 0
    return out


@wrong("embedding_forward", FORWARD_VALUES, "values are wrong")
def off_by_a_thousandth(E, ids):
    return E[ids] * E.dtype.type(1.002)


@wrong("embedding_forward", FORWARD_VALUES, "got nan, expected 3.7")
def nan_everywhere(E, ids):
    return E[ids] * E.dtype.type(np.nan)


@wrong("embedding_forward", FORWARD_ALL, "it returned a list")
def list_of_the_rows(E, ids):
    return [E[i] for i in ids.ravel()]


@wrong("embedding_forward", "a_batch_of_sequences any_shape_of_ids", mistake="mean_over_the_sequence")
def bag_of_each_sequence(E, ids):
    if ids.ndim < 2:
        return E[ids]
    return np.array([sum(E[i] for i in sequence) / ids.shape[1] for sequence in ids]) if ids.size else E[ids].mean(1)


@wrong("embedding_forward", "a_batch_of_sequences any_shape_of_ids", mistake="flattened_output")
def list_of_all_rows(E, ids):
    return np.array([E[i] for i in ids.flat], dtype=E.dtype).reshape(-1, E.shape[1])


@wrong("embedding_forward", "any_dtype", mistake="double_precision_always")
def filled_into_zeros(E, ids):
    out = np.zeros((*ids.shape, E.shape[1]))
    for position in np.ndindex(ids.shape):
        out[position] = E[ids[position]]
    return out


@wrong("embedding_forward", FORWARD_VALUES, mistake="made_like_the_ids")
def filled_into_integers(E, ids):
    out = np.empty((*ids.shape, E.shape[1]), ids.dtype)
    out[...] = E[ids]
    return out


@wrong("embedding_forward", FORWARD_ALL, mistake="take_without_axis")
def from_the_flat_table(E, ids):
    return E.ravel()[ids]


# Two mistakes at once


@two_mistakes("embedding_forward", "row_before double_precision_always")
def row_before_in_double_precision(E, ids):
    return np.take(E.astype(float), ids.astype(int) - 1, axis=0)


@two_mistakes("embedding_forward", "scaled_by_the_square_root_of_the_width id_0_taken_for_padding")
def scaled_and_id_0_taken_for_padding(E, ids):
    return (E[ids] * np.sqrt(E.shape[1]) * (ids != 0)[..., None]).astype(E.dtype)


@two_mistakes("embedding_forward", "flattened_output double_precision_always")
def flattened_in_double_precision(E, ids):
    return E.astype(float)[ids.ravel()]


@two_mistakes("embedding_forward", "first_sequence_only view_for_a_single_id")
def first_sequence_and_a_view(E, ids):
    if ids.ndim > 1:
        return E[ids[0]]
    return E[int(ids)] if ids.ndim == 0 else E[ids]
