"""Checks of chapter 04: training a table."""

import numpy as np

from autograder.checks import check_of
from autograder.checks.tools import expect


@check_of(
    "sparse_sgd_step",
    points=2,
    enforces=(
        "E[i] - lr * (g[i] + weight_decay * E[i]) if id i occurs in ids",
        "the same to the last bit if it does not",
    ),
)
def rows_that_occur_take_a_step(sparse_sgd_step):
    """Ids that differ: row ids[n] goes down by lr times upstream row n, and the other rows keep their values."""
    E = np.array([[1.0, -2.0], [0.5, 4.0], [-3.0, 1.5], [2.5, 0.25]])
    got = sparse_sgd_step(E.copy(), np.array([3, 1]), np.array([[2.0, -4.0], [0.5, 1.0]]), 0.1)
    want = np.array([[1.0, -2.0], [0.45, 3.9], [-3.0, 1.5], [2.3, 0.65]])
    expect(got, want, "Row ids[n] becomes E[ids[n]] - lr * grad_out[n]. Return the whole table.")


@check_of(
    "sparse_sgd_step", points=2, enforces="g[i] is the sum of the upstream rows at all positions where id i stands."
)
def repeats_add_up(sparse_sgd_step):
    """An id that stands in three places steps down by lr times the sum of its three upstream rows."""
    E = np.array([[1.0, -2.0], [0.5, 4.0], [-3.0, 1.5]])
    G = np.array([[1.0, 0.5], [2.0, -1.0], [3.0, 0.25], [0.5, 2.0]])
    got = sparse_sgd_step(E.copy(), np.array([2, 0, 2, 2]), G, 0.1)
    want = np.array([[0.8, -1.9], [0.5, 4.0], [-3.45, 1.225]])
    hint = (
        "Row 2 occurs three times, so its gradient is the sum of upstream rows 0, 2 and 3. "
        "`E[ids] -= lr * grad_out` keeps one of them only: add up first, with np.add.at."
    )
    expect(got, want, hint)


@check_of("sparse_sgd_step", points=2, enforces="How strongly a row that occurs is pulled towards zero.")
def decay_reaches_only_rows_that_occur(sparse_sgd_step):
    """With weight decay, rows 0 and 3 take E[i] - lr * (g + weight_decay * E[i]); rows 1 and 2 stand still."""
    E = np.array([[1.0, -2.0], [0.5, 4.0], [-3.0, 1.5], [2.5, 0.25]])
    G = np.array([[2.0, -4.0], [0.5, 1.0]])
    got = sparse_sgd_step(E.copy(), np.array([3, 0]), G.copy(), 0.1, weight_decay=0.5)
    want = E.copy()
    for n, i in enumerate([3, 0]):
        for j in range(2):
            want[i, j] = E[i, j] - 0.1 * (G[n, j] + 0.5 * E[i, j])
    hint = (
        "weight_decay * E[i] is added to the gradient of each row that occurs, and lr multiplies both. "
        "A row that does not occur does not decay."
    )
    expect(got, want, hint)


@check_of(
    "sparse_sgd_step", points=1, hidden=True, enforces="A row that occurs several times takes one step and decays once."
)
def a_row_that_repeats_decays_once(sparse_sgd_step):
    """A row whose id stands in several places takes one step: its upstream rows add up, and it decays once."""
    rng = np.random.default_rng(4)
    E = rng.uniform(0.5, 1.5, (6, 3))
    ids = np.array([5, 0, 5, 2, 5, 0, 5])
    G = rng.uniform(0.5, 1.5, (7, 3))
    want = E.copy()
    for i in (0, 2, 5):
        g = sum(G[n] for n in range(7) if ids[n] == i)
        want[i] = E[i] - 0.2 * (g + 0.3 * E[i])
    hint = "The decay term belongs to the row, not to the position: add up the repeats first, then decay once."
    expect(sparse_sgd_step(E.copy(), ids, G, 0.2, 0.3), want, hint)


