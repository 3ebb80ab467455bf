"""Formulas without scripts: LaTeX becomes MathML when the book is built.

Browsers typeset MathML themselves, and screen readers read it. What a reader's machine may lack is a font made for
mathematics: `book.fonts` serves one.
"""

import html
import re
from typing import Any

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

from book.fonts import MATHEMATICS_CHARACTERS

logger = logging.getLogger(__name__)

_converter = LatexToMathML(fancy_error=False)
_NUMBERED = re.compile(r"\\(begin|end)\{(align|alignat|equation|flalign|gather|multline)\}")


def mathml(latex: str, display: bool) -> str:
    r"""Convert a formula.

    Parameters
    ----------
    latex : str
        The formula, without dollar signs.
    display : bool
        Whether it stands on lines of its own.

    Returns
    -------
    str
        A ``<math>`` element.

    Raises
    ------
    ValueError
        When the formula is not understood, or holds a character that the served font lacks.
    """
    # Sphinx numbers formulas, for the whole book. The starred environments have no numbers of their own.
    latex = _NUMBERED.sub(r"\\\1{\2*}", latex)
    try:
        element = _converter.convert_with_local_state(latex, displaystyle=display)
    except LatexError as error:
        raise ValueError(str(error)) from error
    missing = sorted(set(html.unescape(element)) - set(map(chr, MATHEMATICS_CHARACTERS)) - {"\n"})
    if missing:
        raise ValueError(f"the served font lacks {' '.join(missing)}: add it to SIGNS in book/fonts.py")
    return element


def _convert(translator: HTML5Translator, node: nodes.Element, display: bool) -> str:
    try:
        return mathml(node.astext(), display)
    except ValueError as error:
        logger.warning("formula %r: %s", node.astext(), error, location=node)
        return f"<code>{translator.encode(node.astext())}</code>"


class KeepPunctuation(SphinxPostTransform):
    """Keep a formula in a line together with the brackets, full stop or comma beside it.

    A browser may break a line on either side of a formula, also before a full stop.
    """

    default_priority = 400
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Move the punctuation into the formula's node."""
        for formula in self.document.findall(nodes.math):
            siblings = formula.parent.children
            place = siblings.index(formula)
            before = siblings[place - 1] if place > 0 else None
            after = siblings[place + 1] if place + 1 < len(siblings) else None
            if isinstance(before, nodes.Text) and (found := re.search(r"[(\[“‘]+$", before)):
                formula["before"] = found[0]
                siblings[place - 1] = nodes.Text(before[: found.start()])
            if isinstance(after, nodes.Text) and (found := re.match(r"[^\w\s([“‘]+", after)):
                formula["after"] = found[0]
                siblings[place + 1] = nodes.Text(after[found.end() :])


def visit_inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula inside a line."""
    before, after = translator.encode(node.get("before", "")), translator.encode(node.get("after", ""))
    formula = before + _convert(translator, node, display=False) + after
    translator.body.append(f'<span class="book-math-inline">{formula}</span>')
    raise nodes.SkipNode


def visit_display(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on lines of its own, with its number if it has one."""
    translator.body.append(translator.starttag(node, "div", CLASS="book-math"))
    translator.body.append(f'<div class="book-math-scroll">{_convert(translator, node, display=True)}</div>')
    if node["number"]:
        translator.body.append(f'<span class="eqno">({get_node_equation_number(translator, node)})</span>')
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    app.add_post_transform(KeepPunctuation)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
