"""What lists of chapters and problem sets show."""

import pytest
from pages import CHAPTERS

import autograder.overview
from autograder.exercises import PROBLEM_SETS
from autograder.overview import chapters, problem_sets


def test_chapters_are_those_of_the_book():
    assert [f"chapters/{name}" for name in chapters()] == CHAPTERS
    assert chapters()["01_lookup"] == "1. The table is a lookup"


def test_a_problem_set_can_be_done_after_the_last_chapter_that_has_one_of_its_exercises():
    assert {each.name: each.chapter[:2] for each in problem_sets()} == {
        "ps1": "02",
        "ps2": "04",
        "ps3": "06",
        "ps4": "08",
        "ps5": "12",
    }


def test_a_problem_set_says_how_long_it_takes(tmp_path, monkeypatch):
    text = (PROBLEM_SETS / "ps1.md").read_text(encoding="utf-8")
    assert problem_sets()[0].time == "one to two hours"
    (tmp_path / "ps1.md").write_text(text.replace("reading included", "with the reading"), encoding="utf-8")
    monkeypatch.setattr(autograder.overview, "PROBLEM_SETS", tmp_path)
    with pytest.raises(ValueError, match=r"ps1.md lacks the sentence"):
        problem_sets()