@check_of(
    "sparse_sgd_step", points=1, hidden=True, enforces="A row that occurs takes its step even where g[i] is zero."
)
def a_row_with_gradient_zero_decays(sparse_sgd_step):
    """A row that occurs decays even if its upstream rows are zero or cancel: what counts is whether its id occurs."""
    E = np.array([[1.0, -2.0], [0.5, 4.0], [-3.0, 1.5], [2.5, 0.25]])
    G = np.array([[1.0, -2.0], [0.0, 0.0], [-1.0, 2.0]])
    got = sparse_sgd_step(E.copy(), np.array([1, 3, 1]), G, 0.1, 0.5)
    want = np.array([[1.0, -2.0], [0.475, 3.8], [-3.0, 1.5], [2.375, 0.2375]])
    hint = (
        "Rows 1 and 3 occur, with a gradient of zero, and still decay. Find the rows from ids, not from the gradient."
    )
    expect(got, want, hint)


@check_of(
    "sparse_sgd_step",
    points=1,
    hidden=True,
    enforces="A single id (shape ``()``) and no ids at all (a 0 in the shape) are allowed.",
)
def any_shape_of_ids(sparse_sgd_step):
    """Ids of shape (B, T), a single id of shape (), and no ids at all, which leave every row as it was."""
    E = 0.5 + np.arange(15.0).reshape(5, 3)
    ids = np.array([[4, 0], [1, 3]])
    G = 1.0 + np.arange(12.0).reshape(2, 2, 3)
    want = E.copy()
    for b in range(2):
        for t in range(2):
            want[ids[b, t]] = E[ids[b, t]] - 0.1 * G[b, t]
    expect(sparse_sgd_step(E.copy(), ids, G, 0.1), want, "Treat ids of shape (B, T) as one list of B * T positions.")
    want = E.copy()
    want[2] = E[2] - 0.1 * np.array([1.0, 2.0, 3.0])
    got = sparse_sgd_step(E.copy(), np.array(2), np.array([1.0, 2.0, 3.0]), 0.1)
    expect(got, want, "The id had shape () and grad_out shape (d,).")
    got = sparse_sgd_step(E.copy(), np.zeros((2, 0), dtype=np.int64), np.zeros((2, 0, 3)), 0.1, 0.5)
    expect(got, E, "There were no ids, so no row takes a step and no row decays.")


@check_of(
    "sparse_sgd_step",
    points=1,
    hidden=True,
    enforces=(
        "E[i], the same to the last bit",
        "The new table, an array of its own even where nothing changed.",
        "It is not modified.",
    ),
)
def a_table_of_its_own(sparse_sgd_step):
    """The result has E's dtype, shares nothing with the inputs, and rows that do not occur agree to the last bit."""
    values = np.array([[1.0, -0.2], [0.1, 4.3], [-3.7, 1.9], [-0.0, 1e-30]])
    for dtype in (np.float32, np.float64):
        for ids_dtype in (np.uint8, np.int32, np.int64):
            E, G = values.astype(dtype), np.array([[2.0, -4.0]], dtype=dtype)
            ids = np.array([1], dtype=ids_dtype)
            want = values.astype(dtype)
            want[1] -= 0.25 * (G[0] + 0.5 * want[1])
            got = sparse_sgd_step(E, ids, G, 0.25, 0.5)
            expect(got, want, f"E was {np.dtype(dtype)}, the ids {np.dtype(ids_dtype)}.")
            same = got[[0, 2, 3]].tobytes() == want[[0, 2, 3]].tobytes()
            assert same, "A row that does not occur changed in its last bits: copy E and write only rows that occur."
            assert np.array_equal(E, values.astype(dtype)), "Your function changed E: work on a copy."
            assert ids[0] == 1, f"Your function changed ids from [1] to {ids.tolist()}."
            assert G.tolist() == [[2.0, -4.0]], "Your function changed grad_out."
    for chosen in ([1], []):
        E = values.copy()
        got = sparse_sgd_step(E, np.array(chosen, dtype=np.int64), np.ones((len(chosen), 2)), 0.1)
        assert not np.shares_memory(got, E), f"For ids {chosen} the result is E itself or a view of it: return a copy."


