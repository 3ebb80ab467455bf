"""`embedding_bag_mean` and `embedding_bag_backward` against PyTorch, and what chapter 06 says of PyTorch."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from inputs import FLOATS, INTEGERS, LAYOUTS, SEEDS, laid_out, odd_values, tensor

from solutions import embedding_bag_backward, embedding_bag_mean, embedding_forward

SIZES = st.lists(st.sampled_from([0, 0, 1, 2, 3, 9]), max_size=7)


@st.composite
def some_bags(draw: st.DrawFn, sizes=SIZES) -> tuple[np.ndarray, np.ndarray, int, np.random.Generator]:
    """Ids of every integer dtype in bags of which any may be empty, V, and a generator for what else is needed."""
    rng = np.random.default_rng(draw(SEEDS))
    V, of_bags = draw(st.integers(1, 8)), draw(sizes)
    ids = rng.choice([0, V - 1, *range(V)], sum(of_bags)).astype(draw(st.sampled_from(INTEGERS)))
    offsets = np.cumsum([0, *of_bags])[:-1].astype(draw(st.sampled_from([np.int32, np.int64])))
    return ids, offsets, V, rng


def torch_bags(E: np.ndarray, ids: np.ndarray, offsets: np.ndarray, mode: str) -> tuple[torch.Tensor, torch.Tensor]:
    """The table as a leaf, and PyTorch's bags of it."""
    # Without offsets, PyTorch reads memory that is not its own and may crash the process.
    assert len(offsets) > 0
    assert np.all(np.diff(offsets, prepend=0, append=len(ids)) >= 0)
    assert offsets[0] == 0
    table = tensor(E).requires_grad_()
    return table, torch.nn.functional.embedding_bag(tensor(ids), table, tensor(offsets), mode=mode)


@given(some_bags(), st.integers(1, 5), st.sampled_from(FLOATS), st.sampled_from(LAYOUTS))
def test_embedding_bag_mean(drawn, d, dtype, layout):
    ids, offsets, V, rng = drawn
    E = laid_out(odd_values(rng, (V, d), dtype), layout)
    before = E.copy(), ids.copy(), offsets.copy()
    got = embedding_bag_mean(E, ids, offsets)
    assert got.dtype == E.dtype
    assert got.shape == (len(offsets), d)
    if len(offsets):
        want = torch_bags(E, ids, offsets, "mean")[1].detach().numpy()
        # At most nine numbers of at most 2 are added in some order and divided: ten roundings, each relative to 2.
        assert np.all(np.abs(got - want) <= 20 * np.finfo(dtype).eps)
        np.testing.assert_array_equal(got[np.diff(offsets, append=len(ids)) == 0], 0)
    for array, copy in zip((E, ids, offsets), before, strict=True):
        np.testing.assert_array_equal(array, copy, strict=True)
        assert not np.shares_memory(got, array)


@given(
    some_bags(), st.integers(1, 5), st.sampled_from(FLOATS), st.sampled_from(LAYOUTS), st.sampled_from(["mean", "sum"])
)
def test_embedding_bag_backward(drawn, d, dtype, layout, mode):
    ids, offsets, V, rng = drawn
    Q = laid_out(odd_values(rng, (len(offsets), d), dtype), layout)
    before = Q.copy(), ids.copy(), offsets.copy()
    got = embedding_bag_backward(ids, offsets, Q, V, mode)
    assert got.dtype == Q.dtype
    assert got.shape == (V, d)
    if len(offsets):
        table, bags = torch_bags(odd_values(rng, (V, d), dtype), ids, offsets, mode)
        bags.backward(tensor(Q))
        assert table.grad is not None
        # At most 63 terms of at most 2, in any order.
        assert np.all(np.abs(got - table.grad.numpy()) <= 64 * 126 * np.finfo(dtype).eps)
        if dtype == np.float64:
            np.testing.assert_allclose(got, table.grad.numpy(), rtol=1e-12, atol=1e-12)
    else:
        np.testing.assert_array_equal(got, 0)
    for array, copy in zip((Q, ids, offsets), before, strict=True):
        np.testing.assert_array_equal(array, copy, strict=True)
        assert not np.shares_memory(got, array)


