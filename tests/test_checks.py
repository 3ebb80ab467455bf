"""The checks from both sides: every correct solution passes, every mistake fails at the check meant for it."""

import copy
import inspect
import itertools
import textwrap
import traceback
import types

import numpy as np
import pytest
from submissions import RIGHT, TWO_MISTAKES, WRONG

import autograder
import solutions
from autograder.checks import check_of, tools
from autograder.exercises import exercise
from autograder.misconceptions import misconceptions_of
from autograder.report import report_on
from autograder.trace import equal, run

NAMES = solutions.__all__
KNOWN = [known for name in NAMES for known in misconceptions_of(name)]
#: What is said of an answer of the wrong kind where an exercise asks for more than one array.
NOT_ONE_ARRAY = {
    "tied_bigram_loss_grad": "Your function should return two things, the loss and the gradient; it returned",
    "factorized_backward": "Your function should return two things, the gradients of A and of W; it returned",
    "quantize_rows": "Your function should return two things, codes and scales; it returned",
}
NUMBERS = {"table_cost"}  # exercises whose answer is numbers and no array; tests/test_counting.py has their own tests
LOOK_AT_A_PART = {("lazy_adam_step", "rows_that_do_not_occur_stand_still")}
ARRAYS = [name for name in NAMES if name not in NUMBERS]


@pytest.mark.parametrize("submission", RIGHT, ids=str)
def test_a_correct_solution_gets_full_points(submission):
    report = autograder.check(submission.exercise, submission.function)
    assert report.points == report.max_points, str(report)


@pytest.mark.parametrize("submission", WRONG, ids=str)
def test_a_wrong_function_fails_at_the_check_meant_for_it(submission):
    report = autograder.check(submission.exercise, submission.function)
    failed = [result for result in report.checks if not result.passed]
    assert {result.name for result in failed} == submission.failing, str(report)
    assert submission.message in failed[0].message, str(report)
    assert {result.mistake for result in failed} == {submission.mistake}, str(report)


@pytest.mark.parametrize("known", KNOWN, ids=str)
def test_a_known_mistake_fails_at_the_check_meant_for_it_and_is_named(known):
    report = autograder.check(known.exercise, known.function)
    failed = [result for result in report.checks if not result.passed]
    assert {result.name for result in failed} == known.fails, str(report)
    for result in failed:
        assert result.mistake == known.name, str(report)
        assert result.message.startswith(known.sentence)


def names_in(report):
    return {result.mistake for result in report.checks} - {""}


@pytest.mark.parametrize(("submission", "both"), TWO_MISTAKES, ids=[str(each) for each, _ in TWO_MISTAKES])
def test_of_two_mistakes_no_third_is_named(submission, both):
    report = autograder.check(submission.exercise, submission.function)
    assert report.points < report.max_points
    assert names_in(report) <= both, str(report)


def test_of_two_mistakes_one_is_named_more_often_than_not():
    named = [bool(names_in(autograder.check(each.exercise, each.function))) for each, _ in TWO_MISTAKES]
    assert sum(named) > len(named) / 2


@pytest.mark.parametrize("known", KNOWN, ids=str)
def test_a_check_helps_without_the_catalogue(known):
    """In a notebook that nbgrader made, a student reads what the check itself says."""
    first = next(check for check in exercise(known.exercise).checks if check.name in known.fails)
    with pytest.raises(Exception) as raised:  # noqa: PT011  (a mistake may raise anything)
        first.run(known.function)
    assert known.hint
    assert known.hint in str(raised.value)


@pytest.mark.parametrize("known", KNOWN, ids=str)
def test_the_sentence_of_a_known_mistake_is_for_a_student(known):
    assert 20 < len(known.sentence) < 260
    assert known.sentence.endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_there_are_enough_of_both(name):
    assert sum(each.exercise == name for each in RIGHT) >= 6  # the reference and five others
    assert sum(each.exercise == name for each in KNOWN) >= 8


