"""What a teacher's notebook holds: cells that students may not change, tests, and the functions that students write.

It reads the notebook of any nbgrader assignment, from the course's ``source`` folder.
"""

import ast
import builtins
import contextlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from IPython.core.inputtransformer2 import TransformerManager

if TYPE_CHECKING:
    from nbformat import NotebookNode


@dataclass(frozen=True)
class Test:
    """One test cell.

    Attributes
    ----------
    grade_id : str
    source : str
        The cell as the teacher wrote it, hidden tests included.
    points : float
    """

    grade_id: str
    source: str
    points: float


class Teacher:
    """The teacher's side of one notebook.

    Parameters
    ----------
    notebook : NotebookNode
        The source notebook.

    Attributes
    ----------
    locked : dict
        Source of each code cell that is locked and no test, by its grade id: it runs on both sides.
    tests : dict
        `Test` by grade id: they run on the grader's side alone.
    """

    def __init__(self, notebook: "NotebookNode") -> None:
        self.locked: dict[str, str] = {}
        self.tests: dict[str, Test] = {}
        self._theirs: list[str] = []
        for cell in notebook.cells:
            if cell.cell_type != "code":
                continue
            marks = cell.metadata.get("nbgrader", {})
            if marks.get("grade") and not marks.get("solution"):
                self.tests[marks["grade_id"]] = Test(marks["grade_id"], cell.source, float(marks["points"]))
            elif marks.get("locked") and not marks.get("solution"):
                self.locked[marks["grade_id"]] = cell.source
            else:
                self._theirs.append(cell.source)

    @cached_property
    def functions(self) -> frozenset[str]:
        """Names of the functions that students write or may change."""
        return frozenset(node.name for node in self._statements if isinstance(node, ast.FunctionDef))

    @cached_property
    def imports(self) -> str:
        """The import lines of the cells that students may change; tests may use what they bring."""
        return "\n".join(
            ast.unparse(node) for node in self._statements if isinstance(node, (ast.Import, ast.ImportFrom))
        )

    @cached_property
    def beyond_functions(self) -> dict[str, list[str]]:
        """What tests need of the student that cannot be had by calling a function.

        For the grade id of each such test, the names: variables and classes that a student's cell makes.
        """
        made = {
            name
            for node in self._statements
            if not isinstance(node, (ast.FunctionDef, ast.Import, ast.ImportFrom))
            for name in _names_made(node)
        } - self.functions
        found = {}
        for test in self.tests.values():
            tree = parse(test.source)
            own = {name for node in tree.body for name in _names_made(node)}
            used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
            needed = sorted((used & made) - own - set(dir(builtins)))
            if needed:
                found[test.grade_id] = needed
        return found

    @cached_property
    def _statements(self) -> list[ast.stmt]:
        statements = []
        for source in self._theirs:
            with contextlib.suppress(SyntaxError):  # a cell to write text in
                statements += parse(source).body
        return statements


def parse(source: str) -> ast.Module:
    """Parse a cell; magics become calls of functions, as in IPython."""
    return ast.parse(TransformerManager().transform_cell(source))


def _names_made(node: ast.stmt) -> set[str]:
    """The names that a statement at the top of a cell binds."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
