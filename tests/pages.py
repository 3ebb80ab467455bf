"""The pages of the book, and how it is built."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "_build"


def build(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Build a book as `make book` does, or with more options."""
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()"]
    return subprocess.run(
        [*command, "build", ".", "-W", "-n", "--keep-going", *options],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
    )


def files_of(toc: object) -> Iterator[str]:
    """Yield the pages that a table of contents names."""
    if isinstance(toc, dict):
        yield from (toc[key] for key in ("root", "file") if key in toc)
        toc = list(toc.values())
    if isinstance(toc, list):
        for part in toc:
            yield from files_of(part)


PAGES = list(files_of(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))))
CHAPTERS = [page for page in PAGES if page.startswith("chapters/")]
