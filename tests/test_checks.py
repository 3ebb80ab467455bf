"""The checks from both sides: every correct solution passes, every mistake fails at the check meant for it.

A correct solution stands under ``@right(exercise)``; a mistake under ``@wrong(exercise, failing checks, message)``,
where the message is a part of what the first failing check tells the student.
"""

import inspect
import itertools
import types

import numpy as np
import pytest
import scipy.sparse

import autograder
import solutions
from autograder.checks import check_of, tools
from autograder.exercises import exercise

NAMES = solutions.__all__
RIGHT: list = []
WRONG: list = []


def right(exercise):
    return lambda function: RIGHT.append(pytest.param(exercise, function, id=f"{exercise}-{function.__name__}"))


def wrong(exercise, failing, message):
    def register(function):
        name = f"{exercise}-{function.__name__}"
        WRONG.append(pytest.param(exercise, function, set(failing.split()), message, id=name))

    return register


@pytest.mark.parametrize(("exercise", "function"), RIGHT)
def test_a_correct_solution_gets_full_points(exercise, function):
    report = autograder.check(exercise, function)
    assert report.points == report.max_points, str(report)


@pytest.mark.parametrize(("exercise", "function", "failing", "message"), WRONG)
def test_a_mistake_fails_at_the_check_meant_for_it(exercise, function, failing, message):
    report = autograder.check(exercise, function)
    failed = [result for result in report.checks if not result.passed]
    assert {result.name for result in failed} == failing, str(report)
    assert message in failed[0].message, str(report)


# --- one_hot -----------------------------------------------------------------------------------------------------

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


@wrong("one_hot", "any_shape_of_ids", "The shape is (6, 7); it should be (2, 3, 7)")
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


# --- embedding_forward -------------------------------------------------------------------------------------------

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


# --- embedding_backward ------------------------------------------------------------------------------------------

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
    "one_id_or_none dtypes_and_inputs"
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


@wrong("embedding_backward", "padding_row_is_zero", "padding_idx was 0")
def padding_row_not_zeroed(ids, grad_out, V, padding_idx=None):
    return solutions.embedding_backward(ids, grad_out, V)


@wrong("embedding_backward", "padding_row_is_zero", "padding_idx was -1. 0 is a padding index too")
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
    "each_upstream_row_lands_in_its_row repeats_add_up one_id_or_none",
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


@wrong("embedding_backward", "many_repeats_add_up one_id_or_none", "`grad[ids] += grad_out` keeps only the last")
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


@wrong("embedding_backward", "dtypes_and_inputs", "Your function changed ids from [4, 3, 4] to [3, 3, 3]")
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


# --- any exercise ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_there_are_enough_of_both(name):
    assert sum(parameter.values[0] == name for parameter in RIGHT) >= 6  # the reference and five others
    assert sum(parameter.values[0] == name for parameter in WRONG) >= 8


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "Your function should return a NumPy array"),
        ([[1.0]], "Your function should return a NumPy array"),
        ((np.ones(3),), "Your function should return a NumPy array"),
        (np.ones((3, 1, 4, 1, 5)), "The shape is (3, 1, 4, 1, 5); it should be ("),
        (np.array("text"), "The shape is (); it should be ("),
    ],
    ids=["None", "list", "tuple", "shape", "text"],
)
def test_the_same_answer_to_everything_gets_nothing(name, answer, message):
    report = autograder.check(name, lambda *args, **kwargs: answer)
    unchanged = [result.name for result in report.checks if result.passed]
    if isinstance(answer, np.ndarray):  # a check that is about the inputs alone passes
        assert set(unchanged) <= {"leaves_ids_alone", "a_copy_of_the_table"}
    else:
        assert unchanged == []
    for result in report.checks:
        assert result.passed or message in result.message


@pytest.mark.parametrize("name", NAMES)
def test_not_written_yet(name):
    def unwritten(*args, **kwargs):
        raise NotImplementedError

    report = autograder.check(name, unwritten)
    assert report.points == 0
    assert all("is not written yet" in result.message for result in report.checks)


@pytest.mark.parametrize("name", NAMES)
def test_the_message_quotes_the_line_that_raised(name):
    def careless(*args, **kwargs):
        return np.zeros(3)[7]  # three numbers only

    for result in autograder.check(name, careless).checks:
        assert result.message.startswith("Your function raised IndexError: index 7 is out of bounds")
        assert result.message.endswith("`return np.zeros(3)[7]  # three numbers only`)")


@pytest.mark.parametrize("name", NAMES)
def test_checks_share_nothing(name):
    """A function that overwrites all that it was given and all that it gave back spoils no later call."""
    given: list[np.ndarray] = []

    def vandal(*args, **kwargs):
        result = exercise(name).function(*args, **kwargs)
        given.extend([value for value in args if isinstance(value, np.ndarray)] + [result])
        return result

    autograder.check(name, vandal)
    assert given
    for array in given:
        array[...] = 99
    report = autograder.check(name, exercise(name).function)
    assert report.points == report.max_points


@pytest.mark.parametrize("name", NAMES)
def test_form(name):
    checks = exercise(name).checks
    assert {check.hidden for check in checks} == {True, False}
    assert len({check.name for check in checks}) == len(checks)
    for check in checks:
        assert isinstance(check.points, int)
        assert check.points > 0
        assert check.sentence.endswith(".")
        assert len(str(inspect.getdoc(check.run)).splitlines()) == 1  # one sentence on one line
        assert list(inspect.signature(check.run).parameters) == [name]
        assert check.source.startswith(f"def {check.name}({name}):\n")


@pytest.mark.parametrize("name", NAMES)
def test_source_needs_numpy_and_tools_only(name):
    helpers = {key: value for key, value in vars(tools).items() if isinstance(value, types.FunctionType)}
    for check in exercise(name).checks:
        namespace: dict = {"np": np, **helpers}
        exec(check.source, namespace)
        namespace[check.name](exercise(name).function)
        with pytest.raises(NotImplementedError):
            namespace[check.name](_unwritten)


def _unwritten(*args, **kwargs):
    raise NotImplementedError


def test_a_second_check_of_the_same_name_is_refused():
    with pytest.raises(ValueError, match="one_hot has two checks named leaves_ids_alone; rename one"):

        @check_of("one_hot", points=1)
        def leaves_ids_alone(one_hot):
            """Not registered."""


def test_expect_tells_close_from_wrong():
    """Both limits hold for values of any size: float32 rounding passes, a thousandth does not."""
    rng = np.random.default_rng(5)
    for size, dtype in itertools.product([1e-12, 1.0, 1e12], [np.float32, np.float64]):
        want = (size * rng.uniform(0.5, 2, (4, 5))).astype(dtype)
        tools.expect(want.astype(np.float32).astype(dtype), want, "")
        tools.expect(np.nextafter(want, np.inf, dtype=dtype), want, "")
        for bad in (1 + 1e-3, 1 - 1e-3, np.nan, np.inf):
            got = want.copy()
            got[2, 3] *= bad
            with pytest.raises(AssertionError, match=r"^1 of 20 values are wrong. The first stands at \[2, 3\]: got"):
                tools.expect(got, want, "")