@given(some_bags(), st.sampled_from(["mean", "sum"]))
@example((np.array([4, 1, 1, 7, 2]), np.array([0, 3]), 8, np.random.default_rng(0)), "mean")
def test_backward_is_the_transpose_of_forward(drawn, mode):
    """⟨bags(E), Q⟩ = ⟨E, backward(Q)⟩ for any E and Q, since pooling is linear in the table."""
    ids, offsets, V, rng = drawn
    E, Q = odd_values(rng, (V, 3), np.float64), odd_values(rng, (len(offsets), 3), np.float64)
    sizes = np.diff(offsets, append=len(ids))
    bags = embedding_bag_mean(E, ids, offsets) * (1 if mode == "mean" else sizes[:, None])
    there, back = np.sum(bags * Q), np.sum(E * embedding_bag_backward(ids, offsets, Q, V, mode))
    assert there == pytest.approx(back, rel=1e-12, abs=1e-10)


@given(some_bags(st.lists(st.just(1), max_size=6)))
def test_bags_of_one_id_are_a_lookup(drawn):
    ids, offsets, V, rng = drawn
    E = odd_values(rng, (V, 2), np.float64)
    np.testing.assert_array_equal(embedding_bag_mean(E, ids, offsets), embedding_forward(E, ids))


def test_the_sources_example():
    ids, offsets = np.array([4, 1, 1, 7, 2]), np.array([0, 3])
    Q = np.array([[3.0, 6.0], [2.0, -4.0]])
    grad = embedding_bag_backward(ids, offsets, Q, 8)
    np.testing.assert_allclose(grad[1], 2 / 3 * Q[0])
    np.testing.assert_allclose(grad[4], 1 / 3 * Q[0])
    np.testing.assert_allclose(grad[[7, 2]], [Q[1] / 2, Q[1] / 2])
    assert not grad[[0, 3, 5, 6]].any()


@pytest.mark.parametrize("mode", ["max", "Mean", "", None, 0])
def test_another_mode_raises(mode):
    none = np.zeros(0, dtype=np.int64)
    for ids, offsets, Q in ((none, none, np.zeros((0, 2))), (np.array([1, 0]), np.array([0]), np.ones((1, 2)))):
        with pytest.raises(ValueError, match=f"mode must be 'mean' or 'sum', not {mode!r}"):
            embedding_bag_backward(ids, offsets, Q, 3, mode)


def test_many_bags():
    """More ids than NumPy's buffers hold, one bag larger than all others."""
    rng = np.random.default_rng(0)
    sizes = np.append(rng.integers(0, 12, 900), [9_000, 0])
    ids = rng.integers(0, 211, sizes.sum()).astype(np.int32)
    offsets = np.append(0, np.cumsum(sizes)[:-1])
    E, Q = odd_values(rng, (211, 5), np.float64), odd_values(rng, (len(sizes), 5), np.float64)
    table, bags = torch_bags(E, ids, offsets, "mean")
    np.testing.assert_allclose(embedding_bag_mean(E, ids, offsets), bags.detach().numpy(), rtol=1e-10, atol=1e-12)
    bags.backward(tensor(Q))
    assert table.grad is not None
    np.testing.assert_allclose(embedding_bag_backward(ids, offsets, Q, 211), table.grad.numpy(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("offsets", [[1, 3], [0, 3, 9]], ids=["first", "last"])
def test_pytorch_checks_the_first_and_the_last_offset(offsets):
    """Chapter 06 says so."""
    ids = torch.tensor([4, 1, 1, 7, 2])
    with pytest.raises(RuntimeError, match="offsets"):
        torch.nn.functional.embedding_bag(ids, torch.ones(8, 2), torch.tensor(offsets))


def test_pytorch_does_not_check_the_order_of_offsets():
    """Chapter 06 says so. In a process of its own: out-of-order offsets may crash it."""
    code = """
    import torch
    table, ids = torch.arange(16.0).reshape(8, 2), torch.tensor([4, 1, 1, 7, 2])
    for dtype in (torch.float64, torch.float32):
        try:
            bags = torch.nn.functional.embedding_bag(ids, table.to(dtype), torch.tensor([0, 4, 2]), mode="sum")
            print(bags.tolist(), flush=True)
        except RuntimeError as error:
            print("order" in str(error) or "increas" in str(error), flush=True)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    assert said[0].startswith("[[")  # float64: an answer
    assert said[1:] != said[:1]  # float32: another answer, no answer, or an error...
    assert said[1:] != ["True"]  # ...that does not speak of the order
