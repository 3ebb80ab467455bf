"""Known mistakes of chapter 11: smaller tables, in two factors or in fewer bits."""

from collections.abc import Callable
from functools import wraps

import numpy as np

from autograder.misconceptions import misconception
from solutions import embedding_backward, factorized_backward, factorized_forward, quantize_rows, quantized_lookup

# factorized_forward

FORWARD = "short_rows_are_widened any_shape_of_ids any_width_and_dtype"


@misconception(
    "factorized_forward", fails=FORWARD, hint="The shape is (3, 2); it should be (3, 3). Result n is A[ids[n]] @ W:"
)
def not_widened(A, W, ids):
    """The rows of A were looked up and left narrow: m numbers in place of d. Multiply what you gathered with W."""
    return A[ids]


@misconception(
    "factorized_forward", fails=FORWARD, hint="matmul: Input operand 1 has a mismatch in its core dimension 0, with"
)
def second_factor_transposed(A, W, ids):
    """W was transposed, and then the shapes do not fit. W has m rows and d columns as it is: A[ids] @ W."""
    return A[ids] @ W.T


@misconception(
    "factorized_forward", fails=FORWARD, hint="The shape is (4, 3); it should be (3, 3). Result n is A[ids[n]] @ W:"
)
def whole_table(A, W, ids):
    """The ids were not used: A @ W is the whole table, with V rows. Look up the rows of A that ids names, then multiply
    them with W.
    """
    return A @ W


@misconception("factorized_forward", fails=FORWARD, hint="index 2 is out of bounds for axis 0 with size 2")
def ids_in_the_second_factor_too(A, W, ids):
    """W was indexed with ids. Its m rows belong to no token: all tokens share them. Index A alone."""
    return A[ids] @ W[ids]


@misconception("factorized_forward", fails=FORWARD, hint="index 2 is out of bounds for axis 1 with size 2")
def columns_of_the_first_factor(A, W, ids):
    """The ids were used as columns of A. A token is a row: A[ids], not A[:, ids]."""
    return A[:, ids] @ W


@misconception(
    "factorized_forward", fails=FORWARD, hint="operands could not be broadcast together with shapes (3,2) (2,3) "
)
def entry_by_entry(A, W, ids):
    """`*` multiplies entry by entry. A row of m numbers becomes d numbers by a matrix product: write @."""
    return A[ids] * W


@misconception(
    "factorized_forward",
    fails=FORWARD,
    hint="got -1, expected 12. Result n is A[ids[n]] @ W: gather a row of m numbers,",
)
def one_column_for_each_id(A, W, ids):
    """The product is the wrong way round: W.T @ A[ids].T has a column for each id, and it does not work for a batch.
    A[ids] @ W has a row for each.
    """
    return W.T @ A[ids].T


@misconception(
    "factorized_forward", fails=FORWARD, hint="got 30, expected 5.5. Result n is A[ids[n]] @ W: gather a row of m"
)
def row_before_the_id(A, W, ids):
    """Each result belongs to the row before its id. Ids count from 0, and so do the rows of A: no - 1."""
    return A[ids.astype(int) - 1] @ W


@misconception(
    "factorized_forward", fails=FORWARD, hint="got 2.75, expected 5.5. Result n is A[ids[n]] @ W: gather a row of m"
)
def divided_by_m(A, W, ids):
    """The result was divided by m. A row of the table is the plain product of a row of A with W, without a scale."""
    return A[ids] @ W / A.dtype.type(len(W))


@misconception(
    "factorized_forward", fails=FORWARD, hint="The dtype is int64; it should be float64. Result n is A[ids[n]] @ W:"
)
def integer_result(A, W, ids):
    """The result is made of integers, which cut off all after the decimal point, perhaps from np.zeros_like(ids). Give
    it the dtype of A.
    """
    return factorized_forward(A, W, ids).astype(int)


@misconception(
    "factorized_forward",
    fails="any_shape_of_ids",
    hint="The shape is (6, 4); it should be (2, 3, 4). Ids of shape (2, 3) give",
)
def flattened(A, W, ids):
    """The ids were flattened, and their shape is lost. The result has shape ids.shape + (d,): A[ids] keeps it by
    itself.
    """
    return A[ids.ravel()] @ W


@misconception(
    "factorized_forward",
    fails="any_shape_of_ids",
    hint="The shape is (3, 4); it should be (2, 3, 4). Ids of shape (2, 3) give",
)
def first_sequence_alone(A, W, ids):
    """Only the first sequence of the batch was looked up. Every id of ids has its row in the result."""
    return A[ids[0] if ids.ndim > 1 else ids] @ W


@misconception("factorized_forward", fails="any_shape_of_ids", hint="iteration over a 0-d array")
def loop_over_the_first_axis(A, W, ids):
    """A loop over ids works for a list or a batch; a single id of shape () cannot be looped over. A[ids] takes any
    shape.
    """
    return np.array([A[i] @ W for i in ids])


