"""Checks of chapter 06: bags of ids."""

import numpy as np

from autograder.checks import check_of
from autograder.checks.tools import expect


@check_of(
    "embedding_bag_mean",
    points=2,
    enforces=("Average the table's rows over each bag of ids.", "the last bag ends with the last id."),
)
def mean_of_each_bag(embedding_bag_mean):
    """Ids [4, 1, 1, 7, 2] with offsets [0, 3] give two rows: the mean of rows 4, 1, 1 and the mean of rows 7, 2."""
    E = np.array([[9.0, 9], [3, 0.75], [0.5, 1.5], [9, 8], [1.5, -3], [8, 9], [8, 8], [-2, 4.5]])
    got = embedding_bag_mean(E, np.array([4, 1, 1, 7, 2]), np.array([0, 3]))
    hint = (
        "Bag 0 is rows 4, 1 and 1, added up and divided by 3. The last bag ends with the last id. Divide each bag by "
        "its own size, not by the number of bags or of ids."
    )
    expect(got, np.array([[2.5, -0.5], [-0.75, 3.0]]), hint)


@check_of(
    "embedding_bag_mean",
    points=2,
    enforces=("Two that are equal make an empty bag", "The row of an empty bag is zero."),
)
def an_empty_bag_gives_a_zero_row(embedding_bag_mean):
    """Two equal offsets, as in [0, 2, 2, 3], make an empty bag between full ones: its row is zero, the others stay."""
    E = np.array([[1.5, -3.0], [2.5, 0.5], [-4.0, 6.5], [0.75, 8.0]])
    got = embedding_bag_mean(E, np.array([3, 0, 2, 1, 2]), np.array([0, 2, 2, 3]))
    hint = (
        "Bag 1 is empty. If its row equals the row of the id that comes next, np.add.reduceat wrote it: for an empty "
        "run it does not give zero. If it is nan, 0 was divided by 0."
    )
    expect(got, np.array([[1.125, 2.5], [0.0, 0.0], [-4.0, 6.5], [-0.75, 3.5]]), hint)


@check_of("embedding_bag_mean", points=2, hidden=True, enforces="An id that occurs twice in a bag counts twice.")
def bags_of_many_sizes(embedding_bag_mean):
    """Bags of one to thirty ids, most of them with ids that repeat inside a bag."""
    rng = np.random.default_rng(11)
    E = rng.uniform(0.5, 1.5, size=(6, 3))
    sizes = [1, 17, 2, 30, 1, 5, 9]
    ids = rng.choice([0, 2, 3, 5], size=sum(sizes))
    want = np.zeros((len(sizes), 3))
    offsets, start = [], 0
    for b, size in enumerate(sizes):
        offsets.append(start)
        for i in ids[start : start + size]:
            want[b] += E[i] / size
        start += size
    hint = (
        f"The bags held {sizes} ids. An id counts as often as it occurs in the bag, and the bag is divided by its size."
    )
    expect(embedding_bag_mean(E, ids, np.array(offsets)), want, hint)


@check_of(
    "embedding_bag_mean",
    points=1,
    hidden=True,
    enforces=("any bag may be empty, and all of them.", "The row of an empty bag is zero."),
)
def empty_bags_anywhere(embedding_bag_mean):
    """The first bag, the last bag, and several in a row may be empty: each gives a zero row."""
    E = np.array([[1.5, -3.0], [2.5, 0.5], [-4.0, 6.5]])
    ids = np.array([2, 1, 0])
    pair, last = [-0.75, 3.5], [1.5, -3.0]
    for offsets, want in (
        ([0, 0, 2], [[0, 0], pair, last]),
        ([0, 2, 3], [pair, last, [0, 0]]),
        ([0, 0, 0, 2, 2, 2, 3, 3], [[0, 0], [0, 0], pair, [0, 0], [0, 0], last, [0, 0], [0, 0]]),
    ):
        hint = f"There were 3 ids, and the offsets were {offsets}: a bag that ends where it begins is empty."
        expect(embedding_bag_mean(E.copy(), ids.copy(), np.array(offsets)), np.array(want), hint)


@check_of("embedding_bag_mean", points=1, hidden=True, enforces=("N may be 0.", "B may be 0, if N is 0."))
def no_ids_or_no_bags(embedding_bag_mean):
    """Without ids every bag is empty and the result is B rows of zeros; without bags, too, its shape is (0, d)."""
    E = np.array([[1.5, -3.0, 0.5], [2.5, 0.5, 7.0]])
    no_ids = np.zeros(0, dtype=np.int64)
    got = embedding_bag_mean(E, no_ids, np.array([0, 0, 0, 0]))
    expect(got, np.zeros((4, 3)), "There were four bags and no ids.")
    expect(embedding_bag_mean(E, no_ids, no_ids), np.zeros((0, 3)), "There were no bags and no ids.")


