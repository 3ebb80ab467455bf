"""The calculator of chapter 10: its script computes what `table_cost` and `count` compute, and what PyTorch keeps.

What it shows in a browser is tested in test_moving_figures.py.
"""

import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import quickjs
import torch
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from book.calculator import OPTIMIZERS, PRECISIONS, PRESETS, calculator
from book.model_sizes import MODELS, Config, count
from solutions import table_cost

SCRIPT = (Path(__file__).parent.parent / "book" / "static" / "calculator.js").read_text(encoding="utf-8")

WIDTHS = st.none() | st.integers(1, 10**6)
SIZES = st.integers(1, 10**7) | st.integers(2**53, 10**25)


@pytest.fixture(scope="module")
def js() -> Callable[[str], Any]:
    """``js(text)`` is what the script's functions give, as a string."""
    context = quickjs.Context()
    context.eval(SCRIPT)
    return lambda text: context.eval(f"String({text})")


def big(number: int | None) -> str:
    return "null" if number is None else f"{number}n"


def sizes(V: int, d: int, tied: bool, m: int | None = None) -> str:
    return f"{{V: {big(V)}, d: {big(d)}, tied: {str(tied).lower()}, m: {big(m)}}}"


def kinds(precision: str = "float32", optimizer: str = "Adam") -> str:
    """The script's expression for the bytes of each kind that a parameter takes."""
    numbers = ", ".join(map(big, PRECISIONS[precision]))
    return f"bytesOfKinds([{numbers}], {big(OPTIMIZERS[optimizer])})"


def cost(js: Callable[[str], Any], V: int, d: int, tied: bool, m: int | None) -> tuple[int, int]:
    parameters = int(js(f"tableParameters({sizes(V, d, tied, m)})"))
    return parameters, parameters * int(js(f"sum({kinds()})"))


def answer(js: Callable[[str], Any], V: int, d: int, L: int, tied: bool, m: int | None = None) -> list[str]:
    return js(f"answer({sizes(V, d, tied, m)}, restCost({d}n, {L}n), 'of GPT-2', {kinds()}).join('|')").split("|")


def test_cost_over_a_grid(js):
    for V in (1, 6, 32_000, 50_257, 128_256, 2**31, 2**53 + 1):
        for d in (1, 4, 512, 768, 4_096, 12_288, 2**31 + 1):
            for m in (None, 1, 2, 128, 5_000):
                for tied in (True, False):
                    assert cost(js, V, d, tied, m) == table_cost(V, d, tied, m)


@given(SIZES, SIZES, st.booleans(), WIDTHS)
def test_cost_of_any_sizes(js, V, d, tied, m):
    assert cost(js, V, d, tied, m) == table_cost(V, d, tied, m)


@given(st.integers(1, 10**5), st.integers(0, 200))
def test_the_rest_is_that_of_gpt2(js, d, L):
    parts = count(Config(V=0, d=d, L=L, hidden=4 * d, heads=1, positions=1_024))
    assert int(js(f"restCost({d}n, {L}n)")) == sum(parts.values())


def test_gpt2_small(js):
    assert answer(js, 50_257, 768, 12, tied=True) == [
        "38,597,376 parameters in one table",
        "617,558,016 bytes, 16 a parameter: 0.618 GB, 0.575 GiB",
        "31.02 % of a model of 124,439,808 parameters, of GPT-2",
    ]


