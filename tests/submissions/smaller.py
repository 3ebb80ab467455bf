"""Chapter 11: `factorized_forward`, `factorized_backward`, `quantize_rows`, `quantized_lookup`."""

import numpy as np
import torch

import solutions
from submissions import right, wrong

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


QUANTIZE_ALL = (
    "codes_of_each_row one_scale_for_each_row a_row_of_zeros no_entry_is_off_by_more_than_half_a_step "
    "codes_stay_within_127 formats_and_inputs"
)


@wrong("quantize_rows", "a_row_of_zeros", "Your function raised FloatingPointError")
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


@wrong("quantized_lookup", LOOKUP_ALL, "gather codes and scales with the same ids")
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


