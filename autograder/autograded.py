"""Write a graded notebook to disk, in the form that nbgrader's feedback and formgrader read."""

import json
import os
import platform
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from autograder.assemble import Placed, TeacherNotebook
from autograder.outcome import CellOutcome, NotebookOutcome
from autograder.reading import Cell
from autograder.student.wire import writable

#: What a cell shows may have so many characters. Pictures count, too.
MOST_OUTPUT = 2_000_000
LANGUAGE = {
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "pygments_lexer": "ipython3",
    "version": platform.python_version(),
}


def autograded_notebook(
    teacher: TeacherNotebook, outcome: NotebookOutcome, note: str = "", most_lines: int = 1000, most_frames: int = 100
) -> dict[str, Any]:
    """The graded notebook, as its file holds it.

    Parameters
    ----------
    teacher : TeacherNotebook
    outcome : NotebookOutcome
        Without cells, the problem set as it was handed out takes their place.
    note : str
        Stands above the first cell.
    most_lines, most_frames : int
        Lines of printed text, and entries of a traceback, that are kept of a cell; -1 for all.

    Returns
    -------
    dict
        Valid in notebook format 4.5.
    """
    cells = outcome.cells or tuple((as_handed_out, CellOutcome()) for as_handed_out in handed_out(teacher))
    if note:
        about = Cell("markdown", f"**About this submission.** {note}", tags=("about-this-submission",))
        cells = ((Placed(about), CellOutcome()), *cells)
    written, ids, count = [], set[str](), 0
    for number, (placed, did) in enumerate(cells):
        own_id = placed.cell.id if placed.cell.id and placed.cell.id not in ids else f"cell-{number}"
        while own_id in ids:
            own_id += "-"
        ids.add(own_id)
        data: dict[str, Any] = {
            "cell_type": placed.cell.kind,
            "id": own_id,
            "metadata": _metadata(placed),
            "source": placed.cell.source.splitlines(keepends=True),
        }
        if placed.cell.kind == "code":
            count += 1
            data["execution_count"] = count if outcome.cells else None
            data["outputs"] = list(_outputs(did.outputs, most_lines, most_frames))
        elif placed.cell.attachments:
            data["attachments"] = placed.cell.attachments
        written.append(data)
    metadata: dict[str, Any] = {"kernelspec": teacher.kernelspec, "language_info": LANGUAGE}
    if not outcome.cells:
        metadata["autograder"] = {"nothing_read": True}  # for feedback.py
    return {
        "cells": written,
        "metadata": metadata,
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def handed_out(teacher: TeacherNotebook) -> Iterator[Placed]:
    """The cells of a problem set where there is no submission."""
    for each in teacher.cells:
        yield Placed(Cell(each.kind, each.source, each.name, each.id, each.tags), each)


def _metadata(placed: Placed) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if placed.cell.tags:
        data["tags"] = list(dict.fromkeys(placed.cell.tags))
    teacher = placed.teacher
    if teacher:
        data["deletable"] = False
        if teacher.locked:
            data["editable"] = False
        data["nbgrader"] = {
            "cell_type": teacher.kind,
            "checksum": teacher.checksum,
            "grade": teacher.grade,
            "grade_id": teacher.name,
            "locked": teacher.locked,
            "schema_version": 3,
            "solution": teacher.solution,
            "task": teacher.task,
        }
        if teacher.points is not None:
            data["nbgrader"]["points"] = teacher.points
    return data


def _outputs(outputs: Iterable[dict[str, Any]], most_lines: int, most_frames: int) -> Iterator[dict[str, Any]]:
    """The outputs that are of a known form, with what is too long cut off."""
    lines, left = most_lines if most_lines >= 0 else MOST_OUTPUT, MOST_OUTPUT
    for output in outputs:
        match output:
            case {"output_type": "stream", "name": "stdout" | "stderr" as name, "text": str(text)}:
                if lines <= 0 or left <= 0:
                    continue
                shown = _first_lines(text, lines, left)
                lines, left = lines - shown.count("\n") - 1, left - len(shown)
                yield {"name": name, "output_type": "stream", "text": writable(shown).splitlines(keepends=True)}
            case {"output_type": "error", "ename": str(name), "evalue": str(value), "traceback": list(frames)}:
                frames = [str(frame)[:20_000] for frame in frames]
                if 0 <= most_frames < len(frames):
                    first = most_frames // 2
                    last = max(most_frames - first - 1, 1)
                    frames = [*frames[:first], "... Traceback truncated ...", *frames[-last:]]
                yield {
                    "ename": writable(name[:500]),
                    "evalue": writable(value[:20_000]),
                    "output_type": "error",
                    "traceback": [writable(frame) for frame in frames],
                }
            case {"output_type": "display_data" | "execute_result" as kind, "data": dict(data)}:
                kept = {
                    writable(mime): writable(content)
                    for mime, content in data.items()
                    if isinstance(mime, str) and isinstance(content, str) and re.fullmatch(r"[\w.+-]+/[\w.+-]+", mime)
                }
                size = sum(map(len, kept.values()))
                if size > left:
                    kept, size = {"text/plain": "... Output left out: it is too long ..."}, 50
                left -= size
                shown_data: dict[str, Any] = {"data": kept, "metadata": {}, "output_type": kind}
                if kind == "execute_result":
                    shown_data["execution_count"] = None
                if kept:
                    yield shown_data


def _first_lines(text: str, lines: int, characters: int) -> str:
    """The first lines of a text, cut as nbgrader cuts them."""
    parts = text.split("\n")
    if len(parts) > lines:
        text = "\n".join([*parts[: lines - 1], "... Output truncated ..."])
    if len(text) > characters:
        text = f"{text[:characters]}\n... Output truncated ..."
    return text


def write_folder(folder: Path, files: dict[Path, bytes], mode: int, *, shared: bool = False) -> Path:
    """Write files into a new folder beside one that they will replace.

    Parameters
    ----------
    folder : Path
        The one to replace.
    files : dict
        Contents by path in the folder.
    mode : int
        Permissions of the files.
    shared : bool
        Whether the group may write, as with nbgrader's ``groupshared``.

    Returns
    -------
    Path
        The new folder, for `put_in_place`. Its name begins with a dot, so that nbgrader does not see it.
    """
    new = folder.with_name(f".{folder.name}.new")
    if new.exists():  # of a run that was killed
        shutil.rmtree(new)
    new.mkdir(parents=True)
    for name, content in files.items():
        path = new / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(mode)
    if shared:
        for each in (folder.parent, new, *(path for path in new.rglob("*") if path.is_dir())):
            each.chmod((each.stat().st_mode | 0o2770) & 0o2777)
    return new


def put_in_place(new: Path, folder: Path) -> None:
    """Replace a folder by a new one; the old one stays beside it until `clean_up`."""
    old = folder.with_name(f".{folder.name}.old")
    if old.exists():
        shutil.rmtree(old)
    if folder.exists():
        os.rename(folder, old)
    os.rename(new, folder)


def clean_up(folder: Path) -> None:
    """Remove what `put_in_place` left, when all that belongs to the new folder is written."""
    shutil.rmtree(folder.with_name(f".{folder.name}.old"), ignore_errors=True)


def is_unfinished(folder: Path) -> bool:
    """Whether a run was killed while it replaced the folder."""
    return any(folder.with_name(f".{folder.name}.{what}").exists() for what in ("new", "old"))


def as_bytes(notebook: dict[str, Any]) -> bytes:
    """A notebook as Jupyter writes it."""
    return (json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()
