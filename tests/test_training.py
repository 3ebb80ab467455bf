"""Chapter 04's functions against PyTorch's optimizers on sparse gradients, and against a row-by-row computation."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import FLOATS, LAYOUTS, SEEDS, laid_out, odd_values, some_ids, tensor

from solutions import lazy_adam_step, sparse_sgd_step


def sparse_gradient(table: torch.Tensor, ids: np.ndarray, G: np.ndarray) -> None:
    """Put the gradient that `torch.nn.Embedding(sparse=True)` makes into ``table.grad``."""
    table.grad = None
    torch.nn.functional.embedding(tensor(ids), table, sparse=True).backward(tensor(G))
    assert table.grad is not None
    assert table.grad.layout == torch.sparse_coo


def absent(V: int, ids: np.ndarray) -> np.ndarray:
    return np.setdiff1d(np.arange(V), ids.astype(np.int64))


def assert_close(got: np.ndarray, want: np.ndarray) -> None:
    """Equal but for the order of at most 125 additions of numbers up to 2, and a few roundings."""
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=64 * np.finfo(want.dtype).eps, atol=512 * np.finfo(want.dtype).eps)


@given(some_ids(), st.integers(1, 5), st.sampled_from(FLOATS), st.sampled_from(LAYOUTS), st.floats(0.001, 1))
def test_sparse_sgd_step_is_sgd_on_a_sparse_gradient(drawn, d, dtype, layout, lr):
    ids, V, rng = drawn
    E, G = (laid_out(odd_values(rng, shape, dtype), layout) for shape in ((V, d), (*ids.shape, d)))
    before = [array.copy() for array in (E, ids, G)]
    got = sparse_sgd_step(E, ids, G, lr)
    table = tensor(E).requires_grad_()
    sparse_gradient(table, ids, G)
    torch.optim.SGD([table], lr=lr).step()
    assert_close(got, table.detach().numpy())
    rows = absent(V, ids)
    assert got[rows].tobytes() == E[rows].tobytes()
    for array, was in zip((E, ids, G), before, strict=True):
        np.testing.assert_array_equal(array, was)
        assert not np.shares_memory(got, array)


@given(some_ids(), st.integers(1, 5), st.sampled_from(FLOATS), st.floats(0.001, 1), st.floats(0, 1))
def test_sparse_sgd_step_decays_the_rows_that_occur(drawn, d, dtype, lr, decay):
    """Each row by itself, as a dense table of one row, with PyTorch's weight decay."""
    ids, V, rng = drawn
    E, G = odd_values(rng, (V, d), dtype), odd_values(rng, (*ids.shape, d), dtype)
    got = sparse_sgd_step(E, ids, G, lr, decay)
    want = E.copy()
    for i in np.unique(ids).astype(np.int64):
        row = tensor(E[i]).requires_grad_()
        row.grad = tensor(G[ids == i]).sum(dim=0)
        torch.optim.SGD([row], lr=lr, weight_decay=decay).step()
        want[i] = row.detach().numpy()
    assert_close(got, want)
    assert got[absent(V, ids)].tobytes() == E[absent(V, ids)].tobytes()


@pytest.mark.parametrize("cancel", [False, True])
def test_a_row_that_occurs_decays_once_however_often(cancel):
    E = np.array([[1.0], [2.0], [4.0]])
    G = np.array([[1.0], [-1.0], [0.0]]) if cancel else np.zeros((3, 1))
    assert sparse_sgd_step(E, np.array([1, 1, 1]), G, 0.5, 0.5).tolist() == [[1.0], [1.5], [4.0]]


