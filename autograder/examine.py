"""Run a student's cells in their process and the teacher's tests in this one, cell by cell."""

import ast
import contextlib
import io
import math
import re
import textwrap
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import CodeType
from typing import Any

from autograder.checks import Check
from autograder.exercises import exercise, test_source
from autograder.report import Report, report_on
from autograder.session import NotDefinedError, Session, StudentProcessError, line_of
from autograder.teacher import Teacher, Test, parse
from autograder.trace import OutOfTimeError, Trace, describe, run, time_limit

#: Seconds that a test of another course may take.
TEST_LIMIT = 60.0
#: Characters that all cells of a notebook may print and show together, and those of a message on a test.
MOST_OUTPUT, MOST_MESSAGE = 5_000_000, 5_000
#: What Python adds to a SyntaxError: the name of a file that nobody knows, and a line that is named anyway.
_PLACE = re.compile(r" \(<[^>]*>, line \d+\)$")
#: Characters in a line of a message: nbgrader's pages cut off what is longer.
WIDTH = 88


@dataclass
class Examined:
    """What became of one code cell.

    Attributes
    ----------
    grade_id : str
        Empty for a cell of the student's own.
    outputs : list
        In the form of a notebook file.
    score : float or None
        Points of a test; None for other cells, and for a test that a person has to look at.
    note : str
        What stopped the cell, in one line; empty if nothing did.
    trouble : str
        ``"crashed"`` or ``"timed out"`` where the student's process did; else empty.
    """

    grade_id: str
    outputs: list[dict[str, Any]] = field(default_factory=list)
    score: float | None = None
    note: str = ""
    trouble: str = ""


@dataclass
class Examination:
    """What became of a notebook: its cells, and for exercises of this book the reports."""

    cells: list[Examined]
    reports: dict[str, Report]
    missing: list[str]


def examine(
    teacher: Teacher,
    cells: Sequence[tuple[str, str]],
    session: Session,
    say: Callable[[Sequence], Sequence] = lambda cells: cells,
    seconds: float = math.inf,
) -> Examination:
    """Run a notebook.

    Cells run in order. Cells that the teacher locked run as the teacher has them, on both sides, whatever stands in the
    notebook. Where a test stands, the teacher's test runs here; it reaches the student's functions through the session.
    Locked cells and tests that the notebook lacks run at the end. Of copies, the first counts.

    Parameters
    ----------
    teacher : Teacher
    cells : sequence of (str, str)
        Grade id (empty for a cell of the student's own) and source of each code cell.
    session : Session
        The student's process.
    say : callable
        Wraps the sequence of cells, to show progress.
    seconds : float
        What all cells and tests together may take; what comes later does not run.

    Returns
    -------
    Examination
        ``cells`` are those of the notebook, in order, and then those that it lacked, whose ids are in ``missing``.
    """
    return _Run(teacher, session, seconds).examine(cells, say)


