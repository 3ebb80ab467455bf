"""The calculator of chapter 10: a form, and what stands in its place where no script runs.

``static/calculator.js`` brings the form to life; ``extension.py`` links it to the pages that have one.
"""

from html import escape

from IPython.display import HTML

from book.model_sizes import MODELS
from solutions import table_cost

#: Name -> (V, d, L, tied, m).
PRESETS: dict[str, tuple[int, int, int, bool, int | None]] = {
    **{name: (c.V, c.d, c.L, c.tied, None) for name, c in MODELS.items()},
    "ALBERT-xxlarge (one block, used 12 times)": (30_000, 4_096, 1, True, 128),
}
_LABELS = {"V": "Vocabulary size V", "d": "Width d", "L": "Blocks L", "m": "Factor m (empty: none)"}


def calculator(first: str = "GPT-2 small") -> HTML:
    """The form, filled with the sizes of one of `PRESETS`, and a table of them all for readers without scripts."""
    V, d, L, tied, m = PRESETS[first]
    values = {"V": V, "d": d, "L": L, "m": "" if m is None else m}
    options = "".join(
        f'<option value="{escape(name)}" data-v="{V}" data-d="{d}" data-l="{L}" data-tied="{str(tied).lower()}" '
        f'data-m="{"" if m is None else m}"{" selected" if name == first else ""}>{escape(name)}</option>'
        for name, (V, d, L, tied, m) in PRESETS.items()
    )
    fields = "".join(
        f'<label>{label}<input name="{name}" type="text" inputmode="numeric" value="{values[name]}"></label>'
        for name, label in _LABELS.items()
    )
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th>' + "".join(f"<td>{each}</td>" for each in _row(*sizes)) + "</tr>"
        for name, sizes in PRESETS.items()
    )
    return HTML(
        '<div class="book-calculator">'
        '<form hidden autocomplete="off" aria-label="Calculator: what token tables cost">'
        f'<label>Sizes of<select name="model"><option value="">sizes of your own</option>{options}</select></label>'
        f"{fields}"
        f'<label class="tick"><input name="tied" type="checkbox"{" checked" if tied else ""}>'
        "Output tied to the input table</label>"
        '<output aria-live="polite"></output>'
        "</form>"
        '<div class="book-calculator-without">'
        "<p>Where scripts run, a calculator for any sizes stands here. These are its answers for some models.</p>"
        '<div class="pst-scrollable-table-container"><table class="table"><thead><tr>'
        + "".join(f'<th scope="col">{head}</th>' for head in ("model", "V", "d", "tables", "parameters", "GB to train"))
        + f"</tr></thead><tbody>{rows}</tbody></table></div></div></div>"
    )


def _row(V: int, d: int, L: int, tied: bool, m: int | None) -> list[str]:
    parameters, in_bytes = table_cost(V, d, tied, m)
    tables = ("1" if tied else "2") + ("" if m is None else f", m = {m}")
    return [f"{V:,}", f"{d:,}", tables, f"{parameters:,}", f"{in_bytes / 1e9:.3f}"]
