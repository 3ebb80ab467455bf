"""Known mistakes of chapter 06: bags of ids."""

from collections.abc import Callable
from functools import wraps

import numpy as np

from autograder.misconceptions import misconception
from solutions import embedding_backward, embedding_bag_backward, embedding_bag_mean


def ends_of(ids, offsets):
    """Where each bag ends."""
    return np.append(offsets[1:], len(ids)) if len(offsets) else offsets


def bags_of(ids, offsets):
    """The ids of each bag."""
    return [ids[start:end] for start, end in zip(offsets, ends_of(ids, offsets), strict=True)]


def bag_of_each_id(ids, offsets):
    """The number of the bag in which each id stands."""
    return np.repeat(np.arange(len(offsets)), ends_of(ids, offsets) - offsets)


def sums_of(E, ids, offsets):
    """The sum of each bag's rows."""
    sums = np.zeros((len(offsets), E.shape[1]), E.dtype)
    np.add.at(sums, bag_of_each_id(ids, offsets), E[ids])
    return sums


def means_of(E, bags):
    """The mean of each bag's rows; zero for an empty bag."""
    out = np.zeros((len(bags), E.shape[1]), E.dtype)
    for b, bag in enumerate(bags):
        if len(bag):
            out[b] = E[bag].mean(axis=0)
    return out


# embedding_bag_mean

OF_REPEATS = "mean_of_each_bag bags_of_many_sizes"
OF_EMPTY = "an_empty_bag_gives_a_zero_row empty_bags_anywhere no_ids_or_no_bags"
OF_SIZES = f"{OF_REPEATS} an_empty_bag_gives_a_zero_row empty_bags_anywhere"
OF_VALUES = f"{OF_SIZES} dtypes_and_inputs"


@misconception("embedding_bag_mean", fails=OF_EMPTY, hint="got -4, expected 0. Bag 1 is empty")
def naive_reduceat(E, ids, offsets):
    """np.add.reduceat does not give zero for an empty bag: where two offsets are equal it gives the row of the id
    that comes next, and an offset equal to N is an error. Call it for the bags that hold ids.
    """
    sums = np.add.reduceat(E[ids], offsets, axis=0)
    return (sums / np.maximum(ends_of(ids, offsets) - offsets, 1)[:, None]).astype(E.dtype)


@misconception("embedding_bag_mean", fails=OF_EMPTY, hint="got nan, expected 0. Bag 1 is empty")
def nan_for_an_empty_bag(E, ids, offsets):
    """The row of an empty bag is nan, since 0 is divided by 0. It should be zero: divide by np.maximum(size, 1), or
    leave empty bags out.
    """
    sizes = (ends_of(ids, offsets) - offsets)[:, None].astype(E.dtype)
    with np.errstate(invalid="ignore"):
        return sums_of(E, ids, offsets) / sizes


@misconception(
    "embedding_bag_mean",
    fails="an_empty_bag_gives_a_zero_row empty_bags_anywhere",
    hint="got 1.125, expected 0. Bag 1 is empty",
)
def empty_bag_keeps_the_bag_before(E, ids, offsets):
    """An empty bag has the row of the bag before it, perhaps since a variable kept its value from the last turn of a
    loop. Its row should be zero.
    """
    out = np.zeros((len(offsets), E.shape[1]), E.dtype)
    mean = np.zeros(E.shape[1], E.dtype)
    for b, bag in enumerate(bags_of(ids, offsets)):
        if len(bag):
            mean = E[bag].mean(axis=0)
        out[b] = mean
    return out


@misconception("embedding_bag_mean", fails=OF_EMPTY, hint="The shape is (3, 2); it should be (4, 2). Bag 1 is empty")
def empty_bags_dropped(E, ids, offsets):
    """Empty bags were left out of the result. It has one row for each offset, and that of an empty bag is zero."""
    return means_of(E, [bag for bag in bags_of(ids, offsets) if len(bag)])


