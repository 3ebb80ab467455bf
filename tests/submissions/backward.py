"""Chapter 03: `embedding_backward`."""

import numpy as np
import scipy.sparse

import solutions
from submissions import right, wrong

right("embedding_backward")(solutions.embedding_backward)


def without_padding(accumulate):
    """The gradient of a function that knows nothing of padding, with the row of padding_idx zeroed."""

    def embedding_backward(ids, grad_out, V, padding_idx=None):
        grad = accumulate(ids, grad_out, V)
        if padding_idx is not None:
            grad[padding_idx] = 0
        return grad

    embedding_backward.__name__ = accumulate.__name__
    return embedding_backward


@right("embedding_backward")
def add_at_without_reshaping(ids, grad_out, V, padding_idx=None):
    grad = np.zeros((V, grad_out.shape[-1]), grad_out.dtype)
    np.add.at(grad, ids, grad_out)
    if padding_idx is not None:
        grad[padding_idx] *= 0
    return grad


@right("embedding_backward")
def loop_that_skips_padding(ids, grad_out, V, padding_idx=None):
    if padding_idx is not None and padding_idx < 0:
        padding_idx += V
    grad = np.zeros((V, grad_out.shape[-1]), grad_out.dtype)
    for position in np.ndindex(ids.shape):
        if ids[position] != padding_idx:
            grad[ids[position]] += grad_out[position]
    return grad


@right("embedding_backward")
@without_padding
def one_hot_transposed_times_upstream(ids, grad_out, V):
    G = grad_out.reshape(ids.size, -1 if ids.size else grad_out.shape[-1])
    return np.eye(V, dtype=grad_out.dtype)[ids.ravel()].T @ G


@right("embedding_backward")
@without_padding
def bincount_for_each_column(ids, grad_out, V):
    G = grad_out.reshape(ids.size, grad_out.shape[-1])
    columns = [np.bincount(ids.ravel(), weights=G[:, j], minlength=V) for j in range(G.shape[1])]
    return np.stack(columns, axis=1).astype(grad_out.dtype)


@right("embedding_backward")
@without_padding
def sort_and_reduceat(ids, grad_out, V):
    d = grad_out.shape[-1]
    grad = np.zeros((V, d), dtype=grad_out.dtype)
    if ids.size:
        order = np.argsort(ids.ravel(), kind="stable")
        distinct, starts = np.unique(ids.ravel()[order], return_index=True)
        grad[distinct] = np.add.reduceat(grad_out.reshape(-1, d)[order], starts, axis=0)
    return grad


@right("embedding_backward")
@without_padding
def differences_of_cumulative_sums(ids, grad_out, V):
    d = grad_out.shape[-1]
    order = np.argsort(ids, axis=None)
    sums = np.zeros((ids.size + 1, d))
    np.cumsum(grad_out.reshape(ids.size, d)[order], axis=0, out=sums[1:])
    ends = np.searchsorted(ids.ravel()[order].astype(np.int64), np.arange(V), side="right")
    return np.diff(sums[ends], axis=0, prepend=0).astype(grad_out.dtype)


@right("embedding_backward")
@without_padding
def einsum_with_one_hot(ids, grad_out, V):
    one_hot = np.equal.outer(ids.ravel(), np.arange(V)).astype(grad_out.dtype)
    return np.einsum("nv,nd->vd", one_hot, grad_out.reshape(ids.size, grad_out.shape[-1]))


@right("embedding_backward")
@without_padding
def sparse_matrix_product(ids, grad_out, V):
    N, d = ids.size, grad_out.shape[-1]
    P = scipy.sparse.csr_matrix((np.ones(N, grad_out.dtype), (ids.ravel(), np.arange(N))), shape=(V, N))
    return P @ grad_out.reshape(N, d)


@right("embedding_backward")
@without_padding
def sum_for_each_row_of_the_table(ids, grad_out, V):
    return np.array([grad_out[ids == v].sum(axis=0) for v in range(V)], dtype=grad_out.dtype)


@right("embedding_backward")
@without_padding
def dictionary_in_float64(ids, grad_out, V):
    d = grad_out.shape[-1]
    sums = {v: np.zeros(d) for v in range(V)}
    for i, g in zip(ids.ravel().tolist(), grad_out.reshape(ids.size, d), strict=True):
        sums[i] = sums[i] + g
    return np.array([sums[v] for v in range(V)]).astype(grad_out.dtype)


@right("embedding_backward")
@without_padding
def accumulated_in_float32(ids, grad_out, V):
    grad = np.zeros((V, grad_out.shape[-1]), dtype=np.float32)
    np.add.at(grad, ids, grad_out.astype(np.float32))
    return grad.astype(grad_out.dtype)


@right("embedding_backward")
def padding_masked_before_adding(ids, grad_out, V, padding_idx=None):
    d = grad_out.shape[-1]
    ids, G = ids.ravel(), grad_out.reshape(ids.size, d)
    if padding_idx is not None:
        keep = ids != padding_idx % V
        ids, G = ids[keep], G[keep]
    grad = np.zeros((V, d), dtype=G.dtype)
    np.add.at(grad, ids, G)
    return grad


REPEATS = "repeats_add_up many_repeats_add_up"
BACKWARD_ALL = (
    "each_upstream_row_lands_in_its_row repeats_add_up a_batch_of_sequences many_repeats_add_up padding_row_is_zero "
    "any_shape_of_ids dtypes_and_inputs"
)


@wrong("embedding_backward", REPEATS, mistake="fancy_index_trap")
@without_padding
def last_occurrence_assigned(ids, grad_out, V):
    grad = np.zeros((V, grad_out.shape[-1]), grad_out.dtype)
    grad[ids] = grad_out
    return grad


@wrong("embedding_backward", "padding_row_is_zero", mistake="negative_padding_ignored")
def negative_padding_taken_for_none(ids, grad_out, V, padding_idx=-1):
    if padding_idx is None or padding_idx < 0:
        return solutions.embedding_backward(ids, grad_out, V)
    return solutions.embedding_backward(ids, grad_out, V, padding_idx)


@wrong("embedding_backward", BACKWARD_ALL, "values are wrong")
@without_padding
def off_by_a_thousandth(ids, grad_out, V):
    return (solutions.embedding_backward(ids, grad_out, V) * (1 + 1e-3)).astype(grad_out.dtype)


@wrong("embedding_backward", BACKWARD_ALL, "got nan, expected 2.5")
@without_padding
def nan_where_an_id_does_not_occur(ids, grad_out, V):
    grad = solutions.embedding_backward(ids, grad_out, V)
    grad[np.bincount(ids.ravel(), minlength=V) == 0] = np.nan
    grad[0, 0] = np.nan
    return grad


@wrong("embedding_backward", BACKWARD_ALL, "it returned a MaskedArray")
def masked(ids, grad_out, V, padding_idx=None):
    return np.ma.masked_all((V, grad_out.shape[-1]), grad_out.dtype)
