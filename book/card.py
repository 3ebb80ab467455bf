"""The picture that other sites and chat programs show beside a link to a page of the book."""

import io

import matplotlib
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path as Curve

from book.figures import PALETTE
from book.fonts import MATHEMATICS_FONT

#: Pixels. Where cards are shown, wider or higher pictures are cut.
SIZE = (1200, 630)
TEXT = "The Embedding Table, from lookup to logits. Token ids 3, 1 and 3 point at rows of a table, which come out."

_IDS, _ROWS, _COLUMNS = (3, 1, 3), 6, 4
_WIDTH, _HEIGHT = 48, 44  # of a cell
_COLOURS = {3: "blue", 1: "orange"}


def card() -> bytes:
    """Draw the card.

    Returns
    -------
    bytes
        A PNG file, the same at every build.
    """
    width, height = SIZE
    with matplotlib.rc_context({"font.family": "DejaVu Sans", "text.color": PALETTE["ink"]}):
        figure = Figure(figsize=(width / 100, height / 100), dpi=100, facecolor=PALETTE["paper"])
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
        axes.set_axis_off()
        serif = FontProperties(fname=str(MATHEMATICS_FONT))
        axes.text(80, 142, "The Embedding Table", fontproperties=serif, fontsize=56, va="center")
        axes.text(82, 212, "From lookup to logits", fontsize=21, color=PALETTE["muted"], va="center")

        def row(x: float, y: float, colour: str | None) -> None:
            fill, edge = (PALETTE[f"{colour}-soft"], PALETTE[colour]) if colour else (PALETTE["paper"], PALETTE["grid"])
            for column in range(_COLUMNS):
                corner = (x + column * _WIDTH, y)
                axes.add_patch(Rectangle(corner, _WIDTH, _HEIGHT, facecolor=fill, edgecolor=edge, linewidth=1.5))

        def arrow(start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
            middle = (start[0] + end[0]) / 2
            curve = Curve([start, (middle, start[1]), (middle, end[1]), end], [Curve.MOVETO, *[Curve.CURVE4] * 3])
            axes.add_patch(PathPatch(curve, facecolor="none", edgecolor=PALETTE[colour], linewidth=2))

        top, table, out = 290, 480, 928
        for number in range(_ROWS):
            row(table, top + number * _HEIGHT, None)
        for number, colour in _COLOURS.items():
            row(table, top + number * _HEIGHT, colour)
        first = top + (_ROWS - len(_IDS)) * _HEIGHT / 2
        for place, number in enumerate(_IDS):
            colour, y = _COLOURS[number], first + (place + 0.5) * _HEIGHT
            # Two arrows that meet at one row meet beside each other.
            read = top + (number + 0.5) * _HEIGHT + (place - 1) * 7 * (_IDS.count(number) > 1)
            axes.text(94, y, str(number), fontsize=26, ha="center", va="center", color=PALETTE[colour])
            arrow((128, y), (table - 10, read), colour)
            row(out, y - _HEIGHT / 2, colour)
            arrow((table + _COLUMNS * _WIDTH + 10, read), (out - 10, y), colour)
        axes.add_patch(Rectangle((0, height - 12), width, 12, facecolor=PALETTE["blue"]))
        stream = io.BytesIO()
        figure.savefig(stream, format="png", metadata={"Software": None})
    return stream.getvalue()
