"""Chapter 11: `factorized_forward`, `factorized_backward`, `quantize_rows`, `quantized_lookup`."""

import numpy as np
import torch

import solutions
from submissions import right, two_mistakes, wrong

right("factorized_forward")(solutions.factorized_forward)


@right("factorized_forward")
def whole_table_first(A, W, ids):
    return (A @ W)[ids]


@right("factorized_forward")
def loop_over_positions(A, W, ids):
    H = np.zeros((*ids.shape, W.shape[1]), dtype=A.dtype)
    for place in np.ndindex(ids.shape):
        H[place] = A[ids[place]] @ W
    return H


@right("factorized_forward")
def einsum(A, W, ids):
    return np.einsum("...k,kj->...j", A[ids], W)


@right("factorized_forward")
def one_hot_product(A, W, ids):
    return np.eye(len(A), dtype=A.dtype)[ids] @ A @ W


@right("factorized_forward")
def take_and_tensordot(A, W, ids):
    return np.tensordot(np.take(A, ids, axis=0), W, axes=1)


@right("factorized_forward")
def sum_of_outer_products(A, W, ids):
    rows = A[ids]
    H = np.zeros((*ids.shape, W.shape[1]), dtype=A.dtype)
    for k in range(W.shape[0]):
        H += rows[..., k, None] * W[k]
    return H


@right("factorized_forward")
def flat_and_back(A, W, ids):
    return (A[ids.reshape(-1)] @ W).reshape(ids.shape + W.shape[1:])


FORWARD_ALL = "short_rows_are_widened any_shape_of_ids any_width_and_dtype"


@wrong("factorized_forward", "any_width_and_dtype", "Your function changed A")
def rows_scaled_in_place(A, W, ids):
    H = A[ids] @ W
    A[ids] *= 2
    return H


@wrong("factorized_forward", FORWARD_ALL, "values are wrong")
def shared_norm_left_in(A, W, ids):
    return (A[ids] @ W / np.sqrt(np.float64(len(W)) + 0.5)).astype(A.dtype)


@wrong("factorized_forward", FORWARD_ALL, mistake="ids_in_the_second_factor_too")
def both_factors_by_take(A, W, ids):
    return np.take(A, ids, axis=0) @ np.take(W, ids, axis=0)


@wrong("factorized_forward", FORWARD_ALL, mistake="not_widened")
def short_rows_in_a_loop(A, W, ids):
    H = np.zeros((*ids.shape, A.shape[1]), A.dtype)
    for place in np.ndindex(ids.shape):
        H[place] = A[ids[place]]
    return H


@wrong("factorized_forward", FORWARD_ALL, mistake="row_before_the_id")
def ids_from_1(A, W, ids):
    return np.concatenate([A[-1:], A])[ids] @ W


@wrong("factorized_forward", "any_shape_of_ids", mistake="flattened")
def a_list_of_rows(A, W, ids):
    return np.array([A[i] @ W for i in ids.flat]).reshape(-1, W.shape[1]).astype(A.dtype)


@wrong("factorized_forward", "any_width_and_dtype", mistake="double_precision")
def into_zeros(A, W, ids):
    H = np.zeros((*ids.shape, W.shape[1]))
    H[...] = A[ids] @ W
    return H


@two_mistakes("factorized_forward", "row_before_the_id double_precision")
def row_before_the_id_in_double_precision(A, W, ids):
    return (A[ids.astype(int) - 1] @ W).astype(float)


@two_mistakes("factorized_forward", "divided_by_m flattened")
def divided_by_m_and_flattened(A, W, ids):
    return A[ids.ravel()] @ W / A.dtype.type(len(W))


@two_mistakes("factorized_forward", "first_sequence_alone squeezed")
def first_sequence_squeezed(A, W, ids):
    return np.squeeze(A[ids[0] if ids.ndim > 1 else ids] @ W)


right("factorized_backward")(solutions.factorized_backward)


@right("factorized_backward")
def through_the_whole_gradient(A, W, ids, grad_out):
    grad_E = solutions.embedding_backward(ids, grad_out, len(A))
    return grad_E @ W.T, A.T @ grad_E