@misconception(
    "embedding_bag_mean",
    fails="an_empty_bag_gives_a_zero_row empty_bags_anywhere",
    hint="got -4, expected 0. Bag 1 is empty",
)
def empty_bags_lost_in_marks(E, ids, offsets):
    """Equal offsets were counted as one, perhaps since bags were numbered by setting a mark at each offset and
    adding the marks up. An empty bag has a number of its own: np.repeat with the sizes gives it one.
    """
    marks = np.zeros(len(ids) + 1, int)
    marks[offsets[1:]] = 1
    bag_of = np.cumsum(marks)[:-1]
    sums, counts = np.zeros((len(offsets), E.shape[1]), E.dtype), np.zeros(len(offsets), int)
    np.add.at(sums, bag_of, E[ids])
    np.add.at(counts, bag_of, 1)
    return sums / np.maximum(counts, 1)[:, None].astype(E.dtype)


@misconception(
    "embedding_bag_mean", fails=f"{OF_VALUES} no_ids_or_no_bags", hint="The shape is (1, 2); it should be (2, 2)"
)
def last_bag_lost(E, ids, offsets):
    """The last bag is missing. There are as many bags as offsets: the last begins at the last offset and ends with
    the last id.
    """
    return means_of(E, bags_of(ids, offsets)[:-1])


@misconception("embedding_bag_mean", fails=OF_VALUES, hint="got 0, expected -0.75. Bag 0 is rows 4, 1 and 1")
def last_bag_left_zero(E, ids, offsets):
    """The row of the last bag is zero whatever the bag holds. No offset follows it: it ends with the last id."""
    out = embedding_bag_mean(E, ids, offsets)
    out[-1:] = 0
    return out


@misconception("embedding_bag_mean", fails=OF_VALUES, hint="got 0, expected -0.75. Bag 0 is rows 4, 1 and 1")
def first_bag_only(E, ids, offsets):
    """Only bag 0 has its mean, and the rows of all other bags are zero, as with a `return` inside the loop."""
    out = embedding_bag_mean(E, ids, offsets)
    out[1:] = 0
    return out


@misconception("embedding_bag_mean", fails=OF_VALUES, hint="got 0, expected 2.5. Bag 0 is rows 4, 1 and 1")
def offsets_taken_for_sizes(E, ids, offsets):
    """You took offsets for the sizes of the bags. They say where bags begin: bag b holds the ids from offsets[b] up
    to, not including, offsets[b + 1].
    """
    return means_of(E, np.split(ids, np.cumsum(offsets))[: len(offsets)])


@misconception("embedding_bag_mean", fails=OF_VALUES, hint="got 1.375, expected 2.5. Bag 0 is rows 4, 1 and 1")
def one_id_too_many(E, ids, offsets):
    """Each bag has the first id of the next one, too. It ends before offsets[b + 1], as a slice does by itself: no
    + 1.
    """
    return means_of(E, [ids[start : end + 1] for start, end in zip(offsets, ends_of(ids, offsets), strict=True)])


@misconception("embedding_bag_mean", fails=OF_VALUES, hint="got 2.25, expected 2.5. Bag 0 is rows 4, 1 and 1")
def one_id_too_few(E, ids, offsets):
    """The last id of each bag is left out. A slice ends before its second number by itself: write
    ids[offsets[b]:offsets[b + 1]], without - 1.
    """
    return means_of(E, [bag[:-1] for bag in bags_of(ids, offsets)])


@misconception("embedding_bag_mean", fails=OF_VALUES, hint="got 1.33333, expected 2.5. Bag 0 is rows 4, 1 and 1")
def searchsorted_from_the_left(E, ids, offsets):
    """The id at which a bag begins was counted in the bag before it: np.searchsorted takes the left side unless you
    say side="right". Position 0 then gets bag -1, which is the last one.
    """
    sums = np.zeros((len(offsets), E.shape[1]), E.dtype)
    np.add.at(sums, np.searchsorted(offsets, np.arange(len(ids))) - 1, E[ids])
    return sums / np.maximum(ends_of(ids, offsets) - offsets, 1)[:, None].astype(E.dtype)


@misconception("embedding_bag_mean", fails=OF_SIZES, hint="got 1, expected 2.5. Bag 0 is rows 4, 1 and 1")
def fancy_index_trap(E, ids, offsets):
    """This is the fancy-indexing trap: `sums[bag_of] += E[ids]` keeps the last row of each bag, not their sum.
    np.add.at adds every one.
    """
    sums = np.zeros((len(offsets), E.shape[1]), E.dtype)
    sums[bag_of_each_id(ids, offsets)] += E[ids]
    return sums / np.maximum(ends_of(ids, offsets) - offsets, 1)[:, None].astype(E.dtype)


