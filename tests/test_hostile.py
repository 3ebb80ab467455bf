"""What a student tries who has read this program: in one run of the real command, among honest submissions."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell
from test_grade import SOLVED, grades_of, hand_in, run, solved_with

from autograder.grade import Summary

#: Sends the grader what `forge` makes of an answer.
FORGE = """
import json, sys
wire = sys.modules["wire"]
write = wire.write
def forged(stream, reply):
    packed = forge(reply)
    if packed is None:
        return write(stream, reply)
    text = json.dumps(packed).encode()
    stream.write((len(text) + 4).to_bytes(8, "big") + len(text).to_bytes(4, "big") + text)
    stream.flush()
wire.write = forged
"""
#: Finds the pipe to the grader.
PIPE = """
import fcntl, io, os, stat, sys
wire = sys.modules["wire"]
def writes(number):
    try:
        return stat.S_ISFIFO(os.fstat(number).st_mode) and fcntl.fcntl(number, fcntl.F_GETFL) & 3 == os.O_WRONLY
    except OSError:
        return False
pipe = next(number for number in range(3, 100) if writes(number))
def message(reply):
    stream = io.BytesIO()
    wire.write(stream, reply)
    return stream.getvalue()
"""


def answers(packed: str) -> str:
    """A function whose answers are these bytes on the pipe."""
    reply = f"['dict', [[['str', 'result'], {packed}]]]"
    return f"{FORGE}forge = lambda reply: {reply} if 'after' in reply else None\n{SOLVED}"


#: By what is tried: the cell with embedding_forward; points of its 12; status; what the summary says.
TRIED = {
    "zeroes its arguments": (
        "def embedding_forward(E, ids):\n    E[...] = 0\n    ids[...] = 0\n    return E[ids]", 0, "graded", ""
    ),
    "answers twice": (
        f"{PIPE}def embedding_forward(E, ids):\n"
        "    os.write(pipe, message({'result': E[ids] + 1}))\n    return E[ids]\n",
        2, "graded", "",  # any array that is none of E's memory is a copy
    ),
    "answers before it is asked": (
        f"{PIPE}for _ in range(99): os.write(pipe, message({{}}))\n{SOLVED}", 0, "graded", ""
    ),
    "answers from a thread": (
        f"{PIPE}import threading\ndef spam():\n    while True: os.write(pipe, bytes(8))\n"
        f"threading.Thread(target=spam, daemon=True).start()\n{SOLVED}",
        0, "crashed", "Your code answered with bytes that are no message.",
    ),
    "closes the pipe": (f"{PIPE}os.close(pipe)\n{SOLVED}", 0, "crashed", "Python ended"),
    "closes the pipe when called": (
        f"{PIPE}def embedding_forward(E, ids):\n    os.close(pipe)\n", 0, "crashed", "Python ended"
    ),
    "an array of 48 GB": (answers("['huge', [6_000_000_000], '<f8']"), 0, "crashed", "a value of kind 'huge'"),
    "a kind with a long name": (answers("['x' * 3_000_000]"), 0, "crashed", "a value of kind 'xxx"),
    "an endless number": (answers("['int', 'f' * 7_000_000]"), 0, "graded", ""),
    "dictionaries in a float": (answers("['float', {'a': [[]] * 1000}]"), 0, "crashed", "bytes that are no message"),
    "12 million lists": (answers("['list', [['list', []]] * 600_000]"), 0, "crashed", "bytes of JSON"),
    "halves of surrogate pairs": (answers("['str', chr(0xD800) * 9]"), 0, "graded", ""),
    "an exception called as the grader's": (
        "def embedding_forward(E, ids):\n    raise type('OutOfTimeError', (BaseException,), {})('x')", 0, "graded", ""
    ),
    "an interrupt": ("def embedding_forward(E, ids):\n    raise KeyboardInterrupt", 0, "graded", ""),
    "an exception with a name of a million letters": (
        "def embedding_forward(E, ids):\n    raise type('A' * 10**6, (Exception,), {})('\\x1b[31m\\0')", 0, "graded", ""
    ),
    "outputs of 8 MB that it did not print": (
        f"{FORGE}forge = lambda reply: 'outputs' in reply and reply.update(outputs=[dict(\n"
        f"    output_type='stream', name='stdout', text='y' * 7_900_000)]) or None\n{SOLVED}",
        12, "graded", "",
    ),
}  # fmt: skip


def cells(*sources):
    """Add cells of the student's own before the last two checks."""
    return lambda notebook: notebook.cells.__setitem__(slice(-2, -2), [new_code_cell(each) for each in sources])


