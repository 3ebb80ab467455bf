"""Checks, problem sets and grading.

``check("one_hot")`` runs the checks of an exercise on your function and returns a report;
``exercise("one_hot")`` shows its stub, what the checks look at, and a solution folded away.
"""

from autograder.exercises import Exercise, exercise
from autograder.report import Report, Result, check

__all__ = ["Exercise", "Report", "Result", "check", "exercise"]