@misconception("embedding_bag_mean", fails=OF_SIZES, hint="got 7.5, expected 2.5. Bag 0 is rows 4, 1 and 1")
def sum_for_mean(E, ids, offsets):
    """The rows of each bag were added up and not divided. The mean divides by the number of ids in the bag."""
    return sums_of(E, ids, offsets)


@misconception("embedding_bag_mean", fails=OF_VALUES, hint="got 3.75, expected 2.5. Bag 0 is rows 4, 1 and 1")
def divided_by_the_number_of_bags(E, ids, offsets):
    """Each sum was divided by the number of bags. Divide it by the number of ids in its own bag."""
    return sums_of(E, ids, offsets) / max(len(offsets), 1)


@misconception("embedding_bag_mean", fails=OF_VALUES, hint="got 1.5, expected 2.5. Bag 0 is rows 4, 1 and 1")
def divided_by_the_number_of_ids(E, ids, offsets):
    """Each sum was divided by the number of all ids. Divide it by the number of ids in its own bag."""
    return sums_of(E, ids, offsets) / max(len(ids), 1)


@misconception("embedding_bag_mean", fails=OF_VALUES, hint="got 1.875, expected 2.5. Bag 0 is rows 4, 1 and 1")
def divided_by_the_size_plus_one(E, ids, offsets):
    """Each sum was divided by the bag's size plus 1. That avoids 0/0 for an empty bag and makes all other means too
    small: np.maximum(size, 1) changes the empty bag alone.
    """
    return (sums_of(E, ids, offsets) / (ends_of(ids, offsets) - offsets + 1)[:, None]).astype(E.dtype)


@misconception("embedding_bag_mean", fails=OF_VALUES, hint="got -0.5, expected -0.75. Bag 0 is rows 4, 1 and 1")
def divided_by_the_largest_size(E, ids, offsets):
    """Each sum was divided by the size of the largest bag, as in a mean over bags filled up to one length. What fills
    them up does not count: divide by the bag's own size.
    """
    sizes = ends_of(ids, offsets) - offsets
    return sums_of(E, ids, offsets) / max(sizes.max(initial=0), 1)


@misconception("embedding_bag_mean", fails=OF_SIZES, hint="got 2.5, expected -0.75. Bag 0 is rows 4, 1 and 1")
def filled_up_with_id_0(E, ids, offsets):
    """Bags were filled up to one length with id 0, and row 0 of the table went into their means. 0 is an id like any
    other: take the mean over the bag's own ids.
    """
    bags = bags_of(ids, offsets)
    length = max(map(len, bags), default=0)
    return means_of(E, [np.append(bag, np.zeros(length - len(bag), bag.dtype)) for bag in bags])


@misconception("embedding_bag_mean", fails=OF_REPEATS, hint="got 2.25, expected 2.5. Bag 0 is rows 4, 1 and 1")
def repeats_count_once(E, ids, offsets):
    """An id that occurs twice in a bag was taken once, as np.unique or a set does. It counts as often as it
    occurs.
    """
    return means_of(E, [np.unique(bag) for bag in bags_of(ids, offsets)])


@misconception("embedding_bag_mean", fails=OF_REPEATS, hint="got 3.75, expected 2.5. Bag 0 is rows 4, 1 and 1")
def divided_by_distinct_ids(E, ids, offsets):
    """Each sum was divided by the number of distinct ids in the bag. Repeats count there, too: divide by the number
    of all ids in it.
    """
    distinct = np.array([max(len(np.unique(bag)), 1) for bag in bags_of(ids, offsets)], E.dtype)
    return sums_of(E, ids, offsets) / distinct.reshape(-1, 1)


