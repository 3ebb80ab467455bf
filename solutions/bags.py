"""Chapter 06: bags of ids."""

import numpy as np


def embedding_bag_mean(
    E: np.ndarray,
    ids: np.ndarray,
    offsets: np.ndarray,
) -> np.ndarray:
    """Average the table's rows over each bag of ids.

    Bag b holds the ids from position ``offsets[b]`` up to, not including,
    ``offsets[b + 1]``; the last bag ends with the last id. An id that occurs
    twice in a bag counts twice.

    Parameters
    ----------
    E : ndarray of floats, shape (V, d)
        The table. It is not modified.
    ids : ndarray of any integer dtype, shape (N,)
        The ids of all bags, one bag after the other, each from 0 to V - 1. N
        may be 0. The array is not modified.
    offsets : ndarray of int32 or int64, shape (B,)
        Where each bag begins. The first is 0; they never decrease and are at
        most N. Two that are equal make an empty bag, and so does a last one
        that is N: any bag may be empty, and all of them. B may be 0, if N
        is 0. The array is not modified.

    Returns
    -------
    ndarray of E's dtype, shape (B, d)
        The row of an empty bag is zero.
    """
    ### BEGIN SOLUTION
    sizes = np.diff(offsets, append=len(ids))
    bag_of = np.repeat(np.arange(len(offsets)), sizes)
    sums = np.zeros((len(offsets), E.shape[1]), dtype=E.dtype)
    np.add.at(sums, bag_of, E[ids])
    divisors = np.maximum(sizes, 1)  # an empty bag's sum is zero already
    return sums / divisors[:, None].astype(E.dtype)
    ### END SOLUTION


def embedding_bag_backward(
    ids: np.ndarray,
    offsets: np.ndarray,
    grad_out: np.ndarray,
    V: int,
    mode: str = "mean",
) -> np.ndarray:
    """Gradient of the loss with respect to the table, given one row a bag.

    With mode "mean" the forward pass averaged the rows of each bag, as
    ``embedding_bag_mean`` does; with mode "sum" it added them up. Each place
    of an id in a bag passes something on to that id's row, and all that
    arrives at a row adds up. An empty bag passes nothing on.

    Parameters
    ----------
    ids : ndarray of any integer dtype, shape (N,)
        The ids of all bags, one bag after the other, each from 0 to V - 1. N
        may be 0. The array is not modified.
    offsets : ndarray of int32 or int64, shape (B,)
        Where each bag begins, as for ``embedding_bag_mean``: from 0, never
        decreasing, at most N; any bag may be empty; B may be 0, if N is 0.
        The array is not modified.
    grad_out : ndarray of floats, shape (B, d)
        The upstream gradient, one row for each bag. It is not modified.
    V : int
        Number of rows of the table, whichever ids occur.
    mode : str
        "mean" or "sum", written exactly so.

    Returns
    -------
    ndarray of grad_out's dtype, shape (V, d)

    Raises
    ------
    ValueError
        If ``mode`` is anything else, "max" for example.
    """
    ### BEGIN SOLUTION
    if mode not in ("mean", "sum"):
        raise ValueError(f"mode must be 'mean' or 'sum', not {mode!r}")
    sizes = np.diff(offsets, append=len(ids))
    bag_of = np.repeat(np.arange(len(offsets)), sizes)
    G = grad_out[bag_of]  # one row for each id; a copy, so it may be changed
    if mode == "mean":
        G /= sizes[bag_of, None]
    grad_E = np.zeros((V, grad_out.shape[1]), dtype=grad_out.dtype)
    np.add.at(grad_E, ids, G)
    return grad_E
    ### END SOLUTION