@misconception(
    "factorized_forward",
    fails="any_shape_of_ids",
    hint="could not broadcast input array from shape (3,4) into shape (4,)",
)
def one_row_for_each_of_the_first_axis(A, W, ids):
    """The result was made with len(ids) rows, which fits one list of ids. Its shape is ids.shape + (d,), and A[ids] @ W
    has it by itself.
    """
    H = np.zeros((len(ids), W.shape[1]), dtype=A.dtype)
    for n, i in enumerate(ids):
        H[n] = A[i] @ W
    return H


@misconception(
    "factorized_forward",
    fails="any_shape_of_ids",
    hint="The shape is (1, 4); it should be (4,). A single id of shape () gives",
)
def single_id_gets_an_axis(A, W, ids):
    """A single id of shape () came back as a list of one row. The result has shape ids.shape + (d,), here (d,)."""
    return A[np.atleast_1d(ids)] @ W


@misconception(
    "factorized_forward",
    fails="any_width_and_dtype",
    hint="The dtype is float64; it should be float32. m was 3 and d was 1; the",
)
def double_precision(A, W, ids):
    """The result is float64 whatever A was, perhaps from np.zeros without a dtype. It has the dtype of A."""
    return (A[ids] @ W).astype(np.float64)


@misconception(
    "factorized_forward",
    fails="any_width_and_dtype",
    hint="The shape is (3,); it should be (3, 1). m was 3 and d was 1; the factors",
)
def squeezed(A, W, ids):
    """An axis of length 1 was dropped. The last axis stays where d is 1."""
    return np.squeeze(A[ids] @ W)


# factorized_backward

FIRST = "rows_of_the_first_factor repeats_add_up batches_single_ids_and_no_ids dtypes_and_inputs"
SECOND = "the_second_factor_hears_every_position batches_single_ids_and_no_ids dtypes_and_inputs"
BOTH = f"the_second_factor_hears_every_position {FIRST}"


def right_second(gradient: Callable) -> Callable:
    """The right gradient of W beside the gradient of A of a function."""

    @wraps(gradient)
    def function(A, W, ids, grad_out):
        return gradient(A, W, ids, grad_out), factorized_backward(A, W, ids, grad_out)[1]

    return function


def right_first(gradient: Callable) -> Callable:
    """The right gradient of A beside the gradient of W of a function, which gets flat ids and upstream rows."""

    @wraps(gradient)
    def function(A, W, ids, grad_out):
        grad_A, _ = factorized_backward(A, W, ids, grad_out)
        return grad_A, gradient(A, W, ids.ravel(), grad_out.reshape(ids.size, W.shape[1]))

    return function


@misconception(
    "factorized_backward",
    fails="repeats_add_up",
    hint="got 2.8991, expected 33.663. Id 2, for one, stood in 16 places.",
)
@right_second
def fancy_index_trap(A, W, ids, grad_out):
    """This is the fancy-indexing trap: `grad_A[ids] += ...` keeps one position of an id that repeats, not the sum over
    all of them. np.add.at adds every one.
    """
    grad = np.zeros_like(A)
    grad[ids] += grad_out @ W.T
    return grad


@misconception(
    "factorized_backward",
    fails="the_second_factor_hears_every_position repeats_add_up",
    hint="got 0, expected 0.5. Entry (k, j) adds up A[ids[n], k] * grad_out[n, j]",
)
def trap_in_both(A, W, ids, grad_out):
    """Both gradients were made of a table gradient in which an id that repeats kept one upstream row:
    `grad_E[ids] += grad_out` is the fancy-indexing trap. np.add.at adds every one.
    """
    grad_E = np.zeros((len(A), W.shape[1]), A.dtype)
    grad_E[ids] += grad_out
    return grad_E @ W.T, A.T @ grad_E


@misconception(
    "factorized_backward",
    fails="repeats_add_up",
    hint="got 3.06028, expected 33.663. Id 2, for one, stood in 16 places.",
)
@right_second
def mean_of_the_repeats(A, W, ids, grad_out):
    """A row of A whose id repeats has the mean of what reaches it. The chain rule adds it up: do not divide by how
    often the id stands there.
    """
    grad, _ = factorized_backward(A, W, ids, grad_out)
    count = np.bincount(ids.ravel(), minlength=len(A))
    return (grad / np.maximum(count, 1)[:, None]).astype(A.dtype)


@misconception(
    "factorized_backward", fails=BOTH, hint="matmul: Input operand 1 has a mismatch in its core dimension 0, with"
)
def second_factor_not_transposed(A, W, ids, grad_out):
    """The upstream gradient was multiplied with W as it is, and the shapes do not fit. It has d numbers a row and A has
    m: the way back is grad_out @ W.T.
    """
    return grad_out @ W, A[ids].T @ grad_out


@misconception(
    "factorized_backward", fails=FIRST, hint="The shape is (4, 3); it should be (4, 2). A row of A was multiplied with"
)
@right_second
def upstream_without_the_second_factor(A, W, ids, grad_out):
    """The gradient of A has rows of d numbers: upstream rows were passed on as they are. Multiply them with W.T, which
    makes m numbers of d.
    """
    return embedding_backward(ids, grad_out, len(A))


