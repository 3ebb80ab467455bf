"""Read a file that a student handed in, and the notebook in it, whatever they may be.

Nothing here follows a link, waits for a pipe, or believes what a notebook says of itself: out comes a list of cells,
each with a kind, a text, and the mark that it carries, or `UnreadableError` with a reason.
"""

import json
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.student.wire import writable

#: A longer file is not read. A problem set with its pictures has less than a tenth.
MOST_BYTES = 20 * 2**20
#: A notebook with more cells is not read; the longest problem set has fewer than a hundred.
MOST_CELLS = 5_000

CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_PICTURE = re.compile(r"image/[\w.+-]{1,40}")
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*")


class UnreadableError(Exception):
    """A file that cannot be used; the text goes on after its name: "is a folder"."""


@dataclass(frozen=True)
class Cell:
    """A cell of a notebook.

    Attributes
    ----------
    kind : str
        ``"code"``, ``"markdown"`` or ``"raw"``.
    source : str
    grade_id : str
        The mark by which nbgrader knows the cell; empty where it carries none.
    id : str
        The cell's own id; empty where it has none that is valid.
    tags : tuple of str
    attachments : dict
        Pictures pasted into text: names to ``{"image/png": base64}``.
    """

    kind: str
    source: str
    grade_id: str = ""
    id: str = ""
    tags: tuple[str, ...] = ()
    attachments: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Notebook:
    """The cells of a notebook, and sentences on what was odd about the file."""

    cells: tuple[Cell, ...]
    notes: tuple[str, ...] = ()


def read_file(path: Path, *, follow_links: bool = False, most: int = MOST_BYTES) -> bytes:
    """Read a regular file.

    Parameters
    ----------
    path : Path
    follow_links : bool
        For files that are the caller's own. A student's may not lead out of the folder that was handed in.
    most : int
        Number of bytes that the file may have.

    Returns
    -------
    bytes

    Raises
    ------
    UnreadableError
        If it is no regular file, is too long, or may not be read.
    FileNotFoundError
        If there is no such file.
    """
    try:
        _must_be_a_file(path.stat() if follow_links else path.lstat(), most)  # opening a device may do something
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        number = os.open(path, flags if follow_links else flags | getattr(os, "O_NOFOLLOW", 0))
        with open(number, "rb") as file:
            _must_be_a_file(os.fstat(number), most)  # it may have changed since
            data = file.read(most + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror or error}") from None
    if len(data) > most:
        raise UnreadableError(_too_long(len(data), most))
    return data


def _must_be_a_file(status: os.stat_result, most: int) -> None:
    mode = status.st_mode
    if stat.S_ISLNK(mode):
        raise UnreadableError("is a link, and links are not followed")
    if stat.S_ISDIR(mode):
        raise UnreadableError("is a folder")
    if not stat.S_ISREG(mode):
        raise UnreadableError("is no file but a pipe, a socket or a device")
    if status.st_size > most:
        raise UnreadableError(_too_long(status.st_size, most))


def _too_long(size: int, most: int) -> str:
    return f"has {size / 2**20:,.0f} MB, and more than {most / 2**20:,.0f} MB are not read"


def read_notebook(data: bytes) -> Notebook:
    """Find the cells in the bytes of a notebook of any format, from 1 to one that does not exist yet.

    Parameters
    ----------
    data : bytes

    Returns
    -------
    Notebook
        Values of a wrong type count as if they were not there. Texts hold no character that UTF-8 cannot write.

    Raises
    ------
    UnreadableError
        If there is nothing in it that could be a cell.
    """
    text, notes = _decode(data)
    try:
        content = json.loads(text)
    except RecursionError:
        raise UnreadableError("is not a notebook that can be read: it is nested too deeply") from None
    except ValueError as error:
        reason = "it is empty" if not text.strip() else str(error).rstrip(".")[:200]
        raise UnreadableError(f"is not a notebook that can be read: {reason}") from None
    found = _cells_in(content)
    if found is None:
        raise UnreadableError("is JSON, but not a notebook: it has no list of cells")
    if len(found) > MOST_CELLS:
        raise UnreadableError(f"has {len(found):,} cells, and more than {MOST_CELLS:,} are not read")
    cells = tuple(_cell(each) for each in found if isinstance(each, dict))
    if not cells:
        raise UnreadableError("is JSON, but not a notebook with cells")
    if len(cells) < len(found):
        notes.append(f"{len(found) - len(cells)} of its {len(found)} cells are no cells, and were left out.")
    version = content.get("nbformat")
    if type(version) is int and version > 4:
        notes.append(f"It is in notebook format {version}, later than 4, which is known here.")
    return Notebook(cells, tuple(notes))


def _decode(data: bytes) -> tuple[str, list[str]]:
    """The text, by its byte order mark, its zeros, or what Jupyter writes; else as an old Windows would."""
    for encoding in (json.detect_encoding(data), "utf-8"):
        try:
            return data.decode(encoding), []
        except UnicodeDecodeError:
            continue
    note = "Its text is not in UTF-8, and was read as Windows-1252: accented letters may be wrong."
    return data.decode("cp1252", errors="replace"), [note]


def _cells_in(content: Any) -> list[Any] | None:
    """The list of cells: of format 4 and of 1, or of the worksheets of 2 and 3."""
    if not isinstance(content, dict):
        return None
    if isinstance(content.get("cells"), list):
        return content["cells"]
    sheets = content.get("worksheets")
    if not isinstance(sheets, list):
        return None
    lists = [sheet["cells"] for sheet in sheets if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list)]
    return [cell for each in lists for cell in each] if lists else None


def _cell(data: dict[str, Any]) -> Cell:
    kind = data.get("cell_type")
    source = _text(next((data[key] for key in ("source", "input", "code", "text") if key in data), ""))
    if kind == "heading":  # formats 2 and 3
        level = data.get("level")
        source = f"{'#' * (level if type(level) is int and 1 <= level <= 6 else 1)} {source}"
    metadata = data.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    mark = metadata.get("nbgrader")
    tags = metadata.get("tags")
    own_id = data.get("id")
    return Cell(
        kind if kind in ("code", "raw") else "markdown",
        source,
        _text(mark.get("grade_id")) if isinstance(mark, dict) and isinstance(mark.get("grade_id"), str) else "",
        own_id if isinstance(own_id, str) and CELL_ID.fullmatch(own_id) else "",
        tuple(_text(tag)[:100] for tag in tags[:20] if isinstance(tag, str)) if isinstance(tags, list) else (),
        dict(_pictures(data.get("attachments"))) if kind != "code" else {},
    )


def _pictures(attachments: Any) -> Iterator[tuple[str, dict[str, str]]]:
    for name, data in attachments.items() if isinstance(attachments, dict) else ():
        kept = {
            kind: content
            for kind, content in (data.items() if isinstance(data, dict) else ())
            if isinstance(content, str) and _PICTURE.fullmatch(kind) and _BASE64.fullmatch(content)
        }
        if kept:
            yield _text(name), kept


def _text(value: Any) -> str:
    """A text that may stand as a list of its lines, or be a number; without halves of surrogate pairs."""
    if isinstance(value, list):
        value = "".join(str(part) for part in value if isinstance(part, (str, int, float)))
    elif isinstance(value, (int, float)):
        value = str(value)
    elif not isinstance(value, str):
        return ""
    return writable(value)
