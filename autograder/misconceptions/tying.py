"""Known mistakes of chapter 07: weight tying."""

from collections.abc import Callable
from functools import wraps

import numpy as np

from autograder.misconceptions import misconception

INPUT_PATH = "a_row_of_zeros_learns_as_input"
OUTPUT_PATH = "rows_not_looked_up_learn_as_outputs"
SEVERAL = "gradient_of_the_mean repeated_inputs_add_up"
GRADIENT = f"{INPUT_PATH} {OUTPUT_PATH} {SEVERAL}"
LARGE = "logits_of_ten_thousand"
TINY = "target_of_tiny_probability"
LOSS = f"loss_of_one_position loss_is_the_mean_over_positions {LARGE} {TINY}"
ALL = f"{LOSS} {GRADIENT} dtypes_and_inputs"


def parts(E, x, y):
    """Log-probabilities, the gradient with respect to the logits, and the table's gradient on either path."""
    N = len(x)
    H = E[x]
    Z = H @ E.T
    Z = Z - Z.max(axis=1, keepdims=True)
    log_p = Z - np.log(np.exp(Z).sum(axis=1, keepdims=True))
    Delta = np.exp(log_p)
    Delta[np.arange(N), y] -= 1
    Delta /= N
    return log_p, Delta, *paths(E, x, Delta)


def paths(E, x, Delta):
    """What the gradient with respect to the logits gives the table, as the output layer and as the lookup."""
    inputs = np.zeros_like(E)
    np.add.at(inputs, x, Delta @ E)
    return Delta.T @ E[x], inputs


def right_loss(gradient: Callable) -> Callable:
    """The right loss beside the gradient of a function; it gets E, x, and y."""

    @wraps(gradient)
    def function(E, x, y):
        log_p = parts(E, x, y)[0]
        return float(-log_p[np.arange(len(x)), y].mean()), gradient(E, x, y)

    return function


def right_gradient(loss: Callable) -> Callable:
    """The right gradient beside the loss of a function; it gets the log-probabilities of every row, and y."""

    @wraps(loss)
    def function(E, x, y):
        log_p, _, outputs, inputs = parts(E, x, y)
        return loss(log_p, y), outputs + inputs

    return function


def from_logits(softmax: Callable) -> Callable:
    """Loss and gradient made of the log-probabilities and probabilities that a function makes of the logits."""

    @wraps(softmax)
    def function(E, x, y):
        n = np.arange(len(x))
        with np.errstate(all="ignore"):  # a student sees warnings
            log_p, P = softmax(E[x] @ E.T)
            Delta = P.copy()
            Delta[n, y] -= 1
            Delta /= len(x)
            return float(-log_p[n, y].mean()), np.add(*paths(E, x, Delta))

    return function


# One of the two paths, or both, are wrong.


@misconception("tied_bigram_loss_grad", fails=f"{INPUT_PATH} {SEVERAL}", hint="got 0, expected 1.375. E[1] is zero")
@right_loss
def output_path_only(E, x, y):
    """The input path is missing. The table is used twice, and h = E[x] depends on it, too: add (dL/dlogits) @ E to the
    rows x, with np.add.at.
    """
    return parts(E, x, y)[2]


@misconception(
    "tied_bigram_loss_grad", fails=f"{OUTPUT_PATH} {SEVERAL}", hint="got 0, expected 0.104282. Row 1 was looked up"
)
@right_loss
def input_path_only(E, x, y):
    """The output path is missing. The logits are E @ h, so every row of the table gets a gradient, and not only those
    looked up: add (dL/dlogits).T @ E[x].
    """
    return parts(E, x, y)[3]


@misconception("tied_bigram_loss_grad", fails=f"{INPUT_PATH} {SEVERAL}", hint="got 2.75, expected 1.375. E[1] is zero")
@right_loss
def input_path_twice(E, x, y):
    """The input path counts twice. The gradient is the output path plus the input path, each of them once."""
    _, _, outputs, inputs = parts(E, x, y)
    return outputs + 2 * inputs


