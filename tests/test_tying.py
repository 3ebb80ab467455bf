"""`tied_bigram_loss_grad` against PyTorch in float64, and the tools that its checks call."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from inputs import INTEGERS, LAYOUTS, SEEDS, laid_out, odd_values, tensor

from autograder.checks import tools
from solutions import tied_bigram_loss_grad


def autograd(E, x, y):
    """Loss and gradient that PyTorch computes in float64 for a table that serves twice."""
    table = tensor(E).double().requires_grad_()
    hidden = torch.nn.functional.embedding(tensor(x), table)
    loss = torch.nn.functional.cross_entropy(torch.nn.functional.linear(hidden, table), tensor(y))
    loss.backward()
    assert table.grad is not None
    return loss.item(), table.grad.numpy()


@st.composite
def positions(draw):
    """x and y of equal length, V, and a generator; V is small, so that ids repeat."""
    rng = np.random.default_rng(draw(SEEDS))
    V, N = draw(st.integers(1, 12)), draw(st.integers(1, 20))
    x, y = (
        rng.choice([0, V - 1, *range(V)], N).astype(draw(st.sampled_from(INTEGERS)))[:: draw(st.sampled_from([1, -1]))]
        for _ in range(2)
    )
    return x, y, V, rng


@given(positions(), st.integers(1, 5), st.sampled_from([0.02, 1.0, 60.0]), st.sampled_from(LAYOUTS))
def test_in_float64(drawn, d, size, layout):
    x, y, V, rng = drawn
    E = laid_out(size * odd_values(rng, (V, d), np.float64), layout)  # logits up to 72,000
    before = E.copy(), x.copy(), y.copy()
    loss, grad = tied_bigram_loss_grad(E, x, y)
    want_loss, want = autograd(E, x, y)
    assert isinstance(loss, float)
    assert np.isfinite(loss)
    # A logit z is rounded by some z * 2**-52, and the probabilities by as large a part of themselves.
    largest = np.abs(E @ E.T).max()
    rounding = 8 * np.finfo(np.float64).eps * (d + V + largest)
    assert abs(loss - want_loss) <= rounding * max(1, abs(want_loss))
    np.testing.assert_allclose(grad, want, rtol=0, atol=rounding * 2 * np.abs(E).max() * max(1, V), strict=True)
    for now, was in zip((E, x, y), before, strict=True):
        np.testing.assert_array_equal(now, was)
    assert not np.shares_memory(grad, E)


@given(positions(), st.integers(1, 5), st.sampled_from(LAYOUTS))
def test_in_float32(drawn, d, layout):
    x, y, V, rng = drawn
    E = laid_out(odd_values(rng, (V, d), np.float32), layout)
    loss, grad = tied_bigram_loss_grad(E, x, y)
    want_loss, want = autograd(E, x, y)
    assert isinstance(loss, float)
    assert abs(loss - want_loss) <= 1e-4
    assert grad.dtype == np.float32
    np.testing.assert_allclose(grad, want, rtol=0, atol=1e-4)


def test_the_gradient_is_the_slope_of_the_loss():
    """Autograd could share a mistake in how the model is read; central differences only ask for the loss."""
    rng = np.random.default_rng(0)
    E = 0.7 * rng.normal(size=(6, 3))
    x, y = rng.integers(0, 6, 25), rng.integers(0, 6, 25)
    _, grad = tied_bigram_loss_grad(E, x, y)
    slopes = np.zeros_like(E)
    for place in np.ndindex(E.shape):
        step = np.zeros_like(E)
        step[place] = 1e-5
        slopes[place] = (tied_bigram_loss_grad(E + step, x, y)[0] - tied_bigram_loss_grad(E - step, x, y)[0]) / 2e-5
    np.testing.assert_allclose(grad, slopes, rtol=0, atol=1e-9)


def test_a_table_of_zeros_knows_nothing():
    loss, grad = tied_bigram_loss_grad(np.zeros((7, 3)), np.array([0, 6, 6]), np.array([1, 6, 2]))
    assert loss == pytest.approx(np.log(7), rel=1e-15)
    np.testing.assert_array_equal(grad, np.zeros((7, 3)))


def test_one_row_has_no_choice():
    loss, grad = tied_bigram_loss_grad(np.array([[3.0, -2.0]]), np.array([0, 0]), np.array([0, 0]))
    assert loss == 0
    np.testing.assert_array_equal(grad, np.zeros((1, 2)))


@pytest.mark.parametrize(
    ("got", "message"),
    [
        (None, r"it returned nothing: is there a `return`\?$"),
        (1.5, r"it returned a float\.$"),
        (np.zeros((2, 3)), "it returned a ndarray.$"),
        ((1.5,), "it returned a tuple of length 1.$"),
        ([1.5, 2, 3], "it returned a list of length 3.$"),
    ],
)
def test_two_of(got, message):
    with pytest.raises(AssertionError, match=message):
        tools.two_of(got, "this and that")
    assert tools.two_of((1, 2), "this and that") == (1, 2)


def test_expect_number():
    for good in (800.0, np.float64(800.0), np.float32(800.0), 800.004):
        tools.expect_number(good, 800.0, "")
    for bad in (800.1, 799.9, np.nan, np.inf, -800.0):
        with pytest.raises(AssertionError, match=r"^Got .*, expected 800. The hint."):
            tools.expect_number(bad, 800.0, "The hint.")
    for kind in (None, 800, np.array(800.0), np.array([800.0]), "800", 800 + 0j):
        with pytest.raises(AssertionError, match="should be a Python or NumPy float; it is a"):
            tools.expect_number(kind, 800.0, "")
