"""`table_cost` against PyTorch, and its checks against answers that are always the same."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from inputs import INTEGERS
from torch import nn

import autograder
from autograder.exercises import exercise
from solutions import table_cost

SIZES = st.integers(1, 40)


@given(SIZES, SIZES, st.booleans(), st.none() | SIZES)
def test_as_many_numbers_and_bytes_as_torch_keeps(V, d, tied, m):
    """One step of Adam, then count what lies in memory beside each weight."""

    def table() -> nn.Module:
        if m is None:
            return nn.Embedding(V, d)
        return nn.Sequential(nn.Embedding(V, m), nn.Linear(m, d, bias=False))

    tables = nn.ModuleList([table() for _ in range(1 if tied else 2)])
    optimizer = torch.optim.Adam(tables.parameters())
    torch.stack([each(torch.tensor([0, V - 1])).sum() for each in tables]).sum().backward()
    optimizer.step()
    kept = []
    for weight in tables.parameters():
        state = optimizer.state[weight]
        kept += [weight, weight.grad, state["exp_avg"], state["exp_avg_sq"]]
    parameters = sum(weight.numel() for weight in tables.parameters())
    assert table_cost(V, d, tied, m) == (parameters, sum(tensor.nbytes for tensor in kept))


@given(st.integers(1, 10**40), st.integers(1, 10**40), st.booleans(), st.none() | st.integers(1, 10**40))
def test_exact_for_any_sizes(V, d, tied, m):
    tables = 1 if tied else 2
    parameters, in_bytes = table_cost(V, d, tied, m)
    assert parameters == tables * (V * d if m is None else m * (V + d))
    assert in_bytes == 16 * parameters


@given(st.sampled_from(INTEGERS), st.booleans(), st.booleans(), st.data())
def test_numpy_integers_are_python_integers(kind, tied, factorized, data):
    limit = int(np.iinfo(kind).max)
    V, d, m = (data.draw(st.integers(1, limit) | st.just(limit)) for _ in range(3))
    got = table_cost(kind(V), kind(d), np.bool_(tied), kind(m) if factorized else None)
    assert got == table_cost(V, d, tied, m if factorized else None)
    assert [type(number) for number in got] == [int, int]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "it returned nothing: is there a `return`?"),
        ([[1.0]], "it returned 1: list"),
        ((np.ones(3), 3), "it returned 2: ndarray, int"),
        (np.ones(2), "it returned a ndarray"),
        ((0, 0), ""),
        ((1, 16), ""),
        ((24, 384), ""),
        ((np.nan, np.nan), ""),
    ],
    ids=str,
)
def test_the_same_answer_to_everything_gets_nothing(answer, message):
    report = autograder.check("table_cost", lambda *args, **kwargs: answer)
    assert report.points == 0, str(report)
    for result in report.checks:
        assert message in result.message
        assert "Your function raised" not in result.message


def test_points():
    assert exercise("table_cost").points == 12