@misconception("embedding_bag_mean", fails=OF_VALUES, hint="got 1, expected 2.5. Bag 0 is rows 4, 1 and 1")
def mean_over_the_columns_too(E, ids, offsets):
    """All columns of a bag's row are equal: the mean was taken over the columns, too. Write mean(axis=0), which
    keeps them apart.
    """
    out = np.zeros((len(offsets), E.shape[1]), E.dtype)
    for b, bag in enumerate(bags_of(ids, offsets)):
        if len(bag):
            out[b] = E[bag].mean()
    return out


@misconception(
    "embedding_bag_mean", fails=f"{OF_VALUES} no_ids_or_no_bags", hint="The dtype is int64; it should be float64"
)
def integer_result(E, ids, offsets):
    """The means were written into an array of integers, which cut off all after the decimal point. Give np.zeros the
    dtype of E.
    """
    return embedding_bag_mean(E, ids, offsets).astype(int)


@misconception("embedding_bag_mean", fails="dtypes_and_inputs", hint="The dtype is float64; it should be float32")
def double_precision_means(E, ids, offsets):
    """The result is float64 whatever the table was: np.zeros makes float64, and dividing by integers may, too. Give
    np.zeros dtype=E.dtype and end with .astype(E.dtype).
    """
    return embedding_bag_mean(E.astype(np.float64), ids, offsets)


@misconception("embedding_bag_mean", fails="no_ids_or_no_bags", hint="need at least one array to stack")
def no_bags_stacked(E, ids, offsets):
    """Without bags, a list of their means is empty, and NumPy cannot stack it (ValueError). Begin with np.zeros of
    shape (B, d) and fill its rows; it may have none.
    """
    return np.stack(list(embedding_bag_mean(E, ids, offsets)))


@misconception(
    "embedding_bag_mean",
    fails="no_ids_or_no_bags",
    hint="The shape is (0,); it should be (0, 3). There were no bags and no ids",
)
def no_bags_flat(E, ids, offsets):
    """Without bags the result has shape (0,): np.array of an empty list knows no width. Begin with np.zeros of shape
    (B, d) and fill its rows; it may have none.
    """
    return np.array(list(embedding_bag_mean(E, ids, offsets)), dtype=E.dtype)


@misconception(
    "embedding_bag_mean", fails="dtypes_and_inputs", hint="Your function changed offsets from [0, 1] to [1, 3]"
)
def ends_written_into_offsets(E, ids, offsets):
    """Your function writes into offsets, which belong to the caller. Make a new array: np.append(offsets[1:],
    len(ids)) has the ends.
    """
    out = embedding_bag_mean(E, ids, offsets)
    offsets[:] = ends_of(ids, offsets)
    return out


# embedding_bag_backward

SHARES = "each_member_gets_its_share ids_that_repeat_in_and_across_bags"
TRAP = f"{SHARES} mode_sum_passes_all_on"
OF_MODE = "another_mode_raises_value_error"
OF_INPUTS = "gradient_dtype_and_inputs"
DIVISION = f"{SHARES} an_empty_bag_passes_nothing_on {OF_MODE} {OF_INPUTS}"
MEMBERS = f"{DIVISION} mode_sum_passes_all_on"


def known_mode(accumulate: Callable) -> Callable:
    """The gradient of a function that leaves the mode to us: it takes a divisor for each bag, or None for "sum"."""

    @wraps(accumulate)
    def function(ids, offsets, grad_out, V, mode="mean"):
        if mode not in ("mean", "sum"):
            raise ValueError(mode)
        sizes = np.maximum(ends_of(ids, offsets) - offsets, 1)
        return accumulate(ids, offsets, grad_out, V, sizes if mode == "mean" else np.ones_like(sizes))

    return function


def passed_on(ids, bag_of, grad_out, V, divisors):
    """Gradient where divisors[b] divides the upstream row of bag b."""
    shares = grad_out[bag_of] / divisors[bag_of, None].astype(grad_out.dtype)
    return embedding_backward(ids, shares, V)


@misconception("embedding_bag_backward", fails=TRAP, hint="got 1, expected 2. Each member of a bag receives")
@known_mode
def fancy_index_trap_of_shares(ids, offsets, grad_out, V, divisors):
    """This is the fancy-indexing trap: `grad[ids] += shares` keeps one share of an id that repeats, not their sum.
    np.add.at adds every one.
    """
    bag_of = bag_of_each_id(ids, offsets)
    grad = np.zeros((V, grad_out.shape[1]), grad_out.dtype)
    grad[ids] += grad_out[bag_of] / divisors[bag_of, None].astype(grad_out.dtype)
    return grad


