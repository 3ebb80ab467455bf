"""Chapter 06: `embedding_bag_mean` and `embedding_bag_backward`."""

import numpy as np
import scipy.sparse

import solutions
from submissions import right, wrong

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

MEAN_SIZES = "mean_of_each_bag an_empty_bag_gives_a_zero_row bags_of_many_sizes empty_bags_anywhere"
MEAN_VALUES = f"{MEAN_SIZES} dtypes_and_inputs"
MEAN_EMPTY = "an_empty_bag_gives_a_zero_row empty_bags_anywhere no_ids_or_no_bags"


@wrong("embedding_bag_mean", MEAN_EMPTY, "np.add.reduceat wrote it")
def naive_reduceat(E, ids, offsets):
    sizes = ends_of(ids, offsets) - offsets
    sums = np.add.reduceat(E[ids], offsets, axis=0)
    return (sums / np.maximum(sizes, 1)[:, None]).astype(E.dtype)


@wrong("embedding_bag_mean", MEAN_EMPTY, "got nan, expected 0. Bag 1 is empty")
def nan_for_an_empty_bag(E, ids, offsets):
    with np.errstate(invalid="ignore"):
        sums = solutions.embedding_bag_mean(E, ids, offsets)
        full = ends_of(ids, offsets) > offsets
        return sums * (full / full)[:, None].astype(E.dtype)


@wrong("embedding_bag_mean", MEAN_EMPTY.replace(" no_ids_or_no_bags", ""), "got 1.125, expected 0. Bag 1 is empty")
def empty_bag_keeps_the_bag_before(E, ids, offsets):
    out = solutions.embedding_bag_mean(E, ids, offsets)
    for b in range(1, len(offsets)):
        if offsets[b] == ends_of(ids, offsets)[b]:
            out[b] = out[b - 1]
    return out


@wrong("embedding_bag_mean", MEAN_EMPTY, "The shape is (3, 2); it should be (4, 2). Bag 1 is empty")
def empty_bags_dropped(E, ids, offsets):
    return solutions.embedding_bag_mean(E, ids, offsets)[ends_of(ids, offsets) > offsets]


@wrong("embedding_bag_mean", MEAN_VALUES, "The shape is (1, 2); it should be (2, 2)")
def last_bag_lost(E, ids, offsets):
    return (
        solutions.embedding_bag_mean(E, ids, offsets)[:-1]
        if len(ids)
        else solutions.embedding_bag_mean(E, ids, offsets)
    )


@wrong("embedding_bag_mean", MEAN_VALUES, "The last bag ends with the last id")
def last_bag_left_zero(E, ids, offsets):
    out = np.zeros((len(offsets), E.shape[1]), E.dtype)
    for b in range(len(offsets) - 1):
        if offsets[b + 1] > offsets[b]:
            out[b] = E[ids[offsets[b] : offsets[b + 1]]].mean(axis=0)
    return out


@wrong("embedding_bag_mean", MEAN_VALUES, "got 3.75, expected 2.5")
def divided_by_the_number_of_bags(E, ids, offsets):
    sums = np.zeros((len(offsets), E.shape[1]), E.dtype)
    np.add.at(sums, bag_of_each_id(ids, offsets), E[ids])
    return sums / max(len(offsets), 1)


@wrong("embedding_bag_mean", MEAN_VALUES, "got 1.5, expected 2.5")
def divided_by_the_number_of_ids(E, ids, offsets):
    sums = np.zeros((len(offsets), E.shape[1]), E.dtype)
    np.add.at(sums, bag_of_each_id(ids, offsets), E[ids])
    return sums / max(len(ids), 1)


@wrong("embedding_bag_mean", MEAN_SIZES, "got 7.5, expected 2.5")
def summed_and_not_divided(E, ids, offsets):
    sums = np.zeros((len(offsets), E.shape[1]), E.dtype)
    np.add.at(sums, bag_of_each_id(ids, offsets), E[ids])
    return sums


@wrong("embedding_bag_mean", MEAN_SIZES, "got 3, expected 2.5. Bag 0 is rows 4, 1 and 1")
def largest_instead_of_mean(E, ids, offsets):
    out = solutions.embedding_bag_mean(E, ids, offsets)
    for b, (start, end) in enumerate(zip(offsets, ends_of(ids, offsets), strict=True)):
        if end > start:
            out[b] = E[ids[start:end]].max(axis=0)
    return out


