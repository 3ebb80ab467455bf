"""The calculator of chapter 10: its script computes what `table_cost` and `count` compute, and the page shows it."""

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import quickjs
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from book.calculator import PRESETS, calculator
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


def cost(js: Callable[[str], Any], V: int, d: int, tied: bool, m: int | None) -> tuple[int, ...]:
    return tuple(map(int, js(f"tableCost({big(V)}, {big(d)}, {str(tied).lower()}, {big(m)})").split(",")))


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
    lines = js("answer(50257n, 768n, 12n, true, null).join('|')").split("|")
    assert lines == [
        "38,597,376 parameters in one table",
        "617,558,016 bytes in training: 0.618 GB, 0.575 GiB",
        "31.02 % of a GPT-2-style model of 124,439,808 parameters",
    ]


def test_llama_and_factors(js):
    lines = js("answer(128256n, 4096n, 32n, true, null).join('|')").split("|")
    assert lines[1] == "8,405,385,216 bytes in training: 8.405 GB, 7.828 GiB"
    assert js("answer(128256n, 4096n, 32n, false, null)[0]") == "1,050,673,152 parameters in two tables"
    assert js("answer(30000n, 4096n, 1n, true, 128n)[3]") == "factorized: 28.2 times smaller than 122,880,000"
    assert js("answer(30000n, 768n, 1n, false, 749n)[3]") == ("factorized: not smaller than 46,080,000; m is too large")


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


def test_without_a_script_a_sentence_and_a_computed_table_stand_there():
    document = BeautifulSoup(calculator().data, "html.parser")
    instead = document.select_one(".book-calculator-without")
    assert not instead.has_attr("hidden")
    assert "scripts" in instead.p.get_text()
    rows = {row.th.get_text(): [cell.get_text() for cell in row.find_all("td")] for row in instead.select("tbody tr")}
    assert rows.keys() == PRESETS.keys()
    for name, (V, d, _, tied, m) in PRESETS.items():
        parameters, in_bytes = table_cost(V, d, tied, m)
        assert rows[name][:2] == [f"{V:,}", f"{d:,}"]
        assert rows[name][3:] == [f"{parameters:,}", f"{in_bytes / 1e9:.3f}"]
    assert document.form.has_attr("hidden"), "a form that does nothing is not shown"


def test_the_form_can_be_used_without_seeing_it():
    document = BeautifulSoup(calculator().data, "html.parser")
    for control in document.form.find_all(["input", "select"]):
        assert control.find_parent("label").get_text().strip()
    assert document.output["aria-live"] == "polite"
    # Else Firefox restores the menu on a reload, and the fields beside it, which its choice had filled, only in part.
    assert document.form["autocomplete"] == "off"
    for option in document.select("option[data-v]"):
        V, d, L, tied, m = PRESETS[option["value"]]
        assert [option[f"data-{key}"] for key in ("v", "d", "l", "tied", "m")] == [
            str(V), str(d), str(L), str(tied).lower(), "" if m is None else str(m)
        ]  # fmt: skip
    assert PRESETS.keys() >= MODELS.keys()
