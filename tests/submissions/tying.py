"""Chapter 07: `tied_bigram_loss_grad`."""

import numpy as np
import scipy.sparse
import scipy.special
import torch

import solutions
from submissions import right, wrong

right("tied_bigram_loss_grad")(solutions.tied_bigram_loss_grad)


def parts(E, x, y):
    """The loss, and the gradient's two paths."""
    N = len(x)
    H = E[x]
    log_p = scipy.special.log_softmax(H @ E.T, axis=1)
    Delta = np.exp(log_p)
    Delta[np.arange(N), y] -= 1
    Delta /= N
    inputs = np.zeros_like(E)
    np.add.at(inputs, x, Delta @ E)
    return -log_p[np.arange(N), y].mean(), Delta.T @ H, inputs


@right("tied_bigram_loss_grad")
def loops_over_positions_and_rows(E, x, y):
    V, N = len(E), len(x)
    loss, grad = 0.0, np.zeros_like(E)
    for n in range(N):
        h = E[x[n]]
        z = np.array([E[j] @ h for j in range(V)])
        z -= z.max()
        exps = np.exp(z)
        loss += (np.log(exps.sum()) - z[y[n]]) / N
        for j in range(V):
            delta = (exps[j] / exps.sum() - (j == y[n])) / N
            grad[j] += delta * h
            grad[x[n]] += delta * E[j]
    return loss, grad


@right("tied_bigram_loss_grad")
def selection_matrices(E, x, y):
    S, Y = np.eye(len(E), dtype=E.dtype)[x], np.eye(len(E), dtype=E.dtype)[y]
    H = S @ E
    log_p = scipy.special.log_softmax(H @ E.T, axis=1)
    Delta = (np.exp(log_p) - Y) / E.dtype.type(len(x))
    return -np.sum(Y * log_p) / E.dtype.type(len(x)), Delta.T @ H + S.T @ (Delta @ E)


@right("tied_bigram_loss_grad")
def logsumexp_and_a_sparse_product(E, x, y):
    N, V = len(x), len(E)
    Z = E[x] @ E.T
    total = scipy.special.logsumexp(Z, axis=1)
    Delta = np.exp(Z - total[:, None])
    Delta[np.arange(N), y] -= 1
    S = scipy.sparse.csr_matrix((np.ones(N), (np.arange(N), x)), shape=(N, V))
    grad = (Delta.T @ E[x] + S.T @ (Delta @ E)) / N
    return np.mean(total - Z[np.arange(N), y]), grad.astype(E.dtype)


@right("tied_bigram_loss_grad")
def pairs_counted(E, x, y):
    """The same sums, over the distinct pairs of ids."""
    V = len(E)
    counts = np.zeros((V, V))
    np.add.at(counts, (x, y), 1)
    counts /= len(x)
    wide = E.astype(np.float64)
    log_p = scipy.special.log_softmax(wide @ wide.T, axis=1)
    M = counts.sum(axis=1, keepdims=True) * np.exp(log_p) - counts
    return float(-(counts * log_p).sum()), ((M + M.T) @ wide).astype(E.dtype)


@right("tied_bigram_loss_grad")
def logaddexp_in_wide_numbers(E, x, y):
    H = E[x].astype(np.float64)
    Z = H @ E.T
    log_p = Z - np.logaddexp.reduce(Z, axis=1, keepdims=True)
    Delta = np.exp(log_p)
    Delta[range(len(x)), y] -= 1
    Delta /= len(x)
    grad, at_inputs = Delta.T @ H, Delta @ E
    for n, i in enumerate(x):
        grad[i] += at_inputs[n]
    return np.float64(-log_p[range(len(x)), y].mean()), grad.astype(E.dtype)


@right("tied_bigram_loss_grad")
def autograd(E, x, y):
    table = torch.tensor(E, requires_grad=True)
    inputs, targets = torch.tensor(x.astype(np.int64)), torch.tensor(y.astype(np.int64))
    loss = torch.nn.functional.cross_entropy(table[inputs] @ table.T, targets)
    loss.backward()
    return loss.item(), table.grad.numpy()


