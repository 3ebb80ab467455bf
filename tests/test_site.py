"""The built site: complete, described in words, self-contained, and built anew when and only when it must be."""

import json
import os
import re
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit
from zipfile import ZipFile

import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup, Tag
from filelock import FileLock
from matplotlib.image import imread
from pages import BUILD, CHAPTERS, PAGES, ROOT, build

from autograder.overview import problem_sets
from book.extension import fingerprint
from book.fonts import MATHEMATICS_CHARACTERS
from book.mathematics import mathml
from book.problem_sets import write_archive

CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
#: Hosts that a script may name: an XML namespace, and addresses in comments.
NAMED_IN_SCRIPTS = {"www.w3.org", "clipboardjs.com", "popper.js.org", "developer.mozilla.org"}


def read(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def all_pages(site: Path) -> list[Path]:
    return [path for path in site.rglob("*.html") if "_static" not in path.parts]


@pytest.mark.parametrize("page", CHAPTERS)
def test_a_chapter_has_the_number_of_its_file(site: Path, page: str) -> None:
    title = read(site / f"{page}.html").article.h1.get_text()
    assert title.startswith(f"{int(Path(page).name[:2])}. ")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_the_table_of_contents_is_built(site: Path, page: str) -> None:
    document = read(site / f"{page}.html")
    assert document.article is not None
    assert document.article.h1 is not None


def test_what_is_not_a_page_is_not_built(site: Path) -> None:
    built = {path.relative_to(site).with_suffix("").as_posix() for path in all_pages(site)}
    assert built == {*PAGES, "index", "search"}


def without_words(document: BeautifulSoup) -> list[Tag]:
    """Pictures that say nothing to someone who cannot see them."""
    silent = [image for image in document.find_all("img") if not image.get("alt", "").strip()]
    for drawing in document.find_all("svg"):
        named = drawing.get("role") == "img" and drawing.get("aria-label", "").strip()
        if not named and drawing.get("aria-hidden") != "true":
            silent.append(drawing)
    pictures = ("img", "svg", "canvas", "video")
    return silent + [figure for figure in document.find_all("figure") if not figure.find(pictures)]


def test_every_picture_is_described(site: Path) -> None:
    figures = 0
    for path in all_pages(site):
        document = read(path)
        figures += len(document.find_all("figure"))
        assert without_words(document) == [], path
    assert figures >= len(CHAPTERS)


@pytest.mark.parametrize(
    "html",
    [
        '<img src="a.png">',
        '<img src="a.png" alt=" ">',
        "<figure><svg></svg></figure>",
        '<figure><svg role="img" aria-label=""></svg></figure>',
        "<figure><figcaption>Nothing</figcaption></figure>",
    ],
)
def test_an_undescribed_picture_is_found(html: str) -> None:
    assert without_words(BeautifulSoup(html, "html.parser"))


def is_elsewhere(url: str) -> bool:
    return bool(urlsplit(url.strip()).netloc)


def foreign_in_style(text: str) -> list[str]:
    urls = re.findall(r"""(?:url\(\s*|@import\s+)["']?([^"')\s;]+)""", text)
    return [url for url in urls if is_elsewhere(url)]


def foreign_in_script(text: str) -> list[str]:
    urls = re.findall(r"""(?:(?:https?|wss?):|(?<=["'`]))//[\w-]+(?:\.[\w-]+)+""", text)
    return [url for url in urls if urlsplit(url).netloc not in NAMED_IN_SCRIPTS]


def foreign(document: BeautifulSoup) -> list[str]:
    """Addresses on other hosts that a browser asks for by itself when it shows a page; not those of hyperlinks."""
    found = []
    for tag in document.find_all(True):
        attributes = ["src", "data", "poster", "background", "action", "srcset", "imagesrcset"]
        if tag.name != "a":
            attributes += ["href", "xlink:href"]
        for attribute in attributes:
            value = str(tag.get(attribute, ""))
            candidates = value.split(",") if attribute.endswith("srcset") else [value]
            found += [url for url in candidates if is_elsewhere(url)]
        found += foreign_in_style(str(tag.get("style", "")))
        if tag.name == "style":
            found += foreign_in_style(tag.get_text())
        if tag.name == "script":
            found += foreign_in_script(tag.get_text())
    return found


def test_no_page_asks_another_host(site: Path) -> None:
    used: set[Path] = set()
    for path in all_pages(site):
        document = read(path)
        assert foreign(document) == [], path
        for tag, attribute in (("script", "src"), ("link", "href")):
            for element in document.find_all(tag, **{attribute: True}):
                used.add((path.parent / unquote(urlsplit(element[attribute]).path)).resolve())
    scripts = [path for path in used if path.suffix == ".js"]
    styles = [path for path in used if path.suffix == ".css"]
    assert scripts
    assert styles
    for path in scripts:
        assert foreign_in_script(path.read_text(encoding="utf-8")) == [], path
    for path in styles:
        assert foreign_in_style(path.read_text(encoding="utf-8")) == [], path


@pytest.mark.parametrize(
    "html",
    [
        '<script src="https://a.example/x.js"></script>',
        '<script src="//a.example/x.js"></script>',
        '<script>const URL = "https://a.example/x.js"</script>',
        "<script>load('//a.example/x.js')</script>",
        '<link rel="stylesheet" href="https://a.example/x.css">',
        '<link rel="preload" href="https://a.example/x.woff2">',
        '<img alt="x" src="https://a.example/x.png">',
        '<img alt="x" src="x.png" srcset="x.png 1x, https://a.example/x.png 2x">',
        '<iframe src="https://a.example/"></iframe>',
        '<video><source src="https://a.example/x.mp4"></video>',
        '<svg><image href="https://a.example/x.png"/></svg>',
        '<p style="background: url(https://a.example/x.png)"></p>',
        "<style>@import 'https://a.example/x.css';</style>",
        '<style>p { src: url("//a.example/x.woff2") }</style>',
    ],
)
def test_a_request_to_another_host_is_found(html: str) -> None:
    assert foreign(BeautifulSoup(html, "html.parser")) != []


def test_a_hyperlink_to_another_host_is_no_request() -> None:
    assert foreign(BeautifulSoup('<a href="https://a.example/">there</a>', "html.parser")) == []


def broken_links(site: Path) -> list[str]:
    """Links, pictures, scripts and style sheets of the site's own that lead nowhere."""
    documents = {path.resolve(): read(path) for path in all_pages(site)}
    ids = {path: {tag["id"] for tag in document.find_all(id=True)} for path, document in documents.items()}
    broken = []
    for path, document in documents.items():
        for tag, attribute in (("a", "href"), ("link", "href"), ("script", "src"), ("img", "src")):
            for element in document.find_all(tag, **{attribute: True}):
                url = urlsplit(element[attribute])
                if url.scheme or url.netloc:
                    continue
                target = (path.parent / unquote(url.path)).resolve() if url.path else path
                anchor = unquote(url.fragment)
                if not target.is_file() or (anchor and target in ids and anchor not in ids[target]):
                    broken.append(f"{path.name}: {element[attribute]}")
    return sorted(broken)


def test_every_link_inside_the_site_leads_somewhere(site: Path) -> None:
    assert broken_links(site) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a id="here" href="b.html#there"></a> <a href="#here"></a> <a href="https://a.example">'
    )
    (tmp_path / "b.html").write_text('<a href="a.html#here"></a> <a href="a.html#gone"></a> <img src="gone.svg">')
    assert broken_links(tmp_path) == ["a.html: b.html#there", "b.html: a.html#gone", "b.html: gone.svg"]