@misconception(
    "factorized_backward", fails=FIRST, hint="The shape is (2, 2); it should be (4, 2). A row of A was multiplied with"
)
@right_second
def rows_that_occur_alone(A, W, ids, grad_out):
    """The gradient of A has rows only for ids that occur. It has A's shape; the row of an id that does not occur is
    zero.
    """
    return factorized_backward(A, W, ids, grad_out)[0][np.unique(ids)]


@misconception(
    "factorized_backward", fails=FIRST, hint="The shape is (2, 2); it should be (4, 2). A row of A was multiplied with"
)
@right_second
def one_row_for_each_position(A, W, ids, grad_out):
    """The gradient of A has a row for each position. It has A's shape: add the row of each position to the row of its
    id, with np.add.at.
    """
    return grad_out @ W.T


@misconception(
    "factorized_backward",
    fails=FIRST,
    hint="got -3.25, expected -4.25. A row of A was multiplied with W, so what comes",
)
@right_second
def begun_with_the_factor(A, W, ids, grad_out):
    """The gradient of A was added to A itself, or to a copy of it. Begin with zeros: np.zeros_like(A)."""
    return A + factorized_backward(A, W, ids, grad_out)[0]


@misconception(
    "factorized_backward", fails=FIRST, hint="The dtype is int64; it should be float64. A row of A was multiplied with"
)
@right_second
def integer_accumulator(A, W, ids, grad_out):
    """The gradient of A was made of integers, which cut off all after the decimal point. Give np.zeros the dtype of
    A.
    """
    grad = np.zeros(A.shape, int)
    np.add.at(grad, ids, grad_out @ W.T)
    return grad


@misconception(
    "factorized_backward", fails=SECOND, hint="got 6, expected 0.5. Entry (k, j) adds up A[ids[n], k] * grad_out[n, j]"
)
@right_first
def product_of_the_sums(A, W, ids, G):
    """The gradient of W was made of sums: rows of A added up, times upstream rows added up. Multiply at each position,
    and then add up: A[ids].T @ G does both.
    """
    return np.outer(A[ids].sum(axis=0), G.sum(axis=0))


@misconception(
    "factorized_backward", fails=SECOND, hint="got 2, expected 0.5. Entry (k, j) adds up A[ids[n], k] * grad_out[n, j]"
)
@right_first
def last_position_only(A, W, ids, G):
    """The gradient of W holds the last position alone, as with `=` in a loop. Every position adds to it: `+=`."""
    grad = np.zeros_like(W)
    for i, g in zip(ids, G, strict=True):
        grad = np.outer(A[i], g)
    return grad


@misconception(
    "factorized_backward", fails=SECOND, hint="got 0.166667, expected 0.5. Entry (k, j) adds up A[ids[n], k] *"
)
@right_first
def mean_over_positions(A, W, ids, G):
    """The gradient of W was divided by the number of positions. It is their sum: a mean belongs to the loss, and is in
    grad_out already.
    """
    return A[ids].T @ G / A.dtype.type(max(len(ids), 1))


@misconception(
    "factorized_backward", fails=BOTH, hint="got -2.125, expected -4.25. A row of A was multiplied with W, so what"
)
def both_divided_by_n(A, W, ids, grad_out):
    """Both gradients were divided by the number of positions. They are sums: a mean belongs to the loss, and is in
    grad_out already.
    """
    grad_A, grad_W = factorized_backward(A, W, ids, grad_out)
    return grad_A / A.dtype.type(max(ids.size, 1)), grad_W / A.dtype.type(max(ids.size, 1))


@misconception(
    "factorized_backward", fails=SECOND, hint="The shape is (3, 2); it should be (2, 3). Entry (k, j) adds up A[ids[n],"
)
@right_first
def second_gradient_transposed(A, W, ids, G):
    """The gradient of W is transposed. It has W's shape, m rows and d columns: A[ids].T @ G, not G.T @ A[ids]."""
    return G.T @ A[ids]


@misconception(
    "factorized_backward", fails=BOTH, hint="matmul: Input operand 1 has a mismatch in its core dimension 0, with"
)
def all_rows_for_those_read(A, W, ids, grad_out):
    """The gradient of W was made of all of A, which has V rows and not one for each position. Take the rows that were
    read: A[ids].T @ grad_out.
    """
    G = grad_out.reshape(ids.size, W.shape[1])
    return factorized_backward(A, W, ids, grad_out)[0], A.T @ G


@misconception(
    "factorized_backward", fails=BOTH, hint="The shape is (2, 3); it should be (4, 2). A row of A was multiplied with"
)
def swapped(A, W, ids, grad_out):
    """The two gradients are swapped. That of A comes first, then that of W."""
    return factorized_backward(A, W, ids, grad_out)[::-1]


@misconception(
    "factorized_backward", fails=BOTH, hint="Your function should return two things, the gradients of A and of W; it"
)
def first_gradient_alone(A, W, ids, grad_out):
    """Your function returns the gradient of A alone. Return both: grad_A, grad_W."""
    return factorized_backward(A, W, ids, grad_out)[0]


