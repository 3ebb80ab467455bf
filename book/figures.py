"""The house style of every figure, and the few drawings that chapters share.

A figure is a Matplotlib figure that `show` turns into inline SVG. Its colours become CSS variables, so one
figure is right on a light and on a dark page; the site's style sheet gives the variables their values, and
JupyterLab's own text colour steps in where there is no such sheet.
"""

import hashlib
import html
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from IPython.display import HTML
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

#: Name -> the colour that Matplotlib draws with: the light page's, as in static/book.css. Each occurs once, since
#: `show` finds a colour's name by its value. "Soft" ones are fills that ink can be read on.
PALETTE = {
    "ink": "#1f2933",
    "muted": "#55606e",
    "grid": "#c3cad3",
    "paper": "#ffffff",
    "blue": "#134b85",
    "orange": "#9c5a00",
    "green": "#0d8067",
    "purple": "#c02bb8",
    "red": "#7d1f2d",
    "blue-soft": "#d3e6f7",
    "orange-soft": "#fbe3c4",
    "green-soft": "#cdeee4",
    "purple-soft": "#f5dbf2",
    "red-soft": "#f4d5d8",
}
_IN_JUPYTERLAB = {"ink": "var(--jp-content-font-color1, {})", "paper": "var(--jp-layout-color0, {})"}

#: Lines are told apart by marker and dash too, never by colour alone.
LINES = (
    {"color": PALETTE["blue"], "marker": "o", "linestyle": "-"},
    {"color": PALETTE["orange"], "marker": "s", "linestyle": "--"},
    {"color": PALETTE["green"], "marker": "^", "linestyle": "-."},
    {"color": PALETTE["purple"], "marker": "D", "linestyle": ":"},
    {"color": PALETTE["red"], "marker": "v", "linestyle": (0, (5, 1, 1, 1, 1, 1))},
)

_STYLE: Any = {
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.facecolor": "none",
    "font.family": "DejaVu Sans",  # ships with Matplotlib: the same letters on every machine
    "font.size": 11,
    "mathtext.fontset": "dejavusans",
    "text.color": PALETTE["ink"],
    "axes.edgecolor": PALETTE["muted"],
    "axes.labelcolor": PALETTE["ink"],
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": PALETTE["grid"],
    "grid.linewidth": 0.8,
    "xtick.color": PALETTE["muted"],
    "ytick.color": PALETTE["muted"],
    "xtick.labelcolor": PALETTE["ink"],
    "ytick.labelcolor": PALETTE["ink"],
    "lines.linewidth": 2,
    "lines.markersize": 6,
    "legend.frameon": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "the embedding table",  # the same ids at every build
}

_CELL = (0.5, 0.32)  # inches: width and height of a cell of a drawn matrix


def plot(width: float = 5.8, height: float = 3.2, columns: int = 1) -> tuple[Figure, np.ndarray]:
    """A figure for data.

    Parameters
    ----------
    width, height : float
        Size in inches. Up to 5.8 wide, letters can still be read on a phone.
    columns : int
        Number of axes side by side.

    Returns
    -------
    Figure
    ndarray of Axes, shape (columns,)
    """
    matplotlib.rcParams.update(_STYLE)
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(1, columns, squeeze=False)[0]


def canvas(columns: float, rows: float) -> tuple[Figure, Axes]:
    """A figure to draw matrices on: x counts cells to the right, y counts cells downwards.

    Parameters
    ----------
    columns, rows : float
        Size in cells.

    Returns
    -------
    Figure
    Axes
        Without frame and ticks.
    """
    matplotlib.rcParams.update(_STYLE)
    figure = Figure(figsize=(columns * _CELL[0], rows * _CELL[1]))
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, columns), ylim=(rows, 0))
    axes.set_axis_off()
    return figure, axes


