"""`sinusoidal_positions` and `embed_with_positions` against PyTorch, and against what the chapter says of them."""

import re

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from inputs import FLOATS, INTEGERS, LAYOUTS, SEEDS, laid_out, odd_values, tensor

from solutions import embed_with_positions, sinusoidal_positions


@given(st.integers(0, 60), st.integers(1, 33))
@example(0, 1)
@example(5_000, 7)
def test_the_pairs_are_a_complex_exponential(T, d):
    """PyTorch's polar form: sine and cosine of a pair are imaginary and real part of one number."""
    slow = torch.pow(torch.tensor(10_000.0, dtype=torch.float64), -torch.arange(0, d, 2, dtype=torch.float64) / d)
    angles = torch.arange(T, dtype=torch.float64)[:, None] * slow
    hands = torch.view_as_real(torch.polar(torch.ones_like(angles), angles)).flip(-1).flatten(1)
    got = sinusoidal_positions(T, d)
    np.testing.assert_allclose(got, hands[:, :d].numpy(), rtol=0, atol=1e-15 * max(T, 10), strict=True)


@given(st.integers(1, 40), st.integers(0, 40), st.integers(1, 16))
def test_a_shift_is_a_rotation_and_the_length_is_the_same_everywhere(T, k, pairs):
    d = 2 * pairs
    P = sinusoidal_positions(T + k, d)
    rotation = np.zeros((d, d))
    for i in range(pairs):
        angle = k / 10_000 ** (2 * i / d)
        c, s = np.cos(angle), np.sin(angle)
        rotation[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, -s], [s, c]]
    np.testing.assert_allclose(P[:T] @ rotation, P[k : k + T], rtol=0, atol=1e-12)
    np.testing.assert_allclose((P**2).sum(axis=1), pairs, rtol=1e-12)


def test_a_longer_table_begins_with_the_shorter_one():
    np.testing.assert_array_equal(sinusoidal_positions(100, 12)[:37], sinusoidal_positions(37, 12))


@st.composite
def sequences(draw):
    """ids of shape (T,) or (B, T), V, the rows of P (T or more), and a generator."""
    rng = np.random.default_rng(draw(SEEDS))
    V, T = draw(st.integers(1, 12)), draw(st.integers(0, 6))
    shape = draw(st.sampled_from([(T,), (0, T), (1, T), (T, T), (3, T)]))
    ids = rng.choice([0, V - 1, *range(V)], shape)
    ids = np.array(ids, dtype=draw(st.sampled_from(INTEGERS)), order=draw(st.sampled_from("CF")))
    return ids, V, T + draw(st.sampled_from([0, 0, 1, 5])), rng


@given(
    sequences(),
    st.integers(1, 5),
    st.sampled_from(FLOATS),
    st.sampled_from(FLOATS),
    st.sampled_from(LAYOUTS),
    st.sampled_from([1.0, 0.0, -2.5, np.sqrt(512), np.float32(8.0), 3]),
)
def test_against_two_embedding_layers(drawn, d, E_dtype, P_dtype, layout, scale):
    ids, V, rows, rng = drawn
    E, P = laid_out(odd_values(rng, (V, d), E_dtype), layout), laid_out(odd_values(rng, (rows, d), P_dtype), layout)
    before = E.copy(), P.copy(), ids.copy()
    tokens, places = (torch.nn.Embedding.from_pretrained(tensor(each).double()) for each in (E, P))
    want = float(scale) * tokens(tensor(ids)) + places(torch.arange(ids.shape[-1]))
    got = embed_with_positions(E, P, ids, scale)
    assert got.dtype == E_dtype
    assert got.shape == (*ids.shape, d)
    rounding = 8 * np.finfo(np.float32 if np.float32 in (E_dtype, P_dtype) else np.float64).eps * (2 + 2 * abs(scale))
    np.testing.assert_allclose(got, want.numpy(), rtol=0, atol=rounding)
    for now, was in zip((E, P, ids), before, strict=True):
        np.testing.assert_array_equal(now, was)
    assert not np.shares_memory(got, E)
    assert not np.shares_memory(got, P)


def test_no_scale_is_a_scale_of_one():
    rng = np.random.default_rng(0)
    E, P, ids = rng.normal(size=(7, 3)), rng.normal(size=(5, 3)), rng.integers(0, 7, (2, 4))
    np.testing.assert_array_equal(embed_with_positions(E, P, ids), embed_with_positions(E, P, ids, scale=1.0))


@pytest.mark.parametrize("shape", [(4,), (1, 4), (3, 4), (0, 4)])
@pytest.mark.parametrize("rows", [0, 1, 3])
def test_too_few_positions(shape, rows):
    ids = np.zeros(shape, dtype=np.int64)
    with pytest.raises(ValueError, match=r"\d") as caught:
        embed_with_positions(np.ones((2, 3)), np.ones((rows, 3)), ids)
    assert set(re.findall(r"\d+", str(caught.value))) == {"4", str(rows)}


@given(sequences(), st.integers(1, 4))
def test_which_rows_get_a_gradient(drawn, d):
    """Of the positions rows 0 to T - 1, one term for each sequence; of the tokens those that occur."""
    ids, V, rows, rng = drawn
    E, P = (torch.ones(n, d, dtype=torch.float64, requires_grad=True) for n in (V, rows))
    G = torch.tensor(odd_values(rng, (*ids.shape, d), np.float64))
    (2.0 * E[tensor(ids)] + P[: ids.shape[-1]]).backward(G)
    assert P.grad is not None
    want = np.zeros((rows, d))
    want[: ids.shape[-1]] = G.numpy().sum(axis=0) if ids.ndim == 2 else G.numpy()
    np.testing.assert_allclose(P.grad.numpy(), want, rtol=0, atol=1e-12)
