"""Chapter 01: the table is a lookup."""

import numpy as np


def one_hot(ids: np.ndarray, V: int) -> np.ndarray:
    """Write each id as a row of V numbers: 1 in the id's column, 0 elsewhere.

    Parameters
    ----------
    ids : ndarray of any integer dtype and any shape
        Token ids, each from 0 to V - 1. A single id (shape ``()``) and no ids
        at all (a 0 in the shape) are allowed. The array is not modified.
    V : int
        Vocabulary size: the number of columns, whichever ids occur.

    Returns
    -------
    ndarray of float64, shape ``ids.shape + (V,)``
        ``one_hot(ids, V) @ E`` gives the rows that ``E[ids]`` reads.
    """
    ### BEGIN SOLUTION
    return (np.expand_dims(ids, -1) == np.arange(V)).astype(np.float64)
    ### END SOLUTION