@wrong("embedding_bag_mean", "mean_of_each_bag bags_of_many_sizes", "got 2.25, expected 2.5. Bag 0 is rows 4, 1 and 1")
def repeats_count_once(E, ids, offsets):
    out = np.zeros((len(offsets), E.shape[1]), E.dtype)
    for b, (start, end) in enumerate(zip(offsets, ends_of(ids, offsets), strict=True)):
        if end > start:
            out[b] = E[np.unique(ids[start:end])].mean(axis=0)
    return out


@wrong("embedding_bag_mean", MEAN_SIZES, "values are wrong")
def fancy_index_trap(E, ids, offsets):
    sums = np.zeros((len(offsets), E.shape[1]), E.dtype)
    sums[bag_of_each_id(ids, offsets)] += E[ids]
    return sums / np.maximum(ends_of(ids, offsets) - offsets, 1)[:, None].astype(E.dtype)


@wrong("embedding_bag_mean", MEAN_SIZES, "values are wrong")
def searchsorted_from_the_left(E, ids, offsets):
    bag_of = np.searchsorted(offsets, np.arange(len(ids)), side="left")
    bag_of = np.minimum(bag_of, len(offsets) - 1)
    sums = np.zeros((len(offsets), E.shape[1]), E.dtype)
    np.add.at(sums, bag_of, E[ids])
    counts = np.bincount(bag_of, minlength=len(offsets))
    return (sums / np.maximum(counts, 1)[:, None]).astype(E.dtype)


@wrong("embedding_bag_mean", "dtypes_and_inputs", "The dtype is float64; it should be float32. The table was float32")
def double_precision_means(E, ids, offsets):
    return solutions.embedding_bag_mean(E.astype(np.float64), ids, offsets)


@wrong("embedding_bag_mean", "no_ids_or_no_bags", "Your function raised ValueError: need at least one array")
def stack_of_a_list_of_bags(E, ids, offsets):
    out = solutions.embedding_bag_mean(E, ids, offsets)
    return np.stack(list(out))


@wrong("embedding_bag_mean", "dtypes_and_inputs", "Your function changed offsets from [0, 1] to [1, 3]")
def offsets_made_ends_in_place(E, ids, offsets):
    out = solutions.embedding_bag_mean(E, ids, offsets)
    offsets[:] = ends_of(ids, offsets)
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
GRAD_VALUES = f"{SHARES} mode_sum_passes_all_on an_empty_bag_passes_nothing_on gradient_dtype_and_inputs"
GRAD_VALUES_ALL = f"{GRAD_VALUES} another_mode_raises_value_error"
TRAP = f"{SHARES} mode_sum_passes_all_on"


@wrong("embedding_bag_backward", TRAP, "got 1, expected 2. Each member of a bag receives")
def fancy_index_trap_of_shares(ids, offsets, grad_out, V, mode="mean"):
    grad = np.zeros((V, grad_out.shape[1]), grad_out.dtype)
    grad[ids] += shares(ids, offsets, grad_out, mode)
    return grad


@wrong(
    "embedding_bag_backward",
    SHARES,
    "got 6, expected 2. Each member of a bag receives the bag's upstream row divided by",
)
def mean_not_divided(ids, offsets, grad_out, V, mode="mean"):
    shares(ids, offsets, grad_out, mode)
    return solutions.embedding_bag_backward(ids, offsets, grad_out, V, "sum")


@wrong("embedding_bag_backward", "mode_sum_passes_all_on", "got 2, expected 6. In a sum every member counts fully")
def mode_ignored(ids, offsets, grad_out, V, mode="mean"):
    shares(ids, offsets, grad_out, mode)
    return solutions.embedding_bag_backward(ids, offsets, grad_out, V)


@wrong("embedding_bag_backward", "another_mode_raises_value_error", "For mode 'max' your function gave an answer")
def other_modes_taken_for_sum(ids, offsets, grad_out, V, mode="mean"):
    return solutions.embedding_bag_backward(ids, offsets, grad_out, V, "mean" if mode == "mean" else "sum")


@wrong("embedding_bag_backward", "another_mode_raises_value_error", "For mode 'Mean' your function gave an answer")
def capitals_allowed(ids, offsets, grad_out, V, mode="mean"):
    return solutions.embedding_bag_backward(ids, offsets, grad_out, V, mode.lower())


