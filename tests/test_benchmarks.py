"""The benchmarks run, check before they time, and write what they say. Nothing here looks at a time."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from nbgrader.api import MissingEntry
from pages import CHAPTERS, PAGES

from book.device import best_device

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture
def load(monkeypatch):
    """Import a benchmark by its file's name."""
    monkeypatch.syspath_prepend(str(FOLDER))

    def load(name):
        spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


def run_quick(name, file, rounds=True):
    command = [sys.executable, FOLDER / f"{name}.py", "--quick", "--json", file, *(["--rounds", "1"] if rounds else [])]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # the line of progress is for a terminal only
    return done.stdout, json.loads(file.read_text())


def test_embedding_device_writes_what_it_prints(tmp_path):
    printed, written = run_quick("embedding_device", tmp_path / "times.json")
    assert {"device", "date", "torch"} <= set(written["machine"])
    (result,) = written["results"]
    assert set(result) >= {"lookup", "gradient", "step of SGD"}
    for what in ("lookup", "gradient", "step of SGD"):
        assert f"N=8,192: {what}, beside" in printed
        for name, row in result[what]["ways"].items():
            assert name in printed
            assert row["ms"] > 0
        assert result[what]["ways"][result[what]["peer"]]["ratio"] == 1


def test_embedding_backward_writes_what_it_prints(tmp_path):
    printed, written = run_quick("embedding_backward", tmp_path / "times.json")
    assert len(written["results"]) == 6
    for result in written["results"]:
        assert f"{result['distinct']:,} distinct" in printed
        assert result["ways"]["PyTorch"]["ratio"] == 1


@pytest.fixture
def small_case(load):
    module = load("embedding_device")

    def make(device, V=61, d=5, N=59):
        ids = {kind: torch.from_numpy(some).to(device) for kind, some in module.id_kinds(V, N).items()}
        return module, module.whole_numbers(V, d, device=device), module.whole_numbers(N, d, device=device), ids

    return make


def test_the_kinds_of_ids_are_what_they_are_called(load):
    kinds = load("embedding_device").id_kinds(1_000, 800)
    assert {len(ids) for ids in kinds.values()} == {800}
    most = {kind: np.bincount(ids).max() for kind, ids in kinds.items()}
    assert most["all different"] == 1
    assert most["one id only"] == 800
    assert 300 < most["half of them one id"] < 500
    assert 1 < most["uniform"] < most["zipf"] < 300


@pytest.mark.parametrize("broken", ["gather_ways", "backward_ways", "Step"])
def test_a_wrong_operation_is_not_timed(small_case, monkeypatch, broken):
    module, E, G, ids = small_case(torch.device("cpu"))
    assert module.check(E, G, ids) == []
    if broken == "Step":
        monkeypatch.setattr(module.Step, "__call__", lambda step: None)
    else:
        right = getattr(module, broken)

        def wrong(*args):
            return {
                kind: lambda way=way: way().clone().index_add_(0, torch.tensor([3]), torch.ones(1, 5))
                for kind, way in right(*args).items()
            }

        monkeypatch.setattr(module, broken, wrong)
    with pytest.raises(AssertionError, match="is wrong"):
        module.check(E, G, ids)


def test_a_device_without_sparse_gradients_is_said_so(small_case, monkeypatch):
    module, E, G, ids = small_case(torch.device("cpu"))
    dense = module.Step.__call__

    def only_dense(step):
        if step.layer.sparse:
            raise NotImplementedError("no such layout\nmore")
        dense(step)

    monkeypatch.setattr(module.Step, "__call__", only_dense)
    assert module.check(E, G, ids) == ["sparse gradients (no such layout)"]
    assert set(module.step_ways(E, G, ids["zipf"], sparse_works=False)) == {"dense", "dense, 7 ids"}


needs_accelerator = pytest.mark.skipif(
    best_device().type == "cpu", reason="needs a graphics card, and there is none here"
)


@needs_accelerator
def test_the_card_computes_what_float64_computes(small_case):
    module, E, G, ids = small_case(best_device())
    missing = module.check(E, G, ids)
    assert missing == [] or best_device().type == "mps"


def test_grading_writes_what_it_prints(tmp_path):
    printed, written = run_quick("grading", tmp_path / "times.json", rounds=False)
    for kind in ("honest", "one in twenty hostile"):
        assert f"2 submissions of ps1, {kind}" in printed
        row = written["both"][kind]
        assert row["times as fast"] == row["nbgrader"]["seconds"] / row["autograder"]["seconds"]
    assert set(written["sizes"]) == {"1", "2"}
    assert len(written["steps"]) == 4
    assert all(ms > 0 for ms in written["steps"].values())


def test_grading_finds_a_grader_that_gives_too_little(load, tmp_path, course):
    grading = load("grading")
    shutil.copytree(course, tmp_path / "course")
    honest = grading.hand_in(tmp_path / "course", 21, hostile=True)
    assert len(honest) == 20
    with pytest.raises(MissingEntry):
        grading.check(tmp_path / "course", honest)


#: The most bytes that a chapter may transfer, formulas and figures included.
FIRST_VISIT, NEXT_PAGE = 450_000, 150_000


def test_a_chapter_is_light(load, browser, address):
    weights = load("site").weigh(browser, address, PAGES)
    for page in CHAPTERS:
        assert weights[page]["first visit"] < FIRST_VISIT, page
        assert weights[page]["next page"] < NEXT_PAGE, page


def test_pages_are_weighed_as_a_server_sends_them(load, browser, tmp_path):
    (tmp_path / "a.html").write_text(
        '<link rel="icon" href="data:,"><img src="x.png"><img src="http://a.example/y.png">'
    )
    (tmp_path / "b.html").write_text('<link rel="icon" href="data:,"><img src="x.png">' + "text " * 10_000)
    (tmp_path / "x.png").write_bytes(bytes(5_000))
    module = load("site")
    with module.serve(tmp_path) as address:
        weights = module.weigh(browser, address, ["a", "b"])
    assert 5_000 < weights["a"]["first visit"] < 5_200
    assert weights["a"]["elsewhere"] == 1
    assert weights["b"]["elsewhere"] == 0
    assert 5_000 < weights["b"]["first visit"] < 5_500
    assert weights["b"]["next page"] == weights["b"]["first visit"] - 5_000  # the icon is nothing, the picture is kept


def test_site_writes_what_it_prints(site, tmp_path):
    printed, written = run_quick("site", tmp_path / "weights.json", rounds=False)
    assert {"browser", "jupyter-book"} <= set(written["machine"])
    for book, pages in written["results"].items():
        assert book in printed
        for row in pages.values():
            assert f"{row['first visit'] / 1000:.1f} KB" in printed
