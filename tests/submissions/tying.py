"""Chapter 07: `tied_bigram_loss_grad`."""

import numpy as np
import scipy.sparse
import scipy.special
import torch

import solutions
from submissions import right, two_mistakes, wrong

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
LARGE = "logits_of_ten_thousand"
TINY = "target_of_tiny_probability"
LOSS = f"loss_of_one_position loss_is_the_mean_over_positions {LARGE} {TINY}"


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


def stable(Z):
    return scipy.special.softmax(Z, axis=1)


@wrong("tied_bigram_loss_grad", f"{INPUT_PATH} {SEVERAL}", mistake="output_path_only")
def autograd_with_the_lookup_detached(E, x, y):
    table = torch.tensor(E, requires_grad=True)
    inputs, targets = torch.tensor(x.astype(np.int64)), torch.tensor(y.astype(np.int64))
    loss = torch.nn.functional.cross_entropy(table.detach()[inputs] @ table.T, targets)
    loss.backward()
    return loss.item(), table.grad.numpy()


@wrong("tied_bigram_loss_grad", f"{LARGE} {TINY}", mistake="softmax_without_the_maximum")
def loop_with_a_naive_softmax(E, x, y):
    V, N = len(E), len(x)
    loss, grad = 0.0, np.zeros_like(E)
    with np.errstate(all="ignore"):
        for n in range(N):
            h = E[x[n]]
            p = np.exp(E @ h) / np.exp(E @ h).sum()
            loss -= np.log(p[y[n]]) / N
            delta = (p - (np.arange(V) == y[n])) / N
            grad += np.outer(delta, h)
            grad[x[n]] += delta @ E
    return loss, grad


@wrong("tied_bigram_loss_grad", TINY, mistake="log_of_a_stable_softmax")
def log_of_softmax_from_scipy(E, x, y):
    return with_softmax(E, x, y, stable, np.log)


@wrong("tied_bigram_loss_grad", TINY, mistake="a_little_added_inside_the_log")
def probabilities_clipped(E, x, y):
    return with_softmax(E, x, y, stable, lambda p: np.log(np.clip(p, 1e-12, 1)))


@wrong("tied_bigram_loss_grad", TINY, "adding 1e-12 inside the log gives 27.6")
def a_little_more_added(E, x, y):
    return with_softmax(E, x, y, stable, lambda p: np.log(p + 1e-9))


@wrong("tied_bigram_loss_grad", LARGE, "Subtract the largest logit of each position first")
def loss_alone_without_the_maximum(E, x, y):
    _, outputs, inputs = parts(E, x, y)
    Z = E[x] @ E.T
    with np.errstate(over="ignore"):
        return np.mean(np.log(np.exp(Z).sum(axis=1)) - Z[np.arange(len(x)), y]), outputs + inputs


@wrong("tied_bigram_loss_grad", LARGE, mistake="maximum_over_all_positions")
def maximum_of_the_table(E, x, y):
    """One number for all positions, made in another way."""
    Z = E[x] @ E.T
    Z = Z - max(Z.ravel())
    with np.errstate(all="ignore"):
        total = np.log(np.exp(Z).sum(axis=1))
        Delta = np.exp(Z - total[:, None])
        Delta[np.arange(len(x)), y] -= 1
        Delta /= len(x)
        grad = Delta.T @ E[x]
        np.add.at(grad, x, Delta @ E)
        return np.mean(total - Z[np.arange(len(x)), y]), grad


@wrong("tied_bigram_loss_grad", "repeated_inputs_add_up", mistake="fancy_index_trap")
def last_position_of_an_input(E, x, y):
    N = len(x)
    loss, grad, _ = parts(E, x, y)
    Delta = stable(E[x] @ E.T)
    Delta[np.arange(N), y] -= 1
    last = {i: n for n, i in enumerate(x.tolist())}
    for i, n in last.items():
        grad[i] += Delta[n] @ E / N
    # dtypes_and_inputs compares this function with itself: it repeats an id, and the trap falls the same way twice
    return loss, grad.astype(E.dtype)


@wrong("tied_bigram_loss_grad", LOSS, mistake="loss_divided_by_v_too")
def mean_of_a_product_with_one_hot_rows(E, x, y):
    _, outputs, inputs = parts(E, x, y)
    log_p = scipy.special.log_softmax(E[x] @ E.T, axis=1)
    return -np.mean(np.eye(len(E))[y] * log_p), outputs + inputs


@wrong("tied_bigram_loss_grad", f"{INPUT_PATH} {SEVERAL}", "got -1.375, expected 1.375")
def one_path_subtracted(E, x, y):
    loss, outputs, inputs = parts(E, x, y)
    return loss, outputs - inputs


@wrong("tied_bigram_loss_grad", "dtypes_and_inputs", "Your function changed y")
def targets_sorted(E, x, y):
    loss, outputs, inputs = parts(E, x, y)
    y.sort()
    return loss, outputs + inputs


@two_mistakes("tied_bigram_loss_grad", "output_path_only loss_summed")
def output_path_and_summed_loss(E, x, y):
    loss, outputs, _ = parts(E, x, y)
    return loss * len(x), outputs


@two_mistakes("tied_bigram_loss_grad", "loss_of_every_pair targets_taken_off_every_position")
def every_pair(E, x, y):
    N = len(x)
    log_p = scipy.special.log_softmax(E[x] @ E.T, axis=1)
    Delta = np.exp(log_p)
    Delta[:, y] -= 1
    Delta /= N
    grad = Delta.T @ E[x]
    np.add.at(grad, x, Delta @ E)
    return -log_p[:, y].mean(), grad


@two_mistakes("tied_bigram_loss_grad", "softmax_without_the_maximum output_path_only")
def naive_softmax_and_output_path(E, x, y):
    N = len(x)
    with np.errstate(all="ignore"):
        P = naive(E[x] @ E.T)
        loss = -np.log(P[np.arange(N), y]).mean()
        P[np.arange(N), y] -= 1
        return loss, P.T @ E[x] / E.dtype.type(N)


@two_mistakes("tied_bigram_loss_grad", "a_little_added_inside_the_log fancy_index_trap")
def a_little_added_and_the_trap(E, x, y):
    N = len(x)
    P = stable(E[x] @ E.T)
    loss = -np.log(P[np.arange(N), y] + 1e-12).mean()
    P[np.arange(N), y] -= 1
    P /= N
    grad = P.T @ E[x]
    grad[x] += P @ E
    return loss, grad


@two_mistakes("tied_bigram_loss_grad", "gradient_of_the_sum loss_summed")
def sums_for_means(E, x, y):
    loss, outputs, inputs = parts(E, x, y)
    return loss * len(x), len(x) * (outputs + inputs)


@two_mistakes("tied_bigram_loss_grad", "input_path_only double_precision_gradient")
def input_path_in_double_precision(E, x, y):
    loss, _, inputs = parts(E.astype(np.float64), x, y)
    return loss, inputs