@misconception(
    "factorized_backward", fails=BOTH, hint="got 4.25, expected -4.25. A row of A was multiplied with W, so what comes"
)
def sign_of_the_gradients(A, W, ids, grad_out):
    """Both gradients have the wrong sign. The minus of gradient descent belongs to the step, not to the gradient."""
    grad_A, grad_W = factorized_backward(A, W, ids, grad_out)
    return -grad_A, -grad_W


@misconception(
    "factorized_backward",
    fails="repeats_add_up batches_single_ids_and_no_ids",
    hint="got 5.30815, expected 33.663. Id 2, for one, stood in 16 places.",
)
def first_sequence_of_the_batch(A, W, ids, grad_out):
    """Only the first sequence of the batch counts. Every position of ids adds to both gradients."""
    if ids.ndim > 1:
        ids, grad_out = ids[0], grad_out[0]
    return factorized_backward(A, W, ids, grad_out)


@misconception(
    "factorized_backward",
    fails="repeats_add_up batches_single_ids_and_no_ids",
    hint="matmul: Input operand 1 has a mismatch in its core dimension 0, with",
)
def batch_not_flattened(A, W, ids, grad_out):
    """A[ids].T reverses all axes of a batch, and its product with grad_out is not a sum over positions. Flatten ids
    first, and make grad_out of shape (ids.size, d).
    """
    grad_A, _ = factorized_backward(A, W, ids, grad_out)
    return grad_A, A[ids].T @ grad_out if ids.ndim else np.outer(A[ids], grad_out)


@misconception(
    "factorized_backward",
    fails="repeats_add_up batches_single_ids_and_no_ids",
    hint="operands could not be broadcast together with shapes (2,3) (18,27) (2,3) ",
)
def loop_over_sequences(A, W, ids, grad_out):
    """The loop runs over the first axis of ids, and so over sequences in a batch. Flatten ids first, and make grad_out
    of shape (ids.size, d).
    """
    grad_A, grad_W = np.zeros_like(A), np.zeros_like(W)
    for n in range(len(ids)):
        grad_A[ids[n]] += grad_out[n] @ W.T
        grad_W += np.outer(A[ids[n]], grad_out[n])
    return grad_A, grad_W


@misconception(
    "factorized_backward",
    fails="batches_single_ids_and_no_ids",
    hint="cannot reshape array of size 0 into shape (0,newaxis)",
)
def reshaped_with_minus_one(A, W, ids, grad_out):
    """Without ids, grad_out has no numbers, and NumPy cannot work out what -1 stands for. Give both lengths:
    grad_out.reshape(ids.size, d).
    """
    G = grad_out.reshape(ids.size, -1)
    return factorized_backward(A, W, ids.ravel(), G)


@misconception(
    "factorized_backward",
    fails="dtypes_and_inputs",
    hint="The dtype is float64; it should be float32. This is A's gradient. m was 3",
)
@right_second
def double_precision_gradient(A, W, ids, grad_out):
    """The gradient of A is float64 whatever A was: np.zeros makes float64. Use np.zeros_like(A), or give it
    dtype=A.dtype.
    """
    return factorized_backward(A, W, ids, grad_out)[0].astype(float)


@misconception(
    "factorized_backward",
    fails="dtypes_and_inputs",
    hint="The dtype is float64; it should be float32. This is A's gradient. m was 3",
)
def double_precision_gradients(A, W, ids, grad_out):
    """Both gradients are float64 whatever A was. Give them the dtype of A."""
    grad_A, grad_W = factorized_backward(A, W, ids, grad_out)
    return grad_A.astype(float), grad_W.astype(float)


# quantize_rows

CODES = "codes_of_each_row no_entry_is_off_by_more_than_half_a_step"
SCALES = "one_scale_for_each_row no_entry_is_off_by_more_than_half_a_step"
LARGEST = "codes_stay_within_127"
ZEROS = "a_row_of_zeros"
FORMATS = "formats_and_inputs"
QUANTIZE = f"{CODES} {SCALES} {LARGEST} {ZEROS} {FORMATS}"


def scaled(E, scales):
    """Codes of a table and scales given for its rows, of which none is zero."""
    return np.rint(E / scales[:, None]).clip(-127, 127).astype(np.int8), scales.astype(np.float32)


def without_zero(scales):
    """The scales with 1 in place of 0."""
    return np.where(scales == 0, 1, scales)


@misconception(
    "quantize_rows",
    fails=f"{CODES} {LARGEST}",
    hint="got 126, expected 127. The largest entry of each row, without its sign,",
)
def cut_off(E):
    """`astype(np.int8)` cuts off all after the decimal point. Round first, with np.rint."""
    _, scales = quantize_rows(E)
    return (E / scales[:, None]).astype(np.int8), scales


@misconception(
    "quantize_rows",
    fails=f"{CODES} {LARGEST}",
    hint="got 2, expected 3. The largest entry of each row, without its sign, gets",
)
def cut_off_after_a_division_in_double_precision(E):
    """The codes were not rounded: `astype(np.int8)` cuts off all after the decimal point. Call np.rint first."""
    _, scales = quantize_rows(E)
    exact = without_zero(np.abs(E).max(axis=1) / 127)
    return (E / exact[:, None]).astype(np.int8), scales