class _Run:
    def __init__(self, teacher: Teacher, session: Session, seconds: float) -> None:
        self.teacher, self.session = teacher, session
        self.seconds, self.start = seconds, time.monotonic()
        self.output_left = MOST_OUTPUT
        self.stopped: dict[str, str] = {}
        self.traces: dict[str, dict[Check, Trace]] = {}
        self.of_check: dict[Check, Examined] = {}
        self.beyond = teacher.beyond_functions
        self.names: dict[str, Any] = {"__name__": "__main__"}
        exec(teacher.imports, self.names)
        self.names.update((name, session.function(name)) for name in teacher.functions)

    def examine(self, cells: Sequence[tuple[str, str]], say: Callable[[Sequence], Sequence]) -> Examination:
        present = {grade_id for grade_id, _ in cells}
        missing = [grade_id for grade_id in (*self.teacher.locked, *self.teacher.tests) if grade_id not in present]
        examined, done = [], set()
        for grade_id, source in [*say(cells), *((grade_id, "") for grade_id in missing)]:
            copied = grade_id in done and (grade_id in self.teacher.tests or grade_id in self.teacher.locked)
            examined.append(Examined("") if copied else self.cell(grade_id, source))
            done.add(grade_id)
        reports = {name: self.report(name, traces) for name, traces in self.traces.items()}
        return Examination(examined, reports, missing)

    def cell(self, grade_id: str, source: str) -> Examined:
        if time.monotonic() - self.start > self.seconds:
            note = f"The {self.seconds:g} seconds of the notebook were over, and this did not run."
            return Examined(
                grade_id, [_error(note)], 0.0 if grade_id in self.teacher.tests else None, note, "timed out"
            )
        self.session.start()
        if grade_id in self.teacher.tests:
            return self.test(self.teacher.tests[grade_id])
        if grade_id in self.teacher.locked:
            source = self.teacher.locked[grade_id]
            with (
                contextlib.suppress(Exception, SystemExit, OutOfTimeError),  # it may call what the student wrote
                contextlib.redirect_stdout(io.StringIO()),
                warnings.catch_warnings(),
                time_limit(TEST_LIMIT),
            ):
                exec(_compiled(source, f"<{grade_id}>"), self.names)
            self.names.update((name, self.session.function(name)) for name in self.teacher.functions)
        error = self.session.run(source)
        note = _told(error) if error else ""
        trouble = ""
        if error:
            self.stopped[grade_id.removesuffix("-solution")] = note
            if not error.get("kinds"):  # it did not raise, it is gone
                trouble = "timed out" if "still running" in note else "crashed"
        outputs = outputs_of(self.session.outputs) or ([_error(note)] if error else [])
        return Examined(grade_id, self.limited(outputs), None, note, trouble)

    def limited(self, outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The outputs of a cell, while there is room for them: a notebook may have thousands of cells."""
        size = len(str(outputs))
        if size > self.output_left:
            return [{"output_type": "stream", "name": "stdout", "text": "[Left out: this notebook shows too much.]\n"}]
        self.output_left -= size
        return outputs

    def test(self, test: Test) -> Examined:
        if test.grade_id in self.beyond:
            names = ", ".join(self.beyond[test.grade_id])
            note = f"This test needs more than functions ({names}): a person has to look at it."
            return Examined(test.grade_id, [_error(note)], None, note)
        check = _check_of_this_book(test)
        if check is None:
            return self.other_test(test)
        trace = run(check, self.session.function(check.exercise))
        if isinstance(trace.error, NotDefinedError) and check.exercise in self.stopped:
            trace.error = NotDefinedError(f"{trace.error} Its cell stopped: {self.stopped[check.exercise]}")
        self.traces.setdefault(check.exercise, {})[check] = trace
        told = f"pass  {check.points}/{check.points}  {check.name}\n"  # as `run_check` says it (checks/tools.py)
        passed = [{"output_type": "stream", "name": "stdout", "text": told}]
        score = 0.0 if trace.failed else test.points
        examined = Examined(test.grade_id, passed, score, trouble=_trouble(trace.error))
        self.of_check[check] = examined
        return examined

    def other_test(self, test: Test) -> Examined:
        """Run a test of another course: what it prints, shows, and raises counts as nbgrader has it."""
        printed = io.StringIO()
        value = None
        score: float | None = test.points
        note = trouble = ""
        outputs: list[dict[str, Any]] = []
        try:
            with contextlib.redirect_stdout(printed), warnings.catch_warnings(), time_limit(TEST_LIMIT):
                warnings.simplefilter("ignore")
                value = _value_of(parse(test.source), f"<{test.grade_id}>", self.names)
        except (Exception, SystemExit, OutOfTimeError) as error:  # tests raise, and so do students' functions
            note, trouble = _words(error)[:MOST_MESSAGE], _trouble(error)
            score = 0.0
        if printed.getvalue():
            outputs.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
        if note:
            outputs.append(_error(note))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):  # partial credit
            shown: dict[str, Any] = {"output_type": "execute_result", "execution_count": None, "metadata": {}}
            outputs.append(shown | {"data": {"text/plain": repr(value)}})
            score = float(value) if math.isfinite(value) and 0 <= value <= test.points else None
            if score is None:
                note = f"The test's value, {value!r}, is no number of points from 0 to {test.points:g}."
        return Examined(test.grade_id, self.limited(outputs), score, note, trouble)

    def report(self, name: str, traces: dict[Check, Trace]) -> Report:
        """Make the report on an exercise of this book, and put its messages where the tests failed."""
        ordered = {check: traces[check] for check in exercise(name).checks if check in traces}
        report = report_on(name, ordered, self.session.function(name))
        for check, result in zip(ordered, report.checks, strict=True):
            if not result.passed:
                note = result.message[:MOST_MESSAGE]
                self.of_check[check].outputs, self.of_check[check].note = [_error(note)], note
        return report


@cache
def _compiled(source: str, file: str) -> CodeType:
    """A cell of the teacher's; a worker runs the same ones for every submission."""
    return compile(parse(source), file, "exec")


@cache
def _check_of_this_book(test: Test) -> Check | None:
    """The check that a test cell was made from, if it was made by ``autograder.build``."""
    name, _, check_name = test.grade_id.partition("-")
    with contextlib.suppress(KeyError):
        for number, check in enumerate(exercise(name).checks, 1):
            if check.name == check_name and test_source(check, number) == test.source:
                return check
    return None


def _value_of(tree: ast.Module, file: str, names: dict[str, Any]) -> Any:
    """Run a cell; its value is that of its last line, if that is an expression."""
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, file, "exec"), names)
    return eval(compile(ast.Expression(last.value), file, "eval"), names) if isinstance(last, ast.Expr) else None


