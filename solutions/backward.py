"""Chapter 03: the backward pass."""

import numpy as np


def embedding_backward(
    ids: np.ndarray,
    grad_out: np.ndarray,
    V: int,
    padding_idx: int | None = None,
) -> np.ndarray:
    """Gradient of the loss with respect to the table E, given H = E[ids].

    Row i is the sum of the upstream rows at every position where id i stands;
    the row of an id that does not occur is zero.

    Parameters
    ----------
    ids : ndarray of any integer dtype and any shape
        Token ids, each from 0 to V - 1. A single id (shape ``()``) and no ids
        at all (a 0 in the shape) are allowed. The array is not modified.
    grad_out : ndarray of floats, shape ``ids.shape + (d,)``
        The upstream gradient G = dL/dH, one row for each id. It is not
        modified.
    V : int
        Number of rows of the table, whichever ids occur.
    padding_idx : int, optional
        This row of the gradient is zero, whatever reaches it. A negative
        number counts from the end, as in ``torch.nn.Embedding``: -1 is the last
        row. 0 is a row like any other; None means no such row.

    Returns
    -------
    ndarray of grad_out's dtype, shape (V, d)
    """
    ### BEGIN SOLUTION
    d = grad_out.shape[-1]
    grad_E = np.zeros((V, d), dtype=grad_out.dtype)
    np.add.at(grad_E, ids.ravel(), grad_out.reshape(ids.size, d))
    if padding_idx is not None:
        grad_E[padding_idx] = 0
    return grad_E
    ### END SOLUTION
