"""Chapter 04: training a table."""

import numpy as np


def sparse_sgd_step(
    E: np.ndarray,
    ids: np.ndarray,
    grad_out: np.ndarray,
    lr: float,
    weight_decay: float = 0.0,
) -> np.ndarray:
    """Take one step of gradient descent on those rows of E that occur in ids.

    Row i of the new table is

        E[i] - lr * (g[i] + weight_decay * E[i])   if id i occurs in ids,
        E[i], the same to the last bit             if it does not,

    where g[i] is the sum of the upstream rows at all positions where id i
    stands. A row that occurs several times takes one step and decays once. A
    row that occurs takes its step even where g[i] is zero.

    Parameters
    ----------
    E : ndarray of floats, shape (V, d)
        The table. It is not modified.
    ids : ndarray of any integer dtype and any shape
        The ids that the forward pass looked up, each from 0 to V - 1. A single
        id (shape ``()``) and no ids at all (a 0 in the shape) are allowed. The
        array is not modified.
    grad_out : ndarray of E's dtype, shape ``ids.shape + (d,)``
        The upstream gradient, one row for each id. It is not modified.
    lr : float
        Learning rate.
    weight_decay : float, default 0.0
        How strongly a row that occurs is pulled towards zero.

    Returns
    -------
    ndarray of E's dtype, shape (V, d)
        The new table, an array of its own even where nothing changed.
    """
    ### BEGIN SOLUTION
    rows, place = np.unique(ids, return_inverse=True)
    g = np.zeros((len(rows), E.shape[1]), dtype=E.dtype)
    np.add.at(g, place.ravel(), grad_out.reshape(ids.size, E.shape[1]))
    new_E = E.copy()
    new_E[rows] -= lr * (g + weight_decay * E[rows])
    return new_E
    ### END SOLUTION


def lazy_adam_step(
    E: np.ndarray,
    m: np.ndarray,
    v: np.ndarray,
    step: int,
    ids: np.ndarray,
    grad_out: np.ndarray,
    lr: float = 1e-3,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Take one step of Adam on those rows that occur in ids, and on no others.

    It does what ``torch.optim.SparseAdam`` does. For each id i that occurs in
    ids, with g the sum of the upstream rows at all positions where it stands,

        m[i] = beta1 * m[i] + (1 - beta1) * g
        v[i] = beta2 * v[i] + (1 - beta2) * g**2
        size = lr * sqrt(1 - beta2**step) / (1 - beta1**step)
        E[i] = E[i] - size * m[i] / (sqrt(v[i]) + eps)

    with the new m[i] and v[i] in the last line. Rows of E, m and v whose id
    does not occur are the same to the last bit. A row that occurs takes its
    step even where g is zero.

    Parameters
    ----------
    E : ndarray of floats, shape (V, d)
        The table.
    m, v : ndarray of E's dtype, shape (V, d)
        Running averages of the gradient and of its square, all zeros before the
        first step.
    step : int
        Number of this step, counted from 1 for the whole table: every call
        counts, whichever ids occur.
    ids : ndarray of any integer dtype and any shape
        The ids that the forward pass looked up, each from 0 to V - 1. A single
        id (shape ``()``) and no ids at all (a 0 in the shape) are allowed.
    grad_out : ndarray of E's dtype, shape ``ids.shape + (d,)``
        The upstream gradient, one row for each id.
    lr, beta1, beta2, eps : float
        Learning rate, the two rates of averaging, and what keeps the divisor
        above zero.

    Returns
    -------
    tuple of three ndarrays of E's dtype, each of shape (V, d)
        The new E, m and v, in this order. They are arrays of their own even
        where nothing changed; no argument is modified.
    """
    ### BEGIN SOLUTION
    rows, place = np.unique(ids, return_inverse=True)
    g = np.zeros((len(rows), E.shape[1]), dtype=E.dtype)
    np.add.at(g, place.ravel(), grad_out.reshape(ids.size, E.shape[1]))
    new_E, new_m, new_v = E.copy(), m.copy(), v.copy()
    new_m[rows] = beta1 * m[rows] + (1 - beta1) * g
    new_v[rows] = beta2 * v[rows] + (1 - beta2) * g**2
    size = lr * (1 - beta2**step) ** 0.5 / (1 - beta1**step)
    new_E[rows] -= size * new_m[rows] / (np.sqrt(new_v[rows]) + eps)
    return new_E, new_m, new_v
    ### END SOLUTION
