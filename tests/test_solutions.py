"""Every reference function against PyTorch, on random inputs."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from inputs import FLOATS, LAYOUTS, autograd, laid_out, odd_values, some_ids, tensor

from solutions import embedding_backward, embedding_forward, one_hot


@given(some_ids())
def test_one_hot(drawn):
    ids, V, _ = drawn
    before = ids.copy()
    got = one_hot(ids, V)
    want = torch.nn.functional.one_hot(tensor(ids), V).numpy()
    np.testing.assert_array_equal(got, want.astype(np.float64), strict=True)  # shape and dtype, too
    np.testing.assert_array_equal(ids, before)
    assert not np.shares_memory(got, ids)


@given(some_ids(), st.integers(1, 5), st.sampled_from(FLOATS), st.sampled_from(LAYOUTS))
def test_embedding_forward(drawn, d, dtype, layout):
    ids, V, rng = drawn
    E = laid_out(odd_values(rng, (V, d), dtype), layout)
    ids_before, E_before = ids.copy(), E.copy()
    got = embedding_forward(E, ids)
    want = torch.nn.functional.embedding(tensor(ids), tensor(E)).numpy()
    np.testing.assert_array_equal(got, want, strict=True)  # shape, dtype, and every bit: rows are only copied
    np.testing.assert_array_equal(ids, ids_before)
    assert not np.shares_memory(got, E)
    got[...] = 0
    np.testing.assert_array_equal(E, E_before)


@given(some_ids(), st.integers(1, 5), st.sampled_from(FLOATS), st.sampled_from(LAYOUTS), st.data())
def test_embedding_backward(drawn, d, dtype, layout, data):
    ids, V, rng = drawn
    G = laid_out(odd_values(rng, (*ids.shape, d), dtype), layout)
    padding_idx = data.draw(st.none() | st.sampled_from([0, -1, V - 1, -V]) | st.integers(-V, V - 1), "padding_idx")
    ids_before, G_before = ids.copy(), G.copy()
    got = embedding_backward(ids, G, V, padding_idx)
    want = autograd(ids, G, V, padding_idx)
    assert got.dtype == G.dtype
    assert got.shape == (V, d)
    # Both add up the same terms, PyTorch perhaps in another order. Each of at most 125 additions rounds by one part
    # in 2**24 (float32) of a partial sum, so the error is relative to the sum of the sizes, not to the sum itself.
    sizes = embedding_backward(ids, np.abs(G).astype(np.float64), V)
    assert np.all(np.abs(got - want) <= 125 * np.finfo(dtype).eps * sizes)
    if padding_idx is not None:
        np.testing.assert_array_equal(got[padding_idx], 0)
    np.testing.assert_array_equal(ids, ids_before)
    np.testing.assert_array_equal(G, G_before)
    assert not np.shares_memory(got, G)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("ids_dtype", [np.int32, np.int64])
def test_more_than_8192_ids(dtype, ids_dtype):
    """NumPy works in buffers of 8,192 elements; more ids than that take another path when they must be cast."""
    rng = np.random.default_rng(0)
    V, d = 301, 7
    ids = rng.integers(0, V, (19, 1001)).astype(ids_dtype)
    E, G = odd_values(rng, (V, d), dtype), odd_values(rng, (*ids.shape, d), dtype)
    np.testing.assert_array_equal(one_hot(ids, V), torch.nn.functional.one_hot(tensor(ids), V).numpy())
    np.testing.assert_array_equal(embedding_forward(E, ids), E[ids.astype(np.int64)], strict=True)
    for layout in LAYOUTS:
        got = embedding_backward(ids, laid_out(G, layout), V, -3)
        want = autograd(ids, G, V, -3)
        # About 63 terms of size 1.25 a row; the largest sum is some 20. One part in 2**16 of that is far below a
        # term and far above what the order of float32 additions changes.
        np.testing.assert_allclose(got, want, rtol=0, atol=np.abs(want).max() * 2**-16, strict=True)


def test_a_batch_of_sequences_is_in_fortran_order_too():
    """A transposed batch reads the same as its copy: positions are numbered along the last axis first."""
    rng = np.random.default_rng(1)
    ids, G = rng.integers(0, 6, (4, 3)), odd_values(rng, (4, 3, 2), np.float64)
    want = embedding_backward(ids, G, 6)
    np.testing.assert_array_equal(embedding_backward(np.asfortranarray(ids), np.asfortranarray(G), 6), want)
    transposed = embedding_backward(ids.T, G.transpose(1, 0, 2), 6)  # another order of positions, the same sums
    np.testing.assert_allclose(transposed, want, rtol=1e-12, atol=1e-12)
