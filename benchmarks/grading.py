"""How long a class's submissions take to grade: `autograder grade` beside `nbgrader autograde`.

Run ``python benchmarks/grading.py`` in the project's environment. Both commands grade the same submissions of one
problem set, from an empty gradebook to the graded notebooks, one after the other; both must give every honest
submission full marks. README.md beside this file says how to read what is printed.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from _rounds import machine, progress
from nbgrader.api import Gradebook

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from any folder, installed or not

from autograder.course import Course
from autograder.exercises import exercise
from autograder.grade import settings_for
from autograder.gradebook import Gradebook as Ours
from autograder.worker import Worker

ROOT = Path(__file__).resolve().parents[1]
PROBLEM_SET = "ps1"
#: What one in twenty hands in, where some are hostile: it is put before the first function that is asked for.
HOSTILE = [
    "np.testing.assert_allclose = np.array_equal = lambda *arguments, **options: True\n",
    "import os\nos._exit(0)\n",
    "for _ in range(100):\n    print('x' * 10**5)\n",
    "open('../../../gradebook.db')\n",
    "while True:\n    pass\n",
]
#: Seconds that a cell may take, for both.
TIMEOUT = 5


def make_course(folder: Path) -> None:
    """Write the problem set's source and release, and the gradebook that knows it."""
    shutil.copy(ROOT / "autograder" / "nbgrader_config.py", folder)
    command = [sys.executable, "-m", "autograder.build", str(folder), PROBLEM_SET]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def hand_in(course: Path, count: int, *, hostile: bool = False) -> list[str]:
    """Write solved submissions, and return the names of the honest students."""
    shutil.rmtree(course / "submitted", ignore_errors=True)
    honest = []
    for number in range(count):
        notebook = nbformat.read(course / "release" / PROBLEM_SET / f"{PROBLEM_SET}.ipynb", as_version=4)
        solutions = [cell for cell in notebook.cells if cell.metadata.nbgrader.solution]
        for cell in solutions:
            cell.source = exercise(cell.metadata.nbgrader.grade_id.removesuffix("-solution")).solution
        if hostile and number % 20 == 10:
            solutions[0].source = HOSTILE[number // 20 % len(HOSTILE)] + solutions[0].source
        else:
            honest.append(f"student-{number:04}")
        folder = course / "submitted" / f"student-{number:04}" / PROBLEM_SET
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{PROBLEM_SET}.ipynb")
    return honest


def run(command: Sequence[str], course: Path, say: Callable[[str], None]) -> tuple[float, int]:
    """Run a command in a copy of the course, check what it gave, and return its seconds and its memory.

    The memory is the most that one of its processes had resident, in bytes, as the kernel tells it at the end.
    """
    say(f"{command[2]}, {len(list((course / 'submitted').iterdir())):,} submissions")
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *command], cwd=course, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, _, used = os.wait4(process.pid, 0)
    return time.perf_counter() - start, used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def check(course: Path, honest: list[str]) -> None:
    """Every honest submission has full marks and a graded notebook."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "token-embeddings") as gradebook:
        most = gradebook.find_assignment(PROBLEM_SET).max_score
        for student in honest:
            score = gradebook.find_submission(PROBLEM_SET, student).score
            assert score == most, f"{student} has {score} of {most} points"
            assert (course / "autograded" / student / PROBLEM_SET / f"{PROBLEM_SET}.ipynb").exists()


def grade_with(name: str, course: Path, honest: list[str], jobs: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Grade all submissions with one of the two, in a copy of the course that the other has not touched."""
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "course"
        shutil.copytree(course, copy)
        command = {
            "autograder": ["-m", "autograder", "grade", PROBLEM_SET, "--jobs", str(jobs), "--timeout", str(TIMEOUT)],
            "nbgrader": ["-m", "nbgrader", "autograde", PROBLEM_SET, f"--ExecutePreprocessor.timeout={TIMEOUT}"],
        }[name]
        seconds, memory = run(command, copy, say)
        check(copy, honest)
    return {"seconds": seconds, "memory": memory}