def matrix(
    axes: Axes,
    x: float,
    y: float,
    values: np.ndarray,
    *,
    title: str = "",
    rows: Sequence[str] | None = None,
    fills: Mapping[int, str] | None = None,
    fmt: str = "{:g}",
    cell: float = 1.0,
) -> None:
    """Draw a matrix as a grid of cells with its numbers.

    Parameters
    ----------
    axes : Axes
        From `canvas`.
    x, y : float
        The upper left corner.
    values : ndarray, shape (rows, columns)
        What stands in the cells; text is drawn as it is.
    title : str
        Name and shape, above the matrix.
    rows : sequence of str, optional
        A label to the left of each row.
    fills : mapping of int to str, optional
        Row -> name of the palette's colour it is filled with.
    fmt : str
        How a number is written.
    cell : float
        Width of a cell.
    """
    values = np.asarray(values)
    height, width = values.shape
    for i in range(height):
        fill = PALETTE[fills[i]] if fills and i in fills else PALETTE["paper"]
        for j in range(width):
            corner = (x + j * cell, y + i)
            axes.add_patch(Rectangle(corner, cell, 1, facecolor=fill, edgecolor=PALETTE["muted"], linewidth=0.8))
            text = values[i, j] if values.dtype.kind in "UO" else fmt.format(values[i, j])
            axes.text(x + (j + 0.5) * cell, y + i + 0.53, text, ha="center", va="center", fontsize=10)
        if rows is not None:
            axes.text(x - 0.2, y + i + 0.53, rows[i], ha="right", va="center", fontsize=10, color=PALETTE["muted"])
    if title:
        axes.text(x + width * cell / 2, y - 0.45, title, ha="center", va="center")


def arrow(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str = "muted", bend: float = 0.0
) -> None:
    """Draw an arrow between two points of a `canvas`, straight or bent."""
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=12,
            linewidth=1.6,
            color=PALETTE[colour],
            connectionstyle=f"arc3,rad={bend}",
        )
    )


def show(figure: Figure, alt: str, caption: str = "") -> HTML:
    """The figure as inline SVG, to stand as the last line of a cell.

    Parameters
    ----------
    figure : Figure
        From `plot` or `canvas`.
    alt : str
        What someone who does not see the figure needs to know.
    caption : str
        One sentence below the figure: what to notice.

    Returns
    -------
    HTML
        A ``<figure>`` element.

    Raises
    ------
    ValueError
        If ``alt`` is empty.
    """
    if not alt.strip():
        raise ValueError("every figure needs alt text: say in one or two sentences what it shows")
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    svg = file.getvalue()
    start = svg.index(">", svg.index("<svg")) + 1
    body = svg[start : svg.rindex("</svg>")]
    width, height = figure.get_size_inches()
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    for name, colour in PALETTE.items():
        fallback = _IN_JUPYTERLAB.get(name, "{}").format(colour)
        body = body.replace(colour, f"var(--fig-{name}, {fallback})")
    # A hundredth of a point is enough for a place, though not for a scale.
    body = re.sub(r"(scale\([^)]*\))|-?\d+\.\d{3,}", lambda m: m[1] or f"{float(m[0]):.2f}", body)
    body = _own_ids(body, prefix=hashlib.sha256(svg.encode()).hexdigest()[:8])
    return HTML(
        f'<figure class="book-figure"><svg role="img" aria-label="{html.escape(alt)}" '
        f'viewBox="0 0 {72 * width:g} {72 * height:g}" width="{96 * width:.0f}" height="{96 * height:.0f}" '
        f'style="max-width: 100%; height: auto">{body}</svg>'
        + (f"<figcaption>{html.escape(caption)}</figcaption>" if caption else "")
        + "</figure>"
    )


def _own_ids(body: str, prefix: str) -> str:
    """Drop ids that nothing points to, and make the others this figure's own: a page holds several figures."""
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', body))
    body = re.sub(r' id="([^"]+)"', lambda m: f' id="{prefix}-{m[1]}"' if m[1] in used else "", body)
    return re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}-", body)
