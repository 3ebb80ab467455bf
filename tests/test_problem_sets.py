"""The problem sets: what `python -m autograder.build` writes and what nbgrader makes of it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import solutions
from autograder.build import build, source_notebook
from autograder.checks import tools
from autograder.exercises import PROBLEM_SETS, STUB_BODY, exercise, exercises_in

SETS = sorted(path.stem for path in PROBLEM_SETS.glob("*.md"))


def text_of(name: str) -> str:
    return (PROBLEM_SETS / f"{name}.md").read_text(encoding="utf-8")


def exercises_of(name: str) -> list:
    return [exercise(each) for each in exercises_in(text_of(name))]


def source_path(course: Path, name: str) -> Path:
    return course / "source" / name / f"{name}.ipynb"


def release(course: Path, name: str) -> nbformat.NotebookNode:
    return nbformat.read(course / "release" / name / f"{name}.ipynb", as_version=nbformat.NO_CONVERT)


def by_id(notebook: nbformat.NotebookNode) -> dict[str, nbformat.NotebookNode]:
    return {cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells}


def test_exercises_of_each_set():
    assert {name: exercises_in(text_of(name)) for name in SETS} == {
        "ps1": ["one_hot", "embedding_forward"],
        "ps2": ["embedding_backward", "sparse_sgd_step", "lazy_adam_step"],
        "ps3": ["embedding_bag_mean", "embedding_bag_backward"],
        "ps4": ["tied_bigram_loss_grad", "sinusoidal_positions", "embed_with_positions"],
        "ps5": [
            "table_cost",
            "factorized_forward",
            "factorized_backward",
            "quantize_rows",
            "quantized_lookup",
            "checked_lookup",
        ],
    }


@pytest.mark.parametrize("name", SETS)
def test_a_set_is_worth_20_points_or_more(name):
    assert sum(exercise.points for exercise in exercises_of(name)) >= 20


@pytest.mark.parametrize("name", SETS)
def test_two_builds_are_the_same_to_the_byte(name, course, tmp_path):
    """The course was built by another process, where sets are ordered otherwise."""
    nbformat.write(source_notebook(text_of(name), name), tmp_path / "again.ipynb")
    assert (tmp_path / "again.ipynb").read_bytes() == source_path(course, name).read_bytes()


def test_the_build_makes_every_set_and_nothing_else(course):
    for folder in ("source", "release"):
        files = sorted(str(path.relative_to(course / folder)) for path in (course / folder).rglob("*.*"))
        assert files == [f"{name}/{name}.ipynb" for name in SETS]


@pytest.mark.parametrize("name", SETS)
def test_notebooks_are_valid_and_their_metadata_right(name, course):
    for notebook in (nbformat.read(source_path(course, name), nbformat.NO_CONVERT), release(course, name)):
        nbformat.validate(notebook)
        assert notebook.metadata.kernelspec.name == "python3"
        cells = by_id(notebook)
        assert len(cells) == len(notebook.cells)
        assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
        points = {f"{e.name}-{check.name}": check.points for e in exercises_of(name) for check in e.checks}
        to_write = [f"{e.name}-solution" for e in exercises_of(name)]
        for grade_id, cell in cells.items():
            mark = cell.metadata.nbgrader
            assert mark.schema_version == 3
            assert mark.cell_type == cell.cell_type
            assert (mark.grade, mark.get("points")) == (grade_id in points, points.get(grade_id))
            assert mark.solution == (grade_id in to_write)
            assert mark.locked != mark.solution
            assert mark.task is False
            assert ("raises-exception" in cell.metadata.get("tags", [])) == mark.grade
            assert cell.cell_type == "markdown" or (cell.outputs, cell.execution_count) == ([], None)
        assert points.keys() <= cells.keys()


@pytest.mark.parametrize("name", SETS)
def test_the_release_shows_stubs_and_visible_checks_alone(name, course):
    cells = by_id(release(course, name))
    for each in exercises_of(name):
        assert cells[f"{each.name}-solution"].source == each.stub
        for number, check in enumerate(each.checks, 1):
            source = cells[f"{each.name}-{check.name}"].source
            head, _, rest = source.partition("\n")
            worth = f"{check.points} point{'s' if check.points > 1 else ''}"
            if check.hidden:
                assert all(line.startswith("# ") for line in source.splitlines())
                told = source.replace("\n# ", " ")
                assert told == f"# Check {number} of {len(each.checks)}, {worth}, hidden: {check.sentence}"
            else:
                assert head == f"# Check {number} of {len(each.checks)}, {worth}"
                assert rest == f'{check.source}\n\n\nrun_check({check.name}, "{each.name}", points={check.points})'


@pytest.mark.parametrize("name", SETS)
def test_the_release_holds_no_line_of_a_solution_or_hidden_check(name, course):
    """Of all exercises, not of this set alone. A line that visible checks or the tools have as well is no secret."""
    everything = [exercise(each) for each in solutions.__all__]
    public = [Path(tools.__file__).read_text(encoding="utf-8")]
    public += [each.stub for each in everything]
    public += [check.source for each in everything for check in each.checks if not check.hidden]
    secret = [each.solution for each in everything]
    secret += [check.source for each in everything for check in each.checks if check.hidden]
    announced = [check.sentence for each in everything for check in each.checks]
    lines = {line.strip() for source in secret for line in source.splitlines()}
    lines -= {line.strip() for source in public for line in source.splitlines()}
    lines = {line for line in lines if len(line) > 3 and line.strip('"') not in announced}
    assert {"return E[ids]", "np.add.at(grad_E, ids.ravel(), grad_out.reshape(ids.size, d))"} <= lines
    released = "\n".join(cell.source for cell in release(course, name).cells)
    assert [line for line in sorted(lines) if line in released] == []
    raw = (course / "release" / name / f"{name}.ipynb").read_text(encoding="utf-8")
    assert "BEGIN " not in raw
    assert "END " not in raw


# Runs the code cells of the notebook named last, with nothing to import but the standard library and NumPy, and
# prints the numbers of the cells that failed.
STUDENT = """
import json, sys
import numpy

