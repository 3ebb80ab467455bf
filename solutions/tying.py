"""Chapter 07: weight tying."""

import numpy as np


def tied_bigram_loss_grad(
    E: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
) -> tuple[float, np.ndarray]:
    """Loss and gradient of the smallest model with a tied table.

    Position n reads row x[n] of the table, h = E[x[n]]. Its logits are E @ h,
    one for each row of the same table. The loss is the cross-entropy between
    the softmax of the logits and the target y[n], as a mean over positions.

    Parameters
    ----------
    E : ndarray of floats, shape (V, d)
        The table. It is not modified.
    x : ndarray of any integer dtype, shape (N,)
        Input ids, each from 0 to V - 1, with N at least 1. An id may occur
        more than once. The array is not modified.
    y : ndarray of any integer dtype, shape (N,)
        Target ids, as x.

    Returns
    -------
    loss : float, Python's or NumPy's
        The mean of -log softmax(E @ E[x[n]])[y[n]], natural logarithm. It is
        finite and right however large the logits are, and however close to 0
        a target's probability is.
    grad : ndarray of E's dtype, shape (V, d)
        The gradient of that mean with respect to E, through both uses of the
        table: where rows are looked up, and where logits are made. It is
        finite, too.
    """
    ### BEGIN SOLUTION
    N = len(x)
    n = np.arange(N)
    H = E[x]
    Z = H @ E.T
    Z = Z - Z.max(axis=1, keepdims=True)  # exp() of nothing above 0
    log_p = Z - np.log(np.exp(Z).sum(axis=1, keepdims=True))
    loss = -log_p[n, y].mean()

    Delta = np.exp(log_p)  # dL/dZ: probabilities, less 1 at the target
    Delta[n, y] -= 1
    Delta /= N
    grad_E = Delta.T @ H  # as the output layer
    np.add.at(grad_E, x, Delta @ E)  # as the lookup
    return float(loss), grad_E
    ### END SOLUTION
