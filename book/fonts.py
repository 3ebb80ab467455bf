"""The two fonts that the site serves: a part of each, inside a style sheet.

Inside, not beside it: nothing is then drawn first with another font, which would move the text under it, and pages also
work when they are opened from a folder, where some browsers load no font from another folder.
"""

import base64
import io
from collections.abc import Collection
from importlib.metadata import distribution
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

# Found without an import of the packages, which would run their code for the sake of a path.
MATHEMATICS_FONT = Path(str(distribution("ziamath").locate_file("ziamath/fonts/STIXTwoMath-Regular.ttf")))
_THEME = Path(str(distribution("pydata-sphinx-theme").locate_file("pydata_sphinx_theme/theme")))
ICON_FONT = next(_THEME.rglob("fa-solid-900.ttf"))

#: What the mathematics font can show besides alphabets. A formula with another character is reported: add it here.
SIGNS = (
    "\N{NO-BREAK SPACE}¬°±·×÷∂∇∅∞ℏℓℝ"  # ordinary
    "−∓∕∖∗∘∙√∧∨∩∪⊕⊖⊗⊙⋅"  # operators
    "∈∉∋∝∣∥∼≃≅≈≔≠≡≤≥≪≫⊂⊃⊆⊇⊤⊥∀∃"  # relations
    "∏∐∑∫⋁⋂⋃⨁⨂"  # large operators
    "←↑→↓↔↦⇐⇒⇔⟵⟶⟷⟸⟹⟺⟼"  # arrows
    "‖⌈⌉⌊⌋⟨⟩⏞⏟⎴⎵⏜⏝"  # brackets, also those over and under a formula
    "′″‴…⋮⋯⋰⋱–—‘’“”"  # primes, dots, and punctuation of words
    "\u0302\u0303\u0304\u0306\u0307\u0308\u030c\u20d7ˆˇ˘˙˜¯¨´`"  # accents
    "\u2003\u2004\u2005\u2009\u200a\u200b\u2061\u2062\u2063\u2064"  # spaces and invisible operators
)
#: First and last of each alphabet. A browser shows a variable's letter by its italic twin.
ALPHABETS = ["\x20~", "ΑΩ", "αϖ", "𝐀𝑧", "ℎℎ", "𝒜𝒵", "𝔸𝕐", "𝙰𝚣", "𝛼𝜛", "𝟎𝟗"]
MATHEMATICS_CHARACTERS = set(map(ord, SIGNS)) | {
    code for ends in ALPHABETS for code in range(ord(ends[0]), ord(ends[1]) + 1)
}

#: The icons that the theme's templates and style sheets use, by their name in the font.
ICONS = [
    "angle-down", "angle-left", "angle-right", "arrow-up", "bars", "bell", "chevron-down", "circle-check",
    "circle-exclamation", "circle-half-stroke", "circle-info", "circle-xmark", "code", "download", "ellipsis", "file",
    "file-lines", "file-pdf", "house", "lightbulb", "list", "magnifying-glass", "magnifying-glass-minus", "moon",
    "outdent", "pencil", "play", "rocket", "share", "sun", "triangle-exclamation", "up-right-from-square",
]  # fmt: skip


def part_of(path: Path, characters: Collection[int]) -> str:
    """Cut a font down to some characters.

    Parameters
    ----------
    path : Path
        A TrueType font.
    characters : collection of int
        The code points to keep. Those that the font lacks are passed over.

    Returns
    -------
    str
        The part, as a WOFF2 font in a ``url()`` for a style sheet.
    """
    # Of the features, only those stay that build glyphs; a second set of letters for small sizes would double the
    # mathematics font.
    options = subset.Options(flavor="woff2", hinting=False, layout_features=["ccmp"], name_IDs=["*"])
    font = subset.load_font(str(path), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=characters)
    subsetter.subset(font)
    stream = io.BytesIO()
    subset.save_font(font, stream, options)
    return f'url("data:font/woff2;base64,{base64.b64encode(stream.getvalue()).decode("ascii")}")'


def serif_style_sheet() -> str:
    """Style sheet with the font for formulas and headings."""
    return (
        "/* Part of STIX Two Math. Copyright 2001-2021 The STIX Fonts Project Authors. SIL Open Font License 1.1. */\n"
        f'@font-face {{ font-family: "Book Serif"; src: {part_of(MATHEMATICS_FONT, MATHEMATICS_CHARACTERS)}; }}\n'
        'math { font-family: "Book Serif", math; }\n'
    )


def icon_style_sheet() -> str:
    """Style sheet with the icon font and a class for each icon, named as the theme expects them."""
    codes = {code: name for code, name in TTFont(ICON_FONT).getBestCmap().items() if name in ICONS}
    classes = "".join(f'.fa-{name}::before {{ content: "\\{code:x}"; }}\n' for code, name in codes.items())
    return (
        "/* Part of Font Awesome Free 6. Copyright Fonticons, Inc. SIL Open Font License 1.1. */\n"
        f'@font-face {{ font-family: "Font Awesome 6 Free"; src: {part_of(ICON_FONT, codes)}; }}\n'
        ':root { --fa-font-solid: normal 900 1em/1 "Font Awesome 6 Free"; --fa-font-brands: var(--fa-font-solid); }\n'
        ".fas, .fa-solid { display: inline-block; font: var(--fa-font-solid); }\n"
        ".fa-lg { font-size: 1.25em; line-height: 0.05em; vertical-align: -0.075em; }\n" + classes
    )
