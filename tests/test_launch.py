"""Buttons that open notebooks on Binder and Colab: where they lead, and what they find there."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import jupytext
import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup
from pages import ROOT, build
from test_site import make_book, page

from autograder.overview import chapters, problem_sets
from book.launch import Launch, launch_of, write_notebooks

CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
FORK = "https://github.com/someone/their-book"
LAUNCH = Launch(FORK, "main", "https://mybinder.org", "https://colab.research.google.com")


def buttons(path: Path) -> dict[str, str]:
    document = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    return {link.get_text().strip(): str(link["href"]) for link in document.select(".dropdown-launch-buttons a")}


def book_with_a_chapter(folder: Path, url: str) -> Path:
    make_book(folder)
    (folder / "chapters").mkdir()
    (folder / "chapters" / "01_one.md").write_text(page("1. One", code="1 + 1"))
    config = (folder / "_config.yml").read_text(encoding="utf-8")
    (folder / "_config.yml").write_text(config.replace('  url: ""\n', f"  url: {url}\n"), encoding="utf-8")
    toc = {"format": "jb-book", "root": "intro", "chapters": [{"file": "chapters/01_one"}]}
    (folder / "_toc.yml").write_text(yaml.safe_dump(toc))
    return folder


def test_without_an_address_there_are_no_buttons(site: Path) -> None:
    assert launch_of(CONFIG["repository"], CONFIG["launch_buttons"]) is None
    assert buttons(site / "chapters" / "01_lookup.html") == {}
    assert not (site / "notebooks").exists()


def test_one_line_makes_buttons_and_the_notebooks_that_they_open(tmp_path: Path) -> None:
    done = build(book_with_a_chapter(tmp_path, FORK))
    assert done.returncode == 0, done.stdout + done.stderr
    html = tmp_path / "_build" / "html"
    links = buttons(html / "chapters" / "01_one.html")
    assert links == {
        "Binder": "https://mybinder.org/v2/gh/someone/their-book/main?urlpath=lab/tree/notebooks/01_one.ipynb",
        "Colab": "https://colab.research.google.com/github/someone/their-book/blob/gh-pages/notebooks/01_one.ipynb",
    }
    assert buttons(html / "intro.html") == {}
    opened = html / links["Colab"].partition("/gh-pages/")[2]  # the site is what is on that branch
    install, code = [cell for cell in nbformat.read(opened, 4).cells if cell.cell_type == "code"]
    assert f'%pip install --quiet --no-deps "embedding-table @ git+{FORK}@main"' in install.source
    assert code.source == "1 + 1"
    assert (html / ".nojekyll").exists()


def test_an_address_that_colab_cannot_open_is_an_error(tmp_path: Path) -> None:
    done = build(book_with_a_chapter(tmp_path, "https://gitlab.com/someone/their-book"))
    assert done.returncode != 0
    assert "must be as https://github.com/OWNER/NAME" in done.stdout + done.stderr


def test_an_address_may_end_as_that_of_a_clone() -> None:
    assert launch_of({"url": f"{FORK}.git"}, CONFIG["launch_buttons"]) == LAUNCH


def test_what_binder_opens_is_what_its_postbuild_writes(course: Path, tmp_path: Path) -> None:
    """repo2docker runs the file after it installed environment.yml, in the folder of the repository."""
    commands = (ROOT / "postBuild").read_text(encoding="utf-8").splitlines()
    assert commands[-2:] == ["python -m autograder.build", "python -m book.launch notebooks"]
    subprocess.run([sys.executable, "-m", "book.launch", str(tmp_path / "notebooks")], cwd=ROOT, check=True)
    for name in [*chapters(), *(each.name for each in problem_sets())]:
        query = parse_qs(urlsplit(LAUNCH.links(name)["Binder"]).query)
        (place,) = query["urlpath"]
        if (ROOT / "autograder" / "release").exists() or name in chapters():
            assert (tmp_path / place.removeprefix("lab/tree/")).exists()


@pytest.mark.parametrize("name", chapters())
def test_a_notebook_is_its_chapter_behind_the_cell_that_installs(name: str, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        write_notebooks(ROOT, tmp_path / folder, LAUNCH)
    one, two = (tmp_path / folder / f"{name}.ipynb" for folder in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
    notebook = nbformat.read(one, as_version=4)
    nbformat.validate(notebook)
    chapter = jupytext.read(ROOT / "chapters" / f"{name}.md")
    assert [cell.source for cell in notebook.cells[1:]] == [cell.source for cell in chapter.cells]


ELSEWHERE = """
import importlib, sys
sys.path = [sys.argv[1], *(path for path in sys.path if path.rstrip("/") != sys.argv[2])]
import autograder, solutions
for name in sys.argv[3:]:
    importlib.import_module(name)
assert autograder.__file__.startswith(sys.argv[1]), autograder.__file__
for name in solutions.__all__:
    assert "problem set ps" in autograder.exercise(name)._repr_markdown_()
    report = autograder.check(name, getattr(solutions, name))
    assert report.points == report.max_points
"""


def test_what_chapters_import_works_where_only_the_packages_are_installed(tmp_path: Path) -> None:
    """As on Colab: without the repository around them."""
    source = tmp_path / "source"
    for name in ("autograder", "book", "solutions"):
        files = shutil.ignore_patterns("__pycache__", "release", "source", "submitted", "autograded", "*.db")
        shutil.copytree(ROOT / name, source / name, ignore=files)
    for name in ("pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT"):
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", str(source)]
    subprocess.run([*command, "--wheel-dir", str(tmp_path)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    subprocess.run([sys.executable, "-m", "zipfile", "-e", str(wheel), str(tmp_path / "installed")], check=True)
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "chapters").glob("*.md")]
    imported = {name for text in texts for name in re.findall(r"^from (book\.\w+) import", text, re.MULTILINE)}
    assert "book.figures" in imported
    command = [sys.executable, "-c", ELSEWHERE, str(tmp_path / "installed"), str(ROOT), *sorted(imported)]
    subprocess.run(command, cwd=tmp_path, env={"PATH": ""}, check=True)
