"""Chapter 11: smaller tables, in two factors or in fewer bits."""

import numpy as np


def factorized_forward(A: np.ndarray, W: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Look ids up in a table that is stored as two factors, E = A @ W.

    Only the rows that ids names are needed: gather rows of A first, then
    widen them with W. E itself, which has V rows, is never made.

    Parameters
    ----------
    A : ndarray of floats, shape (V, m)
        The first factor, one short row for each token. It is not modified.
    W : ndarray of A's dtype, shape (m, d)
        The second factor, the same for all tokens. m may be larger than d.
        It is not modified.
    ids : ndarray of any integer dtype and any shape
        Token ids, each from 0 to V - 1. A single id (shape ``()``) and no ids
        at all (a 0 in the shape) are allowed. The array is not modified.

    Returns
    -------
    ndarray of A's dtype, shape ``ids.shape + (d,)``
        Row ``ids[n]`` of A @ W at position n.
    """
    ### BEGIN SOLUTION
    return A[ids] @ W
    ### END SOLUTION


def factorized_backward(
    A: np.ndarray,
    W: np.ndarray,
    ids: np.ndarray,
    grad_out: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of the loss with respect to both factors of a table.

    The forward pass was ``factorized_forward(A, W, ids)``. What reaches a row
    of A from several positions adds up; a row whose id does not occur gets
    zero. Every position adds to the gradient of W.

    Parameters
    ----------
    A : ndarray of floats, shape (V, m)
        The first factor. It is not modified.
    W : ndarray of A's dtype, shape (m, d)
        The second factor. m may be larger than d. It is not modified.
    ids : ndarray of any integer dtype and any shape
        Token ids, each from 0 to V - 1. A single id (shape ``()``) and no ids
        at all (a 0 in the shape) are allowed. The array is not modified.
    grad_out : ndarray of A's dtype, shape ``ids.shape + (d,)``
        The upstream gradient, one row for each id. It is not modified.

    Returns
    -------
    grad_A : ndarray of A's dtype, shape (V, m)
    grad_W : ndarray of A's dtype, shape (m, d)
        The two stand in a tuple. Without ids, both are zero.
    """
    ### BEGIN SOLUTION
    flat = ids.ravel()
    G = grad_out.reshape(flat.size, W.shape[1])
    grad_A = np.zeros_like(A)
    np.add.at(grad_A, flat, G @ W.T)
    grad_W = A[flat].T @ G
    return grad_A, grad_W
    ### END SOLUTION


def quantize_rows(E: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Store a table as int8 codes with one scale for each row.

    Symmetric: zero stays zero, and code c of row i stands for c * scales[i].
    The scale of a row is its largest entry without sign, divided by 127.

    Parameters
    ----------
    E : ndarray of floats, shape (V, d)
        The table, float32 or float64, V and d 1 or more. Each entry is zero
        or of a size from 1e-30 to 1e30. It is not modified.

    Returns
    -------
    codes : ndarray of int8, shape (V, d)
        E[i, j] / scales[i], rounded to the nearest whole number; half way
        between two, either one. Each is from -127 to 127; -128 is not used.
    scales : ndarray of float32, shape (V,)
        One for each row. The scale of a row that is all zeros is 1, and its
        codes are 0.

        The two stand in a tuple.
    """
    ### BEGIN SOLUTION
    largest = np.abs(E).max(axis=1)
    scales = np.where(largest == 0, 1, largest / 127).astype(np.float32)
    codes = np.rint(E / scales[:, None]).clip(-127, 127).astype(np.int8)
    return codes, scales
    ### END SOLUTION


def quantized_lookup(
    codes: np.ndarray,
    scales: np.ndarray,
    ids: np.ndarray,
) -> np.ndarray:
    """Look ids up in a table of int8 codes, and give back float32 rows.

    Gather first, and turn only the rows that ids names into floats: the whole
    table in float32 is what the codes are there to avoid. A row that ids does
    not name has no influence, whatever its scale is, nan included.

    Parameters
    ----------
    codes : ndarray of int8, shape (V, d)
        The table's codes, each from -127 to 127, as ``quantize_rows`` makes
        them. The array is not modified.
    scales : ndarray of float32, shape (V,)
        One scale for each row. The array is not modified.
    ids : ndarray of any integer dtype and any shape
        Token ids, each from 0 to V - 1. A single id (shape ``()``) and no ids
        at all (a 0 in the shape) are allowed. The array is not modified.

    Returns
    -------
    ndarray of float32, shape ``ids.shape + (d,)``
        codes[i] * scales[i] for each id i.
    """
    ### BEGIN SOLUTION
    return codes[ids] * scales[ids][..., None]
    ### END SOLUTION