@right("factorized_backward")
def loop_over_positions_backward(A, W, ids, grad_out):
    grad_A, grad_W = np.zeros_like(A), np.zeros_like(W)
    for place in np.ndindex(ids.shape):
        grad_A[ids[place]] += W @ grad_out[place]
        grad_W += np.outer(A[ids[place]], grad_out[place])
    return grad_A, grad_W


@right("factorized_backward")
def with_a_selection_matrix(A, W, ids, grad_out):
    S = np.eye(len(A), dtype=A.dtype)[ids.ravel()]
    G = grad_out.reshape(ids.size, -1 if ids.size else W.shape[1])
    return S.T @ (G @ W.T), (S @ A).T @ G


@right("factorized_backward")
def einsum_for_the_second_factor(A, W, ids, grad_out):
    rows = grad_out @ W.T
    grad_A = np.zeros_like(A)
    np.add.at(grad_A, ids, rows)
    outer = np.einsum("...k,...j->...kj", A[ids], grad_out)
    return grad_A, outer.sum(axis=tuple(range(ids.ndim)))


@right("factorized_backward")
def list_of_two_with_autograd(A, W, ids, grad_out):
    first, second = (torch.tensor(each.copy(), requires_grad=True) for each in (A, W))
    (first[torch.tensor(ids.astype(np.int64))] @ second).backward(torch.tensor(grad_out.copy()))
    return [first.grad.numpy(), second.grad.numpy()]


@right("factorized_backward")
def sum_for_each_row(A, W, ids, grad_out):
    sums = np.array([grad_out[ids == i].sum(axis=0) for i in range(len(A))], dtype=A.dtype)
    return sums @ W.T, A.T @ sums


BACKWARD_ALL = (
    "rows_of_the_first_factor the_second_factor_hears_every_position repeats_add_up batches_single_ids_and_no_ids "
    "dtypes_and_inputs"
)
FIRST = "rows_of_the_first_factor repeats_add_up batches_single_ids_and_no_ids dtypes_and_inputs"
SECOND = "the_second_factor_hears_every_position batches_single_ids_and_no_ids dtypes_and_inputs"


@wrong("factorized_backward", FIRST, "what comes back is multiplied with W transposed")
def first_factor_without_the_second(A, W, ids, grad_out):
    grad_A, grad_W = solutions.factorized_backward(A, W, ids, grad_out)
    return np.ones_like(grad_A), grad_W


@wrong("factorized_backward", "the_second_factor_hears_every_position", "Entry (k, j) adds up")
def second_factor_from_distinct_ids(A, W, ids, grad_out):
    grad_A, _ = solutions.factorized_backward(A, W, ids, grad_out)
    grad_E = np.zeros((len(A), W.shape[1]), dtype=A.dtype)
    grad_E[ids] = grad_out
    return grad_A, A.T @ grad_E


@wrong("factorized_backward", "dtypes_and_inputs", "Your function changed grad_out")
def upstream_overwritten(A, W, ids, grad_out):
    result = solutions.factorized_backward(A, W, ids, grad_out)
    grad_out[...] = 0
    return result


@wrong("factorized_backward", "batches_single_ids_and_no_ids", "Your function raised")
def needs_an_id(A, W, ids, grad_out):
    ids.max()
    return solutions.factorized_backward(A, W, ids, grad_out)


@wrong("factorized_backward", FIRST, mistake="begun_with_the_factor")
def added_to_the_factor_itself(A, W, ids, grad_out):
    _, grad_W = solutions.factorized_backward(A, W, ids, grad_out)
    np.add.at(A, ids, grad_out @ W.T)
    return A, grad_W


@wrong("factorized_backward", "repeats_add_up", mistake="fancy_index_trap")
def last_position_of_each_id(A, W, ids, grad_out):
    grad_A, grad_W = solutions.factorized_backward(A, W, ids, grad_out)
    for place in np.ndindex(ids.shape):
        grad_A[ids[place]] = W @ grad_out[place]
    return grad_A, grad_W


