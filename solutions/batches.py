"""Chapter 02: batches and sequences."""

import numpy as np


def embedding_forward(E: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Look up one row of the table for each id.

    Parameters
    ----------
    E : ndarray of floats, shape (V, d)
        The table. It is not modified.
    ids : ndarray of any integer dtype and any shape
        Token ids, each from 0 to V - 1. A single id (shape ``()``) and no ids
        at all (a 0 in the shape) are allowed. The array is not modified. Ids
        out of range are not part of this exercise.

    Returns
    -------
    ndarray of E's dtype, shape ``ids.shape + (d,)``
        A copy: writing into it does not change the table.
    """
    ### BEGIN SOLUTION
    return E[ids]
    ### END SOLUTION