@misconception("embedding_bag_backward", fails=TRAP, hint="got 1, expected 2. Each member of a bag receives")
@known_mode
def trap_within_a_bag(ids, offsets, grad_out, V, divisors):
    """Bags add up, and yet an id that stands twice in one bag gets one share: within a bag, `grad[bag] += share`
    keeps one of the repeats. np.add.at(grad, bag, share) adds every one.
    """
    grad = np.zeros((V, grad_out.shape[1]), grad_out.dtype)
    for b, bag in enumerate(bags_of(ids, offsets)):
        grad[bag] += grad_out[b] / divisors[b]
    return grad


@misconception(
    "embedding_bag_backward",
    fails="ids_that_repeat_in_and_across_bags",
    hint="got 0.45829, expected 1.81269. The bags held [1, 17, 2, 30, 1, 5, 9] ids. A row",
)
@known_mode
def last_bag_overwrites(ids, offsets, grad_out, V, divisors):
    """A row has what its last bag passed on, and what came before it is overwritten. All that arrives at a row adds
    up.
    """
    grad = np.zeros((V, grad_out.shape[1]), grad_out.dtype)
    for b, bag in enumerate(bags_of(ids, offsets)):
        distinct, count = np.unique(bag, return_counts=True)
        grad[distinct] = count[:, None] * (grad_out[b] / divisors[b])
    return grad


@misconception("embedding_bag_backward", fails=SHARES, hint="got 6, expected 2. Each member of a bag receives")
@known_mode
def mean_not_divided(ids, offsets, grad_out, V, divisors):
    """With mode "mean" nothing was divided. The forward pass divided each bag by its size, and so does the gradient:
    each member's share is the upstream row over the size.
    """
    return passed_on(ids, bag_of_each_id(ids, offsets), grad_out, V, np.ones_like(divisors))


@misconception(
    "embedding_bag_backward",
    fails="mode_sum_passes_all_on",
    hint="got 2, expected 6. In a sum every member counts fully: nothing is divided. Row",
)
@known_mode
def sum_divided(ids, offsets, grad_out, V, divisors):
    """With mode "sum" the shares were divided as in a mean. Each member of a sum counts fully: pass the bag's
    upstream row on as it is.
    """
    return embedding_bag_backward(ids, offsets, grad_out, V, "mean")


@misconception("embedding_bag_backward", fails=TRAP, hint="got 6, expected 2. Each member of a bag receives")
def modes_exchanged(ids, offsets, grad_out, V, mode="mean"):
    """The modes are exchanged: yours divides for "sum" and not for "mean"."""
    mode = {"mean": "sum", "sum": "mean"}.get(mode, mode)
    return embedding_bag_backward(ids, offsets, grad_out, V, mode)


@misconception("embedding_bag_backward", fails=DIVISION, hint="got 3, expected 2. Each member of a bag receives")
def divided_by_the_number_of_bags_backward(ids, offsets, grad_out, V, mode="mean"):
    """With mode "mean" the upstream rows were divided by the number of bags. Divide each by the number of ids in its
    own bag.
    """
    if mode == "mean":
        return embedding_bag_backward(ids, offsets, grad_out, V, "sum") / max(len(offsets), 1)
    return embedding_bag_backward(ids, offsets, grad_out, V, mode)


@misconception("embedding_bag_backward", fails=DIVISION, hint="got 1.2, expected 2. Each member of a bag receives")
def divided_by_the_number_of_ids_backward(ids, offsets, grad_out, V, mode="mean"):
    """With mode "mean" the upstream rows were divided by the number of all ids. Divide each by the number of ids in
    its own bag.
    """
    if mode == "mean":
        return embedding_bag_backward(ids, offsets, grad_out, V, "sum") / max(len(ids), 1)
    return embedding_bag_backward(ids, offsets, grad_out, V, mode)


