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


@wrong(
    "embedding_backward",
    REPEATS,
    "this is the fancy-indexing trap: `grad[ids] += grad_out` keeps only the last",
)
@without_padding
def fancy_index_trap(ids, grad_out, V):
    grad = np.zeros((V, grad_out.shape[-1]), grad_out.dtype)
    grad[ids] += grad_out
    return grad


@wrong("embedding_backward", REPEATS, "this is the fancy-indexing trap")
@without_padding
def last_occurrence_assigned(ids, grad_out, V):
    grad = np.zeros((V, grad_out.shape[-1]), grad_out.dtype)
    grad[ids] = grad_out
    return grad


@wrong("embedding_backward", REPEATS, "Row 2 should be the sum of upstream rows 0 and 2")
@without_padding
def first_occurrence_only(ids, grad_out, V):
    grad = np.zeros((V, grad_out.shape[-1]), grad_out.dtype)
    distinct, first = np.unique(ids, return_index=True)
    grad[distinct] = grad_out.reshape(ids.size, -1 if ids.size else grad.shape[1])[first]
    return grad


@wrong("embedding_backward", REPEATS, "got 1.5, expected 3. Row 2 should be the sum")
@without_padding
def mean_for_sum(ids, grad_out, V):
    grad = solutions.embedding_backward(ids, grad_out, V)
    count = np.bincount(ids.ravel(), minlength=V)
    return (grad / np.maximum(count, 1)[:, None]).astype(grad.dtype)


@wrong("embedding_backward", "padding_row_is_zero", "0 is a padding index too: compare with None")
def truth_of_padding_idx(ids, grad_out, V, padding_idx=None):
    grad = solutions.embedding_backward(ids, grad_out, V)
    if padding_idx:
        grad[padding_idx] = 0
    return grad


@wrong("embedding_backward", "padding_row_is_zero", "padding_idx was 3")
def padding_row_not_zeroed(ids, grad_out, V, padding_idx=None):
    return solutions.embedding_backward(ids, grad_out, V)


@wrong("embedding_backward", "padding_row_is_zero", "padding_idx was -1")
def negative_padding_compared_with_ids(ids, grad_out, V, padding_idx=None):
    mask = (ids != padding_idx)[..., None] if padding_idx is not None else True
    return solutions.embedding_backward(ids, (grad_out * mask).astype(grad_out.dtype), V)


@wrong("embedding_backward", "padding_row_is_zero", "padding_idx was -1")
def negative_padding_taken_for_none(ids, grad_out, V, padding_idx=-1):
    if padding_idx is None or padding_idx < 0:
        return solutions.embedding_backward(ids, grad_out, V)
    return solutions.embedding_backward(ids, grad_out, V, padding_idx)


@wrong("embedding_backward", BACKWARD_ALL, "got 0, expected 2.5")
def everything_zeroed_without_padding(ids, grad_out, V, padding_idx=None):
    grad = solutions.embedding_backward(ids, grad_out, V)
    grad[padding_idx] = 0  # None adds an axis: all rows
    return grad


@wrong(
    "embedding_backward",
    "each_upstream_row_lands_in_its_row repeats_add_up any_shape_of_ids",
    "it should be (6, 2). Row ids[n] receives grad_out[n]. The gradient has V rows, whichever ids occur",
)
@without_padding
def rows_from_the_largest_id(ids, grad_out, V):
    return solutions.embedding_backward(ids, grad_out, int(ids.max()) + 1 if ids.size else V)


@wrong(
    "embedding_backward",
    "a_batch_of_sequences many_repeats_add_up",
    "Treat ids as one list of B * T positions",
)
@without_padding
def first_sequence_of_the_batch(ids, grad_out, V):
    if ids.ndim > 1:
        ids, grad_out = ids[0], grad_out[0]
    return solutions.embedding_backward(ids, grad_out, V)


@wrong("embedding_backward", "many_repeats_add_up any_shape_of_ids", "`grad[ids] += grad_out` keeps only the last")
@without_padding
def loop_over_the_first_axis(ids, grad_out, V):
    grad = np.zeros((V, grad_out.shape[-1]), grad_out.dtype)
    for n in range(len(ids)):
        grad[ids[n]] += grad_out[n]  # the trap, within a sequence of a batch
    return grad