@wrong("factorized_backward", SECOND, mistake="second_gradient_transposed")
def outer_the_wrong_way_round(A, W, ids, grad_out):
    grad_A, grad_W = solutions.factorized_backward(A, W, ids, grad_out)
    grad_W = np.zeros(W.T.shape, A.dtype)
    for place in np.ndindex(ids.shape):
        grad_W += np.outer(grad_out[place], A[ids[place]])
    return grad_A, grad_W


@two_mistakes("factorized_backward", "fancy_index_trap last_position_only")
def trap_and_last_position(A, W, ids, grad_out):
    grad_A, grad_W = np.zeros_like(A), np.zeros_like(W)
    grad_A[ids] += grad_out @ W.T
    for place in np.ndindex(ids.shape):
        grad_W = np.outer(A[ids[place]], grad_out[place])
    return grad_A, grad_W


@two_mistakes("factorized_backward", "fancy_index_trap double_precision_gradient")
def trap_in_double_precision(A, W, ids, grad_out):
    _, grad_W = solutions.factorized_backward(A, W, ids, grad_out)
    grad_A = np.zeros(A.shape)
    grad_A[ids] += grad_out @ W.T
    return grad_A, grad_W


@two_mistakes("factorized_backward", "upstream_without_the_second_factor second_gradient_transposed")
def neither_has_its_shape(A, W, ids, grad_out):
    G = grad_out.reshape(ids.size, W.shape[1])
    return solutions.embedding_backward(ids, grad_out, len(A)), G.T @ A[ids.ravel()]


@two_mistakes("factorized_backward", "sign_of_the_gradients swapped")
def downhill_and_swapped(A, W, ids, grad_out):
    grad_A, grad_W = solutions.factorized_backward(A, W, ids, grad_out)
    return -grad_W, -grad_A


right("quantize_rows")(solutions.quantize_rows)


@right("quantize_rows")
def loop_over_rows(E):
    codes, scales = np.zeros(E.shape, np.int8), np.ones(len(E), np.float32)
    for i, row in enumerate(E):
        largest = max(row.max(), -row.min())
        if largest > 0:
            scales[i] = largest / 127
            codes[i] = np.round(row / largest * 127)
    return codes, scales


@right("quantize_rows")
def divided_only_where_not_zero(E):
    scales = np.abs(E).max(axis=1, keepdims=True).astype(np.float64) / 127
    quotients = np.divide(E, scales, out=np.zeros(E.shape), where=scales > 0)
    scales[scales == 0] = 1
    return np.round(quotients).astype(np.int8), scales[:, 0].astype(np.float32)


@right("quantize_rows")
def half_added_and_floor(E):
    scales = (np.abs(E).max(axis=1) / 127).astype(np.float32)
    scales[scales == 0] = 1
    return np.clip(np.floor(E / scales[:, None] + 0.5), -127, 127).astype(np.int8), scales


@right("quantize_rows")
def norm_of_order_infinity(E):
    largest = np.linalg.norm(E, ord=np.inf, axis=1)
    largest[largest == 0] = 127
    return np.rint(E * (127 / largest)[:, None]).astype(np.int8), np.float32(largest / 127)


@right("quantize_rows")
def warnings_off_and_nan_to_zero(E):
    scales = np.float32(abs(E).max(-1) / 127)
    with np.errstate(all="ignore"):
        codes = np.nan_to_num(np.rint(E / scales[:, None])).astype(np.int8)
    return codes, np.where(scales > 0, scales, np.float32(1))


@right("quantize_rows")
def list_of_two_in_double_precision(E):
    wide = E.astype(np.float64)
    scales = np.maximum(wide.max(axis=1), -wide.min(axis=1)) / 127
    scales[scales == 0] = 1
    return [np.around(wide / scales[:, None]).astype(np.int8), scales.astype(np.float32)]


@right("quantize_rows")
def pytorch(E):
    scales = torch.tensor(np.abs(E).max(axis=1) / 127, dtype=torch.float32)
    scales[scales == 0] = 1
    codes = (torch.tensor(E.copy()) / scales[:, None]).round().clamp(-127, 127).to(torch.int8)
    return codes.numpy(), scales.numpy()


def scaled(E, scales, codes_of=np.rint):
    scales = np.where(scales == 0, 1, scales)
    return codes_of(E / scales[:, None]).clip(-127, 127).astype(np.int8), scales.astype(np.float32)