@misconception(
    "quantize_rows",
    fails=f"{CODES} {LARGEST}",
    hint="got 126, expected 127. The largest entry of each row, without its sign,",
)
def rounded_down(E):
    """The codes were rounded down, with np.floor or //. Round to the nearest whole number: np.rint."""
    _, scales = quantize_rows(E)
    return np.floor(E / scales[:, None]).astype(np.int8), scales


@misconception(
    "quantize_rows",
    fails=f"{CODES} {SCALES} {LARGEST} {ZEROS}",
    hint="got 6, expected 127. The largest entry of each row, without its sign, gets",
)
def one_scale_for_the_table(E):
    """All rows have the scale of the table's largest entry, and small rows lose their digits. Take the largest of each
    row: max(axis=1).
    """
    return scaled(E, np.full(len(E), np.abs(E).max() / 127))


@misconception(
    "quantize_rows", fails=QUANTIZE, hint="got 6, expected 127. The largest entry of each row, without its sign, gets"
)
def one_scale_for_each_column(E):
    """The scales belong to the columns: max(axis=0) runs down the rows. A row is a token, and has a scale of its own:
    max(axis=1).
    """
    largest = np.abs(E).max(axis=0)
    scales = np.where(largest == 0, 1, largest / 127).astype(np.float32)
    return np.rint(E / scales).astype(np.int8), scales


@misconception(
    "quantize_rows",
    fails=f"{CODES} {SCALES}",
    hint="got 127, expected 100. The largest entry of each row, without its sign,",
)
def largest_with_its_sign(E):
    """The scale comes from the largest entry with its sign, and entries far below zero are cut off at -127. Take np.abs
    before the maximum.
    """
    return scaled(E, without_zero(E.max(axis=1) / 127))


@misconception(
    "quantize_rows",
    fails=f"{CODES} {SCALES}",
    hint="got 95, expected -127. The largest entry of each row, without its sign,",
)
def largest_with_its_sign_and_wrapped_codes(E):
    """The scale comes from the largest entry with its sign, so codes of entries far below zero left int8 and wrapped
    round. Take np.abs before the maximum.
    """
    scales = without_zero(E.max(axis=1) / 127)
    return np.rint(E / scales[:, None]).astype(np.int8), scales.astype(np.float32)


@misconception(
    "quantize_rows",
    fails=f"{CODES} {SCALES}",
    hint="got -64, expected -63. The largest entry of each row, without its sign,",
)
def divided_by_128(E):
    """The largest entry was divided by 128. int8 ends at 127, and -128 is not used: divide by 127."""
    return scaled(E, without_zero(np.abs(E).max(axis=1) / 128))


@misconception(
    "quantize_rows",
    fails=f"{CODES} {SCALES}",
    hint="got -127, expected -63. The largest entry of each row, without its sign,",
)
def divided_by_255(E):
    """The largest entry was divided by 255, the steps of all of int8. Half of them are on each side of zero: divide by
    127.
    """
    return scaled(E, without_zero(np.abs(E).max(axis=1) / 255))


@misconception(
    "quantize_rows",
    fails=f"{CODES} {SCALES}",
    hint="got -85, expected -63. The largest entry of each row, without its sign,",
)
def range_over_255(E):
    """The scale was made of the range, (max - min) / 255, as for codes with a zero point. Here zero stays zero: it is
    the largest entry without sign, divided by 127.
    """
    return scaled(E, without_zero((E.max(axis=1) - E.min(axis=1)) / 255))


@misconception(
    "quantize_rows",
    fails=f"{CODES} {SCALES} {LARGEST}",
    hint="got 1, expected 127. The largest entry of each row, without its sign, gets",
)
def not_divided_by_127(E):
    """The scale is the largest entry itself, and codes are -1, 0 and 1. Divide it by 127, so that codes go from -127 to
    127.
    """
    return scaled(E, without_zero(np.abs(E).max(axis=1)))


@misconception(
    "quantize_rows", fails=SCALES, hint="got 12.7, expected 0.1. Shape (V,): one scale a row. The sign does not"
)
def scales_not_divided(E):
    """The codes are right, and the scales are 127 times too large: code c stands for c * scale, so that the largest
    entry is 127 * scale.
    """
    codes, _ = quantize_rows(E)
    return codes, without_zero(np.abs(E).max(axis=1)).astype(np.float32)


@misconception(
    "quantize_rows", fails=SCALES, hint="got 10, expected 0.1. Shape (V,): one scale a row. The sign does not"
)
def scales_upside_down(E):
    """The scales are the factors that turn entries into codes, 127 / largest. They should turn codes back into entries:
    largest / 127.
    """
    largest = np.abs(E).max(axis=1)
    factors = np.where(largest == 0, 1, 127 / np.where(largest == 0, 1, largest))
    return np.rint(E * factors[:, None]).astype(np.int8), factors.astype(np.float32)


