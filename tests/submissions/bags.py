"""Chapter 06: `embedding_bag_mean` and `embedding_bag_backward`."""

import itertools

import numpy as np
import scipy.sparse

import solutions
from submissions import right, two_mistakes, wrong

right("embedding_bag_mean")(solutions.embedding_bag_mean)
right("embedding_bag_backward")(solutions.embedding_bag_backward)


def ends_of(ids, offsets):
    return np.append(offsets[1:], len(ids)) if len(offsets) else offsets


def bag_of_each_id(ids, offsets):
    return np.repeat(np.arange(len(offsets)), ends_of(ids, offsets) - offsets)


# embedding_bag_mean: correct


@right("embedding_bag_mean")
def loop_over_bags(E, ids, offsets):
    out = np.zeros((len(offsets), E.shape[1]), dtype=E.dtype)
    for b, start in enumerate(offsets):
        end = offsets[b + 1] if b + 1 < len(offsets) else len(ids)
        if end > start:
            out[b] = E[ids[start:end]].mean(axis=0)
    return out


@right("embedding_bag_mean")
def loop_over_ids_backwards(E, ids, offsets):
    sums, counts = np.zeros((len(offsets), E.shape[1]), E.dtype), np.zeros(len(offsets), int)
    b = len(offsets) - 1
    for n in reversed(range(len(ids))):
        while offsets[b] > n:
            b -= 1
        sums[b] += E[ids[n]]
        counts[b] += 1
    for b in range(len(offsets)):
        if counts[b]:
            sums[b] /= counts[b]
    return sums


@right("embedding_bag_mean")
def split_into_bags(E, ids, offsets):
    if len(offsets) == 0:
        return np.empty((0, E.shape[1]), E.dtype)
    none = np.zeros(E.shape[1], E.dtype)
    return np.stack([E[bag].mean(axis=0) if len(bag) else none for bag in np.split(ids, offsets[1:])])


@right("embedding_bag_mean")
def searchsorted_from_the_right(E, ids, offsets):
    bag_of = np.searchsorted(offsets, np.arange(len(ids)), side="right") - 1
    sums = np.zeros((len(offsets), E.shape[1]), E.dtype)
    np.add.at(sums, bag_of, E[ids])
    counts = np.bincount(bag_of, minlength=len(offsets))
    return (sums / np.where(counts, counts, 1)[:, None]).astype(E.dtype)


@right("embedding_bag_mean")
def reduceat_over_full_bags_only(E, ids, offsets):
    sizes = ends_of(ids, offsets) - offsets
    out = np.zeros((len(offsets), E.shape[1]), E.dtype)
    full = sizes > 0
    if full.any():
        out[full] = np.add.reduceat(E[ids], offsets[full], axis=0) / sizes[full, None]
    return out


@right("embedding_bag_mean")
def differences_of_cumulative_sums(E, ids, offsets):
    sums = np.zeros((len(ids) + 1, E.shape[1]))
    np.cumsum(E[ids], axis=0, out=sums[1:], dtype=np.float64)
    ends = ends_of(ids, offsets)
    return ((sums[ends] - sums[offsets]) / np.maximum(ends - offsets, 1)[:, None]).astype(E.dtype)


@right("embedding_bag_mean")
def sparse_bag_of_words_times_table(E, ids, offsets):
    sizes = ends_of(ids, offsets) - offsets
    pointers = np.append(offsets, len(ids)) if len(offsets) else np.zeros(1, int)
    weights = np.repeat(1 / np.maximum(sizes, 1), sizes).astype(E.dtype)
    return scipy.sparse.csr_array((weights, ids.astype(np.int64), pointers), shape=(len(offsets), len(E))) @ E


