"""``autograder grade``: honest and hostile submissions of one problem set, in one run of the real command."""

import copy
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from test_jail import descendants, ends

from autograder.__main__ import main
from autograder.exercises import PROBLEM_SETS, exercise, exercises_in

SOLVED = "def embedding_forward(E, ids):\n    return E[ids]\n"
#: What embedding_forward was handed in as; each would have given more points than it should, or stopped the run.
HOSTILE = {
    "reads-the-source": (
        "import glob\nfound = [f for n in range(6) for f in glob.glob('../' * n + 'source/*/*.ipynb')]\n"
        "assert found + glob.glob('/*/*/source/*/*.ipynb')\n" + SOLVED
    ),
    "changes-the-gradebook": (
        "import sqlite3, os\nfor up in ('..', '../..', '../../..', '../../../..'):\n"
        "    assert os.path.exists(up + '/gradebook.db')\n" + SOLVED
    ),
    "knows-the-grader": "import autograder\n" + SOLVED,
    "asks-a-host": "import socket\nsocket.create_connection(('127.0.0.1', 22), 1)\n" + SOLVED,
    "patches-numpy": "np.testing.assert_allclose = np.array_equal = np.abs = lambda *a, **k: True\n"
    "def embedding_forward(E, ids):\n    return E[ids] + 1\n",
    "no-asserts": "import ast\nclass No(ast.NodeTransformer):\n    def visit_Assert(self, node): return ast.Pass()\n"
    "get_ipython().ast_transformers.append(No())\ndef embedding_forward(E, ids):\n    return E[ids] + 1\n",
    "own-tools": "def expect(*args): pass\ndef embedding_forward(E, ids):\n    return E[ids] + 1\n",
    "shows-a-score": "get_ipython().display_pub.publish({'text/plain': '99'})\n99\n",
    "exits": "import os\nos._exit(0)\n",
    "segfaults": "import ctypes\nctypes.string_at(0)\n",
    "memory": "x = bytearray(8 << 30)\n" + SOLVED,
    "forks": "import os\nfor _ in range(20):\n    os.fork()\n" + SOLVED,
    "loops": "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True:\n    pass\n",
    "sleeps-in-a-thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()\n" + SOLVED,
    "prints-100-mb": "for _ in range(100):\n    print('x' * 10**6)\n" + SOLVED,
    "asks": "input()\n" + SOLVED,
    "closes-stdout": "import os, sys\nsys.stdout.close()\nos.close(1)\n" + SOLVED,
}
#: Of embedding_forward's 12 points.
POINTS = {
    "patches-numpy": 2, "no-asserts": 2, "own-tools": 2,  # a copy of the table comes back, if a wrong one
    "sleeps-in-a-thread": 12, "prints-100-mb": 12, "closes-stdout": 12,
}  # fmt: skip
STATUS = {"exits": "crashed", "segfaults": "crashed", "loops": "timed out"}


def run(course: Path, *arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "grade", "--course", course, *arguments], capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


def hand_in(course: Path, student: str, content: bytes, name: str = "ps1.ipynb") -> None:
    folder = course / "submitted" / student / "ps1"
    folder.mkdir(parents=True)
    (folder / name).write_bytes(content)


def solved_with(released: nbformat.NotebookNode, source: str = SOLVED) -> bytes:
    notebook = copy.deepcopy(released)
    for cell in notebook.cells:
        if cell.metadata.nbgrader.solution:
            name = cell.metadata.nbgrader.grade_id.removesuffix("-solution")
            cell.source = source if name == "embedding_forward" else exercise(name).solution
    return json.dumps(notebook).encode()