@misconception(
    "tied_bigram_loss_grad",
    fails=f"{OUTPUT_PATH} {SEVERAL}",
    hint="got 0.208564, expected 0.104282. Row 1 was looked up",
)
@right_loss
def output_path_twice(E, x, y):
    """The output path counts twice. The gradient is the output path plus the input path, each of them once."""
    _, _, outputs, inputs = parts(E, x, y)
    return 2 * outputs + inputs


@misconception("tied_bigram_loss_grad", fails=GRADIENT, hint="got 2.75, expected 1.375. E[1] is zero")
@right_loss
def both_paths_twice(E, x, y):
    """The whole gradient is twice too large. The two paths are added up, each of them once: two uses are no reason for
    a factor of 2.
    """
    _, _, outputs, inputs = parts(E, x, y)
    return 2 * (outputs + inputs)


@misconception("tied_bigram_loss_grad", fails=GRADIENT, hint="got 0.6875, expected 1.375. E[1] is zero")
@right_loss
def paths_averaged(E, x, y):
    """The two paths were averaged. The table is one, and what arrives on its two paths adds up: do not divide by 2."""
    _, _, outputs, inputs = parts(E, x, y)
    return (outputs + inputs) / 2


@misconception("tied_bigram_loss_grad", fails=GRADIENT, hint="got -1.375, expected 1.375. E[1] is zero")
@right_loss
def sign_of_the_gradient(E, x, y):
    """The gradient has the wrong sign. dL/dlogits is probabilities minus one_hot(y), not the other way round; the minus
    of gradient descent belongs to the step.
    """
    _, _, outputs, inputs = parts(E, x, y)
    return -(outputs + inputs)


@misconception("tied_bigram_loss_grad", fails=SEVERAL, hint="got 0.528397, expected 0.132099. There are 4 positions")
@right_loss
def gradient_of_the_sum(E, x, y):
    """The gradient is N times too large: it belongs to the sum of the losses. The loss is their mean: divide dL/dlogits
    by N.
    """
    _, _, outputs, inputs = parts(E, x, y)
    return len(x) * (outputs + inputs)


@misconception("tied_bigram_loss_grad", fails=SEVERAL, hint="got 0.0330248, expected 0.132099. There are 4 positions")
@right_loss
def divided_by_n_twice(E, x, y):
    """The gradient is N times too small. The mean divides by N once: in dL/dlogits, or at the end, but not in both."""
    _, _, outputs, inputs = parts(E, x, y)
    return (outputs + inputs) / len(x)


@misconception("tied_bigram_loss_grad", fails=SEVERAL, hint="got 1.06102, expected 0.132099. There are 4 positions")
@right_loss
def input_path_not_divided(E, x, y):
    """The output path is divided by N and the input path is not. Divide dL/dlogits by N before either is made of it."""
    _, _, outputs, inputs = parts(E, x, y)
    return outputs + len(x) * inputs


@misconception("tied_bigram_loss_grad", fails=SEVERAL, hint="got -0.400528, expected 0.132099. There are 4 positions")
@right_loss
def output_path_not_divided(E, x, y):
    """The input path is divided by N and the output path is not. Divide dL/dlogits by N before either is made of it."""
    _, _, outputs, inputs = parts(E, x, y)
    return len(x) * outputs + inputs


@misconception("tied_bigram_loss_grad", fails=GRADIENT, hint="got 0.34375, expected 1.375. E[1] is zero")
@right_loss
def divided_by_v(E, x, y):
    """The gradient was divided by V, the number of rows. The mean is over positions: divide by N, the length of x."""
    _, _, outputs, inputs = parts(E, x, y)
    return (outputs + inputs) * (len(x) / E.dtype.type(len(E)))


@misconception(
    "tied_bigram_loss_grad",
    fails="repeated_inputs_add_up",
    hint="got -0.164997, expected -0.383855. Id 0 stands in x 12 times",
)
@right_loss
def fancy_index_trap(E, x, y):
    """This is the fancy-indexing trap: `grad[x] += ...` keeps the last position of an input that repeats, not the sum
    over all of them. np.add.at adds every one.
    """
    _, Delta, grad, _ = parts(E, x, y)
    grad[x] += Delta @ E
    return grad


@misconception("tied_bigram_loss_grad", fails=GRADIENT, hint="got 0, expected 1.375. E[1] is zero")
@right_loss
def input_path_to_the_targets(E, x, y):
    """The input path was added to the rows of the targets. It goes back to the rows that were looked up: those of x."""
    _, Delta, grad, _ = parts(E, x, y)
    np.add.at(grad, y, Delta @ E)
    return grad