@right("embedding_bag_mean")
def nan_replaced_afterwards(E, ids, offsets):
    """A 0/0 on the way is not forbidden."""
    bag_of = bag_of_each_id(ids, offsets)
    in_bag = np.equal.outer(np.arange(len(offsets)), bag_of).astype(E.dtype)
    with np.errstate(invalid="ignore"):
        means = in_bag @ E[ids] / in_bag.sum(axis=1, keepdims=True)
    return np.nan_to_num(means)


# embedding_bag_mean: mistakes

REPEATS = "mean_of_each_bag bags_of_many_sizes"
MEAN_EMPTY = "an_empty_bag_gives_a_zero_row empty_bags_anywhere no_ids_or_no_bags"
MEAN_SIZES = f"{REPEATS} an_empty_bag_gives_a_zero_row empty_bags_anywhere"
MEAN_VALUES = f"{MEAN_SIZES} dtypes_and_inputs"


@wrong("embedding_bag_mean", MEAN_EMPTY, mistake="nan_for_an_empty_bag")
def mean_of_an_empty_slice(E, ids, offsets):
    """np.mean warns of it, too."""
    ends = ends_of(ids, offsets)
    out = np.empty((len(offsets), E.shape[1]), E.dtype)
    for b in range(len(offsets)):
        out[b] = E[ids[offsets[b] : ends[b]]].mean(axis=0)
    return out


@wrong("embedding_bag_mean", MEAN_EMPTY, mistake="nan_for_an_empty_bag")
def product_with_a_normalized_matrix(E, ids, offsets):
    counts = np.zeros((len(offsets), len(E)), E.dtype)
    np.add.at(counts, (bag_of_each_id(ids, offsets), ids), 1)
    with np.errstate(invalid="ignore"):
        return (counts / counts.sum(axis=1, keepdims=True)) @ E


@wrong("embedding_bag_mean", MEAN_EMPTY, mistake="empty_bags_dropped")
def bags_found_with_unique(E, ids, offsets):
    bag_of = bag_of_each_id(ids, offsets)
    means = [E[ids[bag_of == b]].mean(axis=0) for b in np.unique(bag_of)]
    return np.array(means).reshape(-1, E.shape[1]).astype(E.dtype)


@wrong("embedding_bag_mean", MEAN_VALUES, mistake="last_bag_left_zero")
def loop_to_the_offset_before_the_last(E, ids, offsets):
    out = np.zeros((len(offsets), E.shape[1]), E.dtype)
    for b in range(len(offsets) - 1):
        if offsets[b + 1] > offsets[b]:
            out[b] = E[ids[offsets[b] : offsets[b + 1]]].mean(axis=0)
    return out


@wrong("embedding_bag_mean", f"{MEAN_VALUES} no_ids_or_no_bags", mistake="last_bag_lost")
def last_offset_taken_for_the_end(E, ids, offsets):
    """As with include_last_offset=True in PyTorch."""
    sums = np.zeros((max(len(offsets) - 1, 0), E.shape[1]), E.dtype)
    for b in range(len(sums)):
        bag = E[ids[offsets[b] : offsets[b + 1]]]
        sums[b] = bag.sum(axis=0) / max(len(bag), 1)
    return sums


@wrong("embedding_bag_mean", MEAN_VALUES, mistake="first_bag_only")
def return_inside_the_loop(E, ids, offsets):
    out = np.zeros((len(offsets), E.shape[1]), E.dtype)
    ends = ends_of(ids, offsets)
    for b in range(len(offsets)):
        if ends[b] > offsets[b]:
            out[b] = E[ids[offsets[b] : ends[b]]].mean(axis=0)
        return out
    return out


@wrong("embedding_bag_mean", MEAN_SIZES, mistake="fancy_index_trap")
def last_row_of_each_bag_over_its_size(E, ids, offsets):
    out = np.zeros((len(offsets), E.shape[1]), E.dtype)
    sizes = ends_of(ids, offsets) - offsets
    for n, b in enumerate(bag_of_each_id(ids, offsets)):
        out[b] = E[ids[n]] / sizes[b]
    return out