@misconception("embedding_bag_backward", fails=DIVISION, hint="got 1.5, expected 2. Each member of a bag receives")
def divided_by_the_size_plus_one_backward(ids, offsets, grad_out, V, mode="mean"):
    """With mode "mean" the upstream rows were divided by the bag's size plus 1. An empty bag passes nothing on and
    needs no such help: divide by the size.
    """
    if mode == "mean":
        sizes = ends_of(ids, offsets) - offsets
        return passed_on(ids, bag_of_each_id(ids, offsets), grad_out, V, sizes + 1)
    return embedding_bag_backward(ids, offsets, grad_out, V, mode)


@misconception("embedding_bag_backward", fails=SHARES, hint="got 3, expected 2. Each member of a bag receives")
def divided_by_distinct_ids_backward(ids, offsets, grad_out, V, mode="mean"):
    """With mode "mean" the upstream rows were divided by the number of distinct ids in the bag. Repeats count there,
    too: divide by the number of all ids in it.
    """
    if mode == "mean":
        distinct = np.array([len(np.unique(bag)) for bag in bags_of(ids, offsets)], int)
        return passed_on(ids, bag_of_each_id(ids, offsets), grad_out, V, distinct)
    return embedding_bag_backward(ids, offsets, grad_out, V, mode)


@misconception("embedding_bag_backward", fails=SHARES, hint="got 3, expected 2. Each member of a bag receives")
def divided_by_how_often_the_id_occurs(ids, offsets, grad_out, V, mode="mean"):
    """With mode "mean" each row of the gradient was divided by how often its id occurs. The forward pass divided bags,
    not ids: a share is the upstream row over the size of its bag.
    """
    if mode == "mean":
        count = np.maximum([np.sum(ids == v) for v in range(V)], 1)[:, None]
        return (embedding_bag_backward(ids, offsets, grad_out, V, "sum") / count).astype(grad_out.dtype)
    return embedding_bag_backward(ids, offsets, grad_out, V, mode)


@misconception("embedding_bag_backward", fails=SHARES, hint="got 0.666667, expected 2. Each member of a bag receives")
def divided_twice(ids, offsets, grad_out, V, mode="mean"):
    """With mode "mean" each share was divided by the bag's size twice. Once is enough: the mean has one division."""
    if mode == "mean":
        sizes = ends_of(ids, offsets) - offsets
        return passed_on(ids, bag_of_each_id(ids, offsets), grad_out, V, sizes**2)
    return embedding_bag_backward(ids, offsets, grad_out, V, mode)


@misconception("embedding_bag_backward", fails=MEMBERS, hint="got 0, expected 0.25. Each member of a bag receives")
@known_mode
def last_bag_without_gradient(ids, offsets, grad_out, V, divisors):
    """The last bag passes nothing on. No offset follows it: it ends with the last id."""
    bag_of = bag_of_each_id(ids, offsets)
    kept = bag_of < len(offsets) - 1
    return passed_on(ids[kept], bag_of[kept], grad_out, V, divisors)


@misconception("embedding_bag_backward", fails=MEMBERS, hint="got 0, expected 0.25. Each member of a bag receives")
@known_mode
def first_bag_alone_passes_on(ids, offsets, grad_out, V, divisors):
    """Only bag 0 passes anything on, as with a `return` inside the loop."""
    bag_of = bag_of_each_id(ids, offsets)
    return passed_on(ids[bag_of == 0], bag_of[bag_of == 0], grad_out, V, divisors)


@misconception("embedding_bag_backward", fails=MEMBERS, hint="got 0.333333, expected 2. Each member of a bag receives")
def offsets_taken_for_sizes_backward(ids, offsets, grad_out, V, mode="mean"):
    """You took offsets for the sizes of the bags. They say where bags begin: bag b holds the ids from offsets[b] up
    to, not including, offsets[b + 1].
    """
    starts = np.minimum(np.cumsum(offsets) - offsets, len(ids))
    ids = ids[: offsets.sum()]
    return embedding_bag_backward(ids, starts, grad_out, V, mode)


