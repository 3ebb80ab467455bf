"""The whole book as one PDF: ``make pdf`` builds the site, and ``python -m book.pdf`` makes the PDF from it.

The site's pages become one long page, which Chromium prints. What is folded away on the site stands at the back: who
reads on paper, too, may try an exercise before they see its solution. Chromium cannot refer to page numbers, so it
prints the book twice: the first printing tells those for the contents.
"""

import json
import sys
from copy import copy
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urlsplit

import yaml
from bs4 import BeautifulSoup
from playwright.sync_api import Browser
from pypdf import PdfReader

from book.browser import chromium

ROOT = Path(__file__).parent.parent
#: A tag of BeautifulSoup, whose types allow that nothing is found.
Element = Any
#: What shows nothing on paper, or nothing without a script.
USELESS = ".book-notebook, a.headerlink, details.hide, form, button, script"


def read_pages(site: Path, names: list[str]) -> dict[str, Element]:
    """Read what the pages of a site hold, with ids that are unique in the book and links that lead inside it."""
    pages = {name: _content(site, name) for name in names}
    tops = {name: page["id"] for name, page in pages.items()}
    for name, page in pages.items():
        for useless in page.select(USELESS):
            useless.decompose()
        for tag in page.find_all(id=True):
            if not tag.find_parent("svg"):
                tag["id"] = f"{name}--{tag['id']}"
        page["id"] = name
        for link in page.find_all("a", href=True):
            if urlsplit(link["href"]).netloc:
                continue
            path, fragment = urldefrag(link["href"])
            file = ((site / name).parent / path).resolve() if path else site.resolve() / f"{name}.html"
            target = file.relative_to(site.resolve()).with_suffix("").as_posix()
            if target not in pages:
                link.unwrap()  # a file to download
            elif fragment in ("", tops[target]):
                link["href"] = f"#{target}"
            else:
                link["href"] = f"#{target}--{fragment}"
    return pages


def _content(site: Path, name: str) -> Element:
    document = BeautifulSoup((site / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
    return document.select_one("article > section")


def take_solutions(pages: dict[str, Element]) -> Element:
    """Move what is folded away to a part of its own, and leave a link in its place."""
    soup = BeautifulSoup('<section id="back"><h1>Solutions and answers</h1></section>', "html.parser")
    back: Element = soup.section
    for name, page in pages.items():
        folded = page.find_all("details")
        if folded:
            back.append(_copy(page.h1, "h2"))
        for number, details in enumerate(folded):
            title = _copy(details.summary, "h3", id=f"back--{name}--{number}")
            details.summary.decompose()
            link = _copy(title, "a", href=f"#{title['id']}")
            told = soup.new_tag("p", attrs={"class": "at-the-back"})
            told.extend([link, ": at the back of the book."])
            details.replace_with(told)
            back.extend([title, *list(details.contents)])
    return back


def _copy(tag: Element, name: str, **attributes: str) -> Element:
    """An element of another name with the same content."""
    made = copy(tag)
    made.name, made.attrs = name, attributes
    return made


def take_title(first: Element, config: dict) -> str:
    """Make a title page of the head of the first page, which is left with another heading."""
    head = [first.h1, *first.select(".book-subtitle, .book-cover")]
    heading = copy(first.h1)
    heading.string = "About this book"
    first.h1.insert_before(heading)
    parts = "".join(str(part.extract()) for part in head)
    return f"{parts}<p>© {escape(config['copyright'])}</p><p>{config['html']['extra_footer']}</p>"


def document(title: str, title_page: str, parts: dict[str, Element], styles: list[str], numbers: dict[str, int]) -> str:
    """The book as one HTML page.

    Parameters
    ----------
    title : str
        The book's.
    title_page : str
        As HTML.
    parts : dict
        What follows, by their ids.
    styles : list of str
        Addresses of style sheets.
    numbers : dict
        Page number of each part; empty if they are not known yet.
    """
    heads = {name: part.h1.get_text() for name, part in parts.items()}
    contents = "".join(
        f'<li><a href="#{name}"><span>{escape(head)}</span> <span>{numbers.get(name, "")}</span></a></li>'
        for name, head in heads.items()
    )
    # Each page of paper says at its top which part of the book it is in.
    running = "".join(
        f"@page p{n} {{ @top-right {{ content: {json.dumps(head, ensure_ascii=False)} }} }}\n"
        f'[id="{name}"] {{ page: p{n} }}\n'
        for n, (name, head) in enumerate(heads.items())
    )
    links = "".join(f'<link rel="stylesheet" href="{address}">' for address in styles)
    return f"""<!doctype html>
<html lang="en" data-theme="light">
<head><meta charset="utf-8"><title>{escape(title)}</title>{links}<style>{running}</style></head>
<body class="bd-content"><article class="bd-article bd-article-container">
<section class="title-page">{title_page}</section>
<nav class="book-contents"><h1>Contents</h1><ol>{contents}</ol></nav>
{"".join(map(str, parts.values()))}
</article></body></html>"""


def style_sheets(site: Path) -> list[str]:
    """Those of a chapter's page, and one for paper."""
    page = BeautifulSoup(next(site.glob("chapters/*.html")).read_text(encoding="utf-8"), "html.parser")
    addresses = [str(link["href"]) for link in page.select('link[rel="stylesheet"]')]
    own = [(site / "chapters" / urlsplit(address).path).resolve() for address in addresses]
    return [path.as_uri() for path in [*own, Path(__file__).with_name("pdf.css")]]


def write_pdf(browser: Browser, site: Path, config: dict, names: list[str], pdf: Path) -> None:
    """Print pages of a built site as one book.

    Parameters
    ----------
    browser : Browser
        Chromium.
    site : Path
    config : dict
        What ``_config.yml`` says.
    names : list of str
        The pages, in order, as ``_toc.yml`` names them. The first becomes the title page, too.
    pdf : Path
        Where it goes; the page that is printed stays beside it.
    """
    parts = read_pages(site, names)
    parts["back"] = take_solutions(parts)
    title_page = take_title(parts[names[0]], config)
    styles = style_sheets(site)
    html = pdf.with_suffix(".html")
    html.parent.mkdir(parents=True, exist_ok=True)
    page = browser.new_page()
    numbers: dict[str, int] = {}
    for _ in range(2):  # the first printing tells the numbers of the pages
        html.write_text(document(config["title"], title_page, parts, styles, numbers), encoding="utf-8")
        page.goto(html.as_uri())
        page.pdf(path=pdf, prefer_css_page_size=True, print_background=True, outline=True, tagged=True)
        printed = PdfReader(pdf)
        places = printed.named_destinations
        numbers = {name: 1 + (printed.get_destination_page_number(places[f"/{name}"]) or 0) for name in parts}
    page.close()


def main() -> None:
    """Write ``_build/pdf/embedding-table.pdf``."""
    config, toc = (yaml.safe_load((ROOT / name).read_text(encoding="utf-8")) for name in ("_config.yml", "_toc.yml"))
    names = [toc["root"], *(each["file"] for part in toc["parts"] for each in part["chapters"])]
    pdf = ROOT / "_build" / "pdf" / "embedding-table.pdf"
    try:
        with chromium() as browser:
            write_pdf(browser, ROOT / "_build" / "html", config, names, pdf)
    except FileNotFoundError as error:
        sys.exit(f"make pdf {error}")
    print(f"The book as a PDF:\n  {pdf}")


if __name__ == "__main__":
    main()