@wrong("embedding_bag_mean", "dtypes_and_inputs", mistake="double_precision_means")
def divided_by_an_integer_array(E, ids, offsets):
    """float32 over int64 is float64."""
    sums = np.zeros((len(offsets), E.shape[1]), E.dtype)
    np.add.at(sums, bag_of_each_id(ids, offsets), E[ids])
    return sums / np.maximum(ends_of(ids, offsets) - offsets, 1)[:, None]


@wrong("embedding_bag_mean", "no_ids_or_no_bags", "need at least one array to concatenate")
def no_bags_concatenated(E, ids, offsets):
    return np.concatenate([row[None] for row in solutions.embedding_bag_mean(E, ids, offsets)])


@wrong("embedding_bag_mean", MEAN_SIZES, "got 1.5, expected 2.5. Bag 0 is rows 4, 1 and 1")
def searchsorted_from_the_left_clipped(E, ids, offsets):
    bag_of = np.minimum(np.searchsorted(offsets, np.arange(len(ids))), len(offsets) - 1)
    sums = np.zeros((len(offsets), E.shape[1]), E.dtype)
    np.add.at(sums, bag_of, E[ids])
    counts = np.bincount(bag_of, minlength=len(offsets))
    return (sums / np.maximum(counts, 1)[:, None]).astype(E.dtype)


@two_mistakes("embedding_bag_mean", "nan_for_an_empty_bag repeats_count_once")
def distinct_ids_and_nan(E, ids, offsets):
    ends = ends_of(ids, offsets)
    out = np.zeros((len(offsets), E.shape[1]), E.dtype)
    for b in range(len(offsets)):
        out[b] = E[np.unique(ids[offsets[b] : ends[b]])].mean(axis=0)
    return out


@two_mistakes("embedding_bag_mean", "double_precision_means repeats_count_once")
def distinct_ids_in_double_precision(E, ids, offsets):
    ends = ends_of(ids, offsets)
    out = np.zeros((len(offsets), E.shape[1]))
    for b in range(len(offsets)):
        out[b] = E[np.unique(ids[offsets[b] : ends[b]])].sum(axis=0) / max(ends[b] - offsets[b], 1)
    return out


@two_mistakes("embedding_bag_mean", "last_bag_left_zero double_precision_means")
def last_bag_lost_in_double_precision(E, ids, offsets):
    out = solutions.embedding_bag_mean(E.astype(np.float64), ids, offsets)
    out[-1:] = 0
    return out


@two_mistakes("embedding_bag_mean", "fancy_index_trap no_bags_stacked")
def trap_and_stack(E, ids, offsets):
    sizes = ends_of(ids, offsets) - offsets
    rows = [
        E[ids[offset + size - 1]] / E.dtype.type(size) if size else np.zeros(E.shape[1], E.dtype)
        for offset, size in zip(offsets, sizes, strict=True)
    ]
    return np.stack(rows)


@wrong("embedding_bag_mean", MEAN_SIZES, "got 3, expected 2.5. Bag 0 is rows 4, 1 and 1")
def largest_instead_of_mean(E, ids, offsets):
    out = solutions.embedding_bag_mean(E, ids, offsets)
    for b, (start, end) in enumerate(zip(offsets, ends_of(ids, offsets), strict=True)):
        if end > start:
            out[b] = E[ids[start:end]].max(axis=0)
    return out


@wrong("embedding_bag_mean", "dtypes_and_inputs", "Your function changed the table")
def summed_into_the_table(E, ids, offsets):
    out = solutions.embedding_bag_mean(E, ids, offsets)
    if len(out):
        E[: len(out)] = out[: len(E)]
    return out


# embedding_bag_backward: correct


def shares(ids, offsets, grad_out, mode):
    """Upstream row of each id, for mistakes that go on from here."""
    if mode not in ("mean", "sum"):
        raise ValueError(mode)
    bag_of = bag_of_each_id(ids, offsets)
    sizes = (ends_of(ids, offsets) - offsets)[bag_of, None] if mode == "mean" else 1
    return (grad_out[bag_of] / sizes).astype(grad_out.dtype)