@misconception("embedding_bag_backward", fails=MEMBERS, hint="got 1.5, expected 2. Each member of a bag receives")
def one_id_too_many_backward(ids, offsets, grad_out, V, mode="mean"):
    """Each bag has the first id of the next one, too. It ends before offsets[b + 1], as a slice does by itself: no
    + 1.
    """
    grad = np.zeros((V, grad_out.shape[1]), grad_out.dtype)
    if mode not in ("mean", "sum"):
        raise ValueError(mode)
    for b, (start, end) in enumerate(zip(offsets, ends_of(ids, offsets), strict=True)):
        bag = ids[start : end + 1]
        np.add.at(grad, bag, grad_out[b] / (len(bag) if mode == "mean" and len(bag) else 1))
    return grad


@misconception("embedding_bag_backward", fails=MEMBERS, hint="got 0.25, expected 1. Each member of a bag receives")
@known_mode
def searchsorted_from_the_left_backward(ids, offsets, grad_out, V, divisors):
    """The id at which a bag begins was counted in the bag before it: np.searchsorted takes the left side unless you
    say side="right". Position 0 then gets bag -1, which is the last one.
    """
    return passed_on(ids, np.searchsorted(offsets, np.arange(len(ids))) - 1, grad_out, V, divisors)


@misconception(
    "embedding_bag_backward",
    fails="an_empty_bag_passes_nothing_on no_ids_or_no_bags_give_zeros",
    hint="got nan, expected 0.5. There were 2 ids, the offsets were [0, 0, 1], the mode",
)
def nan_from_an_empty_bag(ids, offsets, grad_out, V, mode="mean"):
    """An empty bag made rows nan: in a matrix of bags and ids, its row of counts was divided by 0, and nan times 0 is
    nan. Divide by np.maximum(size, 1).
    """
    if mode != "mean":
        return embedding_bag_backward(ids, offsets, grad_out, V, mode)
    counts = np.zeros((len(offsets), V), grad_out.dtype)
    np.add.at(counts, (bag_of_each_id(ids, offsets), ids), 1)
    with np.errstate(invalid="ignore"):
        return (counts / counts.sum(axis=1, keepdims=True)).T @ grad_out


@misconception(
    "embedding_bag_backward",
    fails="an_empty_bag_passes_nothing_on",
    hint="got 77, expected 0.5. There were 2 ids, the offsets were [0, 1, 1], the mode",
)
@known_mode
def empty_bags_lost_in_marks_backward(ids, offsets, grad_out, V, divisors):
    """Equal offsets were counted as one, perhaps since bags were numbered by setting a mark at each offset and
    adding the marks up. An empty bag has a number of its own: np.repeat with the sizes gives it one.
    """
    marks = np.zeros(len(ids) + 1, int)
    marks[offsets[1:]] = 1
    return passed_on(ids, np.cumsum(marks)[:-1], grad_out, V, divisors)


@misconception(
    "embedding_bag_backward",
    fails="each_member_gets_its_share an_empty_bag_passes_nothing_on",
    hint="The shape is (8, 2); it should be (9, 2)",
)
def rows_up_to_the_largest_id(ids, offsets, grad_out, V, mode="mean"):
    """The gradient has as many rows as the largest id plus one. It has V rows, whichever ids occur."""
    grad = embedding_bag_backward(ids, offsets, grad_out, V, mode)
    return grad[: int(ids.max()) + 1] if len(ids) else grad


@misconception(
    "embedding_bag_backward",
    fails=f"{MEMBERS} no_ids_or_no_bags_give_zeros",
    hint="The dtype is int64; it should be float64",
)
def integer_gradient(ids, offsets, grad_out, V, mode="mean"):
    """The gradient was made of integers, which cut off all after the decimal point. Give np.zeros the dtype of
    grad_out.
    """
    shares = embedding_bag_backward(np.arange(len(ids)), offsets, grad_out, len(ids), mode)
    grad = np.zeros((V, grad_out.shape[1]), dtype=int)
    np.add.at(grad, ids, shares)
    return grad


@misconception("embedding_bag_backward", fails=OF_INPUTS, hint="The dtype is float64; it should be float32")
def double_precision_gradient(ids, offsets, grad_out, V, mode="mean"):
    """The gradient is float64 whatever grad_out was: np.zeros makes float64. Give it dtype=grad_out.dtype."""
    return embedding_bag_backward(ids, offsets, grad_out.astype(np.float64), V, mode)


