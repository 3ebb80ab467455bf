"""Known mistakes of chapter 03: the backward pass."""

from collections.abc import Callable
from functools import wraps

import numpy as np

from autograder.misconceptions import misconception
from solutions import embedding_backward

REPEATS = "repeats_add_up many_repeats_add_up"
ALL = (
    "each_upstream_row_lands_in_its_row repeats_add_up a_batch_of_sequences many_repeats_add_up padding_row_is_zero "
    "any_shape_of_ids dtypes_and_inputs"
)


def without_padding(accumulate: Callable) -> Callable:
    """The gradient of a function that knows nothing of padding, with the row of padding_idx zeroed."""

    @wraps(accumulate)
    def function(ids, grad_out, V, padding_idx=None):
        grad = accumulate(ids, grad_out, V)
        if padding_idx is not None:
            grad[padding_idx] = 0
        return grad

    return function


@misconception(
    "embedding_backward",
    fails=REPEATS,
    hint="this is the fancy-indexing trap: `grad[ids] += grad_out` keeps only the last",
)
@without_padding
def fancy_index_trap(ids, grad_out, V):
    """This is the fancy-indexing trap: `grad[ids] += grad_out` keeps one upstream row of an id that repeats, not
    their sum. np.add.at adds every one.
    """
    grad = np.zeros((V, grad_out.shape[-1]), grad_out.dtype)
    grad[ids] += grad_out
    return grad


@misconception("embedding_backward", fails=REPEATS, hint="Row 2 should be the sum of upstream rows 0 and 2")
@without_padding
def first_occurrence_only(ids, grad_out, V):
    """An id that repeats has only its first upstream row; its row of the gradient is the sum of all of them."""
    grad = np.zeros((V, grad_out.shape[-1]), grad_out.dtype)
    distinct, first = np.unique(ids, return_index=True)
    grad[distinct] = grad_out.reshape(ids.size, -1 if ids.size else grad.shape[1])[first]
    return grad


@misconception("embedding_backward", fails=REPEATS, hint="got 1.5, expected 3. Row 2 should be the sum")
@without_padding
def mean_for_sum(ids, grad_out, V):
    """An id that repeats has the mean of its upstream rows. The chain rule adds them up: do not divide by how
    often the id stands there.
    """
    grad = embedding_backward(ids, grad_out, V)
    count = np.bincount(ids.ravel(), minlength=V)
    return (grad / np.maximum(count, 1)[:, None]).astype(grad.dtype)


@misconception("embedding_backward", fails="padding_row_is_zero", hint="0 is a padding index too: compare with None")
def truth_of_padding_idx(ids, grad_out, V, padding_idx=None):
    """padding_idx=0 is treated as no padding: `if padding_idx:` is false for 0. Write `if padding_idx is not
    None:`.
    """
    grad = embedding_backward(ids, grad_out, V)
    if padding_idx:
        grad[padding_idx] = 0
    return grad


@misconception("embedding_backward", fails="padding_row_is_zero", hint="padding_idx was 3")
def padding_row_not_zeroed(ids, grad_out, V, padding_idx=None):
    """The row of padding_idx holds its gradient: set that row to zero when padding_idx is not None."""
    return embedding_backward(ids, grad_out, V)


@misconception("embedding_backward", fails="padding_row_is_zero", hint="padding_idx was -1")
def negative_padding_ignored(ids, grad_out, V, padding_idx=None):
    """A negative padding_idx changes nothing, perhaps since it is compared with ids, none of which is negative. It
    counts from the end: -1 is the last row. Add V to it first, or use it as an index of the gradient's rows.
    """
    mask = (ids != padding_idx)[..., None] if padding_idx is not None else True
    return embedding_backward(ids, (grad_out * mask).astype(grad_out.dtype), V)


@misconception("embedding_backward", fails=ALL, hint="got 0, expected 2.5")
def everything_zeroed_without_padding(ids, grad_out, V, padding_idx=None):
    """Without padding the whole gradient is zero: `grad[None] = 0` writes every row. Test `padding_idx is not
    None` first.
    """
    grad = embedding_backward(ids, grad_out, V)
    grad[padding_idx] = 0  # None adds an axis: all rows
    return grad


@misconception(
    "embedding_backward",
    fails="each_upstream_row_lands_in_its_row repeats_add_up any_shape_of_ids",
    hint="it should be (6, 2). Row ids[n] receives grad_out[n]. The gradient has V rows, whichever ids occur",
)
@without_padding
def rows_from_the_largest_id(ids, grad_out, V):
    """The gradient has as many rows as the largest id plus one. It has V rows, whichever ids occur."""
    return embedding_backward(ids, grad_out, int(ids.max()) + 1 if ids.size else V)


@misconception(
    "embedding_backward",
    fails="a_batch_of_sequences many_repeats_add_up",
    hint="Treat ids as one list of B * T positions",
)
@without_padding
def first_sequence_of_the_batch(ids, grad_out, V):
    """Only the first sequence of the batch counts. Every position of ids passes its upstream row on."""
    if ids.ndim > 1:
        ids, grad_out = ids[0], grad_out[0]
    return embedding_backward(ids, grad_out, V)