@misconception("tied_bigram_loss_grad", fails=GRADIENT, hint="got 0.375, expected 1.375. E[1] is zero")
@right_loss
def target_not_taken_off(E, x, y):
    """The 1 of the target is missing: dL/dlogits is probabilities minus one_hot(y), and yours is the probabilities."""
    Delta = np.exp(parts(E, x, y)[0]) / E.dtype.type(len(x))
    return np.add(*paths(E, x, Delta))


@misconception("tied_bigram_loss_grad", fails=SEVERAL, hint="got -0.305401, expected 0.132099. There are 4 positions")
@right_loss
def targets_taken_off_every_position(E, x, y):
    """`delta[:, y] -= 1` takes 1 off at the targets of all positions, in every row. Position n has one target: write
    delta[np.arange(N), y].
    """
    Delta = np.exp(parts(E, x, y)[0])
    Delta[:, y] -= 1
    return np.add(*paths(E, x, Delta / E.dtype.type(len(x))))


@misconception(
    "tied_bigram_loss_grad",
    fails=f"loss_of_one_position loss_is_the_mean_over_positions {LARGE} {GRADIENT}",
    hint="Got 7.00125, expected 0.169846. The logits are [1, 0, 3] and the target is 2",
)
def input_and_target_swapped(E, x, y):
    """Inputs and targets are swapped: x holds the ids that are looked up, and y those that should come out."""
    log_p, _, outputs, inputs = parts(E, y, x)
    return float(-log_p[np.arange(len(x)), x].mean()), outputs + inputs


# The loss is wrong.


@misconception("tied_bigram_loss_grad", fails="loss_is_the_mean_over_positions", hint="Got 12.2423, expected 2.44846")
@right_gradient
def loss_summed(log_p, y):
    """The loss is the sum over positions. It should be their mean: divide by N."""
    return float(-log_p[np.arange(len(y)), y].sum())


@misconception(
    "tied_bigram_loss_grad",
    fails=LOSS,
    hint="Got 0.0566153, expected 0.169846. The logits are [1, 0, 3] and the target is 2",
)
@right_gradient
def loss_divided_by_v_too(log_p, y):
    """The loss was divided by N times V, perhaps by the mean of a product with one-hot rows. Each position has one
    loss: add up over the V rows, and take the mean over positions alone.
    """
    return float(-log_p[np.arange(len(y)), y].mean() / log_p.shape[1])


@misconception("tied_bigram_loss_grad", fails="loss_is_the_mean_over_positions", hint="Got 2.02846, expected 2.44846")
@right_gradient
def loss_of_every_pair(log_p, y):
    """`log_p[:, y]` takes the targets of all positions in every row, N times N numbers. Position n has one target:
    write log_p[np.arange(N), y].
    """
    return float(-log_p[:, y].mean())


@misconception(
    "tied_bigram_loss_grad",
    fails=LOSS,
    hint="Got -0.169846, expected 0.169846. The logits are [1, 0, 3] and the target is 2",
)
@right_gradient
def log_likelihood(log_p, y):
    """The loss has the wrong sign. It is minus the logarithm of a probability, and so never negative."""
    return float(log_p[np.arange(len(y)), y].mean())


@misconception(
    "tied_bigram_loss_grad",
    fails=LOSS,
    hint="Got 0.245036, expected 0.169846. The logits are [1, 0, 3] and the target is 2",
)
@right_gradient
def logarithm_of_base_two(log_p, y):
    """The loss is in bits: it was made with np.log2. It should be the natural logarithm, np.log."""
    return float(-log_p[np.arange(len(y)), y].mean() / np.log(2))


@misconception(
    "tied_bigram_loss_grad",
    fails=LOSS,
    hint="Got -0.843795, expected 0.169846. The logits are [1, 0, 3] and the target is 2",
)
@right_gradient
def probability_and_no_logarithm(log_p, y):
    """The loss is made of probabilities. Take their logarithm: cross-entropy is the mean of -log(probability)."""
    return float(-np.exp(log_p)[np.arange(len(y)), y].mean())


