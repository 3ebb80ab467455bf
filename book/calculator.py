"""The calculator of chapter 10: what token tables and whole models cost, in parameters and in bytes."""

from html import escape
from typing import NamedTuple

from IPython.display import HTML

from book.figures import PALETTE, plot, show
from book.model_sizes import MODELS, Config, count
from book.moving_figures import moving_figure
from solutions import table_cost


class Preset(NamedTuple):
    """Sizes of a model.

    Attributes
    ----------
    V, d, L : int
        Rows of the token table, width, and number of blocks.
    tied : bool
        Whether the output layer is the token table.
    m : int, optional
        The factor's width, if the table is stored in two factors.
    rest : int, optional
        Parameters outside the token tables. None: as many as in a model built like GPT-2.
    """

    V: int
    d: int
    L: int
    tied: bool
    m: int | None = None
    rest: int | None = None


def _preset(c: Config) -> Preset:
    parts = count(c)
    rest = sum(parts.values()) - parts["token table"] - parts["output table"]
    return Preset(c.V, c.d, c.L, c.tied, rest=rest)


#: Name -> sizes.
PRESETS = {
    **{name: _preset(config) for name, config in MODELS.items()},
    "ALBERT-xxlarge (one block, used 12 times)": Preset(30_000, 4_096, 1, True, m=128),
}

#: Name -> bytes a parameter of the weight, its gradient, its float32 master copy, and of one moment of the optimizer.
PRECISIONS = {
    "float32": (4, 4, 0, 4),
    "mixed: bfloat16, float32 master copy": (2, 2, 4, 4),
    "bfloat16": (2, 2, 0, 2),
}

#: Name -> how many moments it keeps; None if nothing is trained, and only the weight is kept.
OPTIMIZERS = {"Adam": 2, "SGD with momentum": 1, "SGD": 0, "none: the model is only used": None}

#: What the parameters belong to, and what bytes are kept for -> its fill in the style sheet.
_PARTS = {"tables": "book-fill-3", "the rest": ""}
_KINDS = {"weights": "book-fill-0", "gradients": "book-fill-1", "master copy": "book-fill-4", "moments": "book-fill-2"}


def calculator(first: str = "GPT-2 small") -> HTML:
    """The form, filled with the sizes of one of `PRESETS`; the still part shows them all."""
    sizes = PRESETS[first]
    models = "".join(
        f'<option value="{escape(name)}"'
        + "".join(f' data-{key.lower()}="{_text(value)}"' for key, value in each._asdict().items())
        + f"{' selected' if name == first else ''}>{escape(name)}</option>"
        for name, each in PRESETS.items()
    )
    labels = {"V": "Vocabulary size V", "d": "Width d", "L": "Blocks L", "m": "Factor m (empty: none)"}
    fields = "".join(
        f'<label>{label}<input name="{name}" type="text" inputmode="numeric" value="{value}"></label>'
        for name, label in labels.items()
        for value in [_text(getattr(sizes, name))]
    )
    precisions = "".join(
        f'<option data-bytes="{" ".join(map(str, each))}">{name}</option>' for name, each in PRECISIONS.items()
    )
    optimizers = "".join(f'<option data-moments="{_text(each)}">{name}</option>' for name, each in OPTIMIZERS.items())
    head = "".join(f'<th scope="col">{_swatch(fill)}{part}</th>' for part, fill in {**_PARTS, "model": ""}.items())
    rows = {
        "parameters, millions": "",
        **{f"{kind}, GB": fill for kind, fill in _KINDS.items()},
        "all bytes, GB": "",
    }
    bill = "".join(
        f'<tr><th scope="row">{_swatch(fill)}{name}</th>{"<td></td>" * 3}</tr>' for name, fill in rows.items()
    )
    return moving_figure(
        "calculator.js",
        _still(),
        "Where scripts run, a calculator for any sizes stands here. Above are its answers for some models.",
        '<form class="book-calculator" autocomplete="off" aria-label="Calculator: what token tables and models cost">'
        f'<label>Sizes of<select name="model"><option value="">sizes of your own</option>{models}</select></label>'
        f'{fields}<label>Precision<select name="precision">{precisions}</select></label>'
        f'<label>Optimizer<select name="optimizer">{optimizers}</select></label>'
        f'<label class="tick"><input name="tied" type="checkbox"{" checked" if sizes.tied else ""}>'
        'Output tied to the input table</label><output aria-live="polite"></output>'
        f'<div class="book-bill"><p>Parameters of the model</p>{_bar(_PARTS)}<p>Bytes of the model</p>{_bar(_KINDS)}'
        '<div class="pst-scrollable-table-container" tabindex="0" role="region" aria-label="The bill">'
        f"<table><thead><tr><td></td>{head}</tr></thead><tbody>{bill}</tbody></table></div></div></form>",
    )


def _bar(fills: dict[str, str]) -> str:
    """A bar of segments, whose lengths the script sets."""
    segments = "".join(f'<span class="{fill}" data-name="{name}"></span>' for name, fill in fills.items())
    return f'<div class="book-bar" role="img">{segments}</div>'


def _swatch(fill: str) -> str:
    """A small square of the fill that a segment has."""
    return f'<i class="{fill}"></i>' if fill else ""


def _text(value: int | bool | None) -> str:
    """What the script reads: BigInt, true or false, nothing."""
    return "" if value is None else str(value).lower()


def _still() -> HTML:
    """The shares of all presets, drawn and in numbers."""
    shares = {name: _share(each, each.rest) for name, each in PRESETS.items() if each.rest}
    figure, (axes,) = plot(height=3.4)
    names = [*reversed(shares)]
    values = [shares[name] for name in names]
    axes.barh(names, values, color=PALETTE["purple-soft"], edgecolor=PALETTE["muted"])
    axes.barh(names, [100 - value for value in values], left=values, color=PALETTE["paper"], edgecolor=PALETTE["muted"])
    for place, value in enumerate(values):
        axes.text(value + 1.5, place, f"{value:.2f} %", va="center", fontsize=10)
    axes.set(xlabel="token tables, % of all parameters", xlim=(0, 100))
    axes.grid(False)
    drawn = show(
        figure,
        alt="Bars of equal length, one a model, in which the share of the token tables is filled: "
        + ", ".join(f"{name} {share:.2f} %" for name, share in shares.items())
        + ".",
    )
    head = ("model", "V", "d", "tables", "parameters", "GB to train")
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th>' + "".join(f"<td>{cell}</td>" for cell in _cells(each)) + "</tr>"
        for name, each in PRESETS.items()
    )
    return HTML(
        f'{drawn.data}<div class="pst-scrollable-table-container"><table class="table"><thead><tr>'
        + "".join(f'<th scope="col">{name}</th>' for name in head)
        + f"</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _share(p: Preset, rest: int) -> float:
    parameters, _ = table_cost(p.V, p.d, p.tied, p.m)
    return 100 * parameters / (parameters + rest)


def _cells(p: Preset) -> list[str]:
    parameters, in_bytes = table_cost(p.V, p.d, p.tied, p.m)
    tables = ("1" if p.tied else "2") + ("" if p.m is None else f", m = {p.m}")
    return [f"{p.V:,}", f"{p.d:,}", tables, f"{parameters:,}", f"{in_bytes / 1e9:.3f}"]
