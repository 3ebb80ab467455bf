"""Grade all submissions of a problem set: workers run and check them, this process alone writes.

A worker holds the checks, and a fork server of its own. Each notebook gets a fresh process from it, shut in, and is
examined as `autograder.examine` says. What comes back is plain data; the gradebook gets it in one transaction a
submission.
"""

import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any

import nbformat

from autograder.course import Course, CourseError, Submission
from autograder.fork_server import ForkServer, Isolation
from autograder.gradebook import Gradebook
from autograder.outcome import Outcome
from autograder.teacher import Teacher
from autograder.worker import NOTEBOOK_LIMIT, STATUSES, Settings, begin, work


@dataclass
class Summary:
    """What came of a run.

    Attributes
    ----------
    problem_set : str
    most : float
        Points that it has.
    outcomes : list of dict
        For each submission: student, status, note, points, and whether it was graded in this run. One that was graded
        before and has not changed is not graded again.
    not_enforced : dict
        Promises of the isolation that could not be kept, each with the reason.
    """

    problem_set: str
    most: float = 0.0
    outcomes: list[dict[str, Any]] = field(default_factory=list)
    not_enforced: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        counts = Counter(each["status"] for each in self.outcomes)
        now = sum(each["graded_now"] for each in self.outcomes)
        lines = [f"{self.problem_set}: {now} graded now, {len(self.outcomes) - now} before and unchanged"]
        if self.outcomes:
            mean = sum(each["points"] for each in self.outcomes) / len(self.outcomes)
            lines[0] += f"; {mean:.1f} of {self.most:g} points in the mean"
        lines += [f"  {counts[status]:6}  {status}" for status in STATUSES if counts[status]]
        odd = [each for each in self.outcomes if each["status"] != "graded" or each["note"]]
        told = [f"{each['student']}: {each['status']}. {each['note']}".rstrip() for each in odd]
        # A folder's name may hold a line's end, and what a terminal takes for a command
        lines += ["  " + "".join(sign if sign.isprintable() else "?" for sign in each) for each in told]
        return "\n".join(lines)

    def as_data(self) -> dict[str, Any]:
        """The summary as dictionaries and lists, for JSON."""
        return {
            "problem_set": self.problem_set,
            "max_points": self.most,
            "not_enforced": self.not_enforced,
            "submissions": self.outcomes,
        }


def grade(
    course: Course,
    problem_set: str,
    *,
    students: Collection[str] = (),
    jobs: int = 0,
    force: bool = False,
    timeout: float | None = None,
    isolation: Isolation = "strict",
    say: Callable[[int], Callable[[str], None]] = lambda total: lambda student: None,
) -> Summary:
    """Grade the submissions of a problem set that are new or have changed.

    Parameters
    ----------
    course : Course
    problem_set : str
    students : collection of str
        Only these; all if empty.
    jobs : int
        Number of workers; 0 for one a core.
    force : bool
        Whether to grade again what has not changed.
    timeout : float, optional
        Seconds that a cell may take; without it, what the course's settings say.
    isolation : {"strict", "best-effort"}
    say : callable
        Told first how many submissions there are, and then the student of each that is done.

    Returns
    -------
    Summary

    Raises
    ------
    CourseError
        If the course cannot be used: no such problem set, no gradebook, a run in progress, no such student.
    IsolationError
        If isolation is strict and something cannot be enforced here.
    """
    with course.lock():
        gradebook = Gradebook(course)
        try:
            return _grade(course, gradebook, problem_set, students, jobs, force, timeout, isolation, say)
        finally:
            gradebook.close()