#: Ends its process in the fourth check. The cells then run again, in a process in which nothing was called before.
CALLED = """
import os
called = 0
def embedding_forward(E, ids):
    global called
    called += 1
    if ids.size == 4: os._exit(3)
    return E[ids]
"""
MARKUP = """<script>alert(1)</script> <img src=x onerror=alert(1)> [link](javascript:alert(1)) <javascript:alert(1)>
[a][b] <a href="javascript:alert(1)">x</a> <iframe srcdoc="<script>alert(1)</script>"></iframe> <form action="x"></form>

[b]: javascript:alert(1)
"""
SHOWN = """from IPython.display import *
display(HTML("<script>alert(1)</script>"), Javascript("alert(1)"), Markdown("[a](javascript:alert(1))"))
display(SVG('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'))
print("<script>alert(1)</script>")
raise ValueError("<script>alert(1)</script> [a](javascript:alert(1))")"""


def marked_up(notebook):
    notebook.cells.insert(0, new_markdown_cell(MARKUP))
    notebook.cells.append(new_code_cell(SHOWN))
    for cell in notebook.cells:
        cell.metadata.tags = ['x" onmouseover="alert(1)" y=\'', "<script>alert(1)</script>"]
        cell.id = "same"
    notebook.metadata.title = "</title><script>alert(1)</script>"


def marked_wrongly(notebook):
    """Copies of the checks, and marks that are no marks, on cells that would do something else."""
    checks = [cell for cell in notebook.cells if cell.metadata.nbgrader.grade]
    copies = [nbformat.from_dict({**cell, "source": "1 + 1", "cell_type": "raw"}) for cell in checks]
    notebook.cells[:0] = copies
    notebook.cells += copies
    for mark in ("../../../gradebook.db", "<script>", "embedding_forward-solution\0", "x" * 10**6, "", 7, None, ["a"]):
        cell = new_code_cell("def embedding_forward(E, ids): return E[ids]")
        cell.metadata.nbgrader = {"grade_id": mark, "points": 1e308, "grade": True, "schema_version": 99}
        notebook.cells.insert(3, cell)


#: By what is tried: what is done to the notebook; the cell with embedding_forward, points, status and words as above.
CHANGED = {
    "a cell that loops when it runs again": (
        cells("if not called:\n    while True: pass"), CALLED, 8, "crashed", "Python ended with exit status 3"
    ),
    "cells that sleep when they run again": (
        cells(*["import time\nif not called: time.sleep(1.5)"] * 100), CALLED, 8, "crashed", "exit status 3"
    ),
    "prints as much as it may, in many cells": (cells(*["print('x' * 199_000)"] * 100), SOLVED, 12, "graded", ""),
    "scripts everywhere": (
        marked_up,
        "def embedding_forward(E, ids):\n    raise ValueError('[a](javascript:alert(1)) <script>')", 0, "graded", "",
    ),
    "marks that are not its own": (
        marked_wrongly, "def embedding_forward(E, ids): return 1", 0, "graded", "there more than once"
    ),
}  # fmt: skip
EVERYTHING = {name: (None, *rest) for name, rest in TRIED.items()} | CHANGED
#: Folders, and what their students are called.
NAMES = {"=1+1": "=1+1", "-rf": "-rf", "a\nb\x1b[31mc": r"a\x0ab\x1b[31mc"}


def files_of_every_kind(folder):
    """What stands beside a notebook that is right."""
    for n in range(300):
        (folder / f"{n}.txt").write_bytes(b"x")
    with open(folder / "sparse", "wb") as file:
        file.truncate(1 << 40)
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to(folder.parents[2] / "gradebook.db")
    (folder / "-rf\n").write_bytes(b"x")
    (folder / "closed").mkdir(mode=0)
    (folder / "0").mkdir()
    os.link(folder / "ps1.ipynb", folder / "0" / "also.ipynb")
    (folder / "timestamp.txt").write_bytes(b"9999-12-31 23:59:59 -2300 " + b"(" * 900)


@pytest.fixture(scope="module")
def top(course, made_once):
    """A folder with the course after the run, and what the run said."""

    def make(top):
        home = top / "course"
        shutil.copytree(course, home)
        released = nbformat.read(home / "release" / "ps1" / "ps1.ipynb", as_version=4)
        for name in ("alice", "zoe", "files", *NAMES):
            hand_in(home, name, solved_with(released))
        submitted = home / "submitted"
        files_of_every_kind(submitted / "files" / "ps1")
        (submitted / "zoe" / "ps1" / "notes.txt").write_text("of zoe")
        (submitted / "linked").symlink_to("zoe")
        (submitted / "a folder for a notebook" / "ps1" / "ps1.ipynb").mkdir(parents=True)
        (submitted / "a folder for a notebook" / "ps1" / "ps1.ipynb" / "x").write_bytes(b"x")
        for name, (change, source, *_) in EVERYTHING.items():
            notebook = json.loads(solved_with(released, source))
            if change:
                notebook = nbformat.from_dict(notebook)
                change(notebook)
            hand_in(home, name, json.dumps(notebook).encode())
        begin = time.monotonic()
        status, out, err = run(home, "ps1", "--json", "--timeout", "2", "--jobs", "2")
        assert status == 0, out + err
        assert time.monotonic() - begin < 300
        (top / "summary.json").write_text(out, encoding="utf-8")

    return made_once("hostile", make)


