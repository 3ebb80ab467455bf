"""Figures: described in words, right in both themes, the same at every build, and apart from each other."""

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from book.figures import LINES, PALETTE, arrow, canvas, matrix, plot, show

STYLE_SHEET = (Path(__file__).parent.parent / "book" / "static" / "book.css").read_text(encoding="utf-8")
LIGHT, DARK = (
    dict(re.findall(r"--fig-([a-z-]+): (#[0-9a-f]{6});", block))
    for block in STYLE_SHEET.split('html[data-theme="dark"] {', 1)
)


def drawn() -> str:
    """A figure with everything in it: lines, text, cells, an arrow, and a clipped axis."""
    figure, (left, right) = plot(columns=2)
    for line in LINES:
        left.plot([1, 2, 3], [2, 1, 5], label="a line", **line)
    left.legend()
    matrix(right, 0, 0, np.eye(2), title="T", rows=["a", "b"], fills={0: "blue-soft", 1: "red-soft"})
    arrow(right, (0, 0), (1, 1), "purple")
    return show(figure, alt='says "what" it shows', caption="1 < 2").data


def luminance(colour: str) -> float:
    """Relative luminance, as WCAG 2.2 defines it."""
    channels = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("alt", ["", "  \n"])
def test_a_figure_without_alt_text_is_refused(alt):
    figure, _ = canvas(2, 2)
    with pytest.raises(ValueError, match="alt text"):
        show(figure, alt=alt)


def test_alt_text_and_caption_are_escaped():
    element = ElementTree.fromstring(drawn().replace("xlink:href", "href"))
    svg, caption = element
    assert (svg.get("role"), svg.get("aria-label")) == ("img", 'says "what" it shows')
    assert caption.text == "1 < 2"


def test_the_same_figure_is_the_same_text():
    assert drawn() == drawn()


def test_ids_are_used_and_belong_to_one_figure():
    figure, axes = canvas(3, 3)
    matrix(axes, 0, 0, np.ones((2, 2)))
    one, other = drawn(), show(figure, alt="another").data
    ids, others = (re.findall(r' id="([^"]+)"', text) for text in (one, other))
    assert len(ids) == len(set(ids)) > 3
    assert not set(ids) & set(others)
    assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', one)) == set(ids)


def test_every_colour_follows_the_theme():
    text = drawn()
    assert "var(--fig-ink, var(--jp-content-font-color1, " in text
    for name, colour in PALETTE.items():
        text = re.sub(rf"var\(--fig-{name}, (?:{colour}|var\(--jp-[a-z0-9-]+, {colour}\))\)", "", text)
    assert not re.findall(r": #[0-9a-f]{6}", text), "a colour that is not in the palette stays the same in the dark"


def test_the_style_sheet_has_every_colour_in_both_themes():
    assert LIGHT == PALETTE
    assert set(DARK) == set(PALETTE)
    assert len(set(PALETTE.values())) == len(PALETTE)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_can_be_read(theme):
    for name in ("ink", "muted", "blue", "orange", "green", "purple", "red"):
        assert contrast(theme[name], theme["paper"]) >= 4.5, name
    for name in theme:
        if name.endswith("-soft"):
            assert contrast(theme["ink"], theme[name]) >= 4.5, name


@pytest.mark.parametrize("x, y", [(0.0, 0.0), (1.5, 2.0)])
def test_a_matrix_shows_its_numbers_where_they_stand(x, y):
    _, axes = canvas(6, 6)
    values = np.array([[0.5, -2.0], [3.0, 4.25], [7.0, 8.0]])
    matrix(axes, x, y, values, fmt="{:.2f}")
    assert axes.get_ylim() == (6, 0)  # y counts downwards
    placed = {text.get_text(): text.get_position() for text in axes.texts}
    assert placed["-2.00"][0] == pytest.approx(x + 1.5)  # second column
    assert placed["8.00"][1] == pytest.approx(y + 2.53)  # third row
    assert len(placed) == values.size
