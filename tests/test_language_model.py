"""The model of chapter 13, as it stands on the page: what can be known of it before it is trained for long."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jupytext
import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

import book.extension
from book.model_sizes import Config, count

PAGE = Path(__file__).parent.parent / "chapters" / "13_language_model.md"
V, T = 50, 12


def from_page(name: str, kind: str = "def") -> Any:
    """A function or class that a cell of the page defines; only that definition is executed."""
    cells = [cell.source for cell in jupytext.read(PAGE).cells if cell.cell_type == "code"]
    (source,) = (source for source in cells if f"\n{kind} {name}(" in "\n" + source)
    start = ("\n" + source).index(f"\n{kind} {name}(")
    lines = source[start:].split("\n")
    end = next((n for n, line in enumerate(lines) if n and line and not line.startswith((" ", ")"))), len(lines))
    namespace = {"torch": torch, "nn": nn, "np": np, "T": T}
    exec("\n".join(lines[:end]), namespace)
    return namespace[name]


LanguageModel = from_page("LanguageModel", kind="class")


def model_of(d: int = 16, L: int = 2, heads: int = 2, tied: bool = True, dropout: float = 0.0) -> Any:
    torch.manual_seed(0)
    return LanguageModel(V, d, L, heads, T, tied, dropout)


def some_ids(rows: int = 3, length: int = T) -> torch.Tensor:
    return torch.randint(V, (rows, length), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_a_later_token_never_changes_an_earlier_logit(tied, training):
    model = model_of(tied=tied).train(training)
    ids = some_ids()
    logits = model(ids)
    for place in range(T):
        other = ids.clone()
        other[:, place:] = (other[:, place:] + 7) % V
        moved = (model(other) - logits).abs().amax(dim=(0, 2))
        assert (moved[:place] < 1e-6).all()
        assert (moved[place:] > 1e-6).all()


def test_a_shorter_sequence_gives_the_same_first_logits():
    model, ids = model_of().eval(), some_ids()
    torch.testing.assert_close(model(ids[:, :5]), model(ids)[:, :5])


def test_positions_count():
    model = model_of().eval()
    same = torch.full((1, T), 3)
    logits = model(same)[0]
    assert ((logits[1:] - logits[0]).abs().amax(dim=1) > 1e-6).all()


def test_a_tie_is_one_storage_and_survives_a_conversion():
    tied, untied = model_of(tied=True), model_of(tied=False)
    assert tied.head.weight is tied.token.weight
    assert tied.double().head.weight is tied.token.weight
    assert untied.head.weight.data_ptr() != untied.token.weight.data_ptr()
    tied(some_ids()).sum().backward()
    assert tied.token.weight.grad.shape == (V, 16)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("d, L, heads", [(16, 2, 2), (24, 1, 4), (40, 3, 8)])
def test_as_many_parameters_as_chapter_10_counts(d, L, heads, tied):
    built = sum(weight.numel() for weight in model_of(d, L, heads, tied).parameters())
    config = Config(V=V, d=d, L=L, hidden=4 * d, heads=heads, positions=T, tied=tied)
    assert built == sum(count(config).values())


@pytest.mark.parametrize("tied", [True, False])
def test_the_first_loss_is_near_that_of_knowing_nothing(tied):
    ids = some_ids(rows=64, length=T)
    loss = cross_entropy(model_of(tied=tied)(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    assert abs(loss.item() - np.log(V) - 0.02**2 * 16 / 2) < 0.05


def test_all_tables_and_matrices_begin_small_and_no_bias_is_drawn():
    for name, weight in model_of(d=64, heads=4).named_parameters():
        if weight.ndim > 1:
            assert 0.018 < weight.std().item() < 0.022, name
        else:
            assert weight.unique().numel() == 1, name


@pytest.mark.parametrize("tied", [True, False])
def test_it_can_learn_one_batch_by_heart(tied):
    model = model_of(d=32, tied=tied, heads=4)
    ids = some_ids(rows=4, length=T)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(150):
        loss = cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.1


def test_dropout_acts_in_training_alone():
    model, ids = model_of(dropout=0.5), some_ids()
    assert not torch.equal(model(ids), model(ids))
    model.eval()
    assert torch.equal(model(ids), model(ids))


def test_windows_are_inputs_and_the_tokens_that_follow():
    windows = from_page("windows")
    for length in (T + 1, 3 * T, 3 * T + 1, 3 * T + 5):
        ids = torch.arange(length)
        x, y = windows(ids)
        assert x.shape == y.shape == ((length - 1) // T, T)
        assert torch.equal(y, x + 1)
        assert torch.equal(x.flatten(), ids[: x.numel()])


def test_a_map_keeps_as_much_as_two_directions_can():
    rng = np.random.default_rng(0)
    flat = from_page("flat")
    plane = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 9)) + 5
    place, kept = flat(plane)
    assert kept == pytest.approx(1)
    np.testing.assert_allclose(
        np.linalg.norm(place[:, None] - place, axis=-1), np.linalg.norm(plane[:, None] - plane, axis=-1), atol=1e-9
    )
    place, kept = flat(rng.normal(size=(500, 10)))
    assert place.shape == (500, 2)
    assert 0.2 < kept < 0.3


def test_a_build_shows_no_progress_bar(monkeypatch):
    monkeypatch.setattr(os, "environ", dict(os.environ))
    book.extension.set_environment(SimpleNamespace(srcdir=PAGE.parent.parent))
    code = "from tqdm import tqdm\nassert list(tqdm(range(3))) == [0, 1, 2]"
    quiet = subprocess.run([sys.executable, "-c", code], env=os.environ, capture_output=True, text=True, check=True)
    assert quiet.stdout + quiet.stderr == ""
    by_hand = {name: value for name, value in os.environ.items() if name != "TQDM_DISABLE"}
    shown = subprocess.run([sys.executable, "-c", code], env=by_hand, capture_output=True, text=True, check=True)
    assert "3/3" in shown.stderr
