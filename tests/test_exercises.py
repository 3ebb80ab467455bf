"""An exercise is the same wherever it appears, and a report shows what the checks said."""

import ast
import inspect
import itertools
from pathlib import Path

import nbformat
import numpy as np
import pytest

import autograder
import solutions
from autograder.exercises import PROBLEM_SETS, STUB_BODY, exercise, exercises_in, in_points

CHAPTERS = sorted((Path(__file__).parent.parent / "chapters").glob("*.md"))
NAMES = solutions.__all__
SIGNATURES = {
    "one_hot": "(ids, V)",
    "embedding_forward": "(E, ids)",
    "embedding_backward": "(ids, grad_out, V, padding_idx=None)",
    "sparse_sgd_step": "(E, ids, grad_out, lr, weight_decay=0.0)",
    "lazy_adam_step": "(E, m, v, step, ids, grad_out, lr=0.001, beta1=0.9, beta2=0.999, eps=1e-08)",
    "embedding_bag_mean": "(E, ids, offsets)",
    "embedding_bag_backward": "(ids, offsets, grad_out, V, mode='mean')",
    "tied_bigram_loss_grad": "(E, x, y)",
    "sinusoidal_positions": "(T, d)",
    "embed_with_positions": "(E, P, ids, scale=1.0)",
    "table_cost": "(V, d, tied, factor_m=None)",
    "factorized_forward": "(A, W, ids)",
    "factorized_backward": "(A, W, ids, grad_out)",
    "quantize_rows": "(E)",
    "quantized_lookup": "(codes, scales, ids)",
}
CHAPTER_OF = {
    "one_hot": "01_lookup",
    "embedding_forward": "02_batches",
    "embedding_backward": "03_backward",
    "sparse_sgd_step": "04_training",
    "lazy_adam_step": "04_training",
    "embedding_bag_mean": "06_bags",
    "embedding_bag_backward": "06_bags",
    "tied_bigram_loss_grad": "07_tying",
    "sinusoidal_positions": "08_scale",
    "embed_with_positions": "08_scale",
    "table_cost": "10_counting",
    "factorized_forward": "11_smaller",
    "factorized_backward": "11_smaller",
    "quantize_rows": "11_smaller",
    "quantized_lookup": "11_smaller",
}


def places(paths: list[Path], name: str) -> list[str]:
    """The files that show the exercise, once for each time that they do."""
    return [path.stem for path in paths for found in exercises_in(path.read_text(encoding="utf-8")) if found == name]


@pytest.mark.parametrize("name", SIGNATURES)
def test_signature_to_the_letter(name):
    namespace: dict = {}
    exec(f"from solutions import {name}", namespace)
    signature = inspect.signature(namespace[name])
    parameters = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    assert str(inspect.Signature(parameters)) == SIGNATURES[name]


@pytest.mark.parametrize("name", NAMES)
def test_one_problem_set_and_a_chapter(name):
    (problem_set,) = places(sorted(PROBLEM_SETS.glob("*.md")), name)
    assert exercise(name).problem_set == problem_set
    assert places(CHAPTERS, name)


@pytest.mark.parametrize("name", CHAPTER_OF)
def test_chapter(name):
    assert CHAPTER_OF[name] in places(CHAPTERS, name)


@pytest.mark.parametrize("name", NAMES)
def test_stub_on_the_page_is_the_stub_of_the_release(name, course):
    problem_set = exercise(name).problem_set
    release = nbformat.read(course / "release" / problem_set / f"{problem_set}.ipynb", as_version=4)
    (cell,) = [cell for cell in release.cells if cell.metadata.nbgrader.grade_id == f"{name}-solution"]
    assert exercise(name).stub == cell.source
    assert cell.source.endswith(f'"""\n    {STUB_BODY}')


@pytest.mark.parametrize("name", NAMES)
def test_stub_has_the_docstring_and_says_that_it_is_not_written(name):
    namespace: dict = {"np": np}
    exec(exercise(name).stub, namespace)
    assert inspect.getdoc(namespace[name]) == inspect.getdoc(exercise(name).function)
    report = autograder.check(name, namespace[name])
    assert report.points == 0
    for result in report.checks:
        assert result.message == f"{name} is not written yet: write its body in place of `{STUB_BODY}`."


@pytest.mark.parametrize("name", NAMES)
def test_solution_without_markers_is_the_function(name):
    source = exercise(name).solution
    assert "###" not in source
    namespace: dict = {"np": np}
    exec(source, namespace)
    imported = inspect.getsource(exercise(name).function)
    assert ast.dump(ast.parse(source)) == ast.dump(ast.parse(imported))  # all the same but for comments
    report = autograder.check(name, namespace[name])
    assert report.points == report.max_points == exercise(name).points


