"""Each way of book/backward_ways.py against PyTorch, against a float64 loop, and against the reference."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from inputs import LAYOUTS, autograd, laid_out

from book.backward_ways import backward_sorted, backward_sparse
from solutions import embedding_backward

Way = Callable[..., np.ndarray]

WAYS = [backward_sorted, backward_sparse]
every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)


def loop(ids: np.ndarray, grad_out: np.ndarray, V: int, padding_idx: int | None = None) -> np.ndarray:
    """Follow the definition, in float64."""
    grad_E = np.zeros((V, grad_out.shape[-1]))
    for position in np.ndindex(ids.shape):
        grad_E[int(ids[position])] += grad_out[position]
    if padding_idx is not None:
        grad_E[padding_idx] = 0
    return grad_E


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, int, int | None]:
    """Draw ids, grad_out, V and padding_idx; whole numbers, which any order of adding sums exactly."""
    V = draw(st.integers(1, 12))
    d = draw(st.integers(1, 4))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6))
    id_dtype = draw(st.sampled_from([np.int32, np.int64, np.uint8]))
    ids = draw(hnp.arrays(id_dtype, shape, elements=st.integers(0, V - 1), fill=st.nothing()))
    float_dtype = draw(st.sampled_from([np.float32, np.float64]))
    grad_out = draw(hnp.arrays(float_dtype, (*shape, d), elements=st.integers(-100, 100), fill=st.nothing()))
    grad_out = laid_out(grad_out, draw(st.sampled_from(LAYOUTS)))
    return ids, grad_out, V, draw(st.none() | st.sampled_from([0, -1]) | st.integers(-V, V - 1))


@every_way
@settings(deadline=None)  # PyTorch's first backward takes long
@given(problem=problems())
def test_equals_loop_and_torch(way: Way, problem: tuple) -> None:
    ids, grad_out, V, padding_idx = problem
    kept_ids, kept_grad_out = ids.copy(), grad_out.copy()
    grad_E = way(ids, grad_out, V, padding_idx)
    assert type(grad_E) is np.ndarray
    assert grad_E.dtype == grad_out.dtype
    np.testing.assert_array_equal(grad_E, loop(ids, grad_out, V, padding_idx))
    np.testing.assert_array_equal(grad_E, autograd(ids, grad_out, V, padding_idx))
    np.testing.assert_array_equal(grad_E, embedding_backward(ids, grad_out, V, padding_idx))
    np.testing.assert_array_equal(ids, kept_ids)
    np.testing.assert_array_equal(grad_out, kept_grad_out)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("N, V, id_dtype", [(8_193, 2, np.int32), (20_000, 256, np.uint8), (3_000, 1, np.int64)])
def test_many_ids(N: int, V: int, id_dtype: type, layout: str) -> None:
    """More ids than NumPy's buffer (8,192 numbers), and thousands of repeats."""
    rng = np.random.default_rng(N + V)
    ids = rng.integers(V, size=N).astype(id_dtype)
    grad_out = laid_out(rng.integers(-8, 9, size=(N, 3)).astype(np.float32), layout)
    for padding_idx in (None, 0, -1):
        right = loop(ids, grad_out, V, padding_idx)
        for way in WAYS:
            np.testing.assert_array_equal(way(ids, grad_out, V, padding_idx), right, err_msg=way.__name__)


@every_way
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_is_small(way: Way, dtype: type) -> None:
    """On numbers that do round: within the bound that holds for sums in any order."""
    rng = np.random.default_rng(0)
    ids = rng.integers(50, size=(30, 100))
    grad_out = rng.standard_normal((30, 100, 8)).astype(dtype)
    most = np.bincount(ids.ravel()).max()
    bound = most * np.finfo(dtype).eps * loop(ids, np.abs(grad_out), 50)
    assert (np.abs(way(ids, grad_out, 50) - loop(ids, grad_out, 50)) <= bound).all()


@every_way
def test_padding_hides_nan(way: Way) -> None:
    """A padding row is zero even where the upstream gradient is not a number, and no other row notices."""
    ids = np.array([0, 2, 0, 1])
    grad_out = np.array([[np.nan], [3.0], [np.inf], [4.0]])
    np.testing.assert_array_equal(way(ids, grad_out, 4, padding_idx=0), [[0], [4], [3], [0]])


@every_way
def test_same_bits_every_time(way: Way) -> None:
    rng = np.random.default_rng(0)
    ids, grad_out = rng.integers(9, size=5_000), rng.standard_normal((5_000, 16), dtype=np.float32)
    np.testing.assert_array_equal(way(ids, grad_out, 9), way(ids, grad_out, 9))


def test_same_order_same_bits() -> None:
    """np.add.at, the sparse product and PyTorch add an id's rows in the order in which they stand."""
    rng = np.random.default_rng(0)
    ids, grad_out = rng.integers(9, size=5_000), rng.standard_normal((5_000, 16), dtype=np.float32)
    expected = embedding_backward(ids, grad_out, 9)
    np.testing.assert_array_equal(backward_sparse(ids, grad_out, 9), expected)
    np.testing.assert_array_equal(autograd(ids, grad_out, 9, None), expected)


def test_partial_sums_are_more_exact() -> None:
    """One id 8,192 times: sorting loses at least four times less than one sum in order."""
    rng = np.random.default_rng(0)
    ids, grad_out = np.zeros(8_192, dtype=np.int64), rng.standard_normal((8_192, 256), dtype=np.float32)
    exact = loop(ids, grad_out, 1)
    in_order = np.abs(embedding_backward(ids, grad_out, 1) - exact).max()
    assert np.abs(backward_sorted(ids, grad_out, 1) - exact).max() < in_order / 4


@pytest.mark.parametrize("bad", [-1, 3, 2**40])
def test_sparse_names_an_id_out_of_range(bad: int) -> None:
    with pytest.raises(ValueError, match=str(bad)):
        backward_sparse(np.array([0, bad, 1]), np.ones((3, 2)), 3)