@misconception(
    "quantize_rows",
    fails=f"{CODES} {LARGEST} {ZEROS}",
    hint="got 1, expected 127. The largest entry of each row, without its sign, gets",
)
def multiplied_by_the_scale(E):
    """Entries were multiplied by the scale. Code c stands for c * scale, so a code is an entry divided by it."""
    _, scales = quantize_rows(E)
    return np.rint(E * scales[:, None]).clip(-127, 127).astype(np.int8), scales


@misconception(
    "quantize_rows",
    fails=f"{CODES} {LARGEST}",
    hint="got 13, expected 127. The largest entry of each row, without its sign,",
)
def table_rounded_without_the_scale(E):
    """The codes are the entries themselves, rounded. Divide each row by its scale first."""
    _, scales = quantize_rows(E)
    return np.rint(E).clip(-127, 127).astype(np.int8), scales


@misconception(
    "quantize_rows",
    fails="a_row_of_zeros",
    hint="got 0, expected 1. Rows 0 and 2 are all zeros. Their largest entry is 0:",
)
def zero_scale_of_a_zero_row(E):
    """A row of zeros has the scale 0, and 0 / 0 is nan. Set its scale to 1 before you divide by it."""
    codes, _ = quantize_rows(E)
    return codes, (np.abs(E).max(axis=1) / 127).astype(np.float32)


@misconception(
    "quantize_rows",
    fails="a_row_of_zeros",
    hint="got 0.00787402, expected 1. Rows 0 and 2 are all zeros. Their largest",
)
def largest_of_a_zero_row_set_to_1(E):
    """A row of zeros has the scale 1/127: its largest entry was set to 1, and then divided. Its scale is 1: choose it
    after the division.
    """
    return scaled(E, without_zero(np.abs(E).max(axis=1)) / 127)


@misconception(
    "quantize_rows",
    fails="a_row_of_zeros no_entry_is_off_by_more_than_half_a_step codes_stay_within_127",
    hint="got 1e-08, expected 1. Rows 0 and 2 are all zeros. Their largest entry is",
)
def a_little_added_to_the_scales(E):
    """1e-8 was added to the scales against a division by zero. It spoils rows of small numbers, and a row of zeros
    should have the scale 1: use np.where(largest == 0, 1, largest / 127).
    """
    return scaled(E, np.abs(E).max(axis=1) / 127 + 1e-8)


@misconception(
    "quantize_rows",
    fails="a_row_of_zeros no_entry_is_off_by_more_than_half_a_step codes_stay_within_127",
    hint="got 1e-08, expected 1. Rows 0 and 2 are all zeros. Their largest entry is",
)
def no_scale_below_a_small_one(E):
    """No scale is below 1e-8, as with np.maximum against a division by zero. It spoils rows of small numbers, and a row
    of zeros should have the scale 1: use np.where(largest == 0, 1, largest / 127).
    """
    return scaled(E, np.maximum(np.abs(E).max(axis=1) / 127, 1e-8))


@misconception(
    "quantize_rows",
    fails=f"{SCALES} {ZEROS} {FORMATS}",
    hint="The shape is (3, 1); it should be (3,). Shape (V,): one scale a row. The",
)
def scales_in_a_column(E):
    """The scales stand in a column of shape (V, 1), from keepdims=True. Divide by it, and give back shape (V,):
    scales[:, 0].
    """
    codes, scales = quantize_rows(E)
    return codes, scales[:, None]


@misconception(
    "quantize_rows",
    fails="one_scale_for_each_row formats_and_inputs",
    hint="The dtype is float64; it should be float32. Shape (V,): one scale a row.",
)
def scales_as_the_table(E):
    """The scales have the dtype of the table. They are float32 for every table, or they would take up what the codes
    save: end with .astype(np.float32).
    """
    codes, scales = quantize_rows(E)
    return codes, scales.astype(E.dtype)


@misconception(
    "quantize_rows",
    fails="codes_of_each_row formats_and_inputs",
    hint="The codes should be an array of int8; they are float64.",
)
def codes_left_as_floats(E):
    """The codes are whole numbers stored as floats: np.rint gives back floats. End with .astype(np.int8), one byte a
    code.
    """
    _, scales = quantize_rows(E)
    return np.rint(E / scales[:, None]), scales


@misconception(
    "quantize_rows",
    fails="codes_of_each_row formats_and_inputs",
    hint="The codes should be an array of int8; they are int64.",
)
def codes_in_64_bits(E):
    """The codes are int64, eight bytes each: astype(int) is that. One byte is the point of it: .astype(np.int8)."""
    codes, scales = quantize_rows(E)
    return codes.astype(np.int64), scales


@misconception(
    "quantize_rows",
    fails=f"{CODES} {LARGEST} {ZEROS} {FORMATS}",
    hint="The codes should be an array of int8; they are uint8.",
)
def unsigned_codes(E):
    """The codes are uint8, which has no negative numbers. They are signed, from -127 to 127, and zero stays zero:
    np.int8, without an offset of 128.
    """
    codes, scales = quantize_rows(E)
    return (codes.astype(int) + 128).astype(np.uint8), scales