@right("embedding_bag_backward")
def loop_over_bags_and_ids(ids, offsets, grad_out, V, mode="mean"):
    if mode != "mean" and mode != "sum":
        raise ValueError("mode?")
    grad = np.zeros((V, grad_out.shape[1]), grad_out.dtype)
    ends = [*offsets[1:], len(ids)]
    for b in range(len(offsets)):
        bag = ids[offsets[b] : ends[b]]
        for i in bag:
            grad[i] += grad_out[b] / len(bag) if mode == "mean" else grad_out[b]
    return grad


@right("embedding_bag_backward")
def through_embedding_backward(ids, offsets, grad_out, V, mode="mean"):
    return solutions.embedding_backward(ids, shares(ids, offsets, grad_out, mode), V)


@right("embedding_bag_backward")
def divided_before_it_is_repeated(ids, offsets, grad_out, V, mode="mean"):
    """Empty bags give inf, which no id then takes."""
    if mode not in {"mean", "sum"}:
        raise ValueError(f"unknown mode {mode}")
    sizes = ends_of(ids, offsets) - offsets
    with np.errstate(divide="ignore", invalid="ignore"):
        Q = grad_out / sizes[:, None].astype(grad_out.dtype) if mode == "mean" else grad_out
    grad = np.zeros((V, Q.shape[1]), Q.dtype)
    np.add.at(grad, ids, np.repeat(Q, sizes, axis=0))
    return grad


@right("embedding_bag_backward")
def product_of_three_matrices(ids, offsets, grad_out, V, mode="mean"):
    if mode not in ["mean", "sum"]:
        raise ValueError
    dtype = grad_out.dtype
    P = np.equal.outer(np.arange(len(offsets)), bag_of_each_id(ids, offsets)).astype(dtype)
    if mode == "mean":
        P = P / np.maximum(P.sum(axis=1, keepdims=True), 1)
    return np.eye(V, dtype=dtype)[ids].T @ (P.T @ grad_out)


@right("embedding_bag_backward")
def counts_transposed_times_upstream(ids, offsets, grad_out, V, mode="mean"):
    if mode not in ("mean", "sum"):
        raise ValueError("no such mode")
    A = np.zeros((len(offsets), V), grad_out.dtype)
    np.add.at(A, (bag_of_each_id(ids, offsets), ids), 1)
    if mode == "mean":
        A /= np.maximum(A.sum(axis=1, keepdims=True), 1)
    return A.T @ grad_out


@right("embedding_bag_backward")
def bincount_for_each_column(ids, offsets, grad_out, V, mode="mean"):
    G = shares(ids, offsets, grad_out, mode)
    columns = [np.bincount(ids, weights=G[:, j], minlength=V) for j in range(G.shape[1])]
    return np.stack(columns, axis=1).astype(grad_out.dtype)


@right("embedding_bag_backward")
def sparse_product(ids, offsets, grad_out, V, mode="mean"):
    G = shares(ids, offsets, grad_out, mode)
    S = scipy.sparse.coo_array((np.ones(len(ids), G.dtype), (ids.astype(np.int64), np.arange(len(ids)))), (V, len(ids)))
    return S @ G


@right("embedding_bag_backward")
def a_function_for_each_mode(ids, offsets, grad_out, V, mode="mean"):
    divisor = {"mean": lambda size: size, "sum": lambda size: 1}
    if mode not in divisor:
        raise ValueError(f"mode must be one of {', '.join(divisor)}")
    grad = np.zeros((V, grad_out.shape[1]), grad_out.dtype)
    for bag, q in zip(np.split(ids, offsets[1:]) if len(offsets) else [], grad_out, strict=True):
        if len(bag):
            np.add.at(grad, bag, q / divisor[mode](len(bag)))
    return grad


