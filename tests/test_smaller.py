"""The functions of chapter 11 against PyTorch."""

import warnings

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from inputs import FLOATS, INTEGERS, LAYOUTS, SEEDS, laid_out, odd_values, some_ids, tensor

from autograder.exercises import exercise
from solutions import (
    embedding_backward,
    embedding_forward,
    factorized_backward,
    factorized_forward,
    quantize_rows,
    quantized_lookup,
)

WIDTHS = st.integers(1, 6)


def rounding(terms: int, dtype: type) -> float:
    """A bound on what a sum of products of numbers up to 2 may differ by, for another order of summation."""
    return 8 * terms * terms * float(np.finfo(dtype).eps)


@given(some_ids(), WIDTHS, WIDTHS, st.sampled_from(FLOATS), st.sampled_from(LAYOUTS))
def test_factors_forward_and_backward(drawn, m, d, dtype, layout):
    ids, V, rng = drawn
    A, W = (laid_out(odd_values(rng, shape, dtype), layout) for shape in ((V, m), (m, d)))
    G = laid_out(odd_values(rng, (*ids.shape, d), dtype), layout if ids.ndim else "C")
    given_arrays = (A, W, ids, G)
    before = [array.copy() for array in given_arrays]
    H = factorized_forward(A, W, ids)
    grad_A, grad_W = factorized_backward(A, W, ids, G)

    first, second = tensor(A).requires_grad_(), tensor(W).requires_grad_()
    want = torch.nn.functional.embedding(tensor(ids), first) @ second
    want.backward(tensor(G))
    assert first.grad is not None
    assert second.grad is not None
    wanted = (want.detach(), first.grad, second.grad)
    for got, tensor_wanted, terms in zip((H, grad_A, grad_W), wanted, (m, d * ids.size, ids.size), strict=True):
        assert got.dtype == dtype
        assert got.shape == tuple(tensor_wanted.shape)
        np.testing.assert_allclose(got, tensor_wanted.numpy(), rtol=0, atol=rounding(terms + 1, dtype))
    for array, copy in zip(given_arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy, strict=True)
        assert not any(np.shares_memory(got, array) for got in (H, grad_A, grad_W))


@given(some_ids(), WIDTHS, WIDTHS)
def test_factors_are_a_table(drawn, m, d):
    """With E = A W: the lookup in E, and the chain rule through E."""
    ids, V, rng = drawn
    A, W = odd_values(rng, (V, m), np.float64), odd_values(rng, (m, d), np.float64)
    G = odd_values(rng, (*ids.shape, d), np.float64)
    np.testing.assert_allclose(factorized_forward(A, W, ids), embedding_forward(A @ W, ids), rtol=1e-10, atol=1e-12)
    grad_E = embedding_backward(ids, G, V)
    grad_A, grad_W = factorized_backward(A, W, ids, G)
    np.testing.assert_allclose(grad_A, grad_E @ W.T, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(grad_W, A.T @ grad_E, rtol=1e-10, atol=1e-10)


@st.composite
def some_tables(draw: st.DrawFn) -> np.ndarray:
    """Tables with rows of very different size, some of them zero."""
    rng = np.random.default_rng(draw(SEEDS))
    V, d = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    size = 10.0 ** rng.uniform(-29, 29, (V, 1)) * rng.choice([0, 1, 1, 1], (V, 1))
    values = odd_values(rng, (V, d), np.float64) * size * rng.choice([0, 1, 1, 1], (V, d))
    return laid_out(values.astype(draw(st.sampled_from(FLOATS))), draw(st.sampled_from(LAYOUTS)))


@given(some_tables())
def test_quantize_rows(E):
    before = E.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        codes, scales = quantize_rows(E)
    np.testing.assert_array_equal(E, before, strict=True)
    assert (codes.dtype, codes.shape) == (np.int8, E.shape)
    assert (scales.dtype, scales.shape) == (np.float32, E.shape[:1])
    largest = np.abs(E).max(axis=1)
    np.testing.assert_array_equal(scales[largest == 0], 1)
    np.testing.assert_allclose(scales[largest > 0] * 127.0, largest[largest > 0], rtol=1e-6)
    whole = codes.astype(int)
    np.testing.assert_array_equal(np.abs(whole).max(axis=1), np.where(largest > 0, 127, 0))
    step = scales.astype(float)[:, None]
    assert np.all(np.abs(whole * step - E) <= 0.50001 * step)
    np.testing.assert_array_equal(whole[E == 0], 0)


@given(some_tables())
def test_rows_are_those_of_pytorch(E):
    """PyTorch multiplies with the reciprocal of the scale, so it may round otherwise next to a half."""
    codes, scales = quantize_rows(E)
    by_torch = torch.fake_quantize_per_channel_affine(
        tensor(E.astype(np.float32)), torch.tensor(scales), torch.zeros(len(E), dtype=torch.int32), 0, -127, 127
    )
    step = scales.astype(float)[:, None]
    other = np.rint(by_torch.numpy() / step)
    exact = E.astype(float) / step
    next_to_a_half = np.abs(exact - np.floor(exact) - 0.5) < 1e-4
    assert np.all((other == codes) | (next_to_a_half & (np.abs(other - codes) == 1)))
    rows = np.flatnonzero(np.all(other == codes, axis=1))
    np.testing.assert_allclose(quantized_lookup(codes, scales, rows), by_torch.numpy()[rows], rtol=1e-6)


@given(some_tables(), st.data())
def test_quantized_lookup(E, data):
    codes, scales = quantize_rows(E)
    shape = data.draw(st.lists(st.integers(0, 4), max_size=3).map(tuple))
    rng = np.random.default_rng(data.draw(SEEDS))
    ids = np.asarray(rng.choice([0, len(E) - 1, *range(len(E))], shape)).astype(data.draw(st.sampled_from(INTEGERS)))
    before = [array.copy() for array in (codes, scales, ids)]
    got = quantized_lookup(codes, scales, ids)
    assert (type(got), got.dtype, got.shape) == (np.ndarray, np.float32, (*ids.shape, E.shape[1]))
    table = torch.tensor(codes).float() * torch.tensor(scales)[:, None]
    np.testing.assert_array_equal(got, torch.nn.functional.embedding(tensor(ids), table).numpy())
    for array, copy in zip((codes, scales, ids), before, strict=True):
        np.testing.assert_array_equal(array, copy, strict=True)
        assert not np.shares_memory(got, array)


def test_only_the_rows_asked_for_become_floats():
    """A table with one row in memory, seen 2**50 times: as floats it would fit into no computer."""
    codes = np.broadcast_to(np.array([1, -2, 127], dtype=np.int8), (2**50, 3))
    scales = np.broadcast_to(np.float32(0.5), 2**50)
    ids = np.array([2**50 - 1, 0])
    np.testing.assert_array_equal(quantized_lookup(codes, scales, ids), np.float32([[0.5, -1, 63.5]] * 2))
    with pytest.raises(MemoryError):
        _ = (codes * scales[:, None])[ids]
    A = np.broadcast_to(np.array([1.0, -2.0]), (2**50, 2))
    np.testing.assert_array_equal(factorized_forward(A, np.eye(2), ids), [[1, -2]] * 2)


def test_points():
    names = ("factorized_forward", "factorized_backward", "quantize_rows", "quantized_lookup")
    assert sum(exercise(name).points for name in names) == 18