@right("tied_bigram_loss_grad")
def a_list_of_two(E, x, y):
    loss, outputs, inputs = parts(E, x, y)
    return [loss, outputs + inputs]


INPUT_PATH = "a_row_of_zeros_learns_as_input"
OUTPUT_PATH = "rows_not_looked_up_learn_as_outputs"
SEVERAL = "gradient_of_the_mean repeated_inputs_add_up"
GRADIENT = f"{INPUT_PATH} {OUTPUT_PATH} {SEVERAL}"
LOSS = "loss_of_one_position loss_is_the_mean_over_positions logits_of_ten_thousand target_of_tiny_probability"
ALL = f"{LOSS} {GRADIENT} dtypes_and_inputs"


@wrong("tied_bigram_loss_grad", f"{INPUT_PATH} {SEVERAL}", "If you have zeros, the input path is missing")
def output_path_only(E, x, y):
    loss, outputs, _ = parts(E, x, y)
    return loss, outputs


@wrong("tied_bigram_loss_grad", f"{OUTPUT_PATH} {SEVERAL}", "If you have zeros, the output path is missing")
def input_path_only(E, x, y):
    loss, _, inputs = parts(E, x, y)
    return loss, inputs


@wrong("tied_bigram_loss_grad", f"{INPUT_PATH} {SEVERAL}", "if twice the value, it counts twice")
def input_path_twice(E, x, y):
    loss, outputs, inputs = parts(E, x, y)
    return loss, outputs + 2 * inputs


@wrong("tied_bigram_loss_grad", GRADIENT, "if twice the value, it counts twice")
def both_paths_doubled(E, x, y):
    loss, outputs, inputs = parts(E, x, y)
    return loss, 2 * (outputs + inputs)


@wrong("tied_bigram_loss_grad", GRADIENT, "expected 1.375")
def paths_averaged(E, x, y):
    loss, outputs, inputs = parts(E, x, y)
    return loss, (outputs + inputs) / 2


@wrong("tied_bigram_loss_grad", SEVERAL, "If every value is 4 times too large, divide dL/dlogits by N")
def gradient_of_the_sum(E, x, y):
    loss, outputs, inputs = parts(E, x, y)
    return loss, len(x) * (outputs + inputs)


@wrong(
    "tied_bigram_loss_grad",
    "loss_is_the_mean_over_positions",
    "There are 5 positions, and their losses add up to",
)
def loss_summed(E, x, y):
    loss, outputs, inputs = parts(E, x, y)
    return loss * len(x), outputs + inputs


def with_softmax(E, x, y, softmax, log):
    N = len(x)
    with np.errstate(all="ignore"):  # a student sees a warning; here it would be an error
        P = softmax(E[x] @ E.T)
        loss = -log(P[np.arange(N), y]).mean()
        P[np.arange(N), y] -= 1
        P /= N
        grad = P.T @ E[x]
        np.add.at(grad, x, P @ E)
    return loss, grad


def naive(Z):
    return np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True)


UNSTABLE = "logits_of_ten_thousand target_of_tiny_probability"


@wrong("tied_bigram_loss_grad", UNSTABLE, "Got nan, expected 0.693147. Two logits were 10,000")
def softmax_without_the_maximum(E, x, y):
    return with_softmax(E, x, y, naive, np.log)


@wrong("tied_bigram_loss_grad", "target_of_tiny_probability", "Got inf, expected 800. The logits were 400, -400 and 0")
def log_of_a_stable_softmax(E, x, y):
    return with_softmax(E, x, y, lambda Z: scipy.special.softmax(Z, axis=1), np.log)


@wrong("tied_bigram_loss_grad", "target_of_tiny_probability", "adding 1e-12 inside the log gives 27.6")
def a_little_added_inside_the_log(E, x, y):
    return with_softmax(E, x, y, lambda Z: scipy.special.softmax(Z, axis=1), lambda p: np.log(p + 1e-12))


@wrong("tied_bigram_loss_grad", "logits_of_ten_thousand", "Subtract the largest logit of each position first")
def log_of_a_sum_of_large_exponentials(E, x, y):
    _, outputs, inputs = parts(E, x, y)
    Z = E[x] @ E.T
    with np.errstate(over="ignore"):
        return np.mean(np.log(np.exp(Z).sum(axis=1)) - Z[np.arange(len(x)), y]), outputs + inputs