def test_llama_and_factors(js):
    lines = answer(js, 128_256, 4_096, 32, tied=True)
    assert lines[1] == "8,405,385,216 bytes, 16 a parameter: 8.405 GB, 7.828 GiB"
    assert answer(js, 128_256, 4_096, 32, tied=False)[0] == "1,050,673,152 parameters in two tables"
    assert answer(js, 30_000, 4_096, 1, True, 128)[3] == "factorized: 28.2 times smaller than 122,880,000"
    assert answer(js, 30_000, 768, 1, False, 749)[3] == "factorized: not smaller than 46,080,000; m is too large"


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("precision", PRECISIONS)
def test_bytes_a_parameter_are_those_that_pytorch_keeps(js, precision, optimizer):
    dtype = torch.float32 if precision == "float32" else torch.bfloat16
    weight = torch.ones(50, 4, dtype=dtype)
    if OPTIMIZERS[optimizer] is None:
        assert js(kinds(precision, optimizer)) == f"{weight.element_size()},0,0,0"
        return
    gradient = torch.ones_like(weight)
    mixed = precision.startswith("mixed")
    updated = torch.nn.Parameter(weight.float() if mixed else weight)
    updated.grad = gradient.to(updated.dtype)
    make = {
        "Adam": torch.optim.Adam,
        "SGD with momentum": partial(torch.optim.SGD, momentum=0.9),
        "SGD": torch.optim.SGD,
    }[optimizer]
    step = make([updated], lr=0.1)
    step.step()
    moments = sum(kept.nbytes for kept in step.state[updated].values() if kept is not None and kept.ndim)
    kept = [weight.nbytes, gradient.nbytes, updated.nbytes if mixed else 0, moments]
    assert js(kinds(precision, optimizer)) == ",".join(str(number // weight.numel()) for number in kept)


@given(st.integers(0, 10**30), st.integers(1, 10**30), st.integers(1, 6))
def test_decimal_is_rounded_once(js, over, under, digits):
    got = js(f"decimal({over}n, {under}n, {digits})")
    assert re.fullmatch(r"\d{1,3}(,\d{3})*\.\d+", got)
    error = Fraction(got.replace(",", "")) - Fraction(over, under)
    assert abs(error) <= Fraction(1, 2 * 10**digits)


@given(st.integers(0, 10**30))
def test_grouped(js, number):
    assert js(f"grouped({number}n)") == f"{number:,}"


@pytest.mark.parametrize(
    "text, least, want",
    [
        ("50257", 1, "50257"),
        (" 50,257 ", 1, "50257"),
        ("50 257", 1, "50257"),
        ("50_257", 1, "50257"),
        ("0", 0, "0"),
        ("0", 1, "null"),
        ("", 1, "null"),
        ("-3", 0, "null"),
        ("1e5", 1, "null"),
        ("3.5", 1, "null"),
        ("0x10", 1, "null"),
        ("9" * 31, 1, "null"),
    ],
)
def test_what_a_reader_types(js, text, least, want):
    assert js(f"wholeNumber({text!r}, {least})") == want


def test_without_a_script_a_figure_a_sentence_and_a_computed_table_stand_there():
    document = BeautifulSoup(calculator().data, "html.parser")
    still = document.select_one(".book-moving-still")
    assert not still.has_attr("hidden")
    assert "scripts" in still.select_one("figure ~ p").get_text()
    rows = {row.th.get_text(): [cell.get_text() for cell in row.find_all("td")] for row in still.select("tbody tr")}
    assert rows.keys() == PRESETS.keys()
    for name, p in PRESETS.items():
        parameters, in_bytes = table_cost(p.V, p.d, p.tied, p.m)
        assert rows[name][:2] == [f"{p.V:,}", f"{p.d:,}"]
        assert rows[name][3:] == [f"{parameters:,}", f"{in_bytes / 1e9:.3f}"]
    drawn = still.svg["aria-label"]
    for name, config in MODELS.items():
        parts = count(config)
        share = 100 * (parts["token table"] + parts["output table"]) / sum(parts.values())
        assert f"{name} {share:.2f} %" in drawn
    assert document.select_one(".book-moving-live").has_attr("hidden"), "a form that does nothing is not shown"


def test_the_form_can_be_used_without_seeing_it():
    document = BeautifulSoup(calculator().data, "html.parser")
    for control in document.form.find_all(["input", "select"]):
        assert control.find_parent("label").get_text().strip()
    assert document.output["aria-live"] == "polite"
    # Else Firefox restores the menu on a reload, and the fields beside it, which its choice had filled, only in part.
    assert document.form["autocomplete"] == "off"
    for option in document.select("option[data-v]"):
        want = PRESETS[option["value"]]._asdict()
        assert [option[f"data-{key.lower()}"] for key in want] == [
            "" if value is None else str(value).lower() for value in want.values()
        ]
    assert PRESETS.keys() >= MODELS.keys()