@check_of(
    "lazy_adam_step",
    points=2,
    enforces=(
        "size = lr * sqrt(1 - beta2**step) / (1 - beta1**step)",
        "E[i] = E[i] - size * m[i] / (sqrt(v[i]) + eps)",
    ),
)
def the_first_step(lazy_adam_step):
    """Step 1 with m and v all zeros: each entry of a row that occurs moves by lr against its gradient's sign."""
    E = np.array([[1.0, -2.0], [0.5, 4.0], [-3.0, 1.5], [2.5, 0.25]])
    G = np.array([[2.0, -40.0], [0.5, 1.0]])
    got = lazy_adam_step(E.copy(), np.zeros((4, 2)), np.zeros((4, 2)), 1, np.array([3, 1]), G, lr=0.1)
    three = isinstance(got, (tuple, list)) and len(got) == 3
    assert three, "Your function should return a tuple of three arrays: the new E, m and v."
    want = np.array([[1.0, -2.0], [0.4, 3.9], [-3.0, 1.5], [2.4, 0.35]])
    hint = (
        "In step 1, m is (1 - beta1) * g and v is (1 - beta2) * g**2; the factor "
        "sqrt(1 - beta2**step) / (1 - beta1**step) makes of them a step of lr, whatever the size of g."
    )
    expect(got[0], want, hint)


@check_of(
    "lazy_adam_step",
    points=1,
    enforces=(
        "m[i] = beta1 * m[i] + (1 - beta1) * g",
        "v[i] = beta2 * v[i] + (1 - beta2) * g**2",
        "The new E, m and v, in this order.",
    ),
)
def averages_of_rows_that_occur(lazy_adam_step):
    """Rows that occur: m becomes beta1 * m + (1 - beta1) * g, and v becomes beta2 * v + (1 - beta2) * g**2."""
    E, m, v = np.ones((4, 2)), np.full((4, 2), 0.5), np.full((4, 2), 2.0)
    G = np.array([[2.0, -4.0], [0.5, 1.0]])
    got = lazy_adam_step(E, m, v, 7, np.array([3, 1]), G, beta1=0.8, beta2=0.75)
    three = isinstance(got, (tuple, list)) and len(got) == 3
    assert three, "Your function should return a tuple of three arrays: the new E, m and v."
    want_m = np.array([0.8 * 0.5 + 0.2 * 0.5, 0.8 * 0.5 + 0.2 * 1.0, 0.8 * 0.5 + 0.2 * 2.0, 0.8 * 0.5 - 0.2 * 4.0])
    want_v = np.array([0.75 * 2 + 0.25 * 0.25, 0.75 * 2 + 0.25 * 1, 0.75 * 2 + 0.25 * 4, 0.75 * 2 + 0.25 * 16])
    for array, name in zip(got, ("E", "m", "v"), strict=True):
        right = isinstance(array, np.ndarray) and array.shape == (4, 2)
        assert right, f"The new {name} should be an array of shape (4, 2)."
    expect(got[1][[1, 3]].ravel(), want_m, "The second array is m. beta1 is the weight of the old average.")
    expect(got[2][[1, 3]].ravel(), want_v, "The third array is v, the average of squares. beta2 weighs the old one.")


@check_of(
    "lazy_adam_step", points=1, enforces="Rows of E, m and v whose id does not occur are the same to the last bit."
)
def rows_that_do_not_occur_stand_still(lazy_adam_step):
    """A row that does not occur keeps E, m and v, even when its m is not zero; in Adam it would move on."""
    E, m, v = np.full((5, 2), 3.0), np.full((5, 2), 0.5), np.full((5, 2), 2.0)
    got = lazy_adam_step(E.copy(), m.copy(), v.copy(), 7, np.array([1, 4]), np.ones((2, 2)), lr=0.1)
    three = isinstance(got, (tuple, list)) and len(got) == 3
    assert three, "Your function should return a tuple of three arrays: the new E, m and v."
    for array, before, name in zip(got, (E, m, v), ("E", "m", "v"), strict=True):
        right = isinstance(array, np.ndarray) and array.shape == (5, 2)
        assert right, f"The new {name} should be an array of shape (5, 2)."
        hint = f"These are rows of {name} whose ids do not occur: no step, and no averaging either."
        expect(array[[0, 2, 3]], before[[0, 2, 3]], hint)