@pytest.fixture(scope="session")
def graded(course, made_once):
    """A course in which one run has graded honest and hostile submissions, and what that run said."""

    def make(top: Path) -> None:
        shutil.copytree(course, top / "course")
        released = nbformat.read(top / "course" / "release" / "ps1" / "ps1.ipynb", as_version=4)
        hand_in(top / "course", "alice", solved_with(released))
        hand_in(top / "course", "untouched", json.dumps(released).encode())
        hand_in(top / "course", "renamed", solved_with(released), "ps1 (1).ipynb")
        hand_in(top / "course", "no notebook", b"not JSON")
        hand_in(top / "course", 'zoë, "the [1]"', solved_with(released))
        for name, source in HOSTILE.items():
            hand_in(top / "course", name, solved_with(released, source))
        status, out, err = run(top / "course", "ps1", "--json", "--timeout", "5", "--jobs", "2")
        assert status == 0, out + err
        (top / "summary.json").write_text(out, encoding="utf-8")

    return made_once("graded", make)


@pytest.fixture(scope="session")
def outcomes(graded):
    (summary,) = json.loads((graded / "summary.json").read_text(encoding="utf-8"))
    assert summary["max_points"] == 20
    assert all(each["graded_now"] for each in summary["submissions"])
    return {each["student"]: each for each in summary["submissions"]}


def grades_of(graded: Path, student: str) -> dict[str, float]:
    with Gradebook(f"sqlite:///{graded / 'course' / 'gradebook.db'}", "token-embeddings") as gradebook:
        notebook = gradebook.find_submission_notebook("ps1", "ps1", student)
        return {grade.name: grade.score for grade in notebook.grades}


def test_every_submission_has_an_outcome(outcomes):
    assert set(outcomes) == {"alice", "untouched", "renamed", "no notebook", 'zoë, "the [1]"', *HOSTILE}


@pytest.mark.parametrize("student", ["alice", "renamed", 'zoë, "the [1]"'])
def test_an_honest_submission_gets_what_it_earned(graded, outcomes, student):
    assert outcomes[student]["status"] == "graded"
    assert sum(grades_of(graded, student).values()) == 20
    autograded = graded / "course" / "autograded" / student / "ps1" / "ps1.ipynb"
    nbformat.validate(nbformat.read(autograded, as_version=4))


def test_what_was_not_written_gets_nothing(graded, outcomes):
    assert outcomes["untouched"]["status"] == "graded"
    assert sum(grades_of(graded, "untouched").values()) == 0


def test_what_is_no_notebook_is_told_apart_from_a_zero(graded, outcomes):
    assert outcomes["no notebook"]["status"] == "could not be read"
    assert "is not a notebook" in outcomes["no notebook"]["note"]
    assert sum(grades_of(graded, "no notebook").values()) == 0


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_submission_gets_what_its_function_earned(graded, outcomes, name):
    grades = grades_of(graded, name)
    forward = {each: score for each, score in grades.items() if each.startswith("embedding_forward")}
    assert sum(forward.values()) == POINTS.get(name, 0), forward
    assert sum(grades.values()) - sum(forward.values()) == 8  # the exercise before it
    assert outcomes[name]["status"] == STATUS.get(name, "graded")
    if name in STATUS:
        assert outcomes[name]["note"]


def test_unchanged_submissions_are_not_graded_again_and_a_new_one_is(graded, tmp_path):
    shutil.copytree(graded / "course", tmp_path / "course", symlinks=True)
    work = tmp_path / "course" / "submitted" / "alice" / "ps1" / "ps1.ipynb"
    released = nbformat.read(tmp_path / "course" / "release" / "ps1" / "ps1.ipynb", as_version=4)
    work.write_bytes(solved_with(released, "def embedding_forward(E, ids):\n    return E[ids] * 2\n"))
    status, out, err = run(tmp_path / "course", "ps1", "--json")
    assert status == 0, err
    (summary,) = json.loads(out)
    told = {each["student"]: each for each in summary["submissions"]}
    assert len(told) == len(HOSTILE) + 5
    assert [name for name, each in told.items() if each["graded_now"]] == ["alice"]
    assert told["alice"]["points"] == 10
    assert (told["exits"]["status"], told["exits"]["graded_now"]) == ("crashed", False), "still odd, and still told"
    status, out, _ = run(tmp_path / "course", "ps1")
    assert f"ps1: 0 graded now, {len(told)} before and unchanged; " in out
    mean = sum(each["points"] for each in told.values()) / len(told)
    assert f"{mean:.1f} of 20 points in the mean" in out
    assert "\n  exits: crashed. " in out


