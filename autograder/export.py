"""``nbgrader export`` with two more columns: what came of a submission, and why.

nbgrader's own file has 0 for a submission that crashed, one that was never graded, and one that is wrong alike, and a
comma in a name moves all that follows by a column.
"""

import csv

import sqlalchemy as sa
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.plugins import ExportPlugin

from autograder.gradebook import OUTCOMES, status_now

COLUMNS = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
    "late_submission_penalty", "score", "max_score", "outcome", "note",
)  # fmt: skip


class GradesExport(ExportPlugin):
    """Write ``grades.csv``: nbgrader's columns, then ``outcome`` and ``note``.

    ``outcome`` is ``not handed in``, the status that ``autograder grade`` gave, or empty for a submission that
    nbgrader graded itself.
    """

    def export(self, gradebook: Gradebook) -> None:
        there = sa.inspect(gradebook.engine).has_table(OUTCOMES.name)
        rows = gradebook.db.execute(sa.select(OUTCOMES)).all() if there else []
        outcomes = {row.submission_id: (row.status, row.note) for row in rows}
        with open(self.to or "grades.csv", "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            for assignment in gradebook.assignments:
                for student in gradebook.students:
                    if self.assignment and assignment.name not in map(str, self.assignment):
                        continue
                    if self.student and student.id not in map(str, self.student):
                        continue
                    row = self._row(gradebook, assignment, student, outcomes)
                    writer.writerow({name: _no_formula(value) for name, value in row.items()})

    def _row(self, gradebook: Gradebook, assignment, student, outcomes) -> dict[str, object]:  # type: ignore[no-untyped-def]
        row = {
            "assignment": assignment.name,
            "duedate": assignment.duedate,
            "timestamp": "",
            "student_id": student.id,
            "last_name": student.last_name,
            "first_name": student.first_name,
            "email": student.email,
            "raw_score": 0.0,
            "late_submission_penalty": 0.0,
            "score": 0.0,
            "max_score": assignment.max_score,
            "outcome": "not handed in",
            "note": "",
        }
        try:
            submission = gradebook.find_submission(assignment.name, student.id)
        except MissingEntry:
            return row
        penalty = submission.late_submission_penalty
        status, row["note"] = outcomes.get(submission.id, ("", ""))
        row["outcome"] = status_now(status, submission.needs_manual_grade)
        return row | {
            "timestamp": submission.timestamp,
            "raw_score": submission.score,
            "late_submission_penalty": penalty,
            "score": max(0.0, submission.score - penalty),
        }


def _no_formula(value: object) -> object:
    """A text that a spreadsheet does not take for a formula: a student's id may be any name of a folder."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