@check_of(
    "embedding_bag_mean",
    points=1,
    hidden=True,
    enforces=(
        "ndarray of any integer dtype, shape (N,)",
        "ndarray of int32 or int64, shape (B,)",
        "ndarray of E's dtype, shape (B, d)",
        "It is not modified.",
        "The array is not modified.",
    ),
)
def dtypes_and_inputs(embedding_bag_mean):
    """The result has the table's dtype for ids and offsets of every dtype allowed, and the inputs stay as they were."""
    table = np.array([[0.5, -1.5], [2.5, 3.5], [-4.5, 0.25], [1.0, 6.0]])
    want = table[[2, 1, 3]]  # each bag holds one id, so this is about dtypes alone
    for dtype in (np.float32, np.float64):
        for ids_dtype in (np.uint8, np.int32, np.int64, np.uint32):
            for offsets_dtype in (np.int32, np.int64):
                E = table.astype(dtype)
                ids, offsets = np.array([2, 1, 3], ids_dtype), np.array([0, 1, 2], offsets_dtype)
                hint = f"The table was {E.dtype}, the ids {ids.dtype}, the offsets {offsets.dtype}."
                expect(embedding_bag_mean(E, ids, offsets), want.astype(dtype), hint)
    E, ids, offsets = table.copy(), np.array([3, 0, 3]), np.array([0, 1])
    embedding_bag_mean(E, ids, offsets)
    assert np.array_equal(E, table), "Your function changed the table."
    assert np.array_equal(ids, [3, 0, 3]), f"Your function changed ids from [3, 0, 3] to {ids.tolist()}."
    assert np.array_equal(offsets, [0, 1]), f"Your function changed offsets from [0, 1] to {offsets.tolist()}."


@check_of(
    "embedding_bag_backward",
    points=2,
    enforces="Each place of an id in a bag passes something on to that id's row",
)
def each_member_gets_its_share(embedding_bag_backward):
    """Ids [4, 1, 1, 7, 2], offsets [0, 3], mode "mean": row 1 gets 2/3 of upstream row 0, row 7 half of row 1."""
    Q = np.array([[3.0, -1.5], [0.5, 4.0]])
    got = embedding_bag_backward(np.array([4, 1, 1, 7, 2]), np.array([0, 3]), Q, 9)
    want = np.array([[0, 0], [2.0, -1.0], [0.25, 2.0], [0, 0], [1.0, -0.5], [0, 0], [0, 0], [0.25, 2.0], [0, 0]])
    hint = (
        "Each member of a bag receives the bag's upstream row divided by the bag's size. Id 1 is a member of bag 0 "
        "twice and receives two shares: if row 1 holds one, `grad[ids] += ...` kept the last alone. "
        "V is 9: the gradient has that many rows, whichever ids occur."
    )
    expect(got, want, hint)


@check_of("embedding_bag_backward", points=2, enforces='with mode "sum" it added them up.')
def mode_sum_passes_all_on(embedding_bag_backward):
    """The same ids and offsets with mode "sum": each member receives its bag's upstream row, undivided."""
    Q = np.array([[3.0, -1.5], [0.5, 4.0]])
    got = embedding_bag_backward(np.array([4, 1, 1, 7, 2]), np.array([0, 3]), Q, 8, mode="sum")
    want = np.array([[0, 0], [6.0, -3.0], [0.5, 4.0], [0, 0], [3.0, -1.5], [0, 0], [0, 0], [0.5, 4.0]])
    hint = "In a sum every member counts fully: nothing is divided. Row 1 receives upstream row 0 twice."
    expect(got, want, hint)


@check_of("embedding_bag_backward", points=2, hidden=True, enforces="all that arrives at a row adds up.")
def ids_that_repeat_in_and_across_bags(embedding_bag_backward):
    """Bags of one to thirty ids from few rows, with mode "mean": a row adds up its shares of all bags."""
    rng = np.random.default_rng(13)
    sizes = [1, 17, 2, 30, 1, 5, 9]
    ids = rng.choice([0, 2, 3, 6], size=sum(sizes))
    Q = rng.uniform(0.5, 1.5, size=(len(sizes), 3))
    want = np.zeros((7, 3))
    offsets, start = [], 0
    for b, size in enumerate(sizes):
        offsets.append(start)
        for i in ids[start : start + size]:
            want[i] += Q[b] / size
        start += size
    hint = (
        f"The bags held {sizes} ids. A row receives a share from each place where its id stands, in whichever bag; "
        "a share is one over the size of that bag. `grad[ids] += ...` keeps the last share alone."
    )
    expect(embedding_bag_backward(ids, np.array(offsets), Q, 7, mode="mean"), want, hint)


