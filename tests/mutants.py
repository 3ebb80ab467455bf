"""Mutants: the solutions with one small change each, made by mutmut."""

import inspect
import linecache
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import libcst
from mutmut.mutation.file_mutation import create_mutations

import solutions


@dataclass(frozen=True)
class Mutant:
    """One changed solution.

    Attributes
    ----------
    exercise : str
    change : str
        The changed lines, as they were and as they are now.
    source : str
        All of the changed module.
    """

    exercise: str
    change: str
    source: str

    def __str__(self) -> str:
        return f"{self.exercise}: {self.change}"

    @property
    def function(self) -> Callable:
        """The changed function. Its lines can be found by a traceback, as those of a file can."""
        file = f"<mutant {abs(hash(self))}>"
        linecache.cache[file] = (len(self.source), None, self.source.splitlines(keepends=True), file)
        namespace: dict = {"__name__": "mutant"}
        exec(compile(self.source, file, "exec"), namespace)
        return namespace[self.exercise]


def mutants_of(exercise: str) -> list[Mutant]:
    """All mutants of an exercise's solution."""
    path = Path(inspect.getfile(getattr(solutions, exercise)))
    code = path.read_text(encoding="utf-8")
    module, mutations, *_ = create_mutations(str(path), code)
    made = []
    for mutation in mutations:
        inside = mutation.contained_by_top_level_function
        if inside is None or inside.name.value != exercise:
            continue
        changed = module.deep_replace(mutation.original_node, mutation.mutated_node)
        assert isinstance(changed, libcst.Module)
        made.append(Mutant(exercise, _change(code, changed.code), changed.code))
    return made


def _change(before: str, after: str) -> str:
    """The lines that differ, such as ``x += 1 -> x -= 1``."""
    old, new = before.splitlines(), after.splitlines()
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    return " ".join(map(str.strip, old)) + " -> " + " ".join(map(str.strip, new))


if __name__ == "__main__":
    for name in sys.argv[1:] or solutions.__all__:
        print(*mutants_of(name), sep="\n")
