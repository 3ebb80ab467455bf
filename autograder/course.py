"""An nbgrader course on disk: its settings, its folders, and what was handed in.

Settings are read by nbgrader itself, so a teacher's ``nbgrader_config.py`` holds. Folders are listed and never matched
with patterns, so a student's id may hold any character.
"""

import datetime
import fnmatch
import hashlib
import json
import logging
import os
import re
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from autograder.reading import MOST_BYTES, UnreadableError, read_file

#: Other files of a submission that are kept with the graded notebook: so many, and so many bytes in all.
MOST_FILES, MOST_BYTES_OF_FILES = 200, 50 * 2**20
CONTROL = re.compile(r"[\0-\x1f\x7f-\x9f]")
_STRUCTURE = str(Path("{nbgrader_step}", "{student_id}", "{assignment_id}"))
#: A folder of a submission is looked into so deep.
DEEPEST = 5


class CourseError(Exception):
    """The course cannot be used as it is; the text says why, and what to do."""


@dataclass(frozen=True)
class HandedIn:
    """One notebook of a submission, or why there is none.

    Attributes
    ----------
    name : str
        As the problem set calls it, without ``.ipynb``.
    content : bytes or None
    note : str
        What is unusual, a sentence; empty if nothing is.
    reason : str
        Why ``content`` is None, a sentence.
    ambiguous : bool
        Whether it is None because only a person can say which file is meant.
    """

    name: str
    content: bytes | None = None
    note: str = ""
    reason: str = ""
    ambiguous: bool = False


@dataclass(frozen=True)
class Submission:
    """What a student handed in for a problem set, as it was when it was read.

    Attributes
    ----------
    student, problem_set : str
    folder : Path
    notebooks : tuple of HandedIn
        One for each notebook of the problem set.
    timestamp : datetime or None
        When it was handed in, in UTC without a time zone as nbgrader has it; None where ``timestamp.txt`` does not say.
    notes : tuple of str
        What is unusual about the folder.
    fingerprint : str
        Another one means that something else was handed in.
    """

    student: str
    problem_set: str
    folder: Path
    notebooks: tuple[HandedIn, ...]
    timestamp: datetime.datetime | None
    notes: tuple[str, ...]
    fingerprint: str