@misconception(
    "tied_bigram_loss_grad", fails=LOSS, hint="The number should be a Python or NumPy float; it is a ndarray"
)
@right_gradient
def a_loss_for_each_position(log_p, y):
    """The loss is an array with a number for each position. It should be one number, their mean."""
    return -log_p[np.arange(len(y)), y]


@misconception(
    "tied_bigram_loss_grad", fails=LOSS, hint="Got nan, expected 0.169846. The logits are [1, 0, 3] and the target is 2"
)
def loss_after_the_target_was_taken_off(E, x, y):
    """The loss was taken after 1 had been subtracted at the targets, and so from the logarithm of a negative number:
    `delta = p` copies nothing. Compute the loss first, or write delta = p.copy().
    """
    log_p, _, outputs, inputs = parts(E, x, y)
    p = np.exp(log_p)
    delta = p
    delta[np.arange(len(x)), y] -= 1
    with np.errstate(all="ignore"):
        return float(-np.log(p[np.arange(len(x)), y]).mean()), outputs + inputs


# The softmax is wrong, and with it both.


@misconception("tied_bigram_loss_grad", fails=f"{LARGE} {TINY}", hint="Got nan, expected 0.693147")
@from_logits
def softmax_without_the_maximum(Z):
    """exp() of large logits is too large for a float, and inf / inf is nan. Subtract the largest logit of each position
    first, and take the loss from z - log(sum(exp(z))).
    """
    P = np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True)
    return np.log(P), P


@misconception("tied_bigram_loss_grad", fails=LARGE, hint="Got inf, expected 0.693147")
@from_logits
def log_softmax_without_the_maximum(Z):
    """The loss is z - log(sum(exp(z))), as it should be, but exp() of large logits is too large for a float. Subtract
    the largest logit of each position first.
    """
    return Z - np.log(np.exp(Z).sum(axis=1, keepdims=True)), np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True)


@misconception("tied_bigram_loss_grad", fails=LARGE, hint="The loss is right, but the gradient is not finite")
@from_logits
def gradient_without_the_maximum(Z):
    """The loss takes the largest logit off, and the gradient's softmax does not: exp() of large logits is too large for
    a float. Make both from the same log-probabilities.
    """
    P = np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True)
    Z = Z - Z.max(axis=1, keepdims=True)
    return Z - np.log(np.exp(Z).sum(axis=1, keepdims=True)), P


@misconception("tied_bigram_loss_grad", fails=TINY, hint="Got inf, expected 800. The logits were 400, -400 and 0")
@from_logits
def log_of_a_stable_softmax(Z):
    """The softmax is stable, but a small probability rounds to 0, and its logarithm is infinite. Take the loss from
    z - log(sum(exp(z))), without the probabilities.
    """
    Z = np.exp(Z - Z.max(axis=1, keepdims=True))
    P = Z / Z.sum(axis=1, keepdims=True)
    return np.log(P), P


@misconception("tied_bigram_loss_grad", fails=f"{LARGE} {TINY}", hint="Got nan, expected 0.693147")
def one_hot_times_the_log(E, x, y):
    """A small probability rounds to 0, its logarithm is infinite, and 0 of one_hot(y) times that is nan. Take the
    log-probability of the target by its index, from z - log(sum(exp(z))).
    """
    log_p, _, outputs, inputs = parts(E, x, y)
    with np.errstate(all="ignore"):
        return float(-(np.eye(len(E))[y] * np.log(np.exp(log_p))).sum(axis=1).mean()), outputs + inputs


@misconception("tied_bigram_loss_grad", fails=TINY, hint="Got 27.631, expected 800. The logits were 400, -400 and 0")
@from_logits
def a_little_added_inside_the_log(Z):
    """1e-12 inside the logarithm hides a probability that rounded to 0, and caps the loss at 27.6. Take the loss from
    z - log(sum(exp(z))), which needs no such help.
    """
    Z = np.exp(Z - Z.max(axis=1, keepdims=True))
    P = Z / Z.sum(axis=1, keepdims=True)
    return np.log(P + 1e-12), P


