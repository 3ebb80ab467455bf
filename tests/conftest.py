"""What the tests share: how Hypothesis runs, a course in a temporary folder, solved notebooks, the site, a browser."""

import copy
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import nbformat
import pytest
from filelock import FileLock
from hypothesis import settings
from pages import BUILD, ROOT, build
from playwright.sync_api import Browser

from autograder.exercises import exercise
from book.browser import chromium, serve

# No deadline: a busy machine is no failure. Under CI the same inputs at every run.
settings.register_profile("book", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "book")


#: Each keeps a core busy for minutes, so they begin first.
LONG = ("test_built_twice_the_pages_are_the_same", "test_gradebook.py", "test_nbgrader.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the long tests; pytest-xdist's ``--dist worksteal`` then fills the other cores with the rest."""
    items.sort(key=lambda item: next((n for n, name in enumerate(LONG) if name in item.nodeid), len(LONG)))


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], None]], Path]:
    """``made_once(name, make)`` is a temporary folder that ``make(folder)`` filled, once for all pytest-xdist workers.

    The first worker to ask makes it; the others wait for the file that says how that ended. Whoever writes into the
    folder later must work on a copy.
    """
    base = tmp_path_factory.getbasetemp()
    top = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def made_once(name: str, make: Callable[[Path], None]) -> Path:
        folder, ended = top / name, top / f"{name}-ended"
        try:
            folder.mkdir()
        except FileExistsError:
            while not ended.exists():
                time.sleep(0.1)
            assert ended.read_text(encoding="utf-8") == "well", f"another worker could not make {name}"
            return folder
        outcome = "badly"
        try:
            make(folder)
            outcome = "well"
        finally:
            draft = top / f"{name}-draft"
            draft.write_text(outcome, encoding="utf-8")
            draft.rename(ended)
        return folder

    return made_once


@pytest.fixture(scope="session")
def course(made_once: Callable[[str, Callable[[Path], None]], Path]) -> Path:
    """A course folder with the problem sets built in it, as `make problem-sets` builds them.

    The environment is not activated, as for someone who only types `make`; strings hash otherwise than here.
    """

    def build(folder: Path) -> None:
        shutil.copy(ROOT / "autograder" / "nbgrader_config.py", folder)
        environment = os.environ | {"PATH": os.defpath, "PYTHONHASHSEED": "1"}
        command = [sys.executable, "-m", "autograder.build", str(folder)]
        subprocess.run(command, env=environment, cwd=folder, check=True)

    return made_once("course", build)


@pytest.fixture(scope="session")
def solve() -> Callable[..., nbformat.NotebookNode]:
    """``solve(notebook, one_hot="def one_hot...")`` fills the stubs of a released notebook in.

    An exercise that is not named gets the reference solution. The notebook itself stays as it is.
    """

    def solve(notebook: nbformat.NotebookNode, **written: str) -> nbformat.NotebookNode:
        notebook = copy.deepcopy(notebook)
        for cell in notebook.cells:
            if cell.metadata.nbgrader.solution:
                name = cell.metadata.nbgrader.grade_id.removesuffix("-solution")
                cell.source = written.get(name, exercise(name).solution)
        return notebook

    return solve


@pytest.fixture(scope="session")
def site() -> Path:
    """The site of the files as they are now. A build with nothing new to do takes two seconds."""
    BUILD.mkdir(exist_ok=True)
    with FileLock(BUILD / ".test_lock"):  # tests run in several processes
        if not (ROOT / "autograder" / "release").exists():
            subprocess.run([sys.executable, "-m", "autograder.build"], cwd=ROOT, check=True)
        done = build(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return BUILD / "html"


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Where the site is served; ends with a slash."""
    with serve(site) as address:
        yield address


@pytest.fixture(scope="module")  # as long as it is open, this process has an event loop that `asyncio.run` refuses
def browser() -> Iterator[Browser]:
    """A browser. Without one the tests that need it are skipped; under CI they fail."""
    with ExitStack() as stack:
        try:
            browser = stack.enter_context(chromium())
        except FileNotFoundError as missing:
            (pytest.fail if os.environ.get("CI") else pytest.skip)(str(missing))
        yield browser
