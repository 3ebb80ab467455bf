"""Random inputs for the tests of the solutions.

Tables and upstream gradients are never zero and their sizes seldom equal, so that a wrong row, a swapped axis or a
lost term shows.
"""

import numpy as np
import torch
from hypothesis import strategies as st

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float32, np.float64]
SHAPES = st.lists(st.integers(0, 5), max_size=3).map(tuple)  # from 0-d to 3-d; a 0 makes it empty
SEEDS = st.integers(0, 2**32 - 1)
#: How the table or the upstream gradient lies in memory.
LAYOUTS = ["C", "F", "every other row", "every other column", "backwards"]


def laid_out(values: np.ndarray, layout: str) -> np.ndarray:
    """The same values as an array that lies in memory as ``layout`` says."""
    if layout == "C":
        return values.copy(order="C")
    if layout == "F":
        return values.copy(order="F")
    if layout == "backwards":
        return values[::-1].copy()[::-1]
    axis = {"every other row": 0, "every other column": -1}[layout]
    return np.moveaxis(np.repeat(np.moveaxis(values, axis, 0), 2, axis=0)[::2], 0, axis)


def odd_values(rng: np.random.Generator, shape: tuple[int, ...], dtype: type) -> np.ndarray:
    """Numbers from 0.5 to 2 in size, of both signs."""
    return (rng.uniform(0.5, 2, shape) * rng.choice([-1, 1], shape)).astype(dtype)


def tensor(array: np.ndarray) -> torch.Tensor:
    """A copy for PyTorch, which indexes with int64 and takes no negative strides; other integers are converted."""
    if array.dtype.kind in "iu":
        return torch.tensor(array.astype(np.int64))
    return torch.tensor(array.copy())


def autograd(ids: np.ndarray, G: np.ndarray, V: int, padding_idx: int | None) -> np.ndarray:
    """The gradient of the table that PyTorch computes for `torch.nn.functional.embedding`."""
    E = torch.ones((V, G.shape[-1]), dtype=tensor(G).dtype, requires_grad=True)
    torch.nn.functional.embedding(tensor(ids), E, padding_idx=padding_idx).backward(tensor(G))
    assert E.grad is not None
    return E.grad.numpy()


@st.composite
def some_ids(draw: st.DrawFn) -> tuple[np.ndarray, int, np.random.Generator]:
    """Ids of any shape and integer dtype, in C or Fortran order, V, and a generator for what else is needed.

    V is small, so that ids repeat; 0 and V - 1 are drawn more often than by chance.
    """
    rng = np.random.default_rng(draw(SEEDS))
    V, shape = draw(st.integers(1, 12)), draw(SHAPES)
    ids = rng.choice([0, V - 1, *range(V)], shape)
    return np.array(ids, dtype=draw(st.sampled_from(INTEGERS)), order=draw(st.sampled_from("CF"))), V, rng