@given(
    SEEDS,
    st.integers(1, 9),
    st.integers(1, 4),
    st.sampled_from(FLOATS),
    st.sampled_from([(1e-3, 0.9, 0.999, 1e-8), (0.1, 0.5, 0.75, 0.25), (0.02, 0.0, 0.99, 1e-3)]),
)
@settings(max_examples=50)  # of 20 steps each
def test_lazy_adam_step_is_sparse_adam_over_20_steps(seed, V, d, dtype, hyperparameters):
    lr, beta1, beta2, eps = hyperparameters
    rng = np.random.default_rng(seed)
    E = odd_values(rng, (V, d), dtype)
    m, v = np.zeros_like(E), np.zeros_like(E)
    table = tensor(E).requires_grad_()
    optimizer = torch.optim.SparseAdam([table], lr=lr, betas=(beta1, beta2), eps=eps)
    for step in range(1, 21):
        ids = rng.choice([0, V - 1, *range(V)], rng.integers(0, 5, size=rng.integers(0, 3)))
        G = odd_values(rng, (*ids.shape, d), dtype)
        before = [array.copy() for array in (E, m, v, ids, G)]
        after = lazy_adam_step(E, m, v, step, ids, G, lr, beta1, beta2, eps)
        for array, was in zip((E, m, v, ids, G), before, strict=True):
            np.testing.assert_array_equal(array, was)
            assert not any(np.shares_memory(array, new) for new in after)
        for new, old in zip(after, (E, m, v), strict=True):
            assert new[absent(V, ids)].tobytes() == old[absent(V, ids)].tobytes()
        E, m, v = after
        sparse_gradient(table, ids, G)
        optimizer.step()
    state = optimizer.state[table]
    # 20 steps of a few roundings each; steps that would cancel m to almost nothing keep an absolute error.
    for ours, theirs in zip((E, m, v), (table, state["exp_avg"], state["exp_avg_sq"]), strict=True):
        want = theirs.detach().numpy()
        assert ours.dtype == want.dtype
        eps_of = np.finfo(dtype).eps
        np.testing.assert_allclose(ours, want, rtol=500 * eps_of, atol=500 * eps_of * max(1, np.abs(want).max()))


@given(some_ids(), st.integers(1, 4), st.integers(1, 10_000))
def test_lazy_adam_step_where_every_id_occurs_is_adam_but_for_eps(drawn, d, step):
    """With eps next to nothing, and no row absent, lazy and dense are one: PyTorch's own Adam is the witness."""
    ids, V, rng = drawn
    ids = np.concatenate([ids.ravel().astype(np.int64), np.arange(V)])
    E, m, v = (odd_values(rng, (V, d), np.float64) for _ in range(3))
    G, v = odd_values(rng, (len(ids), d), np.float64), np.abs(v)
    table = tensor(E).requires_grad_()
    torch.nn.functional.embedding(tensor(ids), table).backward(tensor(G))
    optimizer = torch.optim.Adam([table], lr=0.05, eps=1e-30)
    optimizer.state[table] = {
        "step": torch.tensor(step - 1.0, dtype=torch.float32),
        "exp_avg": tensor(m),
        "exp_avg_sq": tensor(v),
    }
    optimizer.step()
    got = lazy_adam_step(E, m, v, step, ids, G, lr=0.05, eps=1e-30)
    np.testing.assert_allclose(got[0], table.detach().numpy(), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(got[1], optimizer.state[table]["exp_avg"].numpy(), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(got[2], optimizer.state[table]["exp_avg_sq"].numpy(), rtol=1e-12, atol=1e-12)


@given(some_ids(), st.integers(1, 4), st.sampled_from(LAYOUTS))
def test_lazy_adam_step_takes_ids_of_any_shape_and_dtype(drawn, d, layout):
    """Another shape or dtype of ids, or arrays that lie in memory otherwise, change nothing."""
    ids, V, rng = drawn
    E, m, G = (odd_values(rng, shape, np.float64) for shape in ((V, d), (V, d), (*ids.shape, d)))
    v = np.abs(odd_values(rng, (V, d), np.float64))
    got = lazy_adam_step(laid_out(E, layout), laid_out(m, layout), laid_out(v, layout), 3, ids, laid_out(G, layout))
    want = lazy_adam_step(E, m, v, 3, ids.ravel().astype(np.int64), G.reshape(ids.size, d))
    for ours, theirs in zip(got, want, strict=True):
        np.testing.assert_array_equal(ours, theirs, strict=True)
