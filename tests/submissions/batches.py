"""Chapter 02: `embedding_forward`."""

import numpy as np
import scipy.sparse

import solutions
from submissions import right, wrong

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


@wrong("embedding_forward", "a_copy_of_the_table", "For ids [1, 2, 3] the result is a view of E")
def view_for_a_slice(E, ids):
    flat = ids.ravel().astype(int)
    if ids.ndim == 1 and np.all(np.diff(flat) == 1):
        return E[flat[0] : flat[-1] + 1]
    return E[ids]


@wrong("embedding_forward", "a_copy_of_the_table", "For ids 2 the result is a view of E")
def view_for_a_single_id(E, ids):
    return E[int(ids)] if ids.ndim == 0 else E[ids]


@wrong(
    "embedding_forward",
    "a_batch_of_sequences any_shape_of_ids",
    "The shape is (6, 4); it should be (2, 3, 4)",
)
def flattened_output(E, ids):
    return E[ids.ravel()]


@wrong("embedding_forward", "a_batch_of_sequences any_shape_of_ids", "every sequence, not the first alone")
def first_sequence_only(E, ids):
    return E[ids[0]] if ids.ndim > 1 else E[ids]


@wrong("embedding_forward", "a_batch_of_sequences any_shape_of_ids", "every sequence, not the first alone")
def first_sequence_for_all(E, ids):
    return np.broadcast_to(E[ids[0]], (*ids.shape, E.shape[1])).copy() if ids.ndim > 1 else E[ids]


@wrong("embedding_forward", FORWARD_VALUES, "Result n is row ids[n] of E")
def row_before(E, ids):
    return np.take(E, ids.astype(int) - 1, axis=0)


@wrong("embedding_forward", FORWARD_ALL, "Your function raised IndexError: index 3 is out of bounds for axis 1")
def columns(E, ids):
    return E[:, ids]


@wrong("embedding_forward", FORWARD_ALL, "Result n is row ids[n] of E, a whole row")
def first_number_of_each_row(E, ids):
    return E[ids, 0]


@wrong("embedding_forward", "any_dtype", "The dtype is float64; it should be float16. The table was float16")
def double_precision_always(E, ids):
    return E.astype(np.float64)[ids]


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


@wrong(
    "embedding_forward",
    "a_batch_of_sequences any_shape_of_ids any_dtype",
    "Position (b, t) holds row ids[b, t]",
)
def id_0_taken_for_padding(E, ids):
    return E[ids] * (ids != 0)[..., None].astype(E.dtype)


@wrong("embedding_forward", FORWARD_VALUES, "values are wrong")
def scaled_by_the_square_root_of_the_width(E, ids):
    return (E[ids] * np.sqrt(E.shape[1])).astype(E.dtype)


@wrong("embedding_forward", "any_shape_of_ids", "need at least one array")
def stack_of_nothing(E, ids):
    return E[ids] if ids.ndim == 0 else np.stack([E[i] for i in ids.ravel()]).reshape(*ids.shape, -1)


@wrong("embedding_forward", "any_shape_of_ids", "it should be (2,). A single id of shape ()")
def an_axis_for_a_single_id(E, ids):
    return E[np.atleast_1d(ids)]


@wrong("embedding_forward", "any_shape_of_ids", "The shape is (")
def squeezed(E, ids):
    return solutions.embedding_forward(E, ids).squeeze()
