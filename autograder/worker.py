"""What a process that grades does: it holds the checks and a fork server, and examines submissions that it is given."""

import multiprocessing
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.assemble import TeacherNotebook, assemble
from autograder.course import Submission
from autograder.examine import examine
from autograder.fork_server import ForkServer, Isolation
from autograder.outcome import CellOutcome, NotebookOutcome, Outcome, Status
from autograder.reading import UnreadableError, read_notebook
from autograder.session import Session
from autograder.student.jail import Limits
from autograder.student.wire import writable
from autograder.teacher import Teacher
from autograder.trace import fault

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

STATUSES: tuple[Status, ...] = ("graded", "crashed", "timed out", "could not be read", "needs a person")
#: Seconds that all notebooks of a submission may take together, for each notebook.
NOTEBOOK_LIMIT = 300.0
#: Bytes that a worker may take, mapped files included: what a submission answers may not take the computer's memory.
MEMORY = 8 << 30


@dataclass(frozen=True)
class Settings:
    """What every worker is given.

    Attributes
    ----------
    marked : dict
        The cells of each notebook as they were released.
    teachers : dict
        Each notebook as the teacher wrote it, with its tests.
    cell_limit : float
        Seconds that a cell may take.
    isolation : {"strict", "best-effort"}
    hidden : Path
        The course: no student's process sees it.
    """

    marked: dict[str, TeacherNotebook]
    teachers: dict[str, Teacher]
    cell_limit: float
    isolation: Isolation
    hidden: Path


_worker: "Worker"


def begin(settings: Settings) -> None:
    """Make this process a worker, which ends when the one that started it does."""
    global _worker
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if resource:
        highest = resource.getrlimit(resource.RLIMIT_AS)[1]
        most = MEMORY if highest == resource.RLIM_INFINITY else min(MEMORY, highest)
        resource.setrlimit(resource.RLIMIT_AS, (most, highest))
    _worker = Worker(settings)


def _end_with_parent() -> None:
    """Wait for the parent's end. Its fork server ends with this process, and the student's process with that."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def work(submission: Submission) -> Outcome:
    """Examine a submission in this process."""
    try:
        return _worker.outcome_of(submission)
    except Exception as error:  # a fault of this program; the others are to be graded nevertheless
        return Outcome(submission.student, submission.problem_set, "needs a person", writable(fault(error)[:500]))


class Worker:
    """What a worker keeps from one submission to the next."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        limits = Limits(cpu_seconds=int(NOTEBOOK_LIMIT))
        self.server = ForkServer(limits, isolation=settings.isolation, hidden=[settings.hidden])

    def outcome_of(self, submission: Submission) -> Outcome:
        """Examine all notebooks of a submission."""
        notebooks, notes, statuses = {}, list(submission.notes), set()
        for each in submission.notebooks:
            if each.content is None:
                notes.append(each.reason)
                statuses.add("needs a person" if each.ambiguous else "could not be read")
                continue
            notes += [each.note] if each.note else []
            try:
                notebook = read_notebook(each.content)
            except UnreadableError as error:
                notes.append(f"{each.name}.ipynb {error}. Opened and saved in JupyterLab, it may be handed in again.")
                statuses.add("could not be read")
                continue
            notebooks[each.name], status, told = self.examine(each.name, notebook)
            notes += [*notebook.notes, *told]
            statuses.add(status)
        worst: Status = next((each for each in reversed(STATUSES) if each in statuses), "graded")
        return Outcome(submission.student, submission.problem_set, worst, writable(" ".join(notes)[:5000]), notebooks)

    def examine(self, name: str, notebook: Any) -> tuple[NotebookOutcome, Status, list[str]]:
        """Run one notebook."""
        assembled = assemble(notebook, self.settings.marked[name])
        code = [n for n, placed in enumerate(assembled.cells) if placed.cell.kind == "code"]
        cells = [
            (placed.teacher.name if placed.teacher else "", placed.code)
            for placed in (assembled.cells[n] for n in code)
        ]
        with Session(Path(), self.settings.cell_limit, launch=self.server.start) as session:
            examination = examine(self.settings.teachers[name], cells, session, seconds=NOTEBOOK_LIMIT)
        did = dict(zip(code, examination.cells, strict=False))
        outcomes = tuple(
            (
                placed,
                CellOutcome(tuple(did[n].outputs), did[n].score, did[n].note) if n in did else CellOutcome(),
            )
            for n, placed in enumerate(assembled.cells)
        )
        notes = list(assembled.notes)
        status: Status = "graded"
        for number, cell in enumerate(examination.cells, 1):
            if cell.trouble or (cell.grade_id in self.settings.teachers[name].tests and cell.score is None):
                trouble: Any = cell.trouble or "needs a person"
                if STATUSES.index(trouble) > STATUSES.index(status):
                    status = trouble
                    notes.append(f"Code cell {number} ({cell.grade_id or 'one of their own'}): {cell.note}")
        lost = any(
            (cell.score or 0.0) < self.settings.teachers[name].tests[cell.grade_id].points
            for cell in examination.cells
            if cell.grade_id in self.settings.teachers[name].tests
        )
        if status == "graded" and lost and assembled.copies_differ:
            status = "needs a person"
            notes.append("The copies of a cell to write in differ, and another one may be meant.")
        if status == "graded" and lost and not any(cell.teacher and not cell.put_back for cell in assembled.cells):
            status = "needs a person"
            notes.insert(0, f"It holds no cell of {name}: it may be another notebook.")
        return NotebookOutcome(outcomes), status, notes