def test_the_catalogue_is_large_enough():
    assert len(KNOWN) >= 100


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "Your function should return a NumPy array"),
        ([[1.0]], "Your function should return a NumPy array"),
        ((np.ones(3),), "Your function should return a NumPy array"),
        (np.ones((3, 1, 4, 1, 5)), "The shape is (3, 1, 4, 1, 5); it should be ("),
        (np.array("text"), "The shape is (); it should be ("),
    ],
    ids=["None", "list", "tuple", "shape", "text"],
)
def test_the_same_answer_to_everything_gets_nothing(name, answer, message):
    message = NOT_ONE_ARRAY.get(name, message)
    report = autograder.check(name, lambda *args, **kwargs: answer)
    unchanged = [result.name for result in report.checks if result.passed]
    if isinstance(answer, np.ndarray):  # a check that is about the inputs alone passes
        assert set(unchanged) <= {"leaves_ids_alone", "a_copy_of_the_table"}
    else:
        assert unchanged == []
    for result in report.checks:
        # A function that returns several things says so first, whatever came back.
        assert result.passed or message in result.message or "should return a tuple of" in result.message


@pytest.mark.parametrize("name", NAMES)
def test_not_written_yet(name):
    def unwritten(*args, **kwargs):
        raise NotImplementedError

    report = autograder.check(name, unwritten)
    assert report.points == 0
    assert all("is not written yet" in result.message for result in report.checks)


@pytest.mark.parametrize("name", NAMES)
def test_the_message_quotes_the_line_that_raised(name):
    def careless(*args, **kwargs):
        return np.zeros(3)[7]  # three numbers only

    for result in autograder.check(name, careless).checks:
        assert result.message.startswith("Your function raised IndexError: index 7 is out of bounds")
        assert result.message.endswith("`return np.zeros(3)[7]  # three numbers only`)")


@pytest.mark.parametrize("name", NAMES)
def test_whatever_a_function_raises_becomes_a_message(name):
    class MuteError(Exception):
        def __str__(self):
            raise RuntimeError

    def raising(error):
        def function(*args, **kwargs):
            raise error

        return function

    for error, told in [
        (SystemExit(3), "Your function raised SystemExit: 3"),
        (MuteError(), "Your function raised MuteError"),
        (AssertionError("mine"), "Your function raised AssertionError: mine"),
        (NotImplementedError("for this shape"), "Your function raised NotImplementedError: for this shape"),
    ]:
        report = autograder.check(name, raising(error))
        assert report.points == 0
        assert all(result.message.startswith(told) for result in report.checks), str(report)


@pytest.mark.parametrize("name", ARRAYS)
def test_checks_share_nothing(name):
    """A function that overwrites all that it was given and all that it gave back spoils no later call."""
    given: list[np.ndarray] = []

    def vandal(*args, **kwargs):
        result = exercise(name).function(*args, **kwargs)
        returned = result if isinstance(result, tuple) else (result,)
        given.extend(value for value in (*args, *returned) if isinstance(value, np.ndarray))
        return result

    autograder.check(name, vandal)
    assert given
    for array in given:
        array[...] = 99
    report = autograder.check(name, exercise(name).function)
    assert report.points == report.max_points


@pytest.mark.parametrize("name", NAMES)
def test_form(name):
    checks = exercise(name).checks
    assert {check.hidden for check in checks} == {True, False}
    assert len({check.name for check in checks}) == len(checks)
    for check in checks:
        assert isinstance(check.points, int)
        assert check.points > 0
        assert check.sentence.endswith(".")
        assert len(str(inspect.getdoc(check.run)).splitlines()) == 1  # one sentence on one line
        assert list(inspect.signature(check.run).parameters) == [name]
        assert check.source.startswith(f"def {check.name}({name}):\n")


@pytest.mark.parametrize("name", NAMES)
def test_the_docstring_says_what_each_check_enforces(name):
    docstring = " ".join(inspect.getdoc(exercise(name).function).split())
    for check in exercise(name).checks:
        assert check.enforces
        for words in check.enforces:
            assert words in docstring, f"{check.name}: {words}"


@pytest.mark.parametrize("name", NAMES)
def test_source_needs_numpy_and_tools_only(name):
    helpers = {key: value for key, value in vars(tools).items() if isinstance(value, types.FunctionType)}
    for check in exercise(name).checks:
        namespace: dict = {"np": np, **helpers}
        exec(check.source, namespace)
        namespace[check.name](exercise(name).function)
        with pytest.raises(NotImplementedError):
            namespace[check.name](_unwritten)


def _unwritten(*args, **kwargs):
    raise NotImplementedError


