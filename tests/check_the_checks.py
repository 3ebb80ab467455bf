"""Test the checks as a test tests code, and print what came out; ``make check-the-checks`` runs it.

Correct solutions must pass, mistakes must be caught and named, and mutants of the solutions must not survive, but for
those that survivors.py explains.
"""

import sys
from dataclasses import dataclass, fields

from mutants import mutants_of
from submissions import RIGHT, WRONG
from survivors import SURVIVORS

import autograder
import solutions
from autograder.misconceptions import misconceptions_of


@dataclass
class Numbers:
    """What became of the functions handed in for one exercise, or for all.

    Attributes
    ----------
    right, passed : int
        Correct solutions, and how many of them got full points.
    mistakes, caught, named, misnamed : int
        Catalogued mistakes; those that failed; those that were named in every check that they failed; those that were
        called something else anywhere.
    others, others_caught : int
        Wrong functions beside the catalogue, and those that failed.
    mutants, killed, explained : int
        Mutants of the solution; those that failed; those that did not, for a reason that is known.
    """

    right: int = 0
    passed: int = 0
    mistakes: int = 0
    caught: int = 0
    named: int = 0
    misnamed: int = 0
    others: int = 0
    others_caught: int = 0
    mutants: int = 0
    killed: int = 0
    explained: int = 0

    def __add__(self, other: "Numbers") -> "Numbers":
        return Numbers(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    @property
    def good(self) -> bool:
        """Whether nothing went wrong: at least 95 % of the mistakes named, and all else without exception."""
        return (
            self.passed == self.right
            and self.caught == self.mistakes
            and self.named >= 0.95 * self.mistakes
            and self.misnamed == 0
            and self.others_caught == self.others
            and self.killed + self.explained == self.mutants
        )


def numbers_of(exercise: str) -> tuple[Numbers, list[str]]:
    """Hand in everything for one exercise.

    Returns
    -------
    Numbers
    list of str
        The mutants that survived without a reason.
    """
    numbers, unexplained = Numbers(), []
    for each in RIGHT:
        if each.exercise == exercise:
            report = autograder.check(exercise, each.function)
            numbers += Numbers(right=1, passed=report.points == report.max_points)
    for known in misconceptions_of(exercise):
        failed = [result for result in autograder.check(exercise, known.function).checks if not result.passed]
        said = {result.mistake for result in failed}
        numbers += Numbers(
            mistakes=1, caught=bool(failed), named=said == {known.name}, misnamed=bool(said - {known.name, ""})
        )
    for each in WRONG:
        if each.exercise == exercise:
            report = autograder.check(exercise, each.function)
            numbers += Numbers(others=1, others_caught=report.points < report.max_points)
    for mutant in mutants_of(exercise):
        report = autograder.check(exercise, mutant.function)
        killed, explained = report.points < report.max_points, str(mutant) in SURVIVORS
        numbers += Numbers(mutants=1, killed=killed, explained=not killed and explained)
        if not killed and not explained:
            unexplained.append(str(mutant))
    return numbers, unexplained


def main() -> int:
    """Print a line for each exercise and one for all; the exit status is 0 if all is good."""
    heads = ["correct, passed", "mistakes, caught, named", "others, caught", "mutants, killed, explained"]
    print(f"{'':24}{heads[0]:>18}{heads[1]:>26}{heads[2]:>18}{heads[3]:>29}")
    total, unexplained = Numbers(), []
    for exercise in solutions.__all__:
        numbers, survivors = numbers_of(exercise)
        total += numbers
        unexplained += survivors
        print(_line(exercise, numbers), flush=True)
    print(_line("all", total))
    print(f"\nNamed wrongly: {total.misnamed}. Mutants that survive without a reason: {len(unexplained)}.")
    print(*(f"  {survivor}" for survivor in unexplained), sep="\n", end="\n" if unexplained else "")
    return 0 if total.good else 1


def _line(name: str, n: Numbers) -> str:
    return (
        f"{name:24}{f'{n.right}, {n.passed}':>18}{f'{n.mistakes}, {n.caught}, {n.named}':>26}"
        f"{f'{n.others}, {n.others_caught}':>18}{f'{n.mutants}, {n.killed}, {n.explained}':>29}"
    )


if __name__ == "__main__":
    sys.exit(main())
