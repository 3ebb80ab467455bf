"""Figures that move: the reader changes something and sees what follows from it, without a server or a kernel.

Each has two parts. The still one, a figure and a sentence, stands where no script runs, in JupyterLab, and in print.
The live one is brought to life by a script of its own in ``static``. It has its full size from the start, so that
nothing on the page jumps. The style sheet shows one of the two; ``extension.py`` links the script to the pages that
name it.
"""

import json
from collections.abc import Sequence
from html import escape

import numpy as np
from IPython.display import HTML


def moving_figure(script: str, still: HTML, sentence: str, live: str, numbers: object = None) -> HTML:
    """Put the two parts together.

    Parameters
    ----------
    script : str
        Name of the script in ``static``.
    still : HTML
        The still figure, from `book.figures.show`.
    sentence : str
        What stands below the still figure.
    live : str
        HTML of the live part.
    numbers : object, optional
        What the script computes with, as JSON has it.

    Returns
    -------
    HTML
    """
    return HTML(
        f'<div class="book-moving" data-script="{script}">'
        f'<div class="book-moving-still">{still.data}<p>{escape(sentence)}</p></div>'
        f'<div class="book-moving-live" data-numbers="{escape(json.dumps(numbers))}" hidden>{live}</div></div>'
    )


def lookup(E: np.ndarray, tokens: Sequence[str], sentence: str, chosen: Sequence[int], still: HTML) -> HTML:
    """Choose tokens of a sentence; a gather and a one-hot product read their rows, side by side.

    Parameters
    ----------
    E : ndarray, shape (V, d)
        The table.
    tokens : sequence of str
        What each id stands for. The sentence must lack one of them: its row can be filled with nan.
    sentence : str
        Tokens with spaces between them.
    chosen : sequence of int
        The positions that are chosen at first.
    still : HTML
        The still figure.

    Returns
    -------
    HTML
    """
    V, d = E.shape
    ids = [tokens.index(word) for word in sentence.split()]
    unread = min(set(range(V)) - set(ids))
    buttons = "".join(
        f'<button type="button" aria-pressed="{"true" if n in chosen else "false"}">'
        f"{escape(tokens[i])} <small>id {i}</small></button>"
        for n, i in enumerate(ids)
    )
    columns = [str(j) for j in range(d)]
    table = _table(["row", *columns, "read"], [f"{i} {escape(token)}" for i, token in enumerate(tokens)])
    rows = [""] * len(ids)  # one for each token of the sentence; the script hides those that it has no use for
    gathered = _table(["E[ids]", *columns], rows)
    selection = _table(["S", *map(str, range(V))], rows, "book-selection")
    product = _table(["S E", *columns], rows)
    live = (
        f"<fieldset><legend>Choose tokens of a sentence</legend>{buttons}</fieldset>"
        f'<label><input type="checkbox" autocomplete="off"> Fill row {unread} ({escape(tokens[unread])}) with nan; '
        'no token of the sentence reads it</label><p role="status"></p>'
        '<div class="book-moving-sides">'
        f"<section><h3>Gather</h3>{table}{gathered}<p></p></section>"
        f"<section><h3>One-hot product</h3>{selection}{product}<p></p></section></div>"
    )
    return moving_figure(
        "lookup.js",
        still,
        "Where scripts run, you can choose the tokens here.",
        live,
        {"E": E.tolist(), "ids": ids, "unread": unread},
    )


def backward(ids: Sequence[int], G: np.ndarray, V: int, still: HTML) -> HTML:
    """Step through a backward pass, position by position, with ``np.add.at`` or with the fancy-indexing trap.

    Parameters
    ----------
    ids : sequence of int, length N
        The ids at first; the reader can change them.
    G : ndarray, shape (N, d)
        The upstream gradient.
    V : int
        Rows of the table.
    still : HTML
        The still figure.

    Returns
    -------
    HTML
    """
    columns = [str(j) for j in range(G.shape[1])]
    menus = [
        f'G[{n}] id <select aria-label="id at position {n}" autocomplete="off">'
        + "".join(f"<option{' selected' if i == chosen else ''}>{i}</option>" for i in range(V))
        + "</select>"
        for n, chosen in enumerate(ids)
    ]
    ways = "".join(
        f'<label><input type="radio" name="way" value="{way}" autocomplete="off"{" checked" if way == "add" else ""}> '
        f"<code>{code}</code></label>"
        for way, code in (("add", "np.add.at(grad, ids, G)"), ("trap", "grad[ids] += G"))
    )
    live = (
        f"<fieldset><legend>Add up with</legend>{ways}</fieldset>"
        '<div class="book-moving-sides">'
        + _table(["", *columns, "where it is"], menus)
        + _table(["", *columns], [f"grad[{i}]" for i in range(V)])
        + "</div>"
        '<p class="book-moving-buttons"><button type="button">Next step</button> '
        '<button type="button">Start over</button></p>'
        '<p role="status"></p>'
    )
    sentence = "Where scripts run, you can step through both here."
    return moving_figure("backward.js", still, sentence, live, {"G": G.tolist(), "V": V})


def _table(head: Sequence[str], labels: Sequence[str], look: str = "") -> str:
    """A matrix without its numbers, which the script fills in; all texts are HTML."""
    top = "".join(f'<th scope="col">{name}</th>' if name else "<td></td>" for name in head)
    row = "<td></td>" * (len(head) - 1)
    body = "".join(f'<tr><th scope="row">{label}</th>{row}</tr>' for label in labels)
    return f'<table class="{look}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'