def test_links_to_other_hosts_are_listed(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for scheme in ("http", "https"):  # every request goes to a port of this computer where nothing answers
        monkeypatch.setenv(f"{scheme}_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    with FileLock(BUILD / ".test_lock"):
        done = build(ROOT, "--builder", "custom", "--custom-builder", "linkcheck")
    assert done.returncode != 0, "a link that is broken fails"
    report = (BUILD / "linkcheck" / "output.json").read_text(encoding="utf-8").splitlines()
    listed = {each["uri"] for each in map(json.loads, report)}
    links = {
        element["href"]
        for path in all_pages(site)
        for element in read(path).select("article a[href]")
        if is_elsewhere(element["href"])
    }
    assert links
    assert links <= listed


def test_no_page_has_an_id_twice(site: Path) -> None:
    for path in set(all_pages(site)) - {site / "search.html"}:  # the theme's two search boxes, which nothing names
        ids = [tag["id"] for tag in read(path).find_all(id=True)]
        assert len(ids) == len(set(ids)), path


def about(path: Path) -> dict[str, str]:
    """What a page tells programs about itself."""
    tags = read(path).select("meta[property^='og:'], meta[name^='twitter:'], meta[name=description]")
    return {str(tag.get("property") or tag["name"]): str(tag["content"]) for tag in tags}


def test_a_page_says_what_it_is_about(site: Path) -> None:
    told = {page: about(site / f"{page}.html") for page in PAGES}
    for page, each in told.items():
        title = read(site / f"{page}.html").article.h1.find(string=True)
        assert each["og:title"] == title
        assert each["description"] == each["og:description"]
        assert each["og:site_name"] == CONFIG["title"]
        assert "Download" not in each["description"]
        assert not {"og:url", "og:image"} & set(each), "it has no address yet"
    descriptions = {each["description"] for page, each in told.items() if page != "references"}
    assert len(descriptions) == len(PAGES) - 1
    assert all(len(each) > 40 for each in descriptions)


def test_a_site_with_an_address_has_a_card(tmp_path: Path) -> None:
    make_book(tmp_path, other=page("Rows & <columns>", text='It holds "rows".'))
    config = (tmp_path / "_config.yml").read_text(encoding="utf-8")
    assert config.count('  baseurl: ""\n') == 1
    address = "https://someone.example/book/"
    (tmp_path / "_config.yml").write_text(config.replace('baseurl: ""', f"baseurl: {address}"), encoding="utf-8")
    done = build(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    html = tmp_path / "_build" / "html"
    told = about(html / "other.html")
    assert told["og:title"] == "Rows & <columns>"
    assert told["description"] == "It holds \u201crows\u201d."
    assert told["og:url"] == f"{address}other.html"
    card = html / told["og:image"].removeprefix(address)
    height, width, _ = imread(card).shape
    assert (str(width), str(height)) == (told["og:image:width"], told["og:image:height"])
    assert told["og:image:alt"]
    assert card.stat().st_size < 100_000


def test_formulas_are_in_the_page(site: Path) -> None:
    for page in CHAPTERS:
        document = read(site / f"{page}.html")
        after_formula = [formula.next_sibling for formula in document.select(".book-math-inline")]
        loose = [text for text in after_formula if isinstance(text, str) and text[:1] in tuple(".,;:)")]
        assert loose == [], "a line may break between a formula and its full stop"


def test_the_font_has_every_letter_of_a_heading(site: Path) -> None:
    for page in PAGES:
        for heading in read(site / f"{page}.html").article.find_all(["h1", "h2"]):
            for part in heading.select("code, a.headerlink"):
                part.decompose()
            assert set(map(ord, heading.get_text().strip())) <= MATHEMATICS_CHARACTERS, heading


def test_a_formula_that_cannot_be_shown_is_an_error() -> None:
    assert "<msub>" in mathml(r"\begin{align} E_i &= \alpha \end{align}", display=True)
    with pytest.raises(ValueError, match="nosuchcommand"):
        mathml(r"\nosuchcommand", display=False)
    with pytest.raises(ValueError, match="ж"):
        mathml(r"\text{ж}", display=False)


@pytest.mark.parametrize("page", PAGES)
def test_a_chapter_and_nothing_else_can_be_downloaded_as_a_notebook(site: Path, page: str) -> None:
    path = site / f"{page}.html"
    document = read(path)
    link = document.select_one(".book-notebook a[download]")
    button = document.select_one("a.btn-download-notebook-button")
    if page not in CHAPTERS:
        assert link is None
        assert button is None
        return
    assert link is not None
    assert button is not None
    assert link["href"] == button["href"]
    notebook = nbformat.read(path.parent / link["href"], as_version=4)
    nbformat.validate(notebook)
    assert any(cell.get("outputs") for cell in notebook.cells)
    cells = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert cells == list(range(1, len(cells) + 1))
    printed = {
        "".join(output.text for output in cell.get("outputs", []) if output.output_type == "stream").strip()
        for cell in notebook.cells
    }
    assert {block.get_text().strip() for block in document.select(".cell_output .output.stream")} <= printed


def test_a_page_with_a_figure_that_moves_and_no_other_loads_its_script(site: Path) -> None:
    everywhere = {"book.js"}
    scripts = {path.name for path in (ROOT / "book" / "static").glob("*.js")} - everywhere
    shown = set()
    for page in PAGES:
        document = read(site / f"{page}.html")
        figures = {figure["data-script"] for figure in document.select(".book-moving")}
        loaded = {Path(urlsplit(script["src"]).path).name for script in document.select("script[src]")}
        assert loaded & scripts == figures, page
        assert everywhere <= loaded, page
        shown |= figures
    assert shown == scripts


def test_problem_sets_are_listed_and_can_be_downloaded(site: Path) -> None:
    document = read(site / "problem_sets.html")
    *notebooks, archive = [site / link["href"] for link in document.select("a.download")]
    assert [path.name for path in notebooks] == [f"{each.name}.ipynb" for each in problem_sets()]
    for path in notebooks:
        nbformat.validate(nbformat.read(path, as_version=4))
    rows = [[cell.get_text() for cell in row.find_all("td")] for row in document.select("tbody tr")]
    assert [(int(row[1]), row[2].replace("\xa0", " "), row[3]) for row in rows] == [
        (each.points, each.time, f"chapter\xa0{int(each.chapter[:2])}") for each in problem_sets()
    ]
    with ZipFile(archive) as files:
        names = {path.name: f"problem-sets/{path.name}" for path in notebooks}
        assert set(files.namelist()) == {*names.values(), "problem-sets/README.md", "problem-sets/requirements.txt"}
        assert all(files.read(names[path.name]) == path.read_bytes() for path in notebooks)
        wanted = files.read("problem-sets/requirements.txt").decode().splitlines()
    assert [line.partition("==")[0] for line in wanted] == ["ipykernel", "jupyterlab", "numpy"]
    assert set(wanted) <= set((ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines())


def test_the_archive_made_twice_is_the_same_to_the_byte(course: Path, tmp_path: Path) -> None:
    shutil.copytree(course / "release", tmp_path / "autograder" / "release")
    shutil.copy(ROOT / "requirements.lock", tmp_path)
    write_archive(tmp_path / "one.zip", tmp_path)
    for path in tmp_path.rglob("*.ipynb"):
        os.utime(path, (10**9, 10**9))
    write_archive(tmp_path / "two.zip", tmp_path)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


# Small books, with the real configuration and extension


def page(title: str, code: str = "", text: str = "") -> str:
    """Text of a page; one that runs if it has code."""
    if not code:
        return f"# {title}\n\n{text}\n"
    head = "---\njupytext:\n  text_representation:\n    format_name: myst\n"
    head += "kernelspec:\n  name: python3\n  display_name: Python 3\n---\n"
    return f"{head}\n# {title}\n\n{text}\n\n```{{code-cell}} python\n{code}\n```\n"


def make_book(folder: Path, **pages: str) -> Path:
    """Make a book of some pages, with a package `solutions` of one function and a package `autograder` that uses it."""
    shutil.copy(ROOT / "_config.yml", folder)
    shutil.copytree(ROOT / "book", folder / "book", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("solutions", "autograder"):
        (folder / name).mkdir()
    (folder / "solutions" / "__init__.py").write_text("answer = 41\n")
    (folder / "autograder" / "__init__.py").write_text("from solutions import answer as expected\n")
    (folder / "requirements.lock").write_text("")
    (folder / "references.bib").write_text("")
    toc = {"format": "jb-book", "root": "intro", "chapters": [{"file": name} for name in pages]}
    (folder / "_toc.yml").write_text(yaml.safe_dump(toc))
    for name, text in {"intro": page("Intro"), **pages}.items():
        (folder / f"{name}.md").write_text(text)
    return folder


def output_of(folder: Path, name: str) -> str:
    cell = read(folder / "_build" / "html" / f"{name}.html").select_one(".cell_output")
    assert cell is not None
    return cell.get_text().strip()


def test_a_cell_that_raises_fails_the_build(tmp_path: Path) -> None:
    done = build(make_book(tmp_path, bad=page("Bad", code="raise ValueError('no such row')")))
    assert done.returncode != 0
    assert "ValueError" in done.stdout + done.stderr
    assert "no such row" in done.stdout + done.stderr


def test_a_warning_fails_the_build_again_and_again(tmp_path: Path) -> None:
    broken = {
        "link": "[there](nowhere.md)",
        "reference": "{ref}`nowhere`",
        "citation": "{cite}`nobody2000`",
        "formula": r"$\nosuchcommand$",
    }
    folder = make_book(tmp_path, **{name: page(name, text=text) for name, text in broken.items()})
    for _ in range(2):
        done = build(folder)
        assert done.returncode != 0
        warned = set(re.findall(r"(\w+)\.md:\d+: (?:\S+)?WARNING", done.stdout + done.stderr))
        assert warned == set(broken)


CLOCK = "import time\nprint('ran at', time.time_ns())"


def test_pages_run_again_when_and_only_when_what_they_use_changed(tmp_path: Path) -> None:
    folder = make_book(
        tmp_path,
        alone=page("Alone", code=CLOCK),
        uses=page("Uses", code=f"from solutions import answer\nprint(answer)\n{CLOCK}"),
        checks=page("Checks", code=f"import autograder\nprint(autograder.expected)\n{CLOCK}"),
    )

    def outputs() -> dict[str, str]:
        done = build(folder)
        assert done.returncode == 0, done.stdout + done.stderr
        return {name: output_of(folder, name) for name in ("alone", "uses", "checks")}

    first = outputs()
    (folder / "solutions" / "__init__.py").write_text("answer = 42\n")
    second = outputs()
    assert second["alone"] == first["alone"]
    assert second["uses"].startswith("42")
    assert second["checks"].startswith("42"), "through autograder, which imports solutions"

    (folder / "autograder" / "checks.py").write_text("# a new module\n")
    third = outputs()
    assert third["alone"] == first["alone"]
    assert third["uses"] == second["uses"]
    assert third["checks"] != second["checks"]


def test_a_page_taken_out_of_the_table_of_contents_goes(tmp_path: Path) -> None:
    folder = make_book(tmp_path, stays=page("Stays"), goes=page("Goes"))
    assert build(folder).returncode == 0
    built = folder / "_build" / "html"
    assert (built / "goes.html").exists()
    toc = folder / "_toc.yml"
    toc.write_text(toc.read_text().replace("- file: goes\n", ""))
    done = build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.stem for path in built.glob("*.html")} == {"index", "intro", "stays", "search"}


def test_other_versions_of_packages_run_every_page_again(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text("numpy==2.3\n")
    before = fingerprint(page("Alone", code=CLOCK), tmp_path)
    lock.write_text("numpy==2.4\n")
    assert fingerprint(page("Alone", code=CLOCK), tmp_path) != before


def untimed(path: Path) -> str:
    """A page, without the outputs of cells whose tag says that they measure time."""
    document = read(path)
    for output in document.select(".cell.tag_timed .cell_output"):
        output.decompose()
    return str(document)


def test_built_twice_the_pages_are_the_same(site: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    unneeded = shutil.ignore_patterns(".*", "_build", "__pycache__", "my_work", "tests", "benchmarks")
    shutil.copytree(ROOT, copy, ignore=unneeded)
    done = build(copy)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in PAGES:
        again, before = copy / "_build" / "html" / f"{name}.html", site / f"{name}.html"
        assert untimed(again).splitlines() == untimed(before).splitlines(), name