class Course:
    """An nbgrader course.

    Parameters
    ----------
    root : Path
        The folder with ``nbgrader_config.py``.

    Raises
    ------
    CourseError
        If there is no such folder, or its settings cannot be read.
    """

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise CourseError(f"There is no folder {root}.")
        if not any((root / name).exists() for name in ("nbgrader_config.py", "nbgrader_config.json", "gradebook.db")):
            raise CourseError(
                f"There is no course in {root.resolve()}: it has no nbgrader_config.py. Go to the course's folder, or "
                "name it, as in `autograder grade --course autograder`."
            )
        from nbgrader.apps.baseapp import NbGrader  # takes a second, and processes that run checks need none of it

        path = sys.path.copy()
        try:
            with chdir(root):  # as when nbgrader's commands are typed there
                self.application = NbGrader(raise_config_file_errors=True, log_level=logging.ERROR)
                self.application.initialize([], root=str(root.resolve()))
        except (Exception, SystemExit) as error:
            raise CourseError(f"The settings of the course in {root} cannot be read: {error}") from error
        finally:
            # nbgrader puts the folder first, where its files would hide Python's own modules
            sys.path[:] = [*path, str(root.resolve())]
        self.directory = self.application.coursedir
        self.root = Path(self.directory.root)

    def setting(self, trait: str, *classes: str, default: Any) -> Any:
        """A setting of ``nbgrader_config.py`` that belongs to one of these classes, the first that has it."""
        for name in classes:
            if trait in self.application.config[name]:
                return self.application.config[name][trait]
        return default

    @cached_property
    def cell_limit(self) -> float | None:
        """Seconds that a cell may run, as nbgrader reads it; None for no limit."""
        seconds = self.setting("timeout", "Execute", "ExecutePreprocessor", default=30)
        return None if seconds is None or seconds < 0 else float(seconds)

    def path(self, step: str, student: str = ".", problem_set: str = ".") -> Path:
        """The folder of a step: ``"source"``, ``"submitted"``, ``"autograded"``, ``"feedback"``."""
        name = getattr(self.directory, f"{step}_directory")
        return Path(self.directory.format_path(name, student, problem_set))

    @property
    def problem_sets(self) -> list[str]:
        """Names of the problem sets that have a source."""
        folder = self.path("source", ".", "x").parent
        if not folder.is_dir():
            return []
        return sorted(each.name for each in folder.iterdir() if each.is_dir() and not each.name.startswith("."))

    @contextmanager
    def lock(self, wait: float = 0) -> Iterator[None]:
        """Keep other runs out of this course.

        Parameters
        ----------
        wait : float
            Seconds to wait for another run to end; negative for as long as it takes.

        Raises
        ------
        CourseError
            If another run has not ended by then.
        """
        lock = FileLock(self.root / ".autograder.lock")
        try:
            lock.acquire(timeout=wait)
        except Timeout:
            raise CourseError(
                f"Another run of the autograder is grading the course in {self.root}. Wait until it has ended."
            ) from None
        try:
            yield
        finally:
            lock.release()

    def students(self, problem_set: str) -> Iterator[tuple[str, Path]]:
        """The students who have a folder for the problem set, in order, each with that folder."""
        structure = Path(self.directory.directory_structure).parts
        excluded = {name.strip() for name in self.directory.student_id_exclude.split(",")} - {""}
        found: dict[str, Path] = {}

        def look(folder: Path, parts: tuple[str, ...], student: str) -> None:
            if not parts:
                found[student] = folder
                return
            names = {"nbgrader_step": self.directory.submitted_directory, "assignment_id": problem_set}
            if "{student_id}" not in parts[0]:
                part = parts[0].format(**names)
                if os.path.lexists(folder / part):
                    look(folder / part, parts[1:], student)
                return
            before, after = (each.format(**names) for each in parts[0].split("{student_id}", 1))
            for entry in os.scandir(folder) if folder.is_dir() else ():
                match = re.fullmatch(f"{re.escape(before)}(.+){re.escape(after)}", entry.name, re.DOTALL)
                if match and not entry.name.startswith(".") and entry.is_dir():
                    # A name that is not UTF-8 cannot be stored, and at one with an end of line nbgrader stops: odd
                    # bytes and control characters become \xNN.
                    name = os.fsencode(match[1]).decode("utf-8", "backslashreplace")
                    look(Path(entry.path), parts[1:], CONTROL.sub(lambda sign: f"\\x{ord(sign[0]):02x}", name))

        look(self.root, structure, "")
        return iter(sorted((student, path) for student, path in found.items() if student not in excluded))

    def misplaced(self) -> str:
        """Say what lies in the folder of submissions where nothing is looked for; empty if all is in place.

        Only where that folder has a folder for each student, and that one for each problem set, as nbgrader has it
        unless it is told otherwise.
        """
        top = self.root / self.directory.submitted_directory
        if self.directory.directory_structure != _STRUCTURE or not top.is_dir():
            return ""
        known, found = set(self.problem_sets), []
        for entry in sorted(os.scandir(top), key=lambda each: each.name):
            if entry.name.startswith("."):
                continue
            inside = [Path(entry.path)]
            if entry.is_dir():
                with suppress(OSError):  # one that may not be read is not looked at, either
                    inside = sorted(Path(entry.path).iterdir())
            found += [path for path in inside if path.name not in known and not path.name.startswith(".")]
        if not found:
            return ""
        names = ", ".join(shown(str(path.relative_to(self.root))) for path in found[:10])
        more = f" and {len(found) - 10} more" if len(found) > 10 else ""
        place = f"{self.directory.submitted_directory}/STUDENT/{next(iter(sorted(known)), 'ps1')}/"
        return f"Not looked at, since submissions are looked for in folders such as {place}: {names}{more}."

    def read(self, student: str, problem_set: str, folder: Path, names: list[str]) -> Submission:
        """Read what a student handed in.

        Parameters
        ----------
        student, problem_set : str
        folder : Path
            As `students` gives it.
        names : list of str
            The notebooks of the problem set.

        Returns
        -------
        Submission
            Nothing is raised for what a student did: it says there what is wrong.
        """
        digest = hashlib.sha256()
        notes: list[str] = []
        timestamp = None
        reason = self.no_folder(folder)
        if reason:
            notebooks = [HandedIn(name, reason=reason, ambiguous=True) for name in names]
        else:
            notebooks = list(self._notebooks(folder, names))
            timestamp, text = _timestamp(folder, notes)
            digest.update(text)
        for each in notebooks:
            digest.update(json.dumps([each.name, each.note, each.reason]).encode())
            digest.update(hashlib.sha256(each.content or b"").digest())
        return Submission(student, problem_set, folder, tuple(notebooks), timestamp, tuple(notes), digest.hexdigest())

    def no_folder(self, folder: Path) -> str:
        """Why this is no folder of a submission that can be read; empty if it is one."""
        inside = [folder, *folder.parents]
        inside = inside[: inside.index(self.root)] if self.root in inside else inside[:1]
        for each in inside[:-1] or inside:  # the folder of all submissions may be a link: it is the teacher's
            if each.is_symlink():
                return f"{shown(each.name)} is a link, and links are not followed."
        if not folder.is_dir():
            return f"{shown(folder.name)} is not a folder."
        try:
            os.scandir(folder).close()
        except OSError as error:
            return f"{shown(folder.name)} cannot be read: {error.strerror}."
        return ""

    def _notebooks(self, folder: Path, names: list[str]) -> Iterator[HandedIn]:
        """Find the file of each notebook: by its name, or, if one is missing and one too many, that one."""
        at_top = {entry.name: Path(entry.path) for entry in os.scandir(folder) if _is_notebook(entry.name)}
        missing = [name for name in names if f"{name}.ipynb" not in at_top]
        others = [path for file, path in sorted(at_top.items()) if file.removesuffix(".ipynb") not in names]
        if missing and not others:
            others = [path for path in self._files(folder) if _is_notebook(path.name) and path.parent != folder]
        for name in names:
            expected = f"{name}.ipynb"
            if name not in missing:
                yield _read(name, at_top[expected], note="")
            elif len(missing) == len(others) == 1:
                found = shown(str(others[0].relative_to(folder)))
                yield _read(name, others[0], note=f"It was handed in as {found}, not as {expected}.")
            elif others:
                found = ", ".join(shown(str(each.relative_to(folder))) for each in others[:5])
                more = f" and {len(others) - 5} more" if len(others) > 5 else ""
                reason = f"There is no {expected}, and it may be any of {found}{more}."
                yield HandedIn(name, reason=reason, ambiguous=True)
            else:
                known = {"timestamp.txt", *(f"{each}.ipynb" for each in names)}
                there = [shown(path.name) for path in self._files(folder) if path.name not in known][:5]
                reason = f"There is no {expected}{', but ' * bool(there)}{', '.join(there)}."
                yield HandedIn(name, reason=reason, ambiguous=len(missing) == len(names))

    def _files(self, folder: Path, deepest: int = DEEPEST) -> Iterator[Path]:
        """The regular files of a submission, but those that ``CourseDirectory.ignore`` names, in order."""
        try:
            entries = sorted(os.scandir(folder), key=lambda each: each.name)
        except OSError:  # we may not look into it
            return
        for entry in entries:
            if entry.name.startswith(".") or any(fnmatch.fnmatch(entry.name, each) for each in self.directory.ignore):
                continue
            if entry.is_file(follow_symlinks=False):
                yield Path(entry.path)
            elif entry.is_dir(follow_symlinks=False) and deepest:
                yield from self._files(Path(entry.path), deepest - 1)

    def other_files(self, folder: Path) -> Iterator[tuple[Path, bytes]]:
        """Files beside the notebooks, in a submission or in a source: path in the folder, and content.

        Links, pipes and files that are too long are left out, and all beyond `MOST_FILES` and `MOST_BYTES_OF_FILES`.
        """
        count = size = 0
        for path in self._files(folder) if folder.is_dir() else ():
            if _is_notebook(path.name):
                continue
            try:
                content = read_file(path)
            except (UnreadableError, FileNotFoundError):
                continue
            count, size = count + 1, size + len(content)
            if count > MOST_FILES or size > MOST_BYTES_OF_FILES:
                return
            yield path.relative_to(folder), content