@misconception("embedding_bag_backward", fails=OF_INPUTS, hint="Your function changed grad_out: divide a copy of it")
def upstream_divided_in_place(ids, offsets, grad_out, V, mode="mean"):
    """Your function divides grad_out itself, and grad_out belongs to the caller. `grad_out / sizes` makes a new array;
    `grad_out /= sizes` does not.
    """
    if mode == "mean":
        grad_out /= np.maximum(ends_of(ids, offsets) - offsets, 1)[:, None]
        mode = "sum"
    return embedding_bag_backward(ids, offsets, grad_out, V, mode)


@misconception("embedding_bag_backward", fails=OF_INPUTS, hint="Your function changed offsets from [0, 2] to [2, 3]")
def ends_written_into_offsets_backward(ids, offsets, grad_out, V, mode="mean"):
    """Your function writes into offsets, which belong to the caller. Make a new array: np.append(offsets[1:],
    len(ids)) has the ends.
    """
    grad = embedding_bag_backward(ids, offsets, grad_out, V, mode)
    offsets[:] = ends_of(ids, offsets)
    return grad


@misconception(
    "embedding_bag_backward",
    fails=OF_MODE,
    hint="For mode 'max' your function gave an answer; it should raise ValueError",
)
def other_modes_answered(ids, offsets, grad_out, V, mode="mean"):
    """A mode that is neither "mean" nor "sum" gets an answer: it falls into a plain `else`, or is not looked at.
    Raise ValueError for it.
    """
    return embedding_bag_backward(ids, offsets, grad_out, V, "mean" if mode == "mean" else "sum")


@misconception(
    "embedding_bag_backward",
    fails=OF_MODE,
    hint="For mode 'Mean' your function gave an answer; it should raise ValueError",
)
def capitals_allowed(ids, offsets, grad_out, V, mode="mean"):
    """The mode "Mean" is taken for "mean". The two modes are written exactly so: compare mode as it is, not
    mode.lower(), and raise ValueError for all else.
    """
    return embedding_bag_backward(ids, offsets, grad_out, V, mode.lower())


@misconception(
    "embedding_bag_backward",
    fails=OF_MODE,
    hint="For mode 'max' your function raised KeyError; it should raise ValueError",
)
def mode_looked_up(ids, offsets, grad_out, V, mode="mean"):
    """An unknown mode raises KeyError, as looking up in a dictionary does. It should raise ValueError: look first
    whether the mode is one of the two.
    """
    return embedding_bag_backward(ids, offsets, grad_out, V, {"mean": "mean", "sum": "sum"}[mode])


@misconception(
    "embedding_bag_backward",
    fails=OF_MODE,
    hint="For mode 'max' your function raised AssertionError; it should raise ValueError",
)
def mode_asserted(ids, offsets, grad_out, V, mode="mean"):
    """An unknown mode raises AssertionError. `assert` is for what cannot happen, and may be switched off; for a wrong
    argument, raise ValueError.
    """
    assert mode in ("mean", "sum")
    return embedding_bag_backward(ids, offsets, grad_out, V, mode)


@misconception(
    "embedding_bag_backward",
    fails=OF_MODE,
    hint="For mode 'max' your function raised UnboundLocalError; it should raise",
)
def no_branch_for_other_modes(ids, offsets, grad_out, V, mode="mean"):
    """An unknown mode meets no branch of your `if`, and a variable is missing later on. Add an `else` that raises
    ValueError.
    """
    if mode == "mean":
        grad = embedding_bag_backward(ids, offsets, grad_out, V, "mean")
    elif mode == "sum":
        grad = embedding_bag_backward(ids, offsets, grad_out, V, "sum")
    return grad


@misconception(
    "embedding_bag_backward",
    fails=OF_MODE,
    hint="For mode 'max' your function gave an answer; it should raise ValueError",
)
def nothing_for_other_modes(ids, offsets, grad_out, V, mode="mean"):
    """For an unknown mode your function returns None, perhaps after printing a message. Whoever called it goes on with
    that: raise ValueError.
    """
    return embedding_bag_backward(ids, offsets, grad_out, V, mode) if mode in ("mean", "sum") else None