@check_of("lazy_adam_step", points=1, enforces="g the sum of the upstream rows at all positions where it stands")
def repeats_add_up_before_squaring(lazy_adam_step):
    """An id that stands in two places has one gradient, the sum of both upstream rows; v averages its square."""
    G = np.array([[1.0, -2.0], [4.0, 0.5], [2.0, 5.0]])
    E, m, v = np.ones((3, 2)), np.zeros((3, 2)), np.zeros((3, 2))
    got = lazy_adam_step(E, m, v, 3, np.array([2, 0, 2]), G, beta1=0.5, beta2=0.5)
    three = isinstance(got, (tuple, list)) and len(got) == 3
    assert three, "Your function should return a tuple of three arrays: the new E, m and v."
    want_m = np.array([[2.0, 0.25], [0.0, 0.0], [1.5, 1.5]])
    want_v = np.array([[8.0, 0.125], [0.0, 0.0], [4.5, 4.5]])
    hint = "Row 2 receives [1, -2] and [2, 5], so g is [3, 3] and its square [9, 9]: add up first, then square, once."
    expect(got[1], want_m, hint)
    expect(got[2], want_v, hint)


@check_of(
    "lazy_adam_step",
    points=1,
    hidden=True,
    enforces="Number of this step, counted from 1 for the whole table: every call counts, whichever ids occur.",
)
def the_correction_counts_every_step(lazy_adam_step):
    """The bias correction uses step as given, also for a row that occurs for the first time in a late step."""
    m, v = np.array([[0.4, -0.3], [0.0, 0.0], [0.0, 0.0]]), np.array([[0.9, 0.5], [0.0, 0.0], [0.0, 0.0]])
    E, G = np.array([[1.0, -2.0], [0.5, 4.0], [-3.0, 1.5]]), np.array([[2.0, -1.5], [0.5, 1.0]])
    for step, given in ((2, {"lr": 0.1}), (10, {}), (500, {"lr": 0.1})):
        lr = given.get("lr", 0.001)
        want = E.copy()
        for n, i in enumerate([0, 1]):
            for j in range(2):
                new_m = 0.9 * m[i, j] + 0.1 * G[n, j]
                new_v = 0.999 * v[i, j] + 0.001 * G[n, j] ** 2
                want[i, j] -= lr * (1 - 0.999**step) ** 0.5 / (1 - 0.9**step) * new_m / new_v**0.5
        got = lazy_adam_step(E.copy(), m.copy(), v.copy(), step, np.array([0, 1]), G.copy(), **given)
        three = isinstance(got, (tuple, list)) and len(got) == 3
        assert three, "Your function should return a tuple of three arrays: the new E, m and v."
        hint = f"This was step {step}; lr was {lr}. The correction is sqrt(1 - beta2**step) / (1 - beta1**step)."
        expect(got[0], want, hint)


@check_of("lazy_adam_step", points=1, hidden=True, enforces="E[i] = E[i] - size * m[i] / (sqrt(v[i]) + eps)")
def eps_stands_beside_the_root(lazy_adam_step):
    """The divisor is sqrt(v) + eps, with v as it is stored, before any correction."""
    E, G = np.array([[1.0, -2.0], [0.5, 4.0]]), np.array([[2.0, -1.0]])
    want = E.copy()
    for j in range(2):
        size = 0.1 * (1 - 0.99**3) ** 0.5 / (1 - 0.9**3)
        want[1, j] -= size * (0.1 * G[0, j]) / ((0.01 * G[0, j] ** 2) ** 0.5 + 0.25)
    got = lazy_adam_step(E, np.zeros((2, 2)), np.zeros((2, 2)), 3, np.array([1]), G, lr=0.1, beta2=0.99, eps=0.25)
    three = isinstance(got, (tuple, list)) and len(got) == 3
    assert three, "Your function should return a tuple of three arrays: the new E, m and v."
    hint = (
        "Here eps is large. It is added to sqrt(v): not under the root, and not after v was divided by 1 - beta2**step."
    )
    expect(got[0], want, hint)