@wrong("quantize_rows", "a_row_of_zeros", mistake="zero_scale_of_a_zero_row")
def divided_by_zero(E):
    scales = (np.abs(E).max(axis=1) / 127).astype(np.float32)
    return np.rint(E / scales[:, None]).astype(np.int8), scales


@wrong("quantize_rows", "one_scale_for_each_row formats_and_inputs", "it should be float32")
def scales_in_double_precision(E):
    codes, scales = solutions.quantize_rows(E)
    return codes, scales.astype(float)


@wrong(
    "quantize_rows",
    "codes_of_each_row one_scale_for_each_row a_row_of_zeros "
    "no_entry_is_off_by_more_than_half_a_step codes_stay_within_127",
    "largest entry of each row",
)
def scaled_by_columns(E):
    largest = np.abs(E).max(axis=0)
    scale = np.where(largest == 0, 1, largest / 127)
    rows = np.resize(scale, len(E)).astype(np.float32)
    return np.rint(E / scale).clip(-127, 127).astype(np.int8), rows


@wrong(
    "quantize_rows",
    "codes_of_each_row one_scale_for_each_row no_entry_is_off_by_more_than_half_a_step",
    mistake="largest_with_its_sign",
)
def size_of_the_largest(E):
    return scaled(E, np.abs(E.max(axis=1)) / 127)


@wrong(
    "quantize_rows",
    "codes_of_each_row no_entry_is_off_by_more_than_half_a_step codes_stay_within_127",
    mistake="cut_off",
)
def rounded_after_the_cut(E):
    _, scales = solutions.quantize_rows(E)
    return np.rint((E / scales[:, None]).astype(np.int8)).astype(np.int8), scales


@wrong(
    "quantize_rows",
    "one_scale_for_each_row a_row_of_zeros no_entry_is_off_by_more_than_half_a_step formats_and_inputs",
    mistake="scales_in_a_column",
)
def scales_with_their_axis_kept(E):
    scales = np.abs(E).max(axis=1, keepdims=True) / 127
    scales[scales == 0] = 1
    return np.round(E / scales).astype(np.int8), scales.astype(np.float32)


@wrong("quantize_rows", "codes_of_each_row formats_and_inputs", mistake="codes_left_as_floats")
def rint_alone(E):
    scales = (np.abs(E).max(axis=1) / 127).astype(np.float32)
    scales[scales == 0] = 1
    return np.rint(E / scales[:, None]), scales


@two_mistakes("quantize_rows", "cut_off zero_scale_of_a_zero_row")
def cut_off_and_zero_scale(E):
    scales = (np.abs(E).max(axis=1) / 127).astype(np.float32)
    return (E / scales[:, None]).astype(np.int8), scales


@two_mistakes("quantize_rows", "largest_with_its_sign zero_scale_of_a_zero_row")
def no_abs_and_zero_scale(E):
    scales = E.max(axis=1) / 127
    return np.rint(E / scales[:, None]).clip(-127, 127).astype(np.int8), scales.astype(np.float32)


@two_mistakes("quantize_rows", "scales_in_a_column scales_as_the_table")
def column_as_the_table(E):
    scales = np.abs(E).max(axis=1, keepdims=True) / 127
    scales[scales == 0] = 1
    return np.rint(E / scales).astype(np.int8), scales


@two_mistakes("quantize_rows", "one_scale_for_the_table divided_in_place")
def one_scale_in_place(E):
    scale = np.abs(E).max() / 127
    E /= scale
    return np.rint(E).astype(np.int8), np.full(len(E), scale, np.float32)


right("quantized_lookup")(solutions.quantized_lookup)


@right("quantized_lookup")
def loop_over_ids(codes, scales, ids):
    rows = np.zeros((*ids.shape, codes.shape[1]), np.float32)
    for place in np.ndindex(ids.shape):
        i = ids[place]
        rows[place] = codes[i] * scales[i]
    return rows


@right("quantized_lookup")
def floats_first(codes, scales, ids):
    return codes[ids].astype(np.float32) * np.expand_dims(scales[ids], -1)


