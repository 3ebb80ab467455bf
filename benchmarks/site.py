"""How many bytes a page of this book transfers, beside pages of untouched Jupyter Books.

Run ``python benchmarks/site.py`` in the project's environment, after ``make book``. A browser opens each page; what it
asked for is counted as a server would send it, compressed. README.md beside this file says what the other books are.
"""

import argparse
import gzip
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import distribution, version
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from _rounds import progress
from playwright.sync_api import Browser, Response

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from any folder, installed or not

from book.browser import chromium, serve

ROOT = Path(__file__).resolve().parents[1]
HTML = ROOT / "_build" / "html"
#: What a server sends as it is.
COMPRESSED = ("image/png", "image/jpeg", "image/webp", "font/woff", "application/zip")
#: Notebooks of nbgrader's user guide, which is installed with nbgrader.
GUIDE = ["creating_and_grading_assignments", "managing_assignment_files", "managing_the_database"]


def size(response: Response) -> int:
    """Bytes of a response's body as a server sends it: with gzip's usual level, unless it is compressed already."""
    body = response.body()
    kind = response.headers.get("content-type", "")
    return len(body) if kind.startswith(COMPRESSED) else len(gzip.compress(body, 6))


def asked_for(browser: Browser, address: str, page: str) -> tuple[dict[str, int], int]:
    """Open a page with an empty cache.

    Returns
    -------
    dict of str to int
        The bytes of each address that it asked this server for.
    int
        The number of requests to other hosts, which are not answered.
    """
    tab = browser.new_page()
    responses: list[Response] = []
    requests: set[str] = set()
    tab.on("response", lambda response: responses.append(response))
    tab.on("request", lambda request: requests.add(request.url))
    tab.goto(f"{address}{page}.html", wait_until="networkidle")
    sizes = {response.url: size(response) for response in responses if response.url.startswith(address)}
    tab.close()
    return sizes, len([url for url in requests if not url.startswith((address, "data:"))])


def weigh(browser: Browser, address: str, pages: Sequence[str]) -> dict[str, dict[str, int]]:
    """Bytes that each page transfers.

    Parameters
    ----------
    browser : Browser
    address : str
        Where the site is served.
    pages : sequence of str
        Two or more.

    Returns
    -------
    dict
        For each page: ``first visit``, with nothing kept from before; ``next page``, what is left for a reader who
        comes from another page, from the one that leaves the most; ``elsewhere``, the number of requests to other
        hosts, which count nothing.
    """
    seen = {page: asked_for(browser, address, page) for page in pages}
    weights = {}
    for page, (sizes, elsewhere) in seen.items():
        kept = [seen[other][0] for other in pages if other != page]
        left = max(sum(size for url, size in sizes.items() if url not in each) for each in kept)
        weights[page] = {"first visit": sum(sizes.values()), "next page": left, "elsewhere": elsewhere}
    return weights


def build(folder: Path) -> Path:
    """Build a book, and return the folder of its pages."""
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "_build" / "html"


def template(folder: Path) -> tuple[Path, list[str]]:
    """Make what ``jupyter-book create`` makes, and build it."""
    shutil.copytree(str(distribution("jupyter-book").locate_file("jupyter_book/book_template")), folder)
    return build(folder), ["intro", "notebooks", "markdown-notebooks"]


def guide(folder: Path) -> tuple[Path, list[str]]:
    """Make a Jupyter Book, with no option set, of the notebooks of nbgrader's user guide, as they are."""
    source = Path(str(distribution("nbgrader").locate_file("nbgrader/docs/source/user_guide")))
    folder.mkdir()
    for name in GUIDE:
        shutil.copy(source / f"{name}.ipynb", folder)
    shutil.copytree(source / "images", folder / "images")
    (folder / "_config.yml").write_text("title: nbgrader\nexecute: {execute_notebooks: 'off'}\n")
    toc = {"format": "jb-book", "root": GUIDE[0], "chapters": [{"file": name} for name in GUIDE[1:]]}
    (folder / "_toc.yml").write_text(yaml.safe_dump(toc))
    return build(folder), GUIDE


def own_pages() -> list[str]:
    """The pages of this book, in its order."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [toc["root"], *(chapter["file"] for part in toc["parts"] for chapter in part["chapters"])]


def main() -> None:
    """Weigh, print, and write all of it to a file where asked."""
    parser = argparse.ArgumentParser(description="Count the bytes that pages transfer.")
    parser.add_argument("--quick", action="store_true", help="two pages, and one other book: about 20 seconds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write facts and results to FILE")
    options = parser.parse_args()
    if not HTML.exists():
        parser.error("there is no site yet: run `make book` first")
    others = {"nbgrader's user guide": guide}
    if not options.quick:
        others = {"template of Jupyter Book": template, **others}

    say = progress("site")
    results = {}
    with TemporaryDirectory() as folder, chromium() as browser:
        facts = {"browser": browser.version, **{name: version(name) for name in ("jupyter-book", "sphinx-book-theme")}}
        print(", ".join(f"{name}: {value}" for name, value in facts.items()))
        books = {"this book": (HTML, own_pages()[: 2 if options.quick else None])}
        for number, (name, make) in enumerate(others.items()):
            say(f"building {name}")
            books[name] = make(Path(folder) / str(number))
        print(f"\n{'':40}{'first visit':>14}{'next page':>14}{'other hosts':>14}")
        for name, (html, pages) in books.items():
            say(f"opening the pages of {name}")
            with serve(html) as address:
                results[name] = weigh(browser, address, pages)
            say("")
            print(name)
            for page, row in results[name].items():
                sizes = "".join(f"{row[which] / 1000:11.1f} KB" for which in ("first visit", "next page"))
                print(f"  {page:38}{sizes}{row['elsewhere']:14}", flush=True)
    if options.json:
        options.json.write_text(json.dumps({"machine": facts, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