def test_feedback_and_export_go_on(graded, tmp_path):
    shutil.copytree(graded / "course", tmp_path / "course", symlinks=True)
    for command in (["generate_feedback", "ps1", "--student=exits"], ["export"]):
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", *command], cwd=tmp_path / "course", capture_output=True, text=True,
            env=os.environ | {"PATH": os.defpath},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert "Python ended with exit status 0" in (
        tmp_path / "course" / "feedback" / "exits" / "ps1" / "ps1.html"
    ).read_text(encoding="utf-8")
    assert "crashed" in (tmp_path / "course" / "grades.csv").read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_all_that_a_run_started_ends_when_it_is_killed(graded, tmp_path):
    shutil.copytree(graded / "course", tmp_path / "course", symlinks=True)
    command = [sys.executable, "-m", "autograder", "grade", "ps1", "--force", "--student", "loops", "--timeout", "60"]
    with subprocess.Popen([*command, "--course", tmp_path / "course"]) as process:
        until = time.monotonic() + 60
        while (
            len(started := descendants(process.pid)) < 5 and time.monotonic() < until
        ):  # the last one is the student's
            time.sleep(0.1)
        process.kill()
    assert len(started) >= 5
    ends(*started)


@pytest.mark.parametrize(
    "arguments, reason",
    [
        (["ps9"], "knows no problem set 'ps9', but ps1, ps2, ps3, ps4, ps5."),
        (["ps1", "--student", "nobody"], "no submission of ps1 by nobody: no folder submitted/nobody/ps1."),
    ],
)
def test_what_cannot_be_graded_says_why(graded, arguments, reason):
    status, out, err = run(graded / "course", *arguments)
    assert status == 2
    assert reason in err
    assert "Traceback" not in err
    assert out == ""


def test_a_folder_that_is_no_course(tmp_path):
    status, _, err = run(tmp_path, "ps1")
    assert status == 2
    assert "autograder grade --course autograder" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["--timeout", "-5"],
        ["--timeout", "nan"],
        ["--timeout", "0"],
        ["--timeout", "x"],
        ["--jobs", "-3"],
        ["--jobs", "0"],
    ],
)
def test_numbers_that_make_no_sense_are_refused(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["grade", "ps1", *arguments])
    assert stopped.value.code == 2
    assert f"argument {arguments[0]}: must be a" in capsys.readouterr().err


def test_what_lies_in_no_folder_of_a_problem_set_is_told(graded, tmp_path):
    shutil.copytree(graded / "course", tmp_path / "course", symlinks=True)
    for place in ("quentin/ps1.ipynb", "ula/ps 1/ps1.ipynb", "ps1/lena/ps1.ipynb", "walter.ipynb"):
        path = tmp_path / "course" / "submitted" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    status, _, err = run(tmp_path / "course", "ps1")
    assert status == 0
    names = "“submitted/ps1/lena”, “submitted/quentin/ps1.ipynb”, “submitted/ula/ps 1”, “submitted/walter.ipynb”"
    assert f"looked for in folders such as submitted/STUDENT/ps1/: {names}." in err
    _, out, err = run(tmp_path / "course", "ps1", "--json")
    assert json.loads(out)
    assert names in err
    _, _, err = run(graded / "course", "ps1", "--student", "alice")
    assert "Not looked at" not in err


def test_exercises_of_ps1():
    """The numbers above hold for these two."""
    text = (PROBLEM_SETS / "ps1.md").read_text(encoding="utf-8")
    assert exercises_in(text) == ["one_hot", "embedding_forward"]
