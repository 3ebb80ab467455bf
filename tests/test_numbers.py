"""Every number that a chapter's text quotes is one that its code computes, prints or asserts."""

import re

import jupytext
import nbformat
import pytest
from pages import CHAPTERS, ROOT

#: With a decimal point or thousands separators, or of three digits and more.
QUOTED = re.compile(r"(?<![\w.,])(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d{3,})(?!\w)")
NUMBER = re.compile(r"(?<![\w.])(?:\d[\d,_]*(?:\.\d+)?(?:e[+-]?\d+)?|\.\d+)")
#: The text may give a share in per cent, and millions or billions of what the code counts.
SCALES = {1: 0, 1e-2: 0, 1e6: 1e6, 1e9: 1e9}  # each with the least value that it is used for

#: What the text may say without computing it: numbers of versions, of sections, and made-up ones in questions.
GIVEN = {
    "chapters/01_lookup": {"4,000"},
    "chapters/02_batches": {"3.4", "3.5"},
    "chapters/10_counting": {"8,589,934,592", "40,000"},
    "chapters/12_pitfalls": {"50,256"},
    "chapters/13_language_model": {"300,000"},
}
VERSIONS = {"2.13"}  # of PyTorch; requirements.lock pins it


def prose(notebook):
    """The Markdown text without code, links and citations; formulas stay."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text = re.sub(r"```.*?```", "", cell.source, flags=re.DOTALL)
            yield re.sub(r"\{cite[a-z:]*\}`[^`]*`|\]\([^)]*\)|https?://\S+", "", text).replace("{,}", ",")


def is_tied(quoted, values):
    """Whether a number is one of the values, as precise as it is quoted."""
    digits = len(quoted.partition(".")[2])
    number = float(quoted.replace(",", ""))
    return any(
        abs(value / scale - number) <= 0.5000001 * 10.0**-digits
        for scale, least in SCALES.items()
        for value in values
        if value >= least
    )


def outputs_of(cell):
    """All that a cell printed or displayed, as text."""
    for output in cell.get("outputs", []):
        yield str(output.get("text", ""))
        yield from map(str, output.get("data", {}).values())


@pytest.mark.parametrize("page", CHAPTERS)
def test_a_quoted_number_is_a_computed_one(site, page):
    notebook = jupytext.read(ROOT / f"{page}.md")
    (executed,) = site.glob(f"_downloads/*/{page.split('/')[1]}.ipynb")
    shown = [text for cell in nbformat.read(executed, as_version=4).cells for text in outputs_of(cell)]
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    found = NUMBER.findall("\n".join(code + shown))
    values = {float(number.replace(",", "").replace("_", "")) for number in found}
    untied = [
        quoted
        for text in prose(notebook)
        for quoted in QUOTED.findall(text)
        if not is_tied(quoted, values) and not re.fullmatch("(19|20)[0-9][0-9]", quoted)  # years
    ]
    assert set(untied) - VERSIONS - GIVEN.get(page, set()) == set()
    assert len(values) > 20


@pytest.mark.parametrize(
    "quoted, value, tied",
    [
        ("38,597,376", 38597376, True), ("38,597,376", 38597377, False), ("0.9048", 0.90479, True),
        ("0.9048", 0.9049, False), ("31.017", 0.310170, True), ("124.4", 124439808, True), ("124.5", 124439808, False),
    ],
)  # fmt: skip
def test_a_number_that_parts_from_its_computation_is_found(quoted, value, tied):
    assert is_tied(quoted, {value}) == tied
