"""`make lab` hands out problem sets, and a student's file is never overwritten."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.my_work import hand_out


def write(path: Path, *sources: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    cells = [new_code_cell(source, id=f"cell-{number}") for number, source in enumerate(sources)]
    nbformat.write(new_notebook(cells=cells), path)


@pytest.fixture
def release(tmp_path: Path) -> Path:
    for name in ("ps1", "ps2"):
        write(tmp_path / "release" / name / f"{name}.ipynb", "stub", "check")
    return tmp_path / "release"


def test_a_new_student_gets_a_copy_of_each_set(release: Path, tmp_path: Path) -> None:
    told = hand_out(release, tmp_path / "my_work")
    assert told == ["my_work/ps1.ipynb is new.", "my_work/ps2.ipynb is new."]
    for name in ("ps1", "ps2"):
        copy = tmp_path / "my_work" / f"{name}.ipynb"
        assert copy.read_bytes() == (release / name / f"{name}.ipynb").read_bytes()


def test_work_is_left_alone(release: Path, tmp_path: Path) -> None:
    hand_out(release, tmp_path / "my_work")
    mine = tmp_path / "my_work" / "ps1.ipynb"
    mine.write_text("three hours of work, and not even JSON", encoding="utf-8")
    assert hand_out(release, tmp_path / "my_work")[0] == "my_work/ps1.ipynb is yours and was left alone."
    assert mine.read_text(encoding="utf-8") == "three hours of work, and not even JSON"


def test_a_changed_release_is_told_and_work_is_left_alone(release: Path, tmp_path: Path) -> None:
    hand_out(release, tmp_path / "my_work")
    mine = tmp_path / "my_work" / "ps2.ipynb"
    write(mine, "my solution", "check")
    before = mine.read_bytes()
    write(release / "ps2" / "ps2.ipynb", "stub", "a better check")
    for _ in range(2):  # told each time, until the student has the new one
        same, changed = hand_out(release, tmp_path / "my_work")
        assert same == "my_work/ps1.ipynb is yours and was left alone."
        assert "has changed since you got it" in changed
        assert mine.read_bytes() == before
    mine.rename(tmp_path / "my_work" / "ps2-old.ipynb")
    assert hand_out(release, tmp_path / "my_work")[1] == "my_work/ps2.ipynb is new."
    assert hand_out(release, tmp_path / "my_work")[1] == "my_work/ps2.ipynb is yours and was left alone."


def test_a_release_that_only_another_version_wrote_is_the_same(release: Path, tmp_path: Path) -> None:
    hand_out(release, tmp_path / "my_work")
    released = release / "ps1" / "ps1.ipynb"
    notebook = nbformat.read(released, as_version=4)
    notebook.metadata["language_info"] = {"name": "python", "version": "3.14.0"}
    nbformat.write(notebook, released)
    assert hand_out(release, tmp_path / "my_work")[0] == "my_work/ps1.ipynb is yours and was left alone."