@wrong("tied_bigram_loss_grad", "logits_of_ten_thousand", "The loss is right, but the gradient is not finite")
def stable_loss_and_unstable_gradient(E, x, y):
    loss, _, _ = parts(E, x, y)
    return loss, with_softmax(E, x, y, naive, np.log)[1]


@wrong("tied_bigram_loss_grad", "repeated_inputs_add_up", "`grad[x] += ...` keeps the last of them alone")
def fancy_index_trap(E, x, y):
    N = len(x)
    loss, grad, _ = parts(E, x, y)
    Delta = scipy.special.softmax(E[x] @ E.T, axis=1)
    Delta[np.arange(N), y] -= 1
    grad[x] += Delta @ E / N
    # dtypes_and_inputs compares this function with itself: it repeats an id, and the trap falls the same way twice
    return loss, grad.astype(E.dtype)


@wrong("tied_bigram_loss_grad", f"loss_is_the_mean_over_positions {SEVERAL}", "There are 5 positions")
def targets_taken_off_every_position(E, x, y):
    N = len(x)
    log_p = scipy.special.log_softmax(E[x] @ E.T, axis=1)
    Delta = np.exp(log_p)
    Delta[:, y] -= 1  # all targets in each row
    Delta /= N
    grad = Delta.T @ E[x]
    np.add.at(grad, x, Delta @ E)
    return -log_p[:, y].mean(), grad


@wrong("tied_bigram_loss_grad", GRADIENT, "got -1.375, expected 1.375")
def sign_of_the_gradient(E, x, y):
    loss, outputs, inputs = parts(E, x, y)
    return loss, -(outputs + inputs)


@wrong("tied_bigram_loss_grad", LOSS, "expected 0.169846. The logits are [1, 0, 3]")
def logarithm_of_base_two(E, x, y):
    loss, outputs, inputs = parts(E, x, y)
    return loss / np.log(2), outputs + inputs


@wrong("tied_bigram_loss_grad", LOSS, "Got -0.169846, expected 0.169846")
def log_likelihood(E, x, y):
    loss, outputs, inputs = parts(E, x, y)
    return -loss, outputs + inputs


@wrong("tied_bigram_loss_grad", ALL, "two things, the loss and the gradient; it returned a float64.")
def loss_alone(E, x, y):
    return parts(E, x, y)[0]


@wrong("tied_bigram_loss_grad", ALL, "it returned a tuple of length 3.")
def both_paths_apart(E, x, y):
    return parts(E, x, y)


@wrong("tied_bigram_loss_grad", LOSS, "should be a Python or NumPy float; it is a ndarray")
def a_loss_for_each_position(E, x, y):
    _, outputs, inputs = parts(E, x, y)
    log_p = scipy.special.log_softmax(E[x] @ E.T, axis=1)
    return -log_p[np.arange(len(x)), y], outputs + inputs


@wrong("tied_bigram_loss_grad", "dtypes_and_inputs", "The dtype is float64; it should be float32. E was float32")
def double_precision_gradient(E, x, y):
    loss, outputs, inputs = parts(E.astype(np.float64), x, y)
    return loss, outputs + inputs


@wrong("tied_bigram_loss_grad", "dtypes_and_inputs", "Your function changed E")
def a_step_taken(E, x, y):
    loss, outputs, inputs = parts(E, x, y)
    E -= 0.1 * (outputs + inputs)
    return loss, outputs + inputs


@wrong("tied_bigram_loss_grad", "dtypes_and_inputs", "Your function changed y")
def targets_sorted(E, x, y):
    loss, outputs, inputs = parts(E, x, y)
    y.sort()
    return loss, outputs + inputs


# In the check of a tiny probability, either way round gives the same loss.
@wrong(
    "tied_bigram_loss_grad",
    f"loss_of_one_position loss_is_the_mean_over_positions logits_of_ten_thousand {GRADIENT}",
    "expected 0.169846",
)
def input_and_target_swapped(E, x, y):
    loss, outputs, inputs = parts(E, y, x)
    return loss, outputs + inputs
