"""Write what came out of a submission as ``nbgrader autograde`` does: the gradebook and the graded notebook.

nbgrader's own functions look every cell up by name in seven tables and commit after each, which takes longer than
grading. Here the rows of a submission are written into nbgrader's tables in one transaction. A table of ours,
``autograder_outcome``, holds what nbgrader has no place for: status, sentence, and the fingerprint of what was graded.
"""

import datetime
import hashlib
import html
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa
from nbgrader import api
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy.engine import Connection, make_url

from autograder.assemble import Placed, TeacherCell, TeacherNotebook
from autograder.autograded import as_bytes, autograded_notebook, clean_up, is_unfinished, put_in_place, write_folder
from autograder.course import Course, CourseError, Submission
from autograder.outcome import CellOutcome, NotebookOutcome, Outcome
from autograder.reading import UnreadableError, read_file, read_notebook

#: Seconds to wait while another program, such as formgrader, writes to the gradebook.
PATIENCE = 60
NO_RESPONSE = "No response."  # nbgrader's words

#: One row for each graded submission. The id is that of nbgrader's row, so a submission that is removed there and
#: comes again is a new one. No foreign key: nbgrader must be able to remove its row.
OUTCOMES = sa.Table(
    "autograder_outcome",
    sa.MetaData(),
    sa.Column("submission_id", sa.String(32), primary_key=True),
    sa.Column("status", sa.String(32), nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("fingerprint", sa.String(64), nullable=False),
    sa.Column("finished", sa.DateTime, nullable=False),
)

STUDENT, ASSIGNMENT, NOTEBOOK = api.Student.__table__, api.Assignment.__table__, api.Notebook.__table__
BASE_CELL, GRADE_CELL, TASK_CELL = api.BaseCell.__table__, api.GradeCell.__table__, api.TaskCell.__table__
SOLUTION_CELL, SOURCE_CELL = api.SolutionCell.__table__, api.SourceCell.__table__
SUBMISSION, SUBMITTED = api.SubmittedAssignment.__table__, api.SubmittedNotebook.__table__
GRADE, COMMENT = api.Grade.__table__, api.Comment.__table__


class _Known(NamedTuple):
    """What the gradebook holds of a notebook of a problem set: ids of rows, the cells, and a digest of them."""

    id: str
    grades: dict[str, str]
    comments: dict[str, str]
    teacher: TeacherNotebook
    content: str


class Standing(NamedTuple):
    """What came of a submission, and the points that it has by now, with those that a person gave."""

    student: str
    status: str
    note: str
    points: float


def status_now(status: str, waits: bool) -> str:
    """A submission's status, when a person may have seen to it since.

    Parameters
    ----------
    status : str
        What `autograder.grade` gave it.
    waits : bool
        Whether the gradebook has a cell of it that waits for a person.
    """
    return "graded" if status == "needs a person" and not waits else status


class Gradebook:
    """The gradebook of a course, and its folder ``autograded``.

    Parameters
    ----------
    course : Course

    Raises
    ------
    CourseError
        If the course has no gradebook yet.
    """

    def __init__(self, course: Course) -> None:
        self._course = course
        url = make_url(course.directory.db_url)
        sqlite = url.get_backend_name() == "sqlite"
        if sqlite and not (url.database and Path(url.database).exists()):
            raise CourseError(f"There is no gradebook {url.database}. {_HOW}")
        # SQLite waits for a writer, and isolation_level None leaves it to us to begin a transaction
        arguments = {"timeout": PATIENCE, "isolation_level": None} if sqlite else {}
        self._begin = "BEGIN IMMEDIATE" if sqlite else ""
        self._engine = sa.create_engine(url, connect_args=arguments)
        if not sa.inspect(self._engine).has_table(ASSIGNMENT.name):
            raise CourseError(f"The gradebook {url.render_as_string()} is empty. {_HOW}")
        if sqlite:
            self._journal("WAL")
        with self._transaction() as connection:
            OUTCOMES.metadata.create_all(connection)
        self._known: dict[str, tuple[Any, dict[str, _Known]]] = {}
        self._fingerprints: dict[str, dict[str, str]] = {}
        penalties = AssignLatePenalties(parent=course.application)
        penalties.init_plugin()
        self._late = penalties.plugin_inst

    def close(self) -> None:
        """Leave the gradebook in one file, as it was."""
        if self._begin:
            self._journal("DELETE")
        self._engine.dispose()

    def _journal(self, mode: str) -> None:
        """Choose how SQLite keeps a transaction whole.

        As nbgrader uses it, SQLite waits for the disk several times in each transaction, 20 ms on a laptop. With a
        log that is written ahead it need not: a run that is killed loses nothing, a power cut at worst the last
        submissions, which are then graded again.
        """
        with self._engine.connect() as connection, suppress(sa.exc.OperationalError):  # in use, or a network's disk
            connection.exec_driver_sql(f"PRAGMA journal_mode={mode}")
            connection.exec_driver_sql("PRAGMA synchronous=NORMAL")

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with self._engine.connect() as connection:
            if self._begin:
                connection.exec_driver_sql(self._begin)
            try:
                yield connection
                connection.commit()
            except BaseException:
                connection.rollback()
                raise

    def notebooks(self, problem_set: str) -> dict[str, TeacherNotebook]:
        """The notebooks of a problem set as they were released, by name.

        Raises
        ------
        CourseError
            If the gradebook does not know the problem set.
        """
        return {name: known.teacher for name, known in self._problem_set(problem_set)[1].items()}

    def _problem_set(self, name: str) -> tuple[Any, dict[str, _Known]]:
        """The row of a problem set, and its notebooks."""
        if name not in self._known:
            with self._engine.connect() as connection:
                row = connection.execute(sa.select(ASSIGNMENT).where(ASSIGNMENT.c.name == name)).one_or_none()
                if row is None:
                    known = connection.execute(sa.select(ASSIGNMENT.c.name).order_by(ASSIGNMENT.c.name)).scalars().all()
                    others = f", but {', '.join(known)}" if known else ""
                    raise CourseError(f"The gradebook knows no problem set {name!r}{others}. {_HOW}")
                found = connection.execute(
                    sa.select(NOTEBOOK).where(NOTEBOOK.c.assignment_id == row.id).order_by(NOTEBOOK.c.name)
                ).all()
                if not found:
                    raise CourseError(f"The gradebook knows no notebook of problem set {name!r}. {_HOW}")
                self._known[name] = row, {each.name: self._read(connection, name, each) for each in found}
        return self._known[name]

    def _read(self, connection: Connection, problem_set: str, notebook: Any) -> _Known:
        """Read the marked cells of a notebook; their order, ids and tags come from its source."""

        def cells(table: sa.Table) -> dict[str, Any]:
            rows = connection.execute(
                sa.select(BASE_CELL.c.name, table)
                .join_from(BASE_CELL, table, BASE_CELL.c.id == table.c.id)
                .where(BASE_CELL.c.notebook_id == notebook.id)
            )
            return {each.name: each for each in rows}

        graded, written, tasks = cells(GRADE_CELL), cells(SOLUTION_CELL), cells(TASK_CELL)
        try:
            path = self._course.path("source", ".", problem_set) / f"{notebook.name}.ipynb"
            source = {cell.grade_id: cell for cell in read_notebook(read_file(path, follow_links=True)).cells}
        except (UnreadableError, FileNotFoundError):
            source = {}
        order = {name: n for n, name in enumerate(source)}
        rows = connection.execute(sa.select(SOURCE_CELL).where(SOURCE_CELL.c.notebook_id == notebook.id)).all()
        teacher = []
        for row in sorted(rows, key=lambda each: order.get(each.name, -1)):
            points = graded.get(row.name) or tasks.get(row.name)
            own = source.get(row.name)
            teacher.append(
                TeacherCell(
                    row.name,
                    row.cell_type,
                    row.source or "",
                    row.checksum,
                    row.locked,
                    grade=row.name in graded,
                    solution=row.name in written,
                    task=row.name in tasks,
                    points=points.max_score if points else None,
                    id=own.id if own else "",
                    tags=own.tags if own else (),
                )
            )
        kernel = json.loads(notebook.kernelspec or "null") or {"name": "python3", "display_name": "Python 3"}
        # The gradebook's cells have the points, the source's have the solutions.
        texts = [(cell.name, cell.source, cell.points) for cell in teacher]
        texts += [(name, cell.source, None) for name, cell in source.items()]
        return _Known(
            notebook.id,
            {name: row.id for name, row in {**graded, **tasks}.items()},
            {name: row.id for name, row in {**written, **tasks}.items()},
            TeacherNotebook(notebook.name, tuple(teacher), kernel),
            hashlib.sha256(repr(texts).encode()).hexdigest(),
        )

    def most(self, problem_set: str) -> float:
        """The points that a problem set has."""
        return sum(cell.points or 0.0 for each in self.notebooks(problem_set).values() for cell in each.cells)

    def outcomes(self, problem_set: str) -> list[Standing]:
        """What came of the submissions of a problem set that the autograder graded, by student."""
        given = sa.func.coalesce(GRADE.c.manual_score, GRADE.c.auto_score, 0.0)
        query = (
            sa.select(
                SUBMISSION.c.student_id,
                OUTCOMES.c.status,
                OUTCOMES.c.note,
                sa.func.coalesce(sa.func.sum(given + sa.func.coalesce(GRADE.c.extra_credit, 0.0)), 0.0).label("points"),
                sa.func.max(sa.cast(GRADE.c.needs_manual_grade, sa.Integer)).label("waits"),
            )
            .join_from(OUTCOMES, SUBMISSION, OUTCOMES.c.submission_id == SUBMISSION.c.id)
            .outerjoin(SUBMITTED, SUBMITTED.c.assignment_id == SUBMISSION.c.id)
            .outerjoin(GRADE, GRADE.c.notebook_id == SUBMITTED.c.id)
            .where(SUBMISSION.c.assignment_id == self._problem_set(problem_set)[0].id)
            .group_by(SUBMISSION.c.student_id, OUTCOMES.c.status, OUTCOMES.c.note)
            .order_by(SUBMISSION.c.student_id)
        )
        with self._engine.connect() as connection:
            return [
                Standing(row.student_id, status_now(row.status, bool(row.waits)), row.note, row.points)
                for row in connection.execute(query)
            ]

    def _fingerprint(self, submission: Submission) -> str:
        """Another one means that something else was handed in, or that the problem set is another one."""
        cells = [self._problem_set(submission.problem_set)[1][each.name].content for each in submission.notebooks]
        return hashlib.sha256("\n".join([submission.fingerprint, *cells]).encode()).hexdigest()

    def is_graded(self, submission: Submission) -> bool:
        """Whether what was handed in is graded already, by the checks of today, and the graded notebooks are there."""
        if submission.problem_set not in self._fingerprints:
            query = (
                sa.select(SUBMISSION.c.student_id, OUTCOMES.c.fingerprint)
                .join_from(OUTCOMES, SUBMISSION, OUTCOMES.c.submission_id == SUBMISSION.c.id)
                .where(SUBMISSION.c.assignment_id == self._problem_set(submission.problem_set)[0].id)
            )
            with self._engine.connect() as connection:
                self._fingerprints[submission.problem_set] = {
                    row.student_id: row.fingerprint for row in connection.execute(query)
                }
        folder = self._course.path("autograded", submission.student, submission.problem_set)
        return (
            self._fingerprints[submission.problem_set].get(submission.student) == self._fingerprint(submission)
            and all((folder / f"{name}.ipynb").is_file() for name in self.notebooks(submission.problem_set))
            and not is_unfinished(folder)
        )

    def save(self, outcome: Outcome, submission: Submission) -> None:
        """Write the graded notebooks and the rows of a submission.

        All rows are written in one transaction, and the folder is put in its place before it is committed. Whoever is
        killed on the way leaves the gradebook as it was and a folder beside it that says so: the submission is graded
        again in the next run.

        Parameters
        ----------
        outcome : Outcome
        submission : Submission
            What it is the outcome of.

        Raises
        ------
        CourseError
            If the student may not be added, or the course's plugin for late submissions fails.
        """
        if self._has_points_by_hand(outcome):
            note = f"{outcome.note} Points that a person gave before were kept: look at them again.".strip()
            outcome = replace(
                outcome, note=note, status="needs a person" if outcome.status == "graded" else outcome.status
            )
        folder = self._course.path("autograded", outcome.student, outcome.problem_set)
        new = write_folder(folder, self._files(outcome, submission), self._mode, shared=self._shared)
        with self._transaction() as connection:
            self._write_rows(connection, outcome, submission)
            put_in_place(new, folder)
        clean_up(folder)
        self._fingerprints.setdefault(outcome.problem_set, {})[outcome.student] = self._fingerprint(submission)

    def _has_points_by_hand(self, outcome: Outcome) -> bool:
        """Whether a person gave points to a cell that has a check; a task has no others."""
        query = (
            sa.select(GRADE.c.id)
            .join(SUBMITTED, SUBMITTED.c.id == GRADE.c.notebook_id)
            .join(SUBMISSION, SUBMISSION.c.id == SUBMITTED.c.assignment_id)
            .where(
                SUBMISSION.c.assignment_id == self._problem_set(outcome.problem_set)[0].id,
                SUBMISSION.c.student_id == outcome.student,
                GRADE.c.manual_score.is_not(None),
                GRADE.c.cell_id.in_(self._checks(outcome.problem_set)),
            )
        )
        with self._engine.connect() as connection:
            return connection.execute(query).first() is not None

    def _checks(self, problem_set: str) -> list[str]:
        """The ids of the cells whose points a check gives."""
        return [
            known.grades[cell.name]
            for known in self._problem_set(problem_set)[1].values()
            for cell in known.teacher.cells
            if cell.is_check
        ]

    @property
    def _shared(self) -> bool:
        return bool(self._course.directory.groupshared)

    @property
    def _mode(self) -> int:
        default = 664 if self._shared else 444
        return int(str(self._course.setting("permissions", "Autograde", "BaseConverter", default=default)), 8)

    def _files(self, outcome: Outcome, submission: Submission) -> dict[Path, bytes]:
        """What goes into the folder: files that were handed in, the teacher's over them, and the graded notebooks."""
        source = self._course.path("source", ".", outcome.problem_set)
        excluded = self._course.setting("exclude_overwriting", "Autograde", default={}).get(outcome.problem_set, [])
        files = {path: content for path, content in self._course.other_files(source) if str(path) not in excluded}
        most_lines = self._course.setting("max_lines", "LimitOutput", default=1000)
        most_frames = self._course.setting("max_traceback", "LimitOutput", default=100)
        note = _for_a_page(outcome.note)
        for name, teacher in self.notebooks(outcome.problem_set).items():
            did = outcome.notebooks.get(name, NotebookOutcome())
            files[Path(f"{name}.ipynb")] = as_bytes(autograded_notebook(teacher, did, note, most_lines, most_frames))
        # A student's file gives way where it would be a folder of ours, or one of its folders a file of ours.
        folders = {folder for path in files for folder in path.parents}
        folder = submission.folder
        handed_in = () if self._course.no_folder(folder) else self._course.other_files(folder)
        for path, content in handed_in:
            if path == Path("timestamp.txt") and submission.timestamp is None:
                continue  # it says no time, and nbgrader's feedback would stop at it
            if path not in folders and files.keys().isdisjoint((path, *path.parents)):
                files[path] = content
        return files

    def _write_rows(self, connection: Connection, outcome: Outcome, submission: Submission) -> None:
        assignment, notebooks = self._problem_set(outcome.problem_set)
        self._add_student(connection, outcome.student)
        row = self._submission(connection, assignment.id, outcome.student, submission.timestamp)
        late = _seconds_late(row.timestamp, assignment.duedate, row.extension)
        there = sa.select(SUBMITTED).where(SUBMITTED.c.assignment_id == row.id)
        submitted = {each.notebook_id: each for each in connection.execute(there)}
        for name, known in notebooks.items():
            did = outcome.notebooks.get(name)
            first = submitted.get(known.id)
            new_id = first.id if first else api.new_uuid()
            if not first:
                values = {"id": new_id, "notebook_id": known.id, "assignment_id": row.id, "flagged": False}
                connection.execute(sa.insert(SUBMITTED).values(values))
            score = _write_grades(connection, known, new_id, did, outcome.status)
            _write_comments(connection, known, new_id, did, outcome.note)
            penalty = self._penalty(outcome.student, score, late)
            if penalty is not None or (first and first.late_submission_penalty is not None):
                changed = sa.update(SUBMITTED).where(SUBMITTED.c.id == new_id)
                connection.execute(changed.values(late_submission_penalty=penalty))
        connection.execute(sa.delete(OUTCOMES).where(OUTCOMES.c.submission_id == row.id))
        connection.execute(
            sa.insert(OUTCOMES).values(
                submission_id=row.id,
                status=outcome.status,
                note=outcome.note,
                fingerprint=self._fingerprint(submission),
                finished=datetime.datetime.now(datetime.UTC).replace(tzinfo=None),
            )
        )

    def _add_student(self, connection: Connection, student: str) -> None:
        if connection.execute(sa.select(STUDENT.c.id).where(STUDENT.c.id == student)).one_or_none():
            return
        if not self._course.setting("create_student", "Autograde", default=True):
            raise CourseError(f"The gradebook knows no student {student!r}, and the settings forbid to add one.")
        connection.execute(sa.insert(STUDENT).values(id=student))

    def _submission(
        self, connection: Connection, assignment: str, student: str, timestamp: datetime.datetime | None
    ) -> Any:
        query = sa.select(SUBMISSION).where(
            SUBMISSION.c.assignment_id == assignment, SUBMISSION.c.student_id == student
        )
        row = connection.execute(query).one_or_none()
        if row is None:
            values = {"id": api.new_uuid(), "assignment_id": assignment, "student_id": student, "timestamp": timestamp}
            connection.execute(sa.insert(SUBMISSION).values(values))
        elif timestamp is not None and row.timestamp != timestamp:  # one that is known is kept, as nbgrader does
            changed = sa.update(SUBMISSION).where(SUBMISSION.c.id == row.id)
            connection.execute(changed.values(timestamp=timestamp))
        else:
            return row
        return connection.execute(query).one()

    def _penalty(self, student: str, score: float, seconds_late: float) -> float | None:
        if seconds_late <= 0:
            return None
        try:
            penalty = self._late.late_submission_penalty(student, score, seconds_late)
            return None if penalty is None else min(max(float(penalty), 0.0), score)
        except Exception as error:
            raise CourseError(f"The course's plugin for late submissions failed: {error}") from error


_HOW = "Make the problem sets first, with `make problem-sets` or `nbgrader generate_assignment`."


def _write_grades(
    connection: Connection, known: _Known, submitted: str, did: NotebookOutcome | None, status: str
) -> float:
    """Write the points of each cell and return their sum, in which a person's points go before ours."""
    rows = {each.cell_id: each for each in connection.execute(_of(GRADE, submitted))}
    done = {placed.teacher.name: (placed, own) for placed, own in did.cells if placed.teacher} if did else {}
    total, new, changed = 0.0, [], []
    for cell in known.teacher.cells:
        if not (cell.grade or cell.task):
            continue
        row = rows.get(known.grades[cell.name])
        auto = _auto_score(cell, done.get(cell.name), status)
        manual = row.manual_score if row else None
        needs_person = manual is not None or auto is None or (not did and status != "graded")
        if status == "needs a person" and (auto or 0.0) < (cell.points or 0.0):
            needs_person = True
        if cell.task and row:  # a person's, and no one else's
            auto, needs_person = row.auto_score, row.needs_manual_grade
        given = manual if manual is not None else auto
        if given is not None:
            total += given + ((row.extra_credit or 0.0) if row else 0.0)
        values = {"auto_score": auto, "needs_manual_grade": needs_person}
        if row is None:
            cell_id = known.grades[cell.name]
            new.append({"id": api.new_uuid(), "cell_id": cell_id, "notebook_id": submitted, **values})
        elif (row.auto_score, row.needs_manual_grade) != (auto, needs_person):
            changed.append({"key": row.id, **values})
    _write(connection, GRADE, new, changed)
    return total


def _write_comments(
    connection: Connection, known: _Known, submitted: str, did: NotebookOutcome | None, note: str
) -> None:
    rows = {each.cell_id: each for each in connection.execute(_of(COMMENT, submitted))}
    comments = _comments(known.teacher, did, note)
    new, changed = [], []
    for name, cell_id in known.comments.items():
        auto = comments.get(name)
        row = rows.get(cell_id)
        if row is None:
            new.append({"id": api.new_uuid(), "cell_id": cell_id, "notebook_id": submitted, "auto_comment": auto})
        elif row.auto_comment != auto:
            changed.append({"key": row.id, "auto_comment": auto})
    _write(connection, COMMENT, new, changed)


def _of(table: sa.Table, submitted: str) -> sa.Select:
    return sa.select(table).where(table.c.notebook_id == submitted)


def _write(connection: Connection, table: sa.Table, new: list[dict[str, Any]], changed: list[dict[str, Any]]) -> None:
    if new:
        connection.execute(sa.insert(table), new)
    if changed:
        connection.execute(sa.update(table).where(table.c.id == sa.bindparam("key")), changed)


def _seconds_late(
    timestamp: datetime.datetime | None, due: datetime.datetime | None, extension: datetime.timedelta | None
) -> float:
    if timestamp is None or due is None:
        return 0.0
    return max(0.0, (timestamp - due - (extension or datetime.timedelta())).total_seconds())


def _auto_score(cell: TeacherCell, done: tuple[Placed, CellOutcome] | None, status: str) -> float | None:
    """The points of a cell; None where a person has to give them."""
    if done is None:  # no notebook, or none that could be read
        return None if status == "needs a person" or cell.task else 0.0
    placed, did = done
    if cell.is_check:
        return did.score
    if cell.solution and is_untouched(placed):
        return 0.0
    return None


def is_untouched(placed: Placed) -> bool:
    """Whether a cell to write in is as it was handed out, or was not handed in."""
    teacher = placed.teacher
    if teacher is None or not teacher.solution:
        return False
    return placed.put_back or teacher.checksum == _checksum(placed.cell.source, teacher)


@cache
def _marks(cell: TeacherCell) -> bytes:
    """What nbgrader's checksum has of a cell besides its text."""
    locked = not cell.solution and (cell.grade or cell.locked)
    flags = "".join(str(flag) for flag in (cell.grade, cell.solution, locked))
    return (cell.kind + flags + cell.name + (str(float(cell.points or 0)) if cell.grade else "")).encode()


def _checksum(source: str, cell: TeacherCell) -> str:
    """Nbgrader's checksum of a cell (nbgrader.utils.compute_checksum)."""
    return hashlib.md5(source.encode() + _marks(cell), usedforsecurity=False).hexdigest()


def _comments(teacher: TeacherNotebook, did: NotebookOutcome | None, note: str) -> dict[str, str]:
    """The comment on each cell that can have one.

    nbgrader keeps comments on cells to write in and on tasks. A sentence about another cell goes to the one before it,
    and a sentence about the submission to the first.
    """
    places = [cell.name for cell in teacher.cells if cell.solution or cell.task]
    sentences: dict[str, list[str]] = {name: [] for name in places}
    if not places:
        return {}
    if note:
        sentences[places[0]].append(note)
    here = places[0]
    for placed, own in did.cells if did else ():
        if placed.teacher and placed.teacher.name in sentences:
            here = placed.teacher.name
            if is_untouched(placed):
                sentences[here].insert(0, NO_RESPONSE)
        if own.note and not (here == places[0] and own.note in note):
            sentences[here].append(own.note)
    return {name: _for_a_page(" ".join(dict.fromkeys(own))) for name, own in sentences.items() if own}


def _for_a_page(note: str) -> str:
    """A sentence that may quote a student, for a page that shows comments as Markdown with HTML in it."""
    return html.escape(" ".join(note.split())[:2000], quote=False)
