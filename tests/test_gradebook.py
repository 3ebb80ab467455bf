"""The gradebook and the graded notebooks are as `nbgrader autograde` makes them, and whole whatever happens."""

import copy
import csv
import datetime
import multiprocessing
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import nbformat
import pytest
from grading import as_json, copy_of, essay, grade_all, hand_in, mistaken, rows
from nbgrader.api import Gradebook as TheirGradebook
from test_nbgrader import nbgrader, read, text_of_page

import autograder.gradebook
from autograder.assemble import Placed
from autograder.course import Course, CourseError
from autograder.exercises import PROBLEM_SETS, exercises_in
from autograder.grade import settings_for
from autograder.gradebook import OUTCOMES, Gradebook
from autograder.outcome import CellOutcome, NotebookOutcome, Outcome
from autograder.reading import Cell
from autograder.worker import Worker

SETS = sorted(path.stem for path in PROBLEM_SETS.glob("*.md"))
ODD_ID = "Zoë O'Hara, 2nd [x] {y} *"


def exercises(name):
    return exercises_in((PROBLEM_SETS / f"{name}.md").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def handed_in(course, made_once, solve):
    """A course with a problem set of every kind of cell, and honest submissions of all problem sets."""

    def make(top: Path) -> None:
        root = copy_of(course, top / "course")
        (root / "source" / "essay").mkdir()
        nbformat.write(essay(), root / "source" / "essay" / "essay.ipynb")
        (root / "source" / "essay" / "data.csv").write_text("1,2\n")
        nbgrader(root, "generate_assignment", "essay", "--CourseDirectory.root=.")
        for name in SETS:
            released = read(root / "release" / name / f"{name}.ipynb")
            wrong = [{each: mistaken(each, n) for each in exercises(name)} for n in range(2)]
            partly = dict.fromkeys(exercises(name)[1:], "raise NotImplementedError")
            hand_in(root, "solved", name, solve(released))
            hand_in(root, "untouched", name, released)
            hand_in(root, "partly", name, solve(released, **partly))
            for n, written in enumerate(wrong):
                hand_in(root, f"wrong-{n}", name, solve(released, **written))
        released = read(root / "release" / "essay" / "essay.ipynb")
        hand_in(root, "untouched", "essay", released)
        answers = {"y": "def y():\n    return 1", "z": "z = 4", "why": "Why not?"}
        for cell in released.cells:
            cell.source = answers.get(cell.metadata.nbgrader.grade_id, cell.source)
        hand_in(root, "solved", "essay", released)
        hand_in(root, "solved", "essay", b"3,4\n", "data.csv")
        hand_in(root, "solved", "essay", b"mine", "mine.txt")
        hand_in(root, "solved", "essay", b"2026-02-03 12:00:00 UTC", "timestamp.txt")

    return made_once("handed_in", make) / "course"


@pytest.fixture(scope="session")
def theirs(handed_in, made_once):
    """The course as nbgrader graded it: about two seconds a submission."""

    def make(top: Path) -> None:
        root = copy_of(handed_in, top / "course")
        for name in [*SETS, "essay"]:
            nbgrader(root, "autograde", name)

    return made_once("theirs", make) / "course"


@pytest.fixture(scope="session")
def ours(handed_in, made_once):
    """The same course as it is graded here."""

    def make(top: Path) -> None:
        root = copy_of(handed_in, top / "course")
        assert set(grade_all(root).values()) == {"graded"}

    return made_once("ours", make) / "course"


def test_every_score_comment_and_flag_is_nbgraders(ours, theirs):
    got, want = rows(ours), rows(theirs)
    assert len(want) > 5 * 60
    assert got.keys() == want.keys()
    for key in want:
        if key[-1] == "comment":  # ours goes on to say why a check failed
            assert (got[key][0] or "").startswith(want[key][0] or ""), key
        else:
            assert got[key] == want[key], key


def test_the_graded_notebooks_have_the_same_cells(ours, theirs):
    paths = sorted(path.relative_to(theirs) for path in theirs.glob("autograded/*/*/*.ipynb"))
    assert sorted(path.relative_to(ours) for path in ours.glob("autograded/*/*/*.ipynb")) == paths
    for path in paths:
        got, want = read(ours / path), read(theirs / path)
        nbformat.validate(got)
        assert got.metadata.kernelspec == want.metadata.kernelspec
        for one, other in zip(got.cells, want.cells, strict=True):
            assert (one.cell_type, one.source) == (other.cell_type, other.source)
            assert one.metadata.nbgrader == other.metadata.nbgrader
            failed = [output.ename for output in other.get("outputs", ()) if output.output_type == "error"]
            if failed:  # told in words of our own
                assert [output.output_type for output in one.outputs] == ["error"]
                assert one.outputs[0].evalue or one.metadata.nbgrader.solution


def test_the_other_files_are_there_and_read_only(ours, theirs):
    def files(root):
        folder = root / "autograded" / "solved" / "essay"
        return {
            path.name: (path.read_bytes() if path.suffix != ".ipynb" else b"", stat.S_IMODE(path.stat().st_mode))
            for path in folder.iterdir()
        }

    assert files(ours) == files(theirs)
    assert files(ours)["data.csv"] == (b"1,2\n", 0o444)  # the teacher's


def test_nbgrader_goes_on_with_ours(ours, tmp_path):
    """Feedback, export, formgrader's own queries, and autograding once more."""
    root = copy_of(ours, tmp_path / "course")
    nbgrader(root, "generate_feedback", "ps1")
    assert "NotImplementedError" in text_of_page((root / "feedback/untouched/ps1/ps1.html").read_text())
    nbgrader(root, "generate_feedback", "essay")
    assert "No response." in text_of_page((root / "feedback/untouched/essay/essay.html").read_text())
    nbgrader(root, "export", "--to", "grades.csv")
    with open(root / "grades.csv", encoding="utf-8", newline="") as file:
        table = {(row["student_id"], row["assignment"]): row for row in csv.DictReader(file)}
    assert table["solved", "ps1"]["score"] == table["solved", "ps1"]["max_score"] == "20.0"
    assert table["solved", "ps1"]["outcome"] == "graded"
    assert table["wrong-0", "essay"]["outcome"] == "not handed in"
    before = rows(root)
    with TheirGradebook(f"sqlite:///{root / 'gradebook.db'}", "token-embeddings") as gradebook:
        assert len(gradebook.submission_dicts("ps1")) == 5
        assert gradebook.find_submission_notebook("ps1", "ps1", "solved").to_dict()["score"] == 20
    nbgrader(root, "autograde", "ps1", "--student", "wrong-0", "--force")
    after = rows(root)
    assert after.keys() == before.keys()
    assert {key for key in after if after[key] != before[key]} == {
        ("wrong-0", "ps1", "ps1", f"{name}-solution", "comment") for name in ("one_hot", "embedding_forward")
    }  # nbgrader does not say why a check failed


# What a submission is


@pytest.fixture
def small(handed_in, tmp_path):
    """The course with no submissions."""
    root = copy_of(handed_in, tmp_path / "course")
    shutil.rmtree(root / "submitted")
    return root


@pytest.fixture
def solved(handed_in):
    """Problem set 1, solved, as text."""
    return (handed_in / "submitted/solved/ps1/ps1.ipynb").read_bytes()


def outcomes(root):
    with sqlite3.connect(root / "gradebook.db") as connection:
        query = f"select student_id, status, note from {OUTCOMES.name} join submitted_assignment on id = submission_id"
        return {student: (status, note) for student, status, note in connection.execute(query)}


def score(root, student, problem_set="ps1"):
    return rows(root)[student, problem_set][0]


def test_any_student_id(small, solved):
    hostile = [ODD_ID, "'; drop table grade; --", "a\nb", "ü", "{student_id}", "[ab]*?", " padded ", "-x", "q" * 120]
    for student in hostile:
        hand_in(small, student, "ps1", solved)
    assert set(grade_all(small).values()) == {"graded"}
    ids = [each.replace("\n", "\\x0a") for each in hostile]
    for student in ids:
        assert score(small, student) == 20, student
        assert (small / "autograded" / student / "ps1" / "ps1.ipynb").is_file()
    assert set(grade_all(small).values()) == {"unchanged"}
    nbgrader(small, "generate_feedback", "ps1")
    for student in ids:
        assert (small / "feedback" / student / "ps1" / "ps1.html").is_file(), student
    nbgrader(small, "export", "--to", "grades.csv")
    with open(small / "grades.csv", encoding="utf-8", newline="") as file:
        assert {row["student_id"] for row in csv.DictReader(file) if row["assignment"] == "ps1"} == {
            each if each != "-x" else "'-x"
            for each in ids  # which a spreadsheet would take for a formula
        }


@pytest.mark.skipif(os.name != "posix", reason="names of files are Unicode there")
def test_an_id_that_is_not_utf_8(small, solved):
    folder = os.fsencode(small / "submitted") + b"/M\xfcller/ps1"
    os.makedirs(folder)
    Path(os.fsdecode(folder), "ps1.ipynb").write_bytes(solved)
    assert grade_all(small) == {("M\\xfcller", "ps1"): "graded"}
    assert score(small, "M\\xfcller") == 20


def test_a_submission_without_a_notebook_is_told_apart_from_zero(small, solved):
    hand_in(small, "honest", "ps1", solved)
    hand_in(small, "broken", "ps1", b"{")
    hand_in(small, "nothing", "ps1", b"", "readme.txt")
    hand_in(small, "two", "ps1", solved, "a.ipynb")
    hand_in(small, "two", "ps1", solved, "b.ipynb")
    hand_in(small, "renamed", "ps1", solved, "ps1 (1).ipynb")
    hand_in(small, "markup", "ps1", solved, "<script>alert(1)<").rename(
        small / "submitted/markup/ps1/<img src=x onerror=alert(1)>.ipynb"
    )
    assert {student: status for (student, _), status in grade_all(small).items()} == {
        "honest": "graded",
        "broken": "could not be read",
        "nothing": "needs a person",
        "two": "needs a person",
        "renamed": "graded",
        "markup": "graded",
    }
    assert [score(small, each) for each in ("honest", "broken", "nothing", "two", "renamed")] == [20, 0, 0, 0, 20]
    assert outcomes(small)["honest"] == ("graded", "")
    assert outcomes(small)["renamed"][1] == "It was handed in as “ps1 (1).ipynb”, not as ps1.ipynb."
    assert "may be any of “a.ipynb”, “b.ipynb”" in outcomes(small)["two"][1]
    found = rows(small)
    assert found["broken", "ps1"][2]  # needs a person's look
    assert found["broken", "ps1", "ps1", "one_hot-solution", "comment"][0].startswith("ps1.ipynb is not a notebook")
    nbgrader(small, "generate_feedback", "ps1")
    page = (small / "feedback/broken/ps1/ps1.html").read_text()
    assert text_of_page(page).count("ps1.ipynb is not a notebook that can be read") == 2
    assert "<img src=x" not in (small / "feedback/markup/ps1/ps1.html").read_text()
    nbgrader(small, "export", "--to", "grades.csv", "--assignment", "['ps1']")
    with open(small / "grades.csv", encoding="utf-8", newline="") as file:
        table = {row["student_id"]: (row["score"], row["outcome"], row["note"]) for row in csv.DictReader(file)}
    assert table["honest"] == ("20.0", "graded", "")
    assert table["broken"][:2] == ("0.0", "could not be read")
    assert table["two"][2] == outcomes(small)["two"][1]


def test_a_replaced_submission_is_graded_again_and_an_unchanged_one_is_not(small, solved):
    path = hand_in(small, "alice", "ps1", b"{")
    hand_in(small, "bob", "ps1", solved)
    grade_all(small)
    bob = (small / "autograded/bob/ps1/ps1.ipynb").stat().st_ino
    path.write_bytes(solved)
    assert grade_all(small) == {("alice", "ps1"): "graded", ("bob", "ps1"): "unchanged"}
    assert score(small, "alice") == 20
    assert (small / "autograded/bob/ps1/ps1.ipynb").stat().st_ino == bob
    hand_in(small, "bob", "ps1", b"2026-02-03 12:00:00 UTC", "timestamp.txt")
    assert grade_all(small, students=("bob",)) == {("bob", "ps1"): "graded"}
    shutil.rmtree(small / "autograded" / "bob")
    assert grade_all(small, students=("bob",)) == {("bob", "ps1"): "graded"}
    with TheirGradebook(f"sqlite:///{small / 'gradebook.db'}", "token-embeddings") as gradebook:
        gradebook.remove_submission("ps1", "bob")
    assert grade_all(small, students=("bob",)) == {("bob", "ps1"): "graded"}


def test_what_a_person_entered_is_kept(small, solved):
    hand_in(small, "alice", "ps1", solved)
    hand_in(small, "alice", "essay", as_json(essay()))
    grade_all(small)
    with TheirGradebook(f"sqlite:///{small / 'gradebook.db'}", "token-embeddings") as gradebook:
        grade = gradebook.find_grade("embedding_forward-any_dtype", "ps1", "ps1", "alice")
        grade.manual_score, grade.extra_credit, grade.needs_manual_grade = 0.5, 2, False
        gradebook.find_comment("one_hot-solution", "ps1", "ps1", "alice").manual_comment = "Well done."
        task = gradebook.find_grade("draw", "essay", "essay", "alice")
        task.manual_score, task.needs_manual_grade = 5, False
        gradebook.db.commit()
    for problem_set in ("ps1", "essay"):
        shutil.rmtree(small / "autograded" / "alice" / problem_set)
    assert grade_all(small) == {("alice", "ps1"): "needs a person", ("alice", "essay"): "graded"}
    assert outcomes(small)["alice"][1] == "Points that a person gave before were kept: look at them again."
    found = rows(small)
    auto, manual, total, _, needs_person, _ = found["alice", "ps1", "ps1", "embedding_forward-any_dtype"]
    assert (auto > 0, manual, total, needs_person) == (True, 0.5, 2.5, True)  # as nbgrader flags it
    assert found["alice", "ps1", "ps1", "one_hot-solution", "comment"] == (outcomes(small)["alice"][1], "Well done.")
    assert found["alice", "essay", "essay", "draw"][1:5] == (5, 5, 6, False)


def test_what_a_person_has_seen_to_needs_no_person(small, solved):
    hand_in(small, "alice", "ps1", solved, "a.ipynb")
    hand_in(small, "alice", "ps1", solved, "b.ipynb")
    assert grade_all(small) == {("alice", "ps1"): "needs a person"}
    with TheirGradebook(f"sqlite:///{small / 'gradebook.db'}", "token-embeddings") as gradebook:
        for each in gradebook.find_submission_notebook("ps1", "ps1", "alice").grades:
            each.manual_score, each.needs_manual_grade = 1, False
        gradebook.db.commit()
    gradebook = Gradebook(Course(small))
    (standing,) = gradebook.outcomes("ps1")
    gradebook.close()
    assert standing[:2] == ("alice", "graded")
    assert standing.points == score(small, "alice") > 0
    nbgrader(small, "export", "--to", "grades.csv", "--assignment", "['ps1']")
    assert ",graded," in (small / "grades.csv").read_text(encoding="utf-8")


def test_another_check_or_other_points_grade_again(small, solved):
    hand_in(small, "alice", "ps1", solved)
    grade_all(small)
    with TheirGradebook(f"sqlite:///{small / 'gradebook.db'}", "token-embeddings") as gradebook:
        gradebook.find_graded_cell("embedding_forward-any_dtype", "ps1", "ps1").max_score += 1
        gradebook.db.commit()
    assert grade_all(small) == {("alice", "ps1"): "graded"}
    assert grade_all(small) == {("alice", "ps1"): "unchanged"}
    path = small / "source" / "ps1" / "ps1.ipynb"
    path.write_text(path.read_text(encoding="utf-8").replace("# Check 1 of", "# The check 1 of"), encoding="utf-8")
    assert grade_all(small) == {("alice", "ps1"): "graded"}


def test_another_notebook_needs_a_person_and_so_do_copies_that_differ(small, solved, course):
    hand_in(small, "other", "ps1", (course / "release" / "ps2" / "ps2.ipynb").read_bytes())
    copied = nbformat.reads(solved.decode(), as_version=4)
    place = next(n for n, cell in enumerate(copied.cells) if cell.metadata.nbgrader.grade_id == "one_hot-solution")
    untouched = copy.deepcopy(copied.cells[place])
    untouched.source = "def one_hot(ids, V):\n    raise NotImplementedError"
    harmless = copy.deepcopy(copied)
    harmless.cells.insert(place, copy.deepcopy(untouched))
    copied.cells.insert(place + 1, untouched)
    hand_in(small, "copied", "ps1", as_json(copied))
    hand_in(small, "harmless", "ps1", as_json(harmless))
    lacking = nbformat.reads(solved.decode(), as_version=4)
    del lacking.cells[place]
    hand_in(small, "lacking", "ps1", as_json(lacking))
    assert {student: status for (student, _), status in grade_all(small).items()} == {
        "other": "needs a person",
        "copied": "needs a person",
        "harmless": "graded",
        "lacking": "graded",
    }
    assert [score(small, each) for each in ("other", "copied", "harmless", "lacking")] == [0, 12, 20, 12]
    assert outcomes(small)["other"][1].startswith("It holds no cell of ps1: it may be another notebook.")
    assert "The copies of a cell to write in differ, and another one may be meant." in outcomes(small)["copied"][1]
    assert "differ" not in outcomes(small)["harmless"][1]
    assert outcomes(small)["lacking"][1] == "Cells to write in are missing: one_hot-solution."


def test_a_timestamp_that_says_no_time_is_left_out(small, solved):
    hand_in(small, "alice", "ps1", solved)
    hand_in(small, "alice", "ps1", b"last tuesday", "timestamp.txt")
    hand_in(small, "bob", "ps1", solved)
    hand_in(small, "bob", "ps1", b"2026-02-03 12:00:00 UTC", "timestamp.txt")
    grade_all(small)
    assert not (small / "autograded/alice/ps1/timestamp.txt").exists()
    assert (small / "autograded/bob/ps1/timestamp.txt").exists()


def test_late_penalties_are_the_plugins(small, solved):
    with open(small / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write("\nc.AssignLatePenalties.plugin_class = 'late_here.PerHour'\n")
    (small / "late_here.py").write_text(
        "from nbgrader.plugins import LateSubmissionPlugin\n"
        "class PerHour(LateSubmissionPlugin):\n"
        "    def late_submission_penalty(self, student_id, score, total_seconds_late):\n"
        "        return total_seconds_late / 3600\n"
    )
    due = datetime.datetime(2026, 2, 3, 10)
    with TheirGradebook(f"sqlite:///{small / 'gradebook.db'}", "token-embeddings") as gradebook:
        gradebook.update_or_create_assignment("ps1", duedate=due)
    for student, time_of_day in (("late", "13:30:00"), ("early", "09:00:00"), ("much", "23:00:00")):
        hand_in(small, student, "ps1", solved if student != "much" else b"{")
        hand_in(small, student, "ps1", f"2026-02-03 {time_of_day} UTC".encode(), "timestamp.txt")
    hand_in(small, "odd", "ps1", solved)
    hand_in(small, "odd", "ps1", b"yesterday, perhaps", "timestamp.txt")
    grade_all(small)
    assert {student: rows(small)[student, "ps1"][4] for student in ("late", "early", "much", "odd")} == {
        "late": 3.5,
        "early": 0,
        "much": 0,  # no more than there is
        "odd": 0,
    }


def test_sentences_of_cells_and_submission_become_comments(small, solved):
    hand_in(small, "alice", "ps1", solved)
    course = Course(small)
    gradebook = Gradebook(course)
    teachers = gradebook.notebooks("ps1")
    (found,) = course.students("ps1")
    submission = course.read(found[0], "ps1", found[1], list(teachers))
    worker = Worker(settings_for(course, gradebook, "ps1"))
    did = worker.outcome_of(submission).notebooks["ps1"]
    worker.server.stop()
    told = {"embedding_forward-any_dtype": "It <b>crashed</b>.", "embedding_forward-solution": "Slow."}
    told["one_hot-solution"] = "all ended."  # the sentence on the submission quotes it
    cells = tuple(
        (placed, CellOutcome(own.outputs, own.score, told.get(placed.teacher.name, ""))) for placed, own in did.cells
    )
    gradebook.save(
        Outcome("alice", "ps1", "crashed", "Python & all ended.", {"ps1": NotebookOutcome(cells)}), submission
    )
    found = rows(small)
    assert found["alice", "ps1", "ps1", "one_hot-solution", "comment"][0] == "Python &amp; all ended."
    assert (
        found["alice", "ps1", "ps1", "embedding_forward-solution", "comment"][0]
        == "Slow. It &lt;b&gt;crashed&lt;/b&gt;."
    )
    assert outcomes(small)["alice"] == ("crashed", "Python & all ended.")
    shown = read(small / "autograded/alice/ps1/ps1.ipynb")
    assert shown.cells[0].source == "**About this submission.** Python &amp; all ended."


BAD_OUTPUTS = (
    None, "text", {}, {"output_type": "stream"}, {"output_type": "stream", "name": "stdout", "text": 3},
    {"output_type": "error", "ename": 1, "evalue": "", "traceback": []},
    {"output_type": "display_data", "data": {"text/html": {"x": 1}, 3: "x", "<script>": "y"}},
    {"output_type": "display_data", "data": {"text/plain": "z" * 10_000_000}},
    {"output_type": "stream", "name": "stdout", "text": "half \ud800\n" * 5_000},
    {"output_type": "stream", "name": "stdout", "text": "beyond the last line\n"},
    {"output_type": "error", "ename": "E" * 10**6, "evalue": "\udfff", "traceback": ["x"] * 10**5},
    {"output_type": "execute_result", "data": {"text/plain": "5"}, "extra": "left out"},
)  # fmt: skip


def test_outputs_of_any_form_leave_a_valid_notebook(small, solved):
    hand_in(small, "alice", "ps1", solved)
    course = Course(small)
    gradebook = Gradebook(course)
    submission = course.read("alice", "ps1", small / "submitted/alice/ps1", ["ps1"])
    cell = (Placed(Cell("code", "odd \n line", id="x")), CellOutcome(BAD_OUTPUTS))
    gradebook.save(Outcome("alice", "ps1", "graded", "", {"ps1": NotebookOutcome((cell, cell))}), submission)
    path = small / "autograded/alice/ps1/ps1.ipynb"
    assert path.stat().st_size < 3_000_000
    notebook = read(path)
    nbformat.validate(notebook)
    outputs = notebook.cells[0].outputs
    assert [output.output_type for output in outputs] == ["display_data", "stream", "error", "execute_result"]
    assert len(outputs[1].text.splitlines()) == 1000
    assert outputs[1].text.endswith("... Output truncated ...")
    assert len(outputs[2].traceback) == 100
    assert notebook.cells[0].source == "odd \n line"


# Killed, and two at once


def save_for_ever(root):
    course = Course(root)
    gradebook = Gradebook(course)
    teachers = gradebook.notebooks("ps1")
    for number in range(10**6):
        student = f"s{number % 50}"
        submission = course.read(student, "ps1", root / "submitted" / student / "ps1", list(teachers))
        # Of one run, all cells have the same points.
        points = float(number // 50 % 2)
        cells = tuple(
            (Placed(Cell(each.kind, each.source, each.name), each), CellOutcome((), points if each.is_check else None))
            for each in teachers["ps1"].cells
        )
        notes = f"run {points:g}"
        gradebook.save(Outcome(student, "ps1", "graded", notes, {"ps1": NotebookOutcome(cells)}), submission)


@pytest.mark.skipif(os.name != "posix", reason="kill -9")
def test_killed_at_any_moment_the_gradebook_is_whole(small, solved):
    for number in range(50):
        hand_in(small, f"s{number}", "ps1", solved)
    for attempt in range(8):
        process = multiprocessing.get_context("fork").Process(target=save_for_ever, args=(small,))
        process.start()
        time.sleep(0.6 + 0.173 * attempt)
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        with sqlite3.connect(small / "gradebook.db") as connection:
            assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
        for key, values in rows(small).items():
            if len(key) == 4 and key[1] == "ps1":
                note = outcomes(small)[key[0]][1]
                assert f"run {values[0]:g}" == note, key
    assert len(outcomes(small)) > 10
    assert set(grade_all(small).values()) <= {"graded", "unchanged"}
    assert not list((small / "autograded").glob("*/.*"))


@pytest.mark.parametrize("step", ["write_folder", "put_in_place"])
def test_killed_before_the_grades_are_written_a_submission_is_graded_again(small, solved, monkeypatch, step):
    """Also if it was graded already, as with --force after a check has changed."""
    hand_in(small, "alice", "ps1", solved)
    grade_all(small)
    course = Course(small)
    gradebook = Gradebook(course)
    teachers = gradebook.notebooks("ps1")
    submission = course.read("alice", "ps1", small / "submitted/alice/ps1", list(teachers))
    done = getattr(autograder.gradebook, step)

    def kill(*arguments, **more):
        done(*arguments, **more)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(autograder.gradebook, step, kill)
        with pytest.raises(KeyboardInterrupt):
            gradebook.save(Outcome("alice", "ps1", "crashed", "", {}), submission)
    assert score(small, "alice") == 20
    assert not gradebook.is_graded(submission)
    gradebook.close()
    assert grade_all(small) == {("alice", "ps1"): "graded"}
    assert score(small, "alice") == 20
    assert grade_all(small) == {("alice", "ps1"): "unchanged"}


def test_afterwards_the_gradebook_is_one_file(small, solved):
    hand_in(small, "alice", "ps1", solved)
    grade_all(small)
    assert not list(small.glob("gradebook.db-*"))
    with closing(sqlite3.connect(small / "gradebook.db")) as connection:
        assert connection.execute("pragma journal_mode").fetchone() == ("delete",)


def test_a_second_run_says_that_there_is_one(small):
    second = Course(small).lock()
    with Course(small).lock(), pytest.raises(CourseError, match="Another run of the autograder is grading"), second:
        pass
    with Course(small).lock():
        pass


def test_formgrader_may_write_meanwhile(small, solved):
    """A writer waits for the other: nothing is lost, nothing stops."""
    hand_in(small, "alice", "ps1", solved)
    command = f"import sys; sys.path[:0] = {sys.path!r}; from grading import *; grade_all(Path({str(small)!r}))"
    with closing(sqlite3.connect(small / "gradebook.db", isolation_level=None)) as other:
        other.execute("begin immediate")
        other.execute("insert into student (id) values ('bob')")
        child = subprocess.Popen([sys.executable, "-c", command])
        time.sleep(5)
        assert child.poll() is None
        other.execute("commit")
        assert child.wait() == 0
    assert score(small, "alice") == 20


def test_a_course_that_is_not_ready_says_what_to_do(tmp_path, small):
    with pytest.raises(CourseError, match="There is no folder"):
        Course(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(CourseError, match=r"There is no course in .*: it has no nbgrader_config.py"):
        Course(tmp_path / "empty")
    (tmp_path / "empty" / "nbgrader_config.py").touch()
    with pytest.raises(CourseError, match=r"There is no gradebook .* Make the problem sets first"):
        Gradebook(Course(tmp_path / "empty"))
    with pytest.raises(CourseError, match="knows no problem set 'ps9'"):
        Gradebook(Course(small)).notebooks("ps9")
    (tmp_path / "empty" / "nbgrader_config.py").write_text("c = get_config()\nc.x = 1 / 0\n")
    with pytest.raises(CourseError, match="cannot be read: division by zero"):
        Course(tmp_path / "empty")
    with open(small / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write("\nc.Autograde.create_student = False\n")
    hand_in(small, "new", "ps1", b"{}")
    with pytest.raises(CourseError, match="knows no student 'new'"):
        grade_all(small)
