"""Other ways to compute what ``solutions.embedding_backward`` computes, for chapter 03 and its benchmark.

The reference is ``np.add.at``: one line, and slow, because NumPy then makes a call for each number. The
functions here take the same arguments and return the same gradient up to rounding. They differ in how many
numbers one call adds and in how they walk through memory; ``benchmarks/embedding_backward.py`` measures them.
"""

import numpy as np
from scipy.sparse import coo_array


def backward_sorted(
    ids: np.ndarray,
    grad_out: np.ndarray,
    V: int,
    padding_idx: int | None = None,
) -> np.ndarray:
    """Sort the positions by id, then add up each run of equal ids with ``np.add.reduceat``.

    Parameters
    ----------
    ids : ndarray of any integer dtype and any shape
        Token ids, each from 0 to V - 1. The array is not modified.
    grad_out : ndarray of floats, shape ``ids.shape + (d,)``
        The upstream gradient G, one row for each id. The array is not modified.
    V : int
        Number of rows of the table.
    padding_idx : int, optional
        This row of the gradient is zero. A negative number counts from the end.

    Returns
    -------
    ndarray of grad_out's dtype, shape (V, d)

    Notes
    -----
    ``reduceat`` takes one column after the other and, in it, makes a call for each run. So it strides through
    the whole sorted copy of G ``d`` times, for one number of every row. Inside a long run it keeps several
    partial sums: its rounding error grows much more slowly with the repeats than that of one running sum.
    """
    d = grad_out.shape[-1]
    # Positions, those of one id side by side; then where each run starts.
    order = np.argsort(ids, axis=None, kind="stable")
    distinct, starts = np.unique(ids.ravel()[order], return_index=True)
    G = grad_out.reshape(ids.size, d)
    grad_E = np.zeros((V, d), dtype=grad_out.dtype)
    grad_E[distinct] = np.add.reduceat(G[order], starts, axis=0)
    if padding_idx is not None:
        grad_E[padding_idx] = 0
    return grad_E


def backward_sparse(
    ids: np.ndarray,
    grad_out: np.ndarray,
    V: int,
    padding_idx: int | None = None,
) -> np.ndarray:
    """Multiply the upstream gradient by the selection matrix, stored sparse: ``S.T @ G``, the formula itself.

    ``S`` has a row for each position, a column for each id, and one 1 in each row: in the column of its id.

    Parameters
    ----------
    ids : ndarray of any integer dtype and any shape
        Token ids, each from 0 to V - 1. The array is not modified.
    grad_out : ndarray of float32 or float64, shape ``ids.shape + (d,)``
        The upstream gradient G, one row for each id. The array is not modified.
    V : int
        Number of rows of the table.
    padding_idx : int, optional
        This row of the gradient is zero. A negative number counts from the end.

    Returns
    -------
    ndarray of grad_out's dtype, shape (V, d)

    Raises
    ------
    ValueError
        If an id is not from 0 to V - 1, or grad_out is float16, for which SciPy has no sparse arrays.

    Notes
    -----
    SciPy takes the ones in the order in which they are given and, for each, adds a whole row of G to a row of
    the result: one pass over G from front to back, nothing sorted, nothing copied (from SciPy 1.15 on; before,
    one pass a column). ``coo_array`` checks that the ids are in range. A ``csr_array`` made from ``ones``,
    ``ids`` and ``np.arange(N + 1)`` is as fast and does not: an id out of range then writes outside the result.
    """
    d = grad_out.shape[-1]
    N = ids.size
    ones = np.ones(N, dtype=grad_out.dtype)
    S = coo_array((ones, (np.arange(N), ids.ravel())), shape=(N, V))
    grad_E = S.T @ grad_out.reshape(N, d)
    if padding_idx is not None:
        grad_E[padding_idx] = 0
    return grad_E