# embedding_bag_backward: mistakes

SHARES = "each_member_gets_its_share ids_that_repeat_in_and_across_bags"
TRAP = f"{SHARES} mode_sum_passes_all_on"
GRAD_VALUES = f"{TRAP} an_empty_bag_passes_nothing_on gradient_dtype_and_inputs another_mode_raises_value_error"


def sizes_of(ids, offsets):
    return ends_of(ids, offsets) - offsets


@wrong("embedding_bag_backward", TRAP, mistake="fancy_index_trap_of_shares")
def assigned_bag_by_bag(ids, offsets, grad_out, V, mode="mean"):
    G = shares(ids, offsets, grad_out, mode)
    grad = np.zeros((V, grad_out.shape[1]), grad_out.dtype)
    for n, i in enumerate(ids):
        grad[i] = G[n]
    return grad


@wrong("embedding_bag_backward", TRAP, mistake="trap_within_a_bag")
def distinct_ids_of_each_bag(ids, offsets, grad_out, V, mode="mean"):
    G = shares(ids, offsets, grad_out, mode)
    grad = np.zeros((V, grad_out.shape[1]), grad_out.dtype)
    for start, end in zip(offsets, ends_of(ids, offsets), strict=True):
        for i in set(ids[start:end].tolist()):
            grad[i] += G[start]
    return grad


@wrong("embedding_bag_backward", "another_mode_raises_value_error", mistake="other_modes_answered")
def other_modes_taken_for_mean(ids, offsets, grad_out, V, mode="mean"):
    return solutions.embedding_bag_backward(ids, offsets, grad_out, V, "sum" if mode == "sum" else "mean")


@wrong("embedding_bag_backward", "another_mode_raises_value_error", "your function gave an answer; it should raise")
def error_returned_and_not_raised(ids, offsets, grad_out, V, mode="mean"):
    if mode not in ("mean", "sum"):
        return ValueError(mode)
    return solutions.embedding_bag_backward(ids, offsets, grad_out, V, mode)


@wrong("embedding_bag_backward", "another_mode_raises_value_error", "raised NotImplementedError; it should raise")
def not_implemented(ids, offsets, grad_out, V, mode="mean"):
    if mode not in ("mean", "sum"):
        raise NotImplementedError(mode)
    return solutions.embedding_bag_backward(ids, offsets, grad_out, V, mode)


@wrong("embedding_bag_backward", "gradient_dtype_and_inputs", mistake="double_precision_gradient")
def shares_over_integers(ids, offsets, grad_out, V, mode="mean"):
    """float32 over int64 is float64."""
    bag_of = bag_of_each_id(ids, offsets)
    G = (
        shares(ids, offsets, grad_out, mode)
        if mode != "mean"
        else grad_out[bag_of] / sizes_of(ids, offsets)[bag_of, None]
    )
    grad = np.zeros((V, grad_out.shape[1]))
    np.add.at(grad, ids, G)
    return grad


@wrong("embedding_bag_backward", "gradient_dtype_and_inputs", mistake="upstream_divided_in_place")
def upstream_divided_in_a_loop(ids, offsets, grad_out, V, mode="mean"):
    for b, size in enumerate(sizes_of(ids, offsets)):
        if size and mode == "mean":
            grad_out[b] = grad_out[b] / size
    return solutions.embedding_bag_backward(ids, offsets, grad_out, V, "sum" if mode == "mean" else mode)


@wrong("embedding_bag_backward", GRAD_VALUES, mistake="last_bag_without_gradient")
def bags_between_offsets(ids, offsets, grad_out, V, mode="mean"):
    if mode not in ("mean", "sum"):
        raise ValueError(mode)
    grad = np.zeros((V, grad_out.shape[1]), grad_out.dtype)
    for b, (start, end) in enumerate(itertools.pairwise(offsets)):
        for i in ids[start:end]:
            grad[i] += grad_out[b] / (end - start if mode == "mean" else 1)
    return grad