def told_by(definition: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What a test cell says in a notebook that has run a definition of one_hot."""
    cell = autograder.exercises.test_source(exercise("one_hot").checks[0], 1)
    namespace: dict = {"np": np, "textwrap": textwrap, "traceback": traceback}
    for source in (*map(inspect.getsource, (tools.run_check, tools.expect)), definition):
        exec(source, namespace)
    try:
        exec(cell, namespace)
    except AssertionError as error:
        return "\n".join(error._render_traceback_())  # type: ignore[attr-defined]
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("definition", "told"),
    [
        ("def one_hot(ids, V): return np.eye(V)[ids]", "pass  2/2  each_row_has_one_1\n"),
        ("", "one_hot is not defined yet: run the cell in which you write it"),
        ("def one_hot(ids, V): raise NotImplementedError", "one_hot is not written yet"),
        ("def one_hot(ids, V): return np.eye(V)", "FAIL  0/2  each_row_has_one_1\nThe shape is (6, 6)"),
        ("def one_hot(ids, V): assert not V", "An `assert` in your function failed."),
    ],
)
def test_a_test_cell_says_what_came_out(definition, told, capsys):
    assert told in told_by(definition, capsys)


def test_an_error_of_the_function_is_told_with_its_line(capsys):
    told = told_by("def one_hot(ids, V):\n    return ids[70]", capsys)
    assert told.startswith("FAIL  0/2  each_row_has_one_1\nYour function raised IndexError: index 70 is out of bounds")
    assert "(line 2: `" in told


def test_a_second_check_of_the_same_name_is_refused():
    with pytest.raises(ValueError, match="one_hot has two checks named leaves_ids_alone; rename one"):

        @check_of("one_hot", points=1, enforces="")
        def leaves_ids_alone(one_hot):
            """Not registered."""


def test_expect_tells_close_from_wrong():
    """Both limits hold for values of any size: float32 rounding passes, a thousandth does not."""
    rng = np.random.default_rng(5)
    for size, dtype in itertools.product([1e-12, 1.0, 1e12], [np.float32, np.float64]):
        want = (size * rng.uniform(0.5, 2, (4, 5))).astype(dtype)
        tools.expect(want.astype(np.float32).astype(dtype), want, "")
        tools.expect(np.nextafter(want, np.inf, dtype=dtype), want, "")
        for bad in (1 + 1e-3, 1 - 1e-3, np.nan, np.inf):
            got = want.copy()
            got[2, 3] *= bad
            with pytest.raises(AssertionError, match=r"^1 of 20 values are wrong. The first stands at \[2, 3\]: got"):
                tools.expect(got, want, "")


def changes(value):
    """Writes over what a function is given: all of it, or the floats alone."""

    def everything(array):
        array[...] = value

    def floats(array):
        if array.dtype.kind == "f":
            array[...] = value

    return [everything, floats]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("change", [*changes(0), *changes(1)], ids=["all 0", "floats 0", "all 1", "floats 1"])
def test_a_check_knows_what_it_expects_before_the_call(name, change):
    """Else a function that writes zeros over its arguments is right with zeros."""
    solution = exercise(name).function
    for check in exercise(name).checks:
        cheated = []

        def cheat(*args, cheated=cheated, **kwargs):
            try:
                right = solution(*copy.deepcopy(args), **copy.deepcopy(kwargs))
            except Exception:  # an answer instead of it is looked at, too
                right = None
            for array in (*args, *kwargs.values()):
                if isinstance(array, np.ndarray):
                    change(array)
            got = solution(*args, **kwargs)
            cheated.append(not equal(got, right))
            return got

        if not run(check, cheat).failed:
            # A few look at part of an answer, which the change has left as it was.
            assert not any(cheated) or (name, check.name) in LOOK_AT_A_PART


def test_a_report_on_some_of_the_checks():
    """As where the time of a notebook was over before the others."""
    first, *_ = checks = exercise("one_hot").checks
    for check in checks:
        (result,) = report_on("one_hot", {check: run(check, lambda *args: np.zeros(3))}, print).checks
        assert result.passed == (check.name == "leaves_ids_alone")
    (result,) = report_on("one_hot", {first: run(first, solutions.one_hot)}, print).checks
    assert result.passed


@pytest.mark.parametrize("answer", [(1, 16**5000), (16**5000, 1), (16**5000, 16**5001), (24, -(16**5000))])
def test_a_number_of_thousands_of_digits_is_wrong_as_any_other(answer):
    assert autograder.check("table_cost", lambda *args, **kwargs: answer).points <= 2


def test_huge_answers_are_not_kept():
    def huge(*args):
        return np.zeros(4_000_000)

    (call,) = run(exercise("one_hot").checks[0], huge).calls
    assert call.result.shape == (4_000_000,)
    assert call.result.strides == (0,)