@check_of("embedding_bag_backward", points=2, hidden=True, enforces="An empty bag passes nothing on.")
def an_empty_bag_passes_nothing_on(embedding_bag_backward):
    """Empty bags between bags of one id, first, last, or several in a row, leave the shares of the others alone."""
    ids, first, last = np.array([2, 0]), [3.0, -1.5], [0.5, 4.0]
    want = np.array([last, [0, 0], first, [0, 0]])  # for bags of one id, mean and sum agree
    unused = [77.0, 77.0]  # what an empty bag would pass on
    for offsets, Q in (
        ([0, 0, 1], [unused, first, last]),
        ([0, 1, 1], [first, unused, last]),
        ([0, 1, 2], [first, last, unused]),
        ([0, 0, 0, 1, 1, 1, 2, 2], [unused, unused, first, unused, unused, last, unused, unused]),
    ):
        for mode in ("mean", "sum"):
            got = embedding_bag_backward(ids.copy(), np.array(offsets), np.array(Q), 4, mode=mode)
            hint = f"There were 2 ids, the offsets were {offsets}, the mode {mode!r}. No id stands in an empty bag."
            expect(got, want, hint)


@check_of("embedding_bag_backward", points=1, hidden=True, enforces=("N may be 0.", "B may be 0, if N is 0."))
def no_ids_or_no_bags_give_zeros(embedding_bag_backward):
    """Without ids, with or without bags, the gradient is V rows of zeros, for both modes."""
    no_ids = np.zeros(0, dtype=np.int64)
    for mode in ("mean", "sum"):
        got = embedding_bag_backward(no_ids, np.array([0, 0, 0]), np.full((3, 2), 77.0), 4, mode=mode)
        expect(got, np.zeros((4, 2)), f"There were three bags and no ids; the mode was {mode!r}.")
        got = embedding_bag_backward(no_ids, no_ids, np.zeros((0, 2)), 4, mode=mode)
        expect(got, np.zeros((4, 2)), f"There were no bags and no ids; the mode was {mode!r}.")


@check_of("embedding_bag_backward", points=1, hidden=True, enforces='If ``mode`` is anything else, "max" for example.')
def another_mode_raises_value_error(embedding_bag_backward):
    """A mode that is neither "mean" nor "sum" raises ValueError; for bags of one id those two agree."""
    ids, offsets, Q = np.array([2, 0]), np.array([0, 1]), np.array([[0.5, -1.5], [2.5, 3.5]])
    want = np.array([[2.5, 3.5], [0, 0], [0.5, -1.5]])
    for mode in ("mean", "sum"):
        got = embedding_bag_backward(ids.copy(), offsets.copy(), Q.copy(), 3, mode=mode)
        expect(got, want, f"The mode was {mode!r}, a valid one.")
    for mode in ("max", "average", "Mean"):
        try:
            embedding_bag_backward(ids, offsets, Q, 3, mode=mode)
        except ValueError:
            continue
        except Exception as error:
            raised = type(error).__name__
            raise AssertionError(
                f"For mode {mode!r} your function raised {raised}; it should raise ValueError."
            ) from None
        raise AssertionError(
            f"For mode {mode!r} your function gave an answer; it should raise ValueError. Otherwise a mode that is "
            "mistyped or not supported gives a gradient of something else."
        )


@check_of(
    "embedding_bag_backward",
    points=1,
    hidden=True,
    enforces=("ndarray of grad_out's dtype, shape (V, d)", "It is not modified.", "The array is not modified."),
)
def gradient_dtype_and_inputs(embedding_bag_backward):
    """The gradient has grad_out's dtype for ids and offsets of every dtype allowed; the inputs stay as they were."""
    values = np.array([[0.5, -1.5], [2.5, 3.5]])
    want = np.array([[0, 0], [2.5, 3.5], [0, 0], [0, 0], [0.5, -1.5]])  # bags of one id: this is about dtypes alone
    for dtype in (np.float32, np.float64):
        for ids_dtype in (np.uint8, np.int32, np.int64, np.uint32):
            for offsets_dtype in (np.int32, np.int64):
                Q = values.astype(dtype)
                ids, offsets = np.array([4, 1], ids_dtype), np.array([0, 1], offsets_dtype)
                hint = f"grad_out was {Q.dtype}, the ids {ids.dtype}, the offsets {offsets.dtype}."
                expect(embedding_bag_backward(ids, offsets, Q, 5), want.astype(dtype), hint)
    ids, offsets = np.array([4, 3, 4]), np.array([0, 2])
    for mode in ("mean", "sum"):
        Q = values.copy()
        embedding_bag_backward(ids, offsets, Q, 5, mode=mode)
        assert np.array_equal(Q, values), "Your function changed grad_out: divide a copy of it."
        assert np.array_equal(ids, [4, 3, 4]), f"Your function changed ids from [4, 3, 4] to {ids.tolist()}."
        assert np.array_equal(offsets, [0, 2]), f"Your function changed offsets from [0, 2] to {offsets.tolist()}."