def steps(course: Path, say: Callable[[str], None]) -> dict[str, float]:
    """Milliseconds that the steps of one submission take, one after the other in one process: medians."""
    say("steps")
    with TemporaryDirectory() as folder:
        shutil.copytree(course, Path(folder) / "course")
        opened = Course(Path(folder) / "course")
        gradebook = Ours(opened)
        settings = settings_for(opened, gradebook, PROBLEM_SET)
        worker = Worker(settings)
        worker.server.start().kill()  # the first starts the fork server
        seconds: dict[str, list[float]] = {}

        def timed(step: str, function: Callable, *arguments: object) -> Any:
            start = time.perf_counter()
            result = function(*arguments)
            seconds.setdefault(step, []).append(time.perf_counter() - start)
            return result

        for student, place in opened.students(PROBLEM_SET):
            names = list(settings.marked)
            submission = timed("read what was handed in", opened.read, student, PROBLEM_SET, place, names)
            timed("start and end a process, shut in", lambda: worker.server.start().kill())
            outcome = timed("run and check, with a process", worker.outcome_of, submission)
            timed("write gradebook and notebook", gradebook.save, outcome, submission)
        worker.server.stop()
        gradebook.close()
    return {step: 1e3 * sorted(each)[len(each) // 2] for step, each in seconds.items()}


def main() -> None:
    """Compare, print, and write all of it to a file where asked."""
    parser = argparse.ArgumentParser(description="Time both graders on the same submissions.")
    parser.add_argument("--quick", action="store_true", help="2 submissions: about 20 seconds")
    parser.add_argument("--count", type=int, help="submissions that both grade (200, or 2 with --quick)")
    parser.add_argument("--jobs", type=int, default=2, help="for autograder; nbgrader has no such option (2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write facts and results to FILE")
    options = parser.parse_args()
    count = options.count or (2 if options.quick else 200)
    sizes = [1, 2] if options.quick else [10, 100, 1000]

    facts = machine()
    print(", ".join(f"{name}: {value}" for name, value in facts.items()))
    say = progress("grading")
    results: dict[str, Any] = {"count": count, "jobs": options.jobs, "both": {}, "sizes": {}}
    with TemporaryDirectory() as folder:
        course = Path(folder)
        say("making a course")
        make_course(course)
        for kind in ("honest", "one in twenty hostile"):
            honest = hand_in(course, count, hostile=kind != "honest")
            both = {name: grade_with(name, course, honest, options.jobs, say) for name in ("nbgrader", "autograder")}
            ratio = both["nbgrader"]["seconds"] / both["autograder"]["seconds"]
            results["both"][kind] = both | {"times as fast": ratio}
            say("")
            print(f"\n{count:,} submissions of {PROBLEM_SET}, {kind}; autograder with {options.jobs} jobs")
            for name, row in both.items():
                rate = count / row["seconds"]
                memory = row["memory"] / 2**20
                print(f"  {name:12}{row['seconds']:9.1f} s{rate:9.2f} submissions/s{memory:9.0f} MiB", flush=True)
            print(f"  autograder is {ratio:.1f} times as fast", flush=True)
        print("\nautograder alone, honest submissions")
        for size in sizes:
            row = grade_with("autograder", course, hand_in(course, size), options.jobs, say)
            results["sizes"][size] = row
            say("")
            each = 1e3 * row["seconds"] / size
            memory = row["memory"] / 2**20
            print(f"  {size:6,}{row['seconds']:9.1f} s{each:9.1f} ms each{memory:9.0f} MiB", flush=True)
        hand_in(course, min(sizes[1], 100))
        results["steps"] = steps(course, say)
        say("")
        print("\nms a submission, one at a time")
        for step, ms in results["steps"].items():
            print(f"  {step:36}{ms:9.1f}", flush=True)
    if options.json:
        options.json.write_text(json.dumps({"machine": facts, **results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