@wrong(
    "embedding_bag_backward",
    "another_mode_raises_value_error",
    "For mode 'max' your function raised KeyError; it should raise ValueError",
)
def mode_looked_up(ids, offsets, grad_out, V, mode="mean"):
    return solutions.embedding_bag_backward(ids, offsets, grad_out, V, {"mean": "mean", "sum": "sum"}[mode])


@wrong(
    "embedding_bag_backward",
    f"{SHARES} an_empty_bag_passes_nothing_on another_mode_raises_value_error gradient_dtype_and_inputs",
    "got 3, expected 2. Each member of a bag",
)
def divided_by_the_number_of_bags_backward(ids, offsets, grad_out, V, mode="mean"):
    shares(ids, offsets, grad_out, mode)
    grad = solutions.embedding_bag_backward(ids, offsets, grad_out, V, "sum")
    return grad / max(len(offsets), 1) if mode == "mean" else grad


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


@wrong(
    "embedding_bag_backward",
    "an_empty_bag_passes_nothing_on no_ids_or_no_bags_give_zeros",
    "got nan, expected 0",
)
def every_bag_reaches_every_row(ids, offsets, grad_out, V, mode="mean"):
    """A product with a count matrix whose empty rows are 0/0."""
    shares(ids, offsets, grad_out, mode)
    A = np.zeros((len(offsets), V), grad_out.dtype)
    np.add.at(A, (bag_of_each_id(ids, offsets), ids), 1)
    with np.errstate(invalid="ignore"):
        A = A / A.sum(axis=1, keepdims=True) if mode == "mean" else A
    return A.T @ grad_out


@wrong("embedding_bag_backward", GRAD_VALUES_ALL, "values are wrong")
def last_bag_without_gradient(ids, offsets, grad_out, V, mode="mean"):
    grad = np.zeros((V, grad_out.shape[1]), grad_out.dtype)
    if mode not in ("mean", "sum"):
        raise ValueError(mode)
    for b in range(len(offsets) - 1):
        bag = ids[offsets[b] : offsets[b + 1]]
        for i in bag:
            grad[i] += grad_out[b] / (len(bag) if mode == "mean" else 1)
    return grad


@wrong("embedding_bag_backward", GRAD_VALUES_ALL, "values are wrong")
def searchsorted_from_the_left_backward(ids, offsets, grad_out, V, mode="mean"):
    if mode not in ("mean", "sum"):
        raise ValueError(mode)
    bag_of = np.maximum(np.searchsorted(offsets, np.arange(len(ids)), side="left") - 1, 0)
    sizes = np.bincount(bag_of, minlength=len(offsets))
    G = grad_out[bag_of] / (sizes[bag_of, None] if mode == "mean" else 1)
    return solutions.embedding_backward(ids, G.astype(grad_out.dtype), V)


@wrong(
    "embedding_bag_backward", "gradient_dtype_and_inputs", "The dtype is float64; it should be float32. grad_out was"
)
def double_precision_gradient(ids, offsets, grad_out, V, mode="mean"):
    return solutions.embedding_bag_backward(ids, offsets, grad_out.astype(np.float64), V, mode)


@wrong("embedding_bag_backward", "gradient_dtype_and_inputs", "Your function changed grad_out: divide a copy of it")
def upstream_divided_in_place(ids, offsets, grad_out, V, mode="mean"):
    sizes = np.maximum(ends_of(ids, offsets) - offsets, 1)[:, None]
    shares(ids, offsets, grad_out, mode)
    if mode == "mean":
        grad_out /= sizes
    return solutions.embedding_bag_backward(ids, offsets, grad_out, V, "sum")


@wrong("embedding_bag_backward", "gradient_dtype_and_inputs", "Your function changed offsets from [0, 2] to [2, 3]")
def offsets_made_ends_in_place_backward(ids, offsets, grad_out, V, mode="mean"):
    grad = solutions.embedding_bag_backward(ids, offsets, grad_out, V, mode)
    offsets[:] = ends_of(ids, offsets)
    return grad


@wrong(
    "embedding_bag_backward",
    "an_empty_bag_passes_nothing_on no_ids_or_no_bags_give_zeros",
    "The shape is (3, 2); it should be (4, 2)",
)
def rows_up_to_the_largest_id(ids, offsets, grad_out, V, mode="mean"):
    grad = solutions.embedding_bag_backward(ids, offsets, grad_out, V, mode)
    return grad[: int(ids.max()) + 1 if len(ids) else 0]