class Refuse:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top != "numpy" and top not in sys.stdlib_module_names:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Refuse())
for unwanted in ("autograder", "solutions", "IPython", "scipy"):
    try:
        __import__(unwanted)
    except ModuleNotFoundError:
        continue
    raise SystemExit(f"{unwanted} can be imported")
with open(sys.argv[-1], encoding="utf-8") as file:
    cells = json.load(file)["cells"]
space = {"__name__": "__main__"}
for cell in cells:
    if cell["cell_type"] == "code":
        try:
            exec("".join(cell["source"]), space)
        except Exception as error:
            print("FAILED", cell["metadata"]["nbgrader"]["grade_id"], type(error).__name__)
print("DEFINED", *(name for name, value in space.items() if callable(value)))
"""


def run_as_student(notebook: nbformat.NotebookNode, folder: Path) -> list[str]:
    """Lines that the notebook prints in a process that has only NumPy."""
    nbformat.write(notebook, folder / "work.ipynb")
    command = [sys.executable, "-I", "-W", "error", "-c", STUDENT, "work.ipynb"]
    done = subprocess.run(command, cwd=folder, env={"PATH": os.defpath}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", SETS)
def test_the_release_runs_with_numpy_alone(name, course, solve, tmp_path):
    visible = [(e.name, check) for e in exercises_of(name) for check in e.checks if not check.hidden]

    *said, defined = run_as_student(release(course, name), tmp_path)
    assert said == [f"FAILED {function}-{check.name} AssertionError" for function, check in visible]
    assert {e.name for e in exercises_of(name)} <= set(defined.split())

    *said, defined = run_as_student(solve(release(course, name)), tmp_path)
    assert said == [f"pass  {check.points}/{check.points}  {check.name}" for _, check in visible]


def test_the_stub_stands_in_for_every_solution(course):
    """`solve` and the tests that use it rest on this: one cell for each exercise, and it ends in the stub's body."""
    for name in SETS:
        to_write = [cell for cell in release(course, name).cells if cell.metadata.nbgrader.solution]
        assert len(to_write) == len(exercises_of(name))
        assert all(cell.source.endswith(STUB_BODY) for cell in to_write)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("import math", r'ps9: a code cell must be one line exercise\("NAME"\), not:\nimport math'),
        ('exercise("one_hot")\nexercise("embedding_forward")', "ps9: a code cell must be one line"),
        ('exercise("one_hat")', "ps9: no exercise is named 'one_hat'; there are: one_hot, "),
    ],
    ids=["stray", "two in one", "unknown"],
)
def test_a_mistake_in_the_text_is_named(cell, message):
    text = text_of("ps1").replace('exercise("embedding_forward")', cell)
    with pytest.raises(ValueError, match=message):
        source_notebook(text, "ps9")


def test_a_solution_without_markers_is_named(monkeypatch):
    def one_hot(ids, V):
        return None

    monkeypatch.setattr(solutions, "one_hot", one_hot)
    with pytest.raises(ValueError, match="the body of one_hot must stand between one line '### BEGIN SOLUTION'"):
        source_notebook(text_of("ps1"), "ps1")


def test_a_release_that_cannot_be_made_leaves_the_old_one(course, tmp_path):
    copy = tmp_path / "course"
    shutil.copytree(course, copy)
    (copy / "gradebook.db").write_bytes(b"not a database, so that nbgrader fails after it took the old release away")
    before = {path: path.read_bytes() for path in copy.glob("release/*/*.ipynb")}
    assert before
    with pytest.raises(SystemExit, match="could not make the release; the old one is in place"):
        build(copy)
    assert {path: path.read_bytes() for path in copy.glob("release/*/*.ipynb")} == before