@right("quantized_lookup")
def take(codes, scales, ids):
    return np.multiply(np.take(codes, ids, axis=0), np.take(scales[:, None], ids, axis=0), dtype=np.float32)


@right("quantized_lookup")
def whole_table_first_by_rows(codes, scales, ids):
    with np.errstate(invalid="ignore"):
        return (codes * scales[:, None])[ids]  # right, and what the codes are there to avoid


@right("quantized_lookup")
def einsum_over_the_flat_list(codes, scales, ids):
    flat = ids.ravel()
    rows = np.einsum("nj,n->nj", codes[flat].astype(np.float32), scales[flat])
    return rows.reshape(*ids.shape, codes.shape[1])


@right("quantized_lookup")
def in_place(codes, scales, ids):
    rows = codes[ids].astype(np.float32)
    rows *= scales[ids, None]
    return rows


@right("quantized_lookup")
def in_double_precision_and_back(codes, scales, ids):
    return (codes[ids].astype(float) * scales.astype(float)[ids][..., np.newaxis]).astype(np.float32)


LOOKUP_ALL = (
    "codes_times_the_scale_of_their_row as_many_columns_as_ids_or_rows any_shape_and_dtype_of_ids "
    "other_rows_have_no_influence"
)


@wrong("quantized_lookup", LOOKUP_ALL, "values are wrong")
def scales_along_columns(codes, scales, ids):
    return codes[ids] * np.resize(scales[ids.ravel()], codes.shape[1])


@wrong(
    "quantized_lookup",
    "as_many_columns_as_ids_or_rows any_shape_and_dtype_of_ids",
    "Put the scales of the rows into",
)
def column_only_when_it_must(codes, scales, ids):
    try:
        return codes[ids] * scales[ids]
    except ValueError:
        return codes[ids] * scales[ids][..., None]


@wrong("quantized_lookup", LOOKUP_ALL, mistake="scales_indexed_by_position")
def scales_of_the_first_rows(codes, scales, ids):
    own = np.resize(scales, ids.size).reshape(ids.shape)
    return codes[ids] * own[..., None]


@wrong(
    "quantized_lookup",
    "codes_times_the_scale_of_their_row as_many_columns_as_ids_or_rows any_shape_and_dtype_of_ids",
    "values are wrong",
)
def int8_wraps(codes, scales, ids):
    with np.errstate(over="ignore", invalid="ignore"):
        step = np.nan_to_num(scales[ids] * 4).astype(np.int8)
        return (codes[ids] * step[..., None]).astype(np.float32) / np.float32(4)


@wrong("quantized_lookup", "any_shape_and_dtype_of_ids", "Your function changed ids")
def ids_overwritten(codes, scales, ids):
    rows = solutions.quantized_lookup(codes, scales, ids)
    ids[...] = 0
    return rows


@wrong("quantized_lookup", LOOKUP_ALL, mistake="double_precision_rows")
def rows_put_into_zeros(codes, scales, ids):
    rows = np.zeros((*ids.shape, codes.shape[1]))
    for place in np.ndindex(ids.shape):
        rows[place] = codes[ids[place]] * scales[ids[place]]
    return rows


@wrong("quantized_lookup", "any_shape_and_dtype_of_ids", mistake="one_list_of_rows")
def flat_for_good(codes, scales, ids):
    return solutions.quantized_lookup(codes, scales, ids.reshape(-1))


@two_mistakes("quantized_lookup", "double_precision_rows one_list_of_rows")
def flat_and_wide(codes, scales, ids):
    flat = ids.ravel()
    return codes[flat] * scales[flat].astype(float)[:, None]


@two_mistakes("quantized_lookup", "divided_by_the_scale axis_in_the_second_place")
def divided_with_the_axis_in_second_place(codes, scales, ids):
    return codes[ids] / scales[ids][:, None]


@two_mistakes("quantized_lookup", "one_hot_times_the_table codes_of_a_single_id_get_an_axis")
def one_hot_of_a_list(codes, scales, ids):
    with np.errstate(invalid="ignore"):
        return np.eye(len(codes), dtype=np.float32)[np.atleast_1d(ids)] @ (codes * scales[:, None])