@pytest.fixture(scope="module")
def outcomes(top):
    (summary,) = json.loads((top / "summary.json").read_text(encoding="utf-8"))
    return {each["student"]: each for each in summary["submissions"]}


@pytest.mark.parametrize("name", EVERYTHING)
def test_it_gets_what_its_function_earned_and_one_sentence(top, outcomes, name):
    _, _, points, status, words = EVERYTHING[name]
    grades = grades_of(top, name)
    forward = {each: score for each, score in grades.items() if each.startswith("embedding_forward")}
    assert sum(forward.values()) == points, forward
    assert sum(grades.values()) - points == 8  # the exercise before it
    assert outcomes[name]["status"] == status
    assert words in outcomes[name]["note"]
    assert bool(words) == bool(outcomes[name]["note"])
    assert len(outcomes[name]["note"]) < 500


@pytest.mark.parametrize("name", ["alice", "zoe", "files", *NAMES.values()])
def test_the_others_get_what_they_earned(top, outcomes, name):
    assert outcomes[name]["status"] == "graded"
    assert sum(grades_of(top, name).values()) == 20


def test_the_gradebook_is_whole_and_holds_nobody_else(top, outcomes):
    others = {"a folder for a notebook", "linked"}
    assert set(outcomes) == {"alice", "zoe", "files", *NAMES.values(), *EVERYTHING, *others}
    database = sqlite3.connect(top / "course" / "gradebook.db")
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert {name for (name,) in database.execute("SELECT id FROM student")} == set(outcomes)
    assert database.execute("SELECT count(*) FROM grade").fetchone() == (10 * len(outcomes),)
    database.close()


def test_folders_that_are_none_of_a_submission_have_a_reason(outcomes):
    assert outcomes["a folder for a notebook"]["status"] == "could not be read"
    assert "is a folder" in outcomes["a folder for a notebook"]["note"]
    assert outcomes["linked"]["status"] == "needs a person"
    assert "is a link" in outcomes["linked"]["note"]


def test_graded_folders_are_small_and_hold_nobody_elses_files(top):
    autograded = top / "course" / "autograded"
    for student in autograded.iterdir():
        files = [path for path in student.rglob("*") if not path.is_dir()]
        assert all(path.is_file() and not path.is_symlink() for path in files)
        assert sum(path.stat().st_size for path in files) < 6_000_000, student.name
        assert len(files) <= 201
        nbformat.validate(nbformat.read(student / "ps1" / "ps1.ipynb", as_version=4))
    assert [path.name for path in (autograded / "linked" / "ps1").iterdir()] == ["ps1.ipynb"]
    assert (autograded / "zoe" / "ps1" / "notes.txt").read_text() == "of zoe"


def test_nothing_runs_in_the_feedback_page_and_nothing_is_a_formula(top, tmp_path):
    shutil.copytree(top / "course", tmp_path / "course", symlinks=True, ignore=shutil.ignore_patterns("submitted"))
    pages = {}
    for command in (["generate_feedback", "ps1"], ["export"]):
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", *command], cwd=tmp_path / "course", capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    for name in ("alice", "scripts everywhere"):
        page = tmp_path / "course" / "feedback" / name / "ps1" / "ps1.html"
        pages[name] = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    honest, page = pages.values()
    assert page.find(string=lambda text: "raise ValueError" in text)
    for name in ("script", "iframe", "object", "svg", "form", "base", "meta", "link", "style"):
        assert len(page.find_all(name)) == len(honest.find_all(name)), name
    for tag in page.find_all(True):
        assert not any(name.startswith("on") for name in tag.attrs), tag
        assert not any("javascript:" in str(tag.get(name, "")) for name in ("href", "src", "action")), tag
    grades = (tmp_path / "course" / "grades.csv").read_text(encoding="utf-8")
    assert ",'=1+1," in grades
    assert ",=1+1," not in grades


def test_the_summary_gives_a_terminal_no_commands():
    outcome = {"student": "a\nb\x1b[31m\u202e", "status": "crashed", "note": "It \x1b]0;ended.", "points": 0}
    outcome["graded_now"] = True
    assert str(Summary("ps1", 20, [outcome])).splitlines()[-1] == "  a?b?[31m?: crashed. It ?]0;ended."