@check_of("lazy_adam_step", points=1, hidden=True, enforces="A row that occurs takes its step even where g is zero.")
def a_row_with_gradient_zero_steps(lazy_adam_step):
    """A row that occurs with upstream rows that cancel averages and moves: what counts is that its id occurs."""
    E, m, v = np.ones((3, 1)), np.array([[0], [0.5], [0]]), np.array([[0], [0.25], [0]])
    G = np.array([[1.5], [-1.5]])
    got = lazy_adam_step(E.copy(), m, v, 4, np.array([1, 1]), G, lr=0.1, beta1=0.8, beta2=0.64)
    three = isinstance(got, (tuple, list)) and len(got) == 3
    assert three, "Your function should return a tuple of three arrays: the new E, m and v."
    hint = "Row 1 occurs and its gradient is zero: m and v shrink, and m moves the row. Find the rows from ids."
    expect(got[1], np.array([[0], [0.4], [0]]), hint)
    expect(got[2], np.array([[0], [0.16], [0]]), hint)
    size = 0.1 * (1 - 0.64**4) ** 0.5 / (1 - 0.8**4)
    expect(got[0], np.array([[1.0], [1.0 - size * 0.4 / 0.4], [1.0]]), hint)


@check_of(
    "lazy_adam_step",
    points=1,
    hidden=True,
    enforces="A single id (shape ``()``) and no ids at all (a 0 in the shape) are allowed.",
)
def any_shape_of_ids_or_none(lazy_adam_step):
    """Ids of shape (B, T) and a single id of shape () work; no ids at all leave E, m and v as they were."""
    E, m, v = np.full((5, 2), 3.0), np.zeros((5, 2)), np.zeros((5, 2))
    for ids in (np.array([[4, 0], [2, 3]]), np.array(4), np.zeros((2, 0), dtype=np.int64)):
        G = 1.0 + np.arange(2.0 * ids.size).reshape(ids.shape + (2,))
        want_m = m.copy()
        for n, i in enumerate(ids.ravel()):
            want_m[i] = 0.1 * G.reshape(ids.size, 2)[n]
        got = lazy_adam_step(E.copy(), m.copy(), v.copy(), 2, ids, G)
        three = isinstance(got, (tuple, list)) and len(got) == 3
        assert three, "Your function should return a tuple of three arrays: the new E, m and v."
        expect(got[1], want_m, f"The ids had shape {ids.shape}, grad_out {G.shape}. The second array is m.")
    expect(got[0], E, "There were no ids: no row of E moves.")
    expect(got[2], v, "There were no ids: no row of v changes.")


@check_of(
    "lazy_adam_step",
    points=1,
    hidden=True,
    enforces=(
        "tuple of three ndarrays of E's dtype",
        "They are arrays of their own even where nothing changed; no argument is modified.",
    ),
)
def arrays_of_their_own(lazy_adam_step):
    """The three results have E's dtype and share nothing with the inputs, which stay as they were."""
    for dtype in (np.float32, np.float64):
        for chosen in ([1, 2, 1], []):
            given = [np.full((4, 2), value, dtype=dtype) for value in (3.0, 0.0, 0.0)]
            ids, G = np.array(chosen, dtype=np.int32), np.ones((len(chosen), 2), dtype=dtype)
            got = lazy_adam_step(*given, 2, ids, G)
            three = isinstance(got, (tuple, list)) and len(got) == 3
            assert three, "Your function should return a tuple of three arrays: the new E, m and v."
            for array, before, value, name in zip(got, given, (3.0, 0.0, 0.0), ("E", "m", "v"), strict=True):
                right = isinstance(array, np.ndarray) and array.shape == (4, 2)
                assert right, f"The new {name} should be an array of shape (4, 2)."
                expect(array[[0, 3]], np.full((2, 2), value, dtype=dtype), f"Rows 0 and 3 of {name}, {before.dtype}.")
                assert np.all(before == value), f"Your function changed the {name} that it was given: copy it first."
                shared = any(np.shares_memory(array, other) for other in given)
                assert not shared, f"For ids {chosen} the new {name} is an array that was given: return a copy."
            assert ids.tolist() == chosen, f"Your function changed ids from {chosen} to {ids.tolist()}."
            assert np.all(G == 1), "Your function changed grad_out."
