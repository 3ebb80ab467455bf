"""Chapter 08: the size of the numbers, and positions."""

import numpy as np


def sinusoidal_positions(T: int, d: int) -> np.ndarray:
    """Make the table of sines and cosines of the first Transformer.

    Columns 2i and 2i + 1 are a pair with the same angle. At position t it is
    t / 10000**(2*i / d), so the first pair turns by 1 at each position, and
    later pairs turn more and more slowly.

    Parameters
    ----------
    T : int
        Number of positions, 0 or more. They are counted from 0.
    d : int
        Width, 1 or more. If it is odd, the last column is the sine of a pair
        whose cosine has no room; `d` in the angle is still the odd number.

    Returns
    -------
    ndarray of float64, shape (T, d)
        Row t belongs to position t. Even columns (0, 2, ...) hold the sine
        of their pair's angle, odd columns (1, 3, ...) the cosine. It is
        computed in float64, so that far positions are right, too.

    References
    ----------
    Vaswani et al., Attention Is All You Need (2017), section 3.5.
    """
    ### BEGIN SOLUTION
    t = np.arange(T)[:, np.newaxis]
    even = np.arange(0, d, 2)  # the 2i of each pair
    angles = t / 10_000 ** (even / d)
    P = np.zeros((T, d))
    P[:, 0::2] = np.sin(angles)
    P[:, 1::2] = np.cos(angles[:, : d // 2])  # an odd d has one cosine less
    return P
    ### END SOLUTION


def embed_with_positions(
    E: np.ndarray,
    P: np.ndarray,
    ids: np.ndarray,
    scale: float = 1.0,
) -> np.ndarray:
    """Look tokens up, scale their rows, and add the row of each position.

    The token at position t of a sequence becomes scale * E[token] + P[t]. In
    a batch, every sequence starts at position 0.

    Parameters
    ----------
    E : ndarray of floats, shape (V, d)
        The table of tokens. It is not modified.
    P : ndarray of floats, shape (rows, d)
        The table of positions; its dtype may differ from E's. It may have
        more rows than a sequence has positions, and it is not modified.
    ids : ndarray of any integer dtype, shape (T,) or (B, T)
        One sequence, or a batch of B sequences of T tokens each; T and B may
        be 0. Each id is from 0 to V - 1. The array is not modified.
    scale : float, Python's or NumPy's
        What the rows of E are multiplied by, such as np.sqrt(d). The rows of
        P are not multiplied.

    Returns
    -------
    ndarray of E's dtype, shape ids.shape + (d,)

    Raises
    ------
    ValueError
        If T is larger than the number of rows of P, be it one row or many.
        The message holds both numbers.
    """
    ### BEGIN SOLUTION
    T = ids.shape[-1]
    if len(P) < T:
        raise ValueError(f"a sequence has {T} positions, and P has rows for {len(P)}")
    H = scale * E[ids] + P[:T]  # (T, d) is added to each sequence of (B, T, d)
    return H.astype(E.dtype)  # a float64 P or scale would widen a float32 E
    ### END SOLUTION
