"""`make pdf`: the pages of the site, printed as one book."""

import re
from pathlib import Path

import pytest
import yaml
from pages import ROOT
from playwright.sync_api import Browser
from pypdf import PdfReader

from book.pdf import write_pdf

CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
NAMES = ["intro", "chapters/01_lookup", "chapters/03_backward", "notation"]


@pytest.fixture(scope="module")
def pdf(browser: Browser, site: Path, tmp_path_factory: pytest.TempPathFactory) -> PdfReader:
    path = tmp_path_factory.mktemp("pdf") / "book.pdf"
    write_pdf(browser, site, CONFIG, NAMES, path)
    return PdfReader(path)


@pytest.fixture(scope="module")
def texts(pdf: PdfReader) -> list[str]:
    return [" ".join(page.extract_text().split()) for page in pdf.pages]


def test_it_begins_with_a_title_page_and_contents_that_name_the_right_pages(texts: list[str]) -> None:
    assert texts[0].startswith(CONFIG["title"])
    assert CONFIG["copyright"] in texts[0]
    assert texts[1].startswith("2 Contents")
    for head in ("About this book", "1. The table is a lookup", "Notation", "Solutions and answers"):
        (number,) = re.findall(re.escape(head) + r" (\d+)", texts[1])
        running = f"{head} {number} "  # at the top and the bottom of the page, and first in its text
        assert texts[int(number) - 1].startswith(running + head)


def test_what_is_folded_on_the_site_stands_at_the_back(texts: list[str]) -> None:
    back = [text.startswith("Solutions and answers") for text in texts]
    first = back.index(True)
    assert all(back[first:])
    before, after = " ".join(texts[:first]), " ".join(texts[first:])
    for solution in ("(np.expand_dims(ids, -1) == np.arange(V))", "np.add.at(grad_E, ids.ravel()"):
        assert solution not in before
        assert solution in after
    assert before.count("at the back of the book") == 4  # a solution and the answers on paper, in two chapters
    assert "Show code cell source" not in before + after
    assert "Download this chapter" not in before + after


def test_links_lead_to_places_in_the_book_or_to_other_hosts(pdf: PdfReader) -> None:
    targets = [note.get_object() for page in pdf.pages for note in page.get("/Annots", ())]
    inside = [str(link["/Dest"]) for link in targets if "/Dest" in link]
    outside = [str(link["/A"]["/URI"]) for link in targets if "/URI" in link.get("/A", {})]
    assert {"/chapters/01_lookup", "/chapters/03_backward", "/back", "/back--chapters/01_lookup--0"} <= set(inside)
    assert set(inside) <= pdf.named_destinations.keys()
    assert [url for url in outside if not url.startswith("https://")] == []


def test_the_outline_has_every_part(pdf: PdfReader) -> None:
    heads = [each.title for each in pdf.outline if not isinstance(each, list)]
    assert [CONFIG["title"], "Contents", "About this book", "1. The table is a lookup"] == heads[:4]
    assert heads[-2:] == ["Notation", "Solutions and answers"]