def _grade(
    course: Course,
    gradebook: Gradebook,
    problem_set: str,
    students: Collection[str],
    jobs: int,
    force: bool,
    timeout: float | None,
    isolation: Isolation,
    say: Callable[[int], Callable[[str], None]],
) -> Summary:
    marked = gradebook.notebooks(problem_set)
    folders = dict(course.students(problem_set))
    unknown = [each for each in students if each not in folders]
    if unknown:
        places = ", ".join(
            str(course.path("submitted", each, problem_set).relative_to(course.root)) for each in unknown
        )
        raise CourseError(f"There is no submission of {problem_set} by {', '.join(unknown)}: no folder {places}.")
    with ForkServer(isolation=isolation, hidden=[course.root]) as trial:
        missing = trial.missing
    chosen = [(name, folder) for name, folder in folders.items() if not students or name in students]
    done = say(len(chosen))

    def new() -> Iterator[Submission]:
        for name, folder in chosen:
            submission = course.read(name, problem_set, folder, list(marked))
            if force or not gradebook.is_graded(submission):
                yield submission
            else:
                done(name)

    settings = settings_for(course, gradebook, problem_set, timeout, isolation)
    now = set()
    for submission, outcome in _carry_out(settings, new(), jobs or os.cpu_count() or 1):
        gradebook.save(outcome, submission)
        now.add(outcome.student)
        done(outcome.student)
    names = {name for name, _ in chosen}
    outcomes = [
        {**each._asdict(), "graded_now": each.student in now}
        for each in gradebook.outcomes(problem_set)
        if each.student in names
    ]
    return Summary(problem_set, gradebook.most(problem_set), outcomes, missing)


def settings_for(
    course: Course,
    gradebook: Gradebook,
    problem_set: str,
    timeout: float | None = None,
    isolation: Isolation = "strict",
) -> Settings:
    """What workers must be given to grade a problem set; the parameters are those of `grade`."""
    marked = gradebook.notebooks(problem_set)
    return Settings(
        marked,
        {name: _teacher(course, problem_set, name) for name in marked},
        timeout or course.cell_limit or NOTEBOOK_LIMIT,
        isolation,
        course.root,
    )


def _teacher(course: Course, problem_set: str, name: str) -> Teacher:
    """The teacher's own notebook, which says what students write; the release alone would not show variables."""
    path = course.path("source", ".", problem_set) / f"{name}.ipynb"
    try:
        return Teacher(nbformat.read(path, as_version=4))
    except (OSError, ValueError, nbformat.ValidationError) as error:
        raise CourseError(f"The source of {problem_set} cannot be read: {error}") from None


def _carry_out(
    settings: Settings, submissions: Iterator[Submission], jobs: int
) -> Iterator[tuple[Submission, Outcome]]:
    """Examine submissions with several workers; a few more than workers are on their way at any time.

    A worker that is gone (nothing that a student does should end one) takes its submission with it, which is tried once
    more by itself and then left to a person.
    """
    waiting: list[Submission] = []
    while True:
        with _pool(settings, jobs) as pool:
            running: dict[Future[Outcome], Submission] = {}
            try:
                for submission in submissions:
                    waiting = [submission]  # until it is on its way
                    running[pool.submit(work, submission)] = submission
                    waiting = []
                    if len(running) > jobs + 2:
                        yield from _finished(running)
                while running:
                    yield from _finished(running)
            except BrokenProcessPool:
                waiting += running.values()
        if not waiting:
            return
        for submission in waiting:
            with _pool(settings, 1) as alone:
                try:
                    yield submission, alone.submit(work, submission).result()
                except BrokenProcessPool:
                    note = "The grader's own process ended twice while it graded this."
                    yield submission, Outcome(submission.student, submission.problem_set, "needs a person", note)
        waiting = []


def _finished(running: dict[Future[Outcome], Submission]) -> Iterator[tuple[Submission, Outcome]]:
    """Wait for one or more to finish, and take them out."""
    for future in wait(running, return_when=FIRST_COMPLETED).done:
        outcome = future.result()  # raises before the submission is taken out
        yield running.pop(future), outcome


def _pool(settings: Settings, jobs: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")  # a worker begins anew: it holds nothing of this process
    return ProcessPoolExecutor(jobs, context, initializer=begin, initargs=(settings,))