@wrong(
    "embedding_backward",
    "dtypes_and_inputs",
    "The dtype is float64; it should be float32. grad_out was float32",
)
@without_padding
def double_precision_gradient(ids, grad_out, V):
    grad = np.zeros((V, grad_out.shape[-1]))
    np.add.at(grad, ids, grad_out)
    return grad


@wrong("embedding_backward", "dtypes_and_inputs", "Your function changed grad_out: zero a row of the gradient")
def padding_zeroed_in_the_input(ids, grad_out, V, padding_idx=None):
    if padding_idx is not None:
        grad_out[ids == padding_idx % V] = 0
    return solutions.embedding_backward(ids, grad_out, V)


@wrong("embedding_backward", "dtypes_and_inputs", "Your function changed grad_out")
@without_padding
def accumulated_in_the_input(ids, grad_out, V):
    flat, G = ids.ravel(), grad_out.reshape(ids.size, grad_out.shape[-1])
    grad = np.zeros((V, G.shape[1]), G.dtype)
    for n in range(ids.size):
        first = np.flatnonzero(flat == flat[n])[0]
        if first != n:
            G[first] += G[n]
        grad[flat[n]] = G[first]
    return grad


@wrong("embedding_backward", "dtypes_and_inputs", "Your function changed ids from [[4, 3, 4]] to [[3, 3, 3]]")
@without_padding
def ids_overwritten(ids, grad_out, V):
    grad = solutions.embedding_backward(ids, grad_out, V)
    ids[...] = 3
    return grad


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


@wrong("embedding_backward", BACKWARD_ALL, "Row ids[n] receives grad_out[n]")
@without_padding
def row_before_the_id(ids, grad_out, V):
    return solutions.embedding_backward((ids.astype(int) - 1) % V, grad_out, V)


@wrong("embedding_backward", BACKWARD_ALL, "The shape is (2, 6); it should be (6, 2)")
def gradient_transposed(ids, grad_out, V, padding_idx=None):
    return solutions.embedding_backward(ids, grad_out, V, padding_idx).T


@wrong("embedding_backward", BACKWARD_ALL, "The dtype is int64; it should be float64")
@without_padding
def integer_accumulator(ids, grad_out, V):
    grad = np.zeros((V, grad_out.shape[-1]), dtype=int)
    np.add.at(grad, ids, grad_out)
    return grad


@wrong("embedding_backward", "many_repeats_add_up", "no mean and no last one")
@without_padding
def half_precision_accumulator(ids, grad_out, V):
    grad = np.zeros((V, grad_out.shape[-1]), dtype=np.float16)
    np.add.at(grad, ids, grad_out.astype(np.float16))
    return grad.astype(grad_out.dtype)


@wrong("embedding_backward", "any_shape_of_ids", "it should be (7, 1)")
def squeezed(ids, grad_out, V, padding_idx=None):
    return solutions.embedding_backward(ids, grad_out, V, padding_idx).squeeze()


@wrong("embedding_backward", "padding_row_is_zero", "id 0 stood at three positions")
def first_padding_only_left_out(ids, grad_out, V, padding_idx=None):
    grad = solutions.embedding_backward(ids, grad_out, V)
    if padding_idx is not None:
        at = np.flatnonzero(ids.ravel() == padding_idx % V)[:1]
        grad[padding_idx] -= grad_out.reshape(-1, grad.shape[1])[at].sum(axis=0)
    return grad


@wrong("embedding_backward", "dtypes_and_inputs", "Your function changed ids")
def ids_reshaped_in_place(ids, grad_out, V, padding_idx=None):
    grad = solutions.embedding_backward(ids, grad_out, V, padding_idx)
    ids.shape = -1
    return grad


@wrong("embedding_backward", BACKWARD_ALL, "it returned a MaskedArray")
def masked(ids, grad_out, V, padding_idx=None):
    return np.ma.masked_all((V, grad_out.shape[-1]), grad_out.dtype)