@misconception(
    "embedding_backward",
    fails="many_repeats_add_up any_shape_of_ids",
    hint="`grad[ids] += grad_out` keeps only the last",
)
@without_padding
def loop_over_the_first_axis(ids, grad_out, V):
    """The loop runs over the first axis of ids only, and within a sequence `grad[ids[n]] += ...` keeps one of the
    repeats. Flatten ids and grad_out first.
    """
    grad = np.zeros((V, grad_out.shape[-1]), grad_out.dtype)
    for n in range(len(ids)):
        grad[ids[n]] += grad_out[n]  # the trap, within a sequence of a batch
    return grad


@misconception(
    "embedding_backward",
    fails="dtypes_and_inputs",
    hint="The dtype is float64; it should be float32. grad_out was float32",
)
@without_padding
def double_precision_gradient(ids, grad_out, V):
    """The gradient is float64 whatever came in: np.zeros makes float64. Give it dtype=grad_out.dtype."""
    grad = np.zeros((V, grad_out.shape[-1]))
    np.add.at(grad, ids, grad_out)
    return grad


@misconception(
    "embedding_backward", fails="dtypes_and_inputs", hint="Your function changed grad_out: zero a row of the gradient"
)
def padding_zeroed_in_the_input(ids, grad_out, V, padding_idx=None):
    """Your function zeroes rows of grad_out itself, and grad_out belongs to the caller. Zero the row of the
    gradient, or a copy.
    """
    if padding_idx is not None:
        grad_out[ids == padding_idx % V] = 0
    return embedding_backward(ids, grad_out, V)


@misconception("embedding_backward", fails="dtypes_and_inputs", hint="Your function changed grad_out")
@without_padding
def accumulated_in_the_input(ids, grad_out, V):
    """Your function adds repeats up inside grad_out itself, and grad_out belongs to the caller. Add them up in the
    gradient.
    """
    flat, G = ids.ravel(), grad_out.reshape(ids.size, grad_out.shape[-1])
    grad = np.zeros((V, G.shape[1]), G.dtype)
    for n in range(ids.size):
        first = np.flatnonzero(flat == flat[n])[0]
        if first != n:
            G[first] += G[n]
        grad[flat[n]] = G[first]
    return grad


@misconception(
    "embedding_backward", fails="dtypes_and_inputs", hint="Your function changed ids from [[4, 3, 4]] to [[3, 3, 3]]"
)
@without_padding
def ids_overwritten(ids, grad_out, V):
    """Your function writes into ids, which belong to the caller. Work on a copy."""
    grad = embedding_backward(ids, grad_out, V)
    ids[...] = 3
    return grad


@misconception("embedding_backward", fails=ALL, hint="Row ids[n] receives grad_out[n]")
@without_padding
def row_before_the_id(ids, grad_out, V):
    """Each upstream row lands one row above its own: ids count from 0, and so do the rows of the table."""
    return embedding_backward((ids.astype(int) - 1) % V, grad_out, V)


@misconception("embedding_backward", fails=ALL, hint="The shape is (2, 6); it should be (6, 2)")
def gradient_transposed(ids, grad_out, V, padding_idx=None):
    """The gradient is transposed: it has the shape of the table, V rows and d columns."""
    return embedding_backward(ids, grad_out, V, padding_idx).T


@misconception("embedding_backward", fails=ALL, hint="The dtype is int64; it should be float64")
@without_padding
def integer_accumulator(ids, grad_out, V):
    """The gradient was made of integers, which cut off all after the decimal point. Give np.zeros the dtype of
    grad_out.
    """
    grad = np.zeros((V, grad_out.shape[-1]), dtype=int)
    np.add.at(grad, ids, grad_out)
    return grad


@misconception("embedding_backward", fails="many_repeats_add_up", hint="no mean and no last one")
@without_padding
def half_precision_accumulator(ids, grad_out, V):
    """The sums were taken in float16, which keeps three digits and swallows small terms. Add up in grad_out's
    dtype.
    """
    grad = np.zeros((V, grad_out.shape[-1]), dtype=np.float16)
    np.add.at(grad, ids, grad_out.astype(np.float16))
    return grad.astype(grad_out.dtype)


@misconception("embedding_backward", fails="any_shape_of_ids", hint="it should be (7, 1)")
def squeezed(ids, grad_out, V, padding_idx=None):
    """An axis of length 1 was dropped from the gradient. Its shape is (V, d) even where d is 1."""
    return embedding_backward(ids, grad_out, V, padding_idx).squeeze()


@misconception("embedding_backward", fails="padding_row_is_zero", hint="id 0 stood at three positions")
def first_padding_only_left_out(ids, grad_out, V, padding_idx=None):
    """Only the first position of the padding id was left out. None of its positions counts: the row of padding_idx
    is zero.
    """
    grad = embedding_backward(ids, grad_out, V)
    if padding_idx is not None:
        at = np.flatnonzero(ids.ravel() == padding_idx % V)[:1]
        grad[padding_idx] -= grad_out.reshape(-1, grad.shape[1])[at].sum(axis=0)
    return grad


@misconception("embedding_backward", fails="dtypes_and_inputs", hint="Your function changed ids")
def ids_reshaped_in_place(ids, grad_out, V, padding_idx=None):
    """Your function changed the shape of ids itself. `ids.reshape(-1)` gives a flat view and leaves ids as they
    were.
    """
    grad = embedding_backward(ids, grad_out, V, padding_idx)
    ids.shape = -1
    return grad