@misconception("quantize_rows", fails="formats_and_inputs", hint="Your function changed the table.")
def divided_in_place(E):
    """Your function divides E itself, and the table belongs to the caller. Write E / scales into a new array, not
    `E /= scales`.
    """
    codes, scales = quantize_rows(E)
    E /= scales[:, None]
    return codes, scales


@misconception(
    "quantize_rows", fails=QUANTIZE, hint="Your function should return two things, codes and scales; it returned a"
)
def codes_alone(E):
    """Your function returns the codes alone. Nobody can read them without their scales: return codes, scales."""
    return quantize_rows(E)[0]


@misconception("quantize_rows", fails=QUANTIZE, hint="The codes should be an array of int8; they are float32.")
def scales_first(E):
    """The two are swapped: return the codes first, then the scales."""
    return quantize_rows(E)[::-1]


@misconception(
    "quantize_rows",
    fails=f"{CODES} {LARGEST} {FORMATS}",
    hint="The codes should be an array of int8; they are float32.",
)
def table_given_back(E):
    """Your function returns the rounded table, codes times scales, in place of the codes. Return the codes as int8, and
    the scales beside them.
    """
    codes, scales = quantize_rows(E)
    return codes * scales[:, None], scales


# quantized_lookup

LOOKUP = (
    "codes_times_the_scale_of_their_row as_many_columns_as_ids_or_rows any_shape_and_dtype_of_ids "
    "other_rows_have_no_influence"
)


@misconception(
    "quantized_lookup", fails=LOOKUP, hint="The dtype is int8; it should be float32. Row n is codes[i] * scales[i]"
)
def codes_as_they_are(codes, scales, ids):
    """The rows are the codes as they are. A code stands for itself times the scale of its row: multiply them."""
    return codes[ids]


@misconception(
    "quantized_lookup", fails=LOOKUP, hint="got -100, expected -25. Row n is codes[i] * scales[i] with i = ids[n]:"
)
def codes_turned_into_floats(codes, scales, ids):
    """The codes were turned into floats and not multiplied. A code stands for itself times the scale of its row."""
    return codes[ids].astype(np.float32)


@misconception(
    "quantized_lookup", fails=LOOKUP, hint="operands could not be broadcast together with shapes (3,2) (3,) "
)
def scales_along_the_columns(codes, scales, ids):
    """The scales of the rows were laid along the columns. They lack an axis: scales[ids][..., None] puts each of them
    beside its own row.
    """
    return codes[ids] * scales[ids]


@misconception(
    "quantized_lookup", fails=LOOKUP, hint="operands could not be broadcast together with shapes (3,2) (4,1) "
)
def scales_not_gathered(codes, scales, ids):
    """The codes were gathered and the scales were not: there are V of them, one for each row of the table. Take
    scales[ids], too.
    """
    return codes[ids] * scales[:, None]


@misconception(
    "quantized_lookup", fails=LOOKUP, hint="operands could not be broadcast together with shapes (4,2) (4,) "
)
def whole_table_along_the_columns(codes, scales, ids):
    """The whole table was multiplied, and with scales along its columns. Gather codes[ids] and scales[ids] first, and
    give the scales an axis more: [..., None].
    """
    return (codes * scales)[ids]


@misconception(
    "quantized_lookup", fails=LOOKUP, hint="got -800, expected -25. Row n is codes[i] * scales[i] with i = ids[n]:"
)
def scales_indexed_by_position(codes, scales, ids):
    """The scales are those of rows 0, 1, 2, ... of the table, by position. The scale of an id is scales[ids], as its
    codes are codes[ids].
    """
    return codes[ids] * scales[np.arange(ids.size) % len(scales)].reshape(ids.shape)[..., None]


@misconception(
    "quantized_lookup",
    fails="any_shape_and_dtype_of_ids",
    hint="operands could not be broadcast together with shapes (2,3,2) (2,1,3) ",
)
def axis_in_the_second_place(codes, scales, ids):
    """[:, None] puts the new axis in second place, which is the last one for a list of ids only. [..., None] puts it
    last for ids of any shape.
    """
    return codes[ids] * scales[ids][:, None]


@misconception(
    "quantized_lookup",
    fails="any_shape_and_dtype_of_ids",
    hint="The shape is (6, 2); it should be (2, 3, 2). The ids had shape (2, 3) and",
)
def one_list_of_rows(codes, scales, ids):
    """The ids were flattened, and their shape is lost. The result has shape ids.shape + (d,)."""
    flat = ids.ravel()
    return codes[flat] * scales[flat][:, None]


@misconception(
    "quantized_lookup",
    fails="any_shape_and_dtype_of_ids",
    hint="The shape is (3, 2); it should be (2, 3, 2). The ids had shape (2, 3) and",
)
def first_sequence_of_codes(codes, scales, ids):
    """Only the first sequence of the batch was looked up. Every id of ids has its row in the result."""
    return quantized_lookup(codes, scales, ids[0] if ids.ndim > 1 else ids)