@wrong("embedding_bag_backward", GRAD_VALUES, "values are wrong")
def searchsorted_from_the_left_clipped_backward(ids, offsets, grad_out, V, mode="mean"):
    if mode not in ("mean", "sum"):
        raise ValueError(mode)
    bag_of = np.maximum(np.searchsorted(offsets, np.arange(len(ids)), side="left") - 1, 0)
    sizes = np.bincount(bag_of, minlength=len(offsets))
    G = grad_out[bag_of] / (sizes[bag_of, None] if mode == "mean" else 1)
    return solutions.embedding_backward(ids, G.astype(grad_out.dtype), V)


@two_mistakes("embedding_bag_backward", "sum_divided other_modes_answered")
def mode_not_looked_at(ids, offsets, grad_out, V, mode="mean"):
    return solutions.embedding_bag_backward(ids, offsets, grad_out, V)


@two_mistakes("embedding_bag_backward", "mean_not_divided other_modes_answered")
def mode_not_looked_at_and_nothing_divided(ids, offsets, grad_out, V, mode="mean"):
    return solutions.embedding_bag_backward(ids, offsets, grad_out, V, "sum")


@two_mistakes("embedding_bag_backward", "fancy_index_trap_of_shares mean_not_divided")
def trap_and_nothing_divided(ids, offsets, grad_out, V, mode="mean"):
    shares(ids, offsets, grad_out, mode)
    grad = np.zeros((V, grad_out.shape[1]), grad_out.dtype)
    grad[ids] += grad_out[bag_of_each_id(ids, offsets)]
    return grad


@two_mistakes("embedding_bag_backward", "fancy_index_trap_of_shares other_modes_answered")
def trap_and_other_modes(ids, offsets, grad_out, V, mode="mean"):
    grad = np.zeros((V, grad_out.shape[1]), grad_out.dtype)
    grad[ids] += shares(ids, offsets, grad_out, "mean" if mode == "mean" else "sum")
    return grad


@two_mistakes("embedding_bag_backward", "upstream_divided_in_place double_precision_gradient")
def in_place_and_in_double_precision(ids, offsets, grad_out, V, mode="mean"):
    if mode == "mean":
        grad_out /= np.maximum(sizes_of(ids, offsets), 1)[:, None]
    mode = "sum" if mode == "mean" else mode
    return solutions.embedding_bag_backward(ids, offsets, grad_out.astype(np.float64), V, mode)


@wrong("embedding_bag_backward", "ids_that_repeat_in_and_across_bags", "a share is one over the size of that bag")
def divided_by_the_mean_size_of_its_bags(ids, offsets, grad_out, V, mode="mean"):
    """The sum over all bags, divided once a row: right for a row whose bags are of one size."""
    shares(ids, offsets, grad_out, mode)
    grad = solutions.embedding_bag_backward(ids, offsets, grad_out, V, "sum")
    if mode == "sum":
        return grad
    sizes = (ends_of(ids, offsets) - offsets)[bag_of_each_id(ids, offsets)]
    total = np.bincount(ids, weights=sizes, minlength=V) if len(ids) else np.zeros(V)
    count = np.bincount(ids, minlength=V) if len(ids) else np.zeros(V)
    return grad * (np.maximum(count, 1) / np.maximum(total, 1))[:, None].astype(grad.dtype)


@wrong("embedding_bag_backward", "an_empty_bag_passes_nothing_on", "No id stands in an empty bag")
def empty_bag_taken_to_hold_the_next_id(ids, offsets, grad_out, V, mode="mean"):
    grad = solutions.embedding_bag_backward(ids, offsets, grad_out, V, mode)
    for b, (start, end) in enumerate(zip(offsets, ends_of(ids, offsets), strict=True)):
        if start == end < len(ids):
            grad[ids[start]] += grad_out[b]
    return grad
