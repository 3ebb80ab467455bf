"""The command ``autograder``, also ``python -m autograder``."""

import argparse
import json
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

from tqdm import tqdm

from autograder.course import Course, CourseError
from autograder.fork_server import Isolation, IsolationError
from autograder.trace import fault

# A worker of `grade` imports this file anew, so what takes long to import is imported where it is needed.
# nbformat brings jsonschema, which compiles a grammar of web addresses as it is imported: a quarter of the start.
# No schema of a notebook asks for it, and jsonschema does without where this package is missing.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    parser = argparse.ArgumentParser(prog="autograder", description="Grade problem sets of The Embedding Table.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    check = commands.add_parser(
        "check",
        help="grade one problem-set notebook and print the report",
        description="Grade one problem-set notebook and print the report. No course and no gradebook are needed, and "
        "the file is not changed. The notebook's code runs on this computer as if you had run it in JupyterLab.",
        epilog="Exit status: 0 full marks, 1 less, 2 the notebook could not be graded.",
    )
    check.add_argument("notebook", type=Path, help="such as my_work/ps1.ipynb")
    check.add_argument("--json", action="store_true", help="print the report as JSON")
    grade = commands.add_parser(
        "grade",
        help="grade all submissions of an nbgrader course",
        description="Grade the submissions of an nbgrader course that are new or have changed, as `nbgrader autograde` "
        "does: it reads source/ and submitted/, and writes gradebook.db and autograded/. Each submission runs shut in, "
        "in a process of its own; the teacher's tests run in another.",
        epilog="Exit status: 0 if every submission has an outcome, 2 if the course could not be graded.",
    )
    grade.add_argument("problem_set", nargs="*", help="such as ps1 (all that have submissions)")
    grade.add_argument("--course", type=Path, default=Path(), help="folder with nbgrader_config.py (this folder)")
    grade.add_argument("--student", action="append", default=[], help="only this student; may be given again")
    grade.add_argument("--jobs", type=_jobs, default=0, metavar="N", help="submissions at a time (the number of cores)")
    grade.add_argument("--force", action="store_true", help="grade again what has not changed")
    grade.add_argument(
        "--timeout", type=_seconds, metavar="SECONDS", help="for a cell (what the course's settings say)"
    )
    grade.add_argument(
        "--isolation",
        choices=get_args(Isolation),
        default="strict",
        help="strict refuses to run where something cannot be enforced; best-effort runs and says what is not",
    )
    grade.add_argument("--json", action="store_true", help="print the summary as JSON")
    options = parser.parse_args(arguments)
    try:
        return _grade(options) if options.command == "grade" else _check(options)
    except (CourseError, IsolationError) as error:
        return _sorry(str(error), as_json=options.json)
    except KeyboardInterrupt:
        return _sorry("Stopped before the end. What was graded is kept; the next run goes on.", as_json=options.json)
    except Exception as error:
        return _sorry(f"{fault(error)} Please report it.", as_json=options.json)


def _jobs(text: str) -> int:
    if not (text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 up, not {text}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, not {text}")
    return seconds


def _check(options: argparse.Namespace) -> int:
    """Grade one notebook and print the report."""
    from autograder.notebook import UngradableError, grade_notebook

    try:
        report = grade_notebook(options.notebook)
    except UngradableError as error:
        return _sorry(str(error), as_json=options.json)
    print(json.dumps(report.as_data(), indent=1) if options.json else report)
    return 0 if report.points == report.max_points else 1


def _grade(options: argparse.Namespace) -> int:
    """Grade problem sets one after the other, and print a summary of each."""
    from autograder.grade import grade

    course = Course(options.course)
    names = list(dict.fromkeys(options.problem_set))
    names = names or [name for name in course.problem_sets if any(course.students(name))]
    misplaced = course.misplaced()
    if not names:
        raise CourseError(f"There is nothing to grade in {course.root}: no problem set has submissions. {misplaced}")
    summaries = []
    for name in names:
        with tqdm(desc=name, unit="submission", disable=None) as bar:

            def say(total: int, bar: tqdm = bar) -> Callable[[str], None]:
                bar.reset(total)
                return lambda student: bar.update()

            summary = grade(
                course,
                name,
                students=options.student,
                jobs=options.jobs,
                force=options.force,
                timeout=options.timeout,
                isolation=options.isolation,
                say=say,
            )
        summaries.append(summary)
    if options.json:
        print(json.dumps([summary.as_data() for summary in summaries], indent=1))
    else:
        for promise, reason in summaries[0].not_enforced.items():
            print(f"Not enforced: {promise} ({reason})", file=sys.stderr)
        print(*summaries, sep="\n")
    if misplaced:
        print(misplaced, file=sys.stderr)
    return 0


def _sorry(reason: str, *, as_json: bool) -> int:
    """Say why there is no report."""
    if as_json:
        print(json.dumps({"error": reason}, indent=1))
    else:
        print(reason, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