@misconception(
    "tied_bigram_loss_grad",
    fails=LARGE,
    hint="Position 0 had logits of 10,000, position 1 of 0, and the answer is not finite",
)
@from_logits
def maximum_over_all_positions(Z):
    """One maximum was subtracted at all positions: where all logits are far below it, exp() rounds to 0. Each position
    has its own: Z.max(axis=1, keepdims=True).
    """
    Z = Z - Z.max()
    log_p = Z - np.log(np.exp(Z).sum(axis=1, keepdims=True))
    return log_p, np.exp(log_p)


@misconception(
    "tied_bigram_loss_grad",
    fails=f"{LOSS} {OUTPUT_PATH} {SEVERAL}",
    hint="Got 1.09861, expected 0.169846. The logits are [1, 0, 3] and the target is 2",
)
@from_logits
def maximum_along_the_wrong_axis(Z):
    """The largest logit was taken over positions (axis=0), not over the rows of the table, and that changes the
    softmax. Write Z.max(axis=1, keepdims=True).
    """
    Z = Z - Z.max(axis=0)
    log_p = Z - np.log(np.exp(Z).sum(axis=1, keepdims=True))
    return log_p, np.exp(log_p)


@misconception(
    "tied_bigram_loss_grad",
    fails=f"{LOSS} {GRADIENT}",
    hint="Got -0, expected 0.169846. The logits are [1, 0, 3] and the target is 2",
)
@from_logits
def softmax_over_positions(Z):
    """The softmax runs over positions (axis=0): the probabilities of a row of the table add up to 1. Those of a
    position should: sum over axis=1.
    """
    Z = Z - Z.max(axis=0)
    log_p = Z - np.log(np.exp(Z).sum(axis=0))
    return log_p, np.exp(log_p)


@misconception(
    "tied_bigram_loss_grad", fails=f"{SEVERAL} loss_is_the_mean_over_positions", hint="Got 4.09695, expected 2.44846"
)
@from_logits
def softmax_over_everything(Z):
    """One softmax was taken over all positions together: np.sum without axis. The probabilities of each position add up
    to 1: write sum(axis=1, keepdims=True).
    """
    Z = Z - Z.max()
    log_p = Z - np.log(np.exp(Z).sum())
    return log_p, np.exp(log_p)


# The answer is of another kind, or an argument was changed.


@misconception(
    "tied_bigram_loss_grad",
    fails=ALL,
    hint="Your function should return two things, the loss and the gradient; it returned",
)
def loss_alone(E, x, y):
    """Only the loss came back. Return the loss and the gradient: `return loss, grad`."""
    return float(-parts(E, x, y)[0][np.arange(len(x)), y].mean())


@misconception("tied_bigram_loss_grad", fails=ALL, hint="The number should be a Python or NumPy float; it is a ndarray")
def gradient_first(E, x, y):
    """The gradient came first. The loss stands before it: `return loss, grad`."""
    log_p, _, outputs, inputs = parts(E, x, y)
    return outputs + inputs, float(-log_p[np.arange(len(x)), y].mean())


@misconception(
    "tied_bigram_loss_grad",
    fails=ALL,
    hint="Your function should return two things, the loss and the gradient; it returned",
)
def both_paths_apart(E, x, y):
    """The two paths came back apart. There is one table, and so one gradient: return their sum."""
    log_p, _, outputs, inputs = parts(E, x, y)
    return float(-log_p[np.arange(len(x)), y].mean()), outputs, inputs


@misconception("tied_bigram_loss_grad", fails="dtypes_and_inputs", hint="The dtype is float64; it should be float32")
@right_loss
def double_precision_gradient(E, x, y):
    """The gradient is float64 whatever the table was: np.zeros and np.eye make float64. Give them dtype=E.dtype."""
    return np.add(*parts(E.astype(np.float64), x, y)[2:])


@misconception(
    "tied_bigram_loss_grad", fails="dtypes_and_inputs", hint="Your function changed E; work on a copy or a new array"
)
def a_step_taken(E, x, y):
    """Your function changed the table itself, by a step of gradient descent. It should return the gradient and leave
    the step to its caller.
    """
    log_p, _, outputs, inputs = parts(E, x, y)
    E -= (0.1 * (outputs + inputs)).astype(E.dtype)
    return float(-log_p[np.arange(len(x)), y].mean()), outputs + inputs
