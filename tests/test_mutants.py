"""Mutants of the solutions: the checks catch them, and no mutant is called a mistake that it is not."""

import batteries
import pytest
from check_the_checks import numbers_of
from hypothesis import given, settings
from mutants import mutants_of
from survivors import SURVIVORS

import autograder
import solutions
from autograder.checks import Check
from autograder.misconceptions import Misconception, misconceptions_of
from autograder.trace import run, same

NAMES = solutions.__all__


@pytest.mark.parametrize("name", NAMES)
def test_the_checks_hold_from_both_sides(name):
    numbers, unexplained = numbers_of(name)
    assert unexplained == []
    assert numbers.good, numbers


def test_every_explained_survivor_is_a_mutant_that_survives():
    left = set(SURVIVORS)
    for name in NAMES:
        for mutant in mutants_of(name):
            if str(mutant) in SURVIVORS:
                report = autograder.check(name, mutant.function)
                assert report.points == report.max_points, mutant
                left.remove(str(mutant))
    assert left == set()


def named_mutants():
    """Each mutant with each known mistake that a report says it makes."""
    for name in NAMES:
        known = {each.name: each for each in misconceptions_of(name)}
        for mutant in mutants_of(name):
            for mistake in sorted({result.mistake for result in autograder.check(name, mutant.function).checks} - {""}):
                yield pytest.param(mutant, known[mistake], id=f"{mutant}-{mistake}")


def call(exercise, function, arguments):
    """What a function does with one call; of an exception the type alone, unless the exercise asks for its text."""
    trace = run(Check(exercise, 1, True, (), lambda given: given(**arguments)), function)
    for each in trace.calls:
        if not each.told.startswith("numbers "):
            each.told = ""
    return trace


@pytest.mark.parametrize("mutant, known", list(named_mutants()))
def test_a_mutant_that_is_named_does_what_the_mistake_does(mutant, known: Misconception):
    """On calls that no check makes: wherever the mistake is wrong, the mutant is wrong in the same way."""
    function, right = mutant.function, getattr(solutions, known.exercise)
    wrong = 0

    @given(getattr(batteries, known.exercise)())
    @settings(max_examples=200, derandomize=True, deadline=None)
    def compare(arguments):
        nonlocal wrong
        mistaken = call(known.exercise, known.function, arguments)
        if not same(mistaken, call(known.exercise, right, arguments)):
            wrong += 1
            assert same(mistaken, call(known.exercise, function, arguments))

    compare()
    assert wrong > 0  # else nothing was compared