@misconception(
    "quantized_lookup",
    fails="any_shape_and_dtype_of_ids",
    hint="operands could not be broadcast together with shapes (3,2) (3,) ",
)
def codes_for_each_of_the_first_axis(codes, scales, ids):
    """The result was made with len(ids) rows, which fits one list of ids. Its shape is ids.shape + (d,): index with all
    of ids at once.
    """
    rows = np.zeros((len(ids), codes.shape[1]), np.float32)
    for n, i in enumerate(ids):
        rows[n] = codes[i] * scales[i]
    return rows


@misconception(
    "quantized_lookup",
    fails="any_shape_and_dtype_of_ids",
    hint="The shape is (1, 2); it should be (2,). The ids had shape () and dtype",
)
def codes_of_a_single_id_get_an_axis(codes, scales, ids):
    """A single id of shape () came back as a list of one row. The result has shape ids.shape + (d,), here (d,)."""
    return quantized_lookup(codes, scales, np.atleast_1d(ids))


@misconception(
    "quantized_lookup",
    fails="any_shape_and_dtype_of_ids",
    hint="The shape is (2, 2); it should be (2, 1, 1, 2). The ids had shape (2, 1,",
)
def squeezed_codes(codes, scales, ids):
    """Axes of length 1 were dropped. The result has all axes of ids, and then d."""
    return np.squeeze(quantized_lookup(codes, scales, ids))


@misconception(
    "quantized_lookup",
    fails="any_shape_and_dtype_of_ids",
    hint="The dtype is float64; it should be float32. The ids had shape (2, 0) and",
)
def no_ids_in_a_list(codes, scales, ids):
    """Without ids, a list of rows is empty, and np.array makes float64 of it. Begin with np.zeros of shape ids.shape +
    (d,) and dtype float32, or index with all of ids at once.
    """
    rows = [codes[i] * scales[i] for i in ids.flat]
    return np.array(rows).reshape(*ids.shape, codes.shape[1])


@misconception(
    "quantized_lookup", fails=LOOKUP, hint="got -400, expected -25. Row n is codes[i] * scales[i] with i = ids[n]:"
)
def divided_by_the_scale(codes, scales, ids):
    """The codes were divided by the scales. Quantizing divides; the way back multiplies."""
    return codes[ids] / scales[ids][..., None]


@misconception(
    "quantized_lookup", fails=LOOKUP, hint="got -0.19685, expected -25. Row n is codes[i] * scales[i] with i = ids[n]:"
)
def divided_by_127_again(codes, scales, ids):
    """The result is 127 times too small. The scale is the largest entry divided by 127 already: multiply by it, and
    leave it at that.
    """
    return codes[ids] * scales[ids][..., None] / np.float32(127)


@misconception(
    "quantized_lookup", fails=LOOKUP, hint="got -57, expected -25. Row n is codes[i] * scales[i] with i = ids[n]:"
)
def zero_point_taken_off(codes, scales, ids):
    """128 was taken off the codes, as for unsigned codes. These are symmetric: code 0 stands for 0."""
    return (codes[ids].astype(np.float32) - 128) * scales[ids][..., None]


@misconception(
    "quantized_lookup", fails=LOOKUP, hint="The dtype is float64; it should be float32. Row n is codes[i] * scales[i]"
)
def double_precision_rows(codes, scales, ids):
    """The rows are float64, from astype(float) or np.zeros. int8 codes times float32 scales are float32 by
    themselves.
    """
    return codes[ids] * scales[ids].astype(float)[..., None]


@misconception(
    "quantized_lookup", fails=LOOKUP, hint="The dtype is int8; it should be float32. Row n is codes[i] * scales[i]"
)
def rows_cut_back_to_int8(codes, scales, ids):
    """The products were written back into int8, which cuts off all after the decimal point. The rows are float32."""
    with np.errstate(invalid="ignore"):
        return quantized_lookup(codes, scales, ids).astype(np.int8)


@misconception(
    "quantized_lookup", fails=LOOKUP, hint="Cannot cast ufunc 'multiply' output from dtype('float32') to dtype('int8')"
)
def multiplied_in_place_as_int8(codes, scales, ids):
    """`*=` keeps the codes int8, and NumPy refuses to put floats into them. Write rows = codes[ids] * ..., which makes
    a new array of float32.
    """
    rows = codes[ids]
    rows *= scales[ids][..., None]
    return rows


@misconception(
    "quantized_lookup", fails=LOOKUP, hint="got 80, expected -25. Row n is codes[i] * scales[i] with i = ids[n]:"
)
def codes_of_the_row_before(codes, scales, ids):
    """Each result belongs to the row before its id. Ids count from 0, and so do the rows of the table: no - 1."""
    return quantized_lookup(codes, scales, ids.astype(int) - 1)


@misconception(
    "quantized_lookup",
    fails="other_rows_have_no_influence",
    hint="got nan, expected -25. The scales of rows 0 and 2 were nan and inf; no id",
)
def one_hot_times_the_table(codes, scales, ids):
    """One-hot rows were multiplied with the whole table. 0 times nan is nan, so a bad row reaches every result; and the
    whole table became floats. Gather codes[ids], then multiply.
    """
    with np.errstate(invalid="ignore"):
        table = codes * scales[:, None]
        return np.eye(len(codes), dtype=np.float32)[ids] @ table
