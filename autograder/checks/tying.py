"""Checks of chapter 07: weight tying."""

import numpy as np

from autograder.checks import check_of
from autograder.checks.tools import expect, expect_number, two_of


@check_of(
    "tied_bigram_loss_grad",
    points=2,
    enforces="The loss is the cross-entropy between the softmax of the logits and the target y[n]",
)
def loss_of_one_position(tied_bigram_loss_grad):
    """With one position, the loss is -log of the probability that the softmax gives the target."""
    E = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
    answer = tied_bigram_loss_grad(E, np.array([0]), np.array([2]))
    loss, _ = two_of(answer, "the loss and the gradient")
    # E @ E[0] is [1, 0, 3], and the target's logit is the 3.
    expect_number(loss, np.log(np.e + 1 + np.e**3) - 3, "The logits are [1, 0, 3] and the target is 2.")


@check_of("tied_bigram_loss_grad", points=2, enforces=("as a mean over positions.", "An id may occur more than once."))
def loss_is_the_mean_over_positions(tied_bigram_loss_grad):
    """With several positions, the loss is the mean of their losses; equal pairs count each time."""
    E = np.array([[0.5, -1.0, 0.25], [1.5, 0.5, -0.5], [-0.75, 1.0, 2.0], [0.0, -0.5, 1.0]])
    x, y = np.array([3, 0, 3, 1, 3]), np.array([1, 0, 1, 2, 2])
    total = 0.0
    for n in range(5):
        logits = [np.dot(E[j], E[x[n]]) for j in range(4)]
        total += np.log(sum(np.exp(z) for z in logits)) - logits[y[n]]
    loss, _ = two_of(tied_bigram_loss_grad(E, x, y), "the loss and the gradient")
    expect_number(
        loss, total / 5, f"There are 5 positions, and their losses add up to {total:.6g}. The loss is the mean."
    )


@check_of(
    "tied_bigram_loss_grad",
    points=3,
    enforces="through both uses of the table: where rows are looked up, and where logits are made.",
)
def a_row_of_zeros_learns_as_input(tied_bigram_loss_grad):
    """The input path alone: where h is a row of zeros, only the row that was looked up gets a gradient."""
    E = np.array([[2.0, 1.0], [0.0, 0.0], [-1.0, 3.0], [0.5, -2.0]])
    _, grad = two_of(tied_bigram_loss_grad(E, np.array([1]), np.array([2])), "the loss and the gradient")
    # All logits are 0, so all probabilities are 1/4. Row 1 gets the mean row less row 2.
    want = np.array([[0, 0], [0.375 + 1, 0.5 - 3], [0, 0], [0, 0]])
    hint = (
        "E[1] is zero, so the output path gives nothing here. Row 1 was looked up: what reaches it is dL/dh, which is "
        "(probabilities - one_hot(y)) @ E. If you have zeros, the input path is missing; if twice the value, it counts "
        "twice."
    )
    expect(grad, want, hint)


@check_of(
    "tied_bigram_loss_grad",
    points=3,
    enforces="through both uses of the table: where rows are looked up, and where logits are made.",
)
def rows_not_looked_up_learn_as_outputs(tied_bigram_loss_grad):
    """The output path alone: every row that was not looked up gets its own (probability - target) times h."""
    E = np.array([[0.5, -1.0], [1.0, 0.5], [-0.5, 1.5], [0.25, 2.0], [-1.5, 0.75]])
    _, grad = two_of(tied_bigram_loss_grad(E.copy(), np.array([1]), np.array([3])), "the loss and the gradient")
    h = E[1]
    total = sum(np.exp(np.dot(E[j], h)) for j in range(5))
    want = np.array([(np.exp(np.dot(E[j], h)) / total - (j == 3)) * h for j in range(5)])
    if isinstance(grad, np.ndarray) and grad.shape == want.shape:
        want[1] = grad[1]  # this row was looked up, and is not looked at here
    hint = (
        "Row 1 was looked up; every other row is here a possible output and nothing else. Its gradient is (probability "
        "- 1 for the target, - 0 for others) times h. If you have zeros, the output path is missing."
    )
    expect(grad, want, hint)


@check_of("tied_bigram_loss_grad", points=2, enforces="The gradient of that mean with respect to E")
def gradient_of_the_mean(tied_bigram_loss_grad):
    """With several positions, the gradient is what central differences of the mean loss say; no input repeats."""
    E = np.array([[0.5, -1.0, 0.25], [1.5, 0.5, -0.5], [-0.75, 1.0, 1.25], [0.0, -0.5, 1.0], [1.0, 0.75, -1.5]])
    x, y = np.array([4, 0, 2, 1]), np.array([0, 2, 3, 2])

    def mean_loss(table):
        total = 0.0
        for n in range(4):
            logits = table @ table[x[n]]
            total += np.log(np.sum(np.exp(logits))) - logits[y[n]]
        return total / 4

    want = np.zeros((5, 3))
    for place in np.ndindex(5, 3):
        step = np.zeros((5, 3))
        step[place] = 1e-5
        want[place] = (mean_loss(E + step) - mean_loss(E - step)) / 2e-5
    _, grad = two_of(tied_bigram_loss_grad(E.copy(), x.copy(), y.copy()), "the loss and the gradient")
    hint = (
        "There are 4 positions. If every value is 4 times too large, divide dL/dlogits by N. If the two checks "
        "above fail as well, mend those first."
    )
    expect(grad, want, hint)


