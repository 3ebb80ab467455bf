"""JupyterLab as `make lab` starts it, in a browser: the page that it opens, problem sets, Validate, chapters."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from pages import CHAPTERS, ROOT
from playwright.sync_api import Browser, Locator, Page, expect

from autograder.exercises import PROBLEM_SETS, exercise
from autograder.my_work import MY_WORK, START, hand_out, start_page

SECONDS = 120  # that a server may take to start, or a page to show something


@pytest.fixture(scope="module")
def lab(course: Path, browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The page that `make lab` opens, in a folder with a student's copies and the chapters."""
    folder = tmp_path_factory.mktemp("lab")
    hand_out(course / "release", folder / MY_WORK.name)
    nbformat.write(start_page(), folder / MY_WORK.name / START)
    shutil.copytree(ROOT / "chapters", folder / "chapters")
    (opens,) = re.findall(r"default_url=(/lab\S*)", (ROOT / "Makefile").read_text(encoding="utf-8"))
    own = {f"JUPYTER_{name}_DIR": str(folder / f".{name}") for name in ("CONFIG", "DATA", "RUNTIME")}
    options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", "--ServerApp.port=0", f"--LabApp.default_url={opens}"]
    with (folder / "log.txt").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options],
            cwd=folder,
            env=os.environ | own | {"JUPYTER_CONFIG_PATH": str(ROOT / ".jupyter"), "PYTHONPATH": str(ROOT)},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    try:
        page = context.new_page()
        page.set_default_timeout(1000 * SECONDS)
        page.goto(address(folder, server))
        yield page
    finally:
        context.close()
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()


def address(folder: Path, server: subprocess.Popen) -> str:
    """Where the server is, with its token: it writes both into a file, and then listens."""
    note = folder / ".RUNTIME" / f"jpserver-{server.pid}.json"
    for _ in range(2 * SECONDS):
        time.sleep(0.5)
        assert server.poll() is None, (folder / "log.txt").read_text()
        with suppress(FileNotFoundError, json.JSONDecodeError, ConnectionError):
            about = json.loads(note.read_text())
            socket.create_connection(("127.0.0.1", about["port"])).close()
            return f"{about['url']}?token={about['token']}"
    raise TimeoutError((folder / "log.txt").read_text())


def shown(lab: Page) -> Locator:
    """The file whose tab is in front."""
    return lab.locator(".jp-NotebookPanel:visible")


def open_from_start_page(lab: Page, link: str) -> Locator:
    lab.locator(".lm-TabBar-tab", has_text=START).click()
    shown(lab).get_by_role("link", name=link, exact=True).click()
    expect(shown(lab).locator(".jp-CodeCell").first).to_be_visible(timeout=1000 * SECONDS)
    return shown(lab)


def run(press: Callable[[], None], cell: Locator) -> None:
    """Run cells, of which this is one: again while it has no number. JupyterLab drops what comes before the kernel."""
    for _ in range(SECONDS // 20):
        press()
        with suppress(AssertionError):
            expect(cell.locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]"), timeout=20_000)
            return
    raise TimeoutError("the kernel did not come")


def run_all(lab: Page) -> None:
    def press() -> None:
        lab.locator(".lm-MenuBar-itemLabel", has_text="Run").click()
        lab.locator(".lm-Menu-itemLabel").get_by_text("Run All Cells", exact=True).click()

    run(press, shown(lab).locator(".jp-CodeCell").first)


def cell_with(notebook: Locator, code: str) -> Locator:
    return notebook.locator(".jp-CodeCell", has=notebook.page.locator(".cm-content", has_text=code))


def write(notebook: Locator, name: str) -> None:
    """Replace the stub of an exercise by a solution."""
    cell_with(notebook, f"def {name}(").first.locator(".cm-content").click()
    notebook.page.keyboard.press("ControlOrMeta+a")
    notebook.page.keyboard.insert_text(exercise(name).solution)


def validate(lab: Page) -> str:
    """Press Validate, and return its answer."""
    shown(lab).locator("jp-button", has_text="Validate").click()
    dialog = lab.locator(".jp-Dialog", has_text="Validation Results")
    dialog.wait_for()
    said = dialog.inner_text()
    dialog.get_by_role("button", name="Ok").click()
    return said


def visible_checks(name: str) -> list:
    return [check for check in exercise(name).checks if not check.hidden]


def test_the_page_that_opens_leads_to_every_problem_set_and_chapter(lab: Page) -> None:
    start = shown(lab)
    expect(start.get_by_role("heading", name="The Embedding Table")).to_be_visible(timeout=1000 * SECONDS)
    places = [urlsplit(link.get_attribute("href")).path for link in start.locator("table a, li a").all()]
    sets = [f"{MY_WORK.name}/{path.stem}.ipynb" for path in sorted(PROBLEM_SETS.glob("*.md"))]
    assert places == [f"/files/{path}" for path in [*sets, *(f"{chapter}.md" for chapter in CHAPTERS)]]


def test_a_problem_set_from_the_stub_to_success(lab: Page) -> None:
    notebook = open_from_start_page(lab, "ps1.ipynb")
    run_all(lab)
    for name in ("one_hot", "embedding_forward"):
        for check in visible_checks(name):
            output = cell_with(notebook, f"def {check.name}(").locator(".jp-OutputArea-output")
            expect(output).to_have_text(
                f"FAIL  0/{check.points}  {check.name}\n"
                f"{name} is not written yet: write its body in place of `raise NotImplementedError`.",
                timeout=1000 * SECONDS,
            )
    write(notebook, "one_hot")
    run_all(lab)
    for check in visible_checks("one_hot"):
        output = cell_with(notebook, f"def {check.name}(").locator(".jp-OutputArea-output")
        expect(output).to_have_text(f"pass  {check.points}/{check.points}  {check.name}", timeout=1000 * SECONDS)
    said = validate(lab)
    assert said.count("The following cell failed") == len(visible_checks("embedding_forward"))
    assert "embedding_forward is not written yet" in said
    write(notebook, "embedding_forward")
    assert "Success! Your notebook passes all the tests." in validate(lab)


def test_a_chapter_opens_as_a_notebook_and_checks_what_is_written_there(lab: Page) -> None:
    chapter = open_from_start_page(lab, "1. The table is a lookup")
    chapter.locator("[data-command='notebook:insert-cell-below']").click()
    new = chapter.locator(".jp-CodeCell.jp-mod-active")
    new.locator(".cm-content").click()
    lab.keyboard.insert_text('from autograder import check\n\ncheck("one_hot")')
    run(lambda: lab.keyboard.press("Control+Enter"), new)
    rows = chapter.locator("table.book-report tbody tr")
    expect(rows).to_have_count(len(exercise("one_hot").checks), timeout=1000 * SECONDS)
    expect(rows.first).to_contain_text("one_hot is not defined yet: run the cell in which you write it")
    expect(rows.last).to_contain_text("The same.")