def _trouble(error: BaseException | None) -> str:
    if isinstance(error, OutOfTimeError):
        return "timed out"
    return "crashed" if isinstance(error, StudentProcessError) else ""


def _words(error: BaseException) -> str:
    """What a failed test of another course says."""
    if isinstance(error, OutOfTimeError):
        return "The test was still running after its time: look for a loop that never ends."
    if isinstance(error, (NotDefinedError, StudentProcessError)):
        return str(error)
    line = getattr(error, "student_line", "")
    if isinstance(error, AssertionError) and not error.args:
        return "The test failed; it does not say why."
    return describe(error) + (f" ({line})" if line else "")


def _told(error: dict[str, Any]) -> str:
    """An exception of a cell in one line."""
    kinds, text, line = error.get("kinds") or [], error.get("text", ""), line_of(error)
    told = ": ".join(filter(None, [str(kinds[0]) if kinds else "", _PLACE.sub("", str(text))]))
    return " ".join(told.split())[:500] + (f" ({line})" if line else "")


def _error(message: str) -> dict[str, Any]:
    shown = textwrap.fill(message, WIDTH)
    return {"output_type": "error", "ename": "AssertionError", "evalue": message, "traceback": [shown]}


def outputs_of(sent: Any) -> list[dict[str, Any]]:
    """Keep of what a student's process says that its cell printed and showed what a notebook file may hold."""
    kept: list[dict[str, Any]] = []
    for output in sent if isinstance(sent, list) else []:
        parts = output.items() if isinstance(output, dict) else ()
        match {key: part for key, part in parts if isinstance(part, (str, list, dict))}:  # an array cannot be compared
            case {"output_type": "stream", "name": "stdout" | "stderr" as name, "text": str(text)}:
                kept.append({"output_type": "stream", "name": name, "text": text})
            case {"output_type": "error", "ename": str(ename), "evalue": str(evalue), "traceback": list(lines)}:
                trace = [line for line in lines if isinstance(line, str)]
                kept.append({"output_type": "error", "ename": ename, "evalue": evalue, "traceback": trace})
            case {"output_type": "display_data" | "execute_result" as kind, "data": dict(data)}:
                texts = {key: text for key, text in data.items() if isinstance(key, str) and isinstance(text, str)}
                shown = {"output_type": kind, "data": texts, "metadata": {}}
                kept.append(shown | ({"execution_count": None} if kind == "execute_result" else {}))
    return kept