@pytest.mark.parametrize("name", NAMES)
def test_the_page_shows_stub_visible_checks_and_folded_solution(name):
    page = exercise(name)._repr_markdown_()
    assert f"```python\n{exercise(name).stub}\n```" in page
    before, folded = page.split("<details>")
    assert f"```python\n{exercise(name).solution}\n```" in folded
    assert folded.rstrip().endswith("</details>")
    body = exercise(name).solution.removeprefix(exercise(name).stub.removesuffix(STUB_BODY))
    assert body.strip()
    assert body.strip() not in before
    for check in exercise(name).checks:
        if check.hidden:
            assert check.sentence not in page
            shown = page + exercise(name).marked_source
            assert not [line for line in check.source.splitlines() if len(line.strip()) > 20 and line.strip() in shown]
        else:
            assert f"- {check.sentence} *({in_points(check.points)})*" in before
    hidden = sum(check.points for check in exercise(name).checks if check.hidden)
    assert f"*({in_points(hidden)})*" in before
    assert f"worth {exercise(name).points} points in problem set {exercise(name).problem_set}" in before


def test_an_unknown_name_lists_the_exercises():
    for call in (exercise, lambda name: autograder.check(name, print)):
        with pytest.raises(KeyError, match="no exercise is named 'embeding_forward'; there are: one_hot, embedding_f"):
            call("embeding_forward")


def test_check_wants_the_function_itself():
    with pytest.raises(TypeError, match=r"needs the function itself, as in check\('one_hot', one_hot\)"):
        autograder.check("one_hot", "one_hot")  # type: ignore[arg-type]


def test_report():
    def one_hot(ids, V):
        if np.ndim(ids) != 1:
            raise ValueError("<script>alert('no & never')</script>")
        return solutions.one_hot(ids, V)

    report = autograder.check("one_hot", one_hot)
    results = {result.name: result for result in report.checks}
    checks = exercise("one_hot").checks
    assert [(r.name, r.points, r.sentence) for r in report.checks] == [(c.name, c.points, c.sentence) for c in checks]
    failed = results["any_shape_of_ids"]
    assert [result for result in report.checks if not result.passed] == [failed]
    assert all(result.passed == (result.message == "") for result in report.checks)
    assert report.points == report.max_points - failed.points
    assert failed.message.startswith("Your function raised ValueError: <script>alert('no & never')</script> (line ")
    assert "`raise ValueError(" in failed.message  # the student's own line

    text = str(report)
    assert text.startswith(f"one_hot: {report.points} of {report.max_points} points\n")
    assert "FAIL  0/2  any_shape_of_ids\n" in text
    assert "pass  2/2  each_row_has_one_1\n" in text
    assert "ValueError" in text

    html = report._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;alert(&#x27;no &amp; never&#x27;)&lt;/script&gt;" in html
    assert f"{report.points} of {report.max_points} points" in html
    assert html.count("<tr") == html.count("</tr>") == len(checks) + 1


def test_a_mistake_is_explained_once():
    """Each failed check says where the numbers differ; that it is the same mistake is enough for the second."""

    def trapped(ids, grad_out, V, padding_idx=None):
        grad_E = np.zeros((V, grad_out.shape[-1]), dtype=grad_out.dtype)
        grad_E[ids] += grad_out
        if padding_idx is not None:
            grad_E[padding_idx] = 0
        return grad_E

    report = autograder.check("embedding_backward", trapped)
    for shown in (" ".join(str(report).split()), report._repr_html_()):
        assert shown.count("This is the fancy-indexing trap") == 1
        assert shown.count("The same mistake. Look at row 0") == 1
    assert [r.message.count("fancy-indexing") for r in report.checks if not r.passed] == [1, 1]


@pytest.mark.parametrize("name", NAMES)
def test_a_function_that_is_not_there_is_said_once(name):
    report = autograder.check(name)
    assert report.points == 0
    told = f"{name} is not defined yet: run the cell in which you write it, then this one."
    assert {result.message for result in report.checks} == {told}
    for shown in (" ".join(str(report).split()), report._repr_html_()):
        assert shown.count(told) == 1
        assert shown.count("The same.") == len(report.checks) - 1


def test_check_finds_the_function_of_the_notebook(monkeypatch):
    monkeypatch.setattr("__main__.one_hot", solutions.one_hot, raising=False)
    assert autograder.check("one_hot").points == exercise("one_hot").points


def test_report_names_what_the_check_does_with_the_answer_apart_from_what_the_function_does():
    """An error inside a check is not blamed on the student's code."""
    for answer, check in itertools.product([None, [1.0], "text"], exercise("one_hot").checks):
        results = {r.name: r for r in autograder.check("one_hot", lambda ids, V, answer=answer: answer).checks}
        assert not results[check.name].passed
        assert "Your function should return a NumPy array" in results[check.name].message