@check_of("tied_bigram_loss_grad", points=3, hidden=True, enforces="An id may occur more than once.")
def repeated_inputs_add_up(tied_bigram_loss_grad):
    """Inputs and targets that occur many times, the first and the last row among them: every position counts."""
    rng = np.random.default_rng(7)
    E = rng.uniform(0.25, 1, (8, 3)) * rng.choice([-1, 1], (8, 3))
    x, y = rng.choice([0, 3, 7], 40), rng.choice([0, 2, 3, 7], 40)
    want = np.zeros((8, 3))
    for n in range(40):
        exps = [np.exp(np.dot(E[j], E[x[n]])) for j in range(8)]
        for j in range(8):
            delta = (exps[j] / sum(exps) - (j == y[n])) / 40
            want[j] += delta * E[x[n]]
            want[x[n]] += delta * E[j]
    _, grad = two_of(tied_bigram_loss_grad(E.copy(), x.copy(), y.copy()), "the loss and the gradient")
    hint = (
        f"Id 0 stands in x {np.sum(x == 0)} times, and each time adds to row 0. `grad[x] += ...` keeps the last of "
        "them alone; np.add.at adds every one. If checks above fail as well, mend those first."
    )
    expect(grad, want, hint)


@check_of(
    "tied_bigram_loss_grad",
    points=2,
    hidden=True,
    enforces=("It is finite and right however large the logits are", "It is finite, too."),
)
def logits_of_ten_thousand(tied_bigram_loss_grad):
    """Logits of 10,000: the loss is right and the gradient finite, also beside a position whose logits are 0."""
    E = np.array([[100.0, 0.0], [0.0, 90.0], [100.0, 1.0], [-80.0, 0.0], [0.0, 0.0]])
    with np.errstate(all="ignore"):
        answer = tied_bigram_loss_grad(E.copy(), np.array([0]), np.array([2]))
    loss, grad = two_of(answer, "the loss and the gradient")
    hint = (
        "Two logits were 10,000, and exp(10000) is too large for a float. Subtract the largest logit of each position "
        "first: the softmax stays the same."
    )
    # Two logits of 10,000 share the probability; the others are far below.
    expect_number(loss, np.log(2), hint)
    finite = isinstance(grad, np.ndarray) and np.isfinite(grad).all()
    assert finite, f"The loss is right, but the gradient is not finite. {hint}"
    with np.errstate(all="ignore"):
        beside = tied_bigram_loss_grad(E.copy(), np.array([0, 4]), np.array([2, 1]))
    both_finite = all(np.isfinite(part).all() for part in two_of(beside, "the loss and the gradient"))
    hint = "Subtract the largest logit of each position, not one for all: the exps of the second were all 0."
    assert both_finite, f"Position 0 had logits of 10,000, position 1 of 0, and the answer is not finite. {hint}"


@check_of("tied_bigram_loss_grad", points=1, hidden=True, enforces="however close to 0 a target's probability is.")
def target_of_tiny_probability(tied_bigram_loss_grad):
    """A target whose probability rounds to zero still has a finite loss, and the right one."""
    E = np.array([[20.0, 0.0], [-20.0, 0.0], [0.0, 1.0]])
    with np.errstate(all="ignore"):
        answer = tied_bigram_loss_grad(E, np.array([0]), np.array([1]))
    loss, _ = two_of(answer, "the loss and the gradient")
    hint = (
        "The logits were 400, -400 and 0. exp(-800) rounds to 0, and log(0) is infinite; adding 1e-12 inside the log "
        "gives 27.6. Take the log before you round: log softmax(z) is z - log(sum(exp(z)))."
    )
    expect_number(loss, 800.0, hint)


@check_of(
    "tied_bigram_loss_grad",
    points=2,
    hidden=True,
    enforces=(
        "ndarray of any integer dtype, shape (N,)",
        "grad : ndarray of E's dtype, shape (V, d)",
        "It is not modified.",
        "The array is not modified.",
    ),
)
def dtypes_and_inputs(tied_bigram_loss_grad):
    """The gradient has E's dtype for ids of every integer dtype, and the inputs stay as they were."""
    E = np.array([[0.5, -1.0], [1.5, 0.5], [-0.75, 1.0]])
    x, y = np.array([2, 0, 2]), np.array([1, 0, 1])
    _, first = two_of(tied_bigram_loss_grad(E.copy(), x.copy(), y.copy()), "the loss and the gradient")
    for dtype in (np.float32, np.float64):
        for ids_dtype in (np.uint8, np.int32, np.int64, np.uint32):
            given = E.astype(dtype), x.astype(ids_dtype), y.astype(ids_dtype)
            _, grad = two_of(tied_bigram_loss_grad(*given), "the loss and the gradient")
            hint = f"E was {np.dtype(dtype)}, x and y were {np.dtype(ids_dtype)}; float64 and int64 gave other values."
            expect(grad, np.asarray(first).astype(dtype), hint)
            for name, now, before in zip(("E", "x", "y"), given, (E, x, y), strict=True):
                assert np.array_equal(now, before), f"Your function changed {name}; work on a copy or a new array."