def shown(name: str) -> str:
    """A name that a student gave a file, fit for a sentence: no control characters, no markup, not too long."""
    text = "".join(sign if sign.isprintable() and sign not in "<>&`$\\[]" else "?" for sign in name)
    return f"“{text[:80]}{'…' if len(text) > 80 else ''}”"


def _is_notebook(name: str) -> bool:
    return name.endswith(".ipynb") and not name.startswith(".")


def _read(name: str, path: Path, note: str) -> HandedIn:
    try:
        return HandedIn(name, read_file(path, most=MOST_BYTES), note)
    except UnreadableError as error:
        return HandedIn(name, note=note, reason=f"{shown(path.name)} {error}.")
    except FileNotFoundError:  # since the folder was listed
        return HandedIn(name, note=note, reason=f"{shown(path.name)} was there, and is gone.")


def _timestamp(folder: Path, notes: list[str]) -> tuple[datetime.datetime | None, bytes]:
    """What ``timestamp.txt`` says, as nbgrader reads it, and its bytes."""
    from nbgrader.utils import parse_utc

    try:
        data = read_file(folder / "timestamp.txt", most=1000)
    except FileNotFoundError:
        return None, b""
    except UnreadableError as error:
        notes.append(f"timestamp.txt {error}: it is not known when this was handed in.")
        return None, b""
    text = data.decode("utf-8", "replace").strip()
    if not text:
        return None, data
    try:
        return parse_utc(text), data
    except Exception:  # dateutil raises many kinds
        notes.append("timestamp.txt holds no time: it is not known when this was handed in.")
        return None, data
