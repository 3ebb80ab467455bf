"""Put the teacher's cells of a problem set in their places in a student's notebook.

What the student's copy says of a marked cell counts for nothing but where it stands and, in a cell that is theirs to
write, its text. All else is the teacher's.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from autograder.reading import Cell, Notebook


@dataclass(frozen=True)
class TeacherCell:
    """A marked cell of a problem set, as nbgrader recorded it when the set was released.

    Attributes
    ----------
    name : str
        Its mark, nbgrader's grade id.
    kind : str
        ``"code"`` or ``"markdown"``.
    source : str
        With the hidden tests, and without the solution.
    checksum : str or None
        nbgrader's, of what was handed out.
    locked, grade, solution, task : bool
        As in nbgrader's metadata. A cell that is ``grade`` and ``solution`` is graded by a person.
    points : float or None
        What can be got for it; None where nothing can.
    id : str
        The cell's own id in the source notebook; empty where it is not known.
    tags : tuple of str
    """

    name: str
    kind: str
    source: str
    checksum: str | None
    locked: bool
    grade: bool = False
    solution: bool = False
    task: bool = False
    points: float | None = None
    id: str = ""
    tags: tuple[str, ...] = ()

    @property
    def is_check(self) -> bool:
        """Whether its code decides about the points."""
        return self.grade and not self.solution and self.kind == "code"


@dataclass(frozen=True)
class TeacherNotebook:
    """The marked cells of one notebook of a problem set, in order; ``kernelspec`` is as in its metadata."""

    name: str
    cells: tuple[TeacherCell, ...]
    kernelspec: dict[str, str]


@dataclass(frozen=True)
class Placed:
    """A cell in its place.

    Attributes
    ----------
    cell : Cell
        As the graded notebook shows it.
    teacher : TeacherCell or None
        The marked cell that stands here; None for a cell that is the student's own.
    put_back : bool
        Whether it was missing from the submission.
    """

    cell: Cell
    teacher: TeacherCell | None = None
    put_back: bool = False

    @property
    def code(self) -> str:
        """What runs here; empty for text."""
        if self.cell.kind != "code":
            return ""
        return self.teacher.source if self.teacher and self.teacher.locked else self.cell.source


@dataclass(frozen=True)
class Assembled:
    """The cells in the order in which they run, sentences on what was unusual, and whether copies of a cell differ."""

    cells: tuple[Placed, ...]
    notes: tuple[str, ...] = ()
    copies_differ: bool = False


def assemble(notebook: Notebook, teacher: TeacherNotebook) -> Assembled:
    """Put the teacher's cells in their places.

    Of a cell that is there several times, the last counts, as with nbgrader; the others are the student's own. A locked
    cell or a check that is missing is put back behind the one that it follows in the problem set; a check that follows
    a cell to write in which is missing itself goes to the end, since the function may stand anywhere. A missing cell to
    write in stays away: its stub would undo what the student wrote elsewhere.

    Parameters
    ----------
    notebook : Notebook
        The student's.
    teacher : TeacherNotebook

    Returns
    -------
    Assembled
    """
    marked = {each.name: each for each in teacher.cells}
    place = {cell.grade_id: n for n, cell in enumerate(notebook.cells) if cell.grade_id in marked}
    copied = {cell.grade_id for n, cell in enumerate(notebook.cells) if place.get(cell.grade_id, n) != n}
    by_id = {each.id: each.name for each in teacher.cells if each.id and each.name not in place}
    for n, cell in enumerate(notebook.cells):
        if not cell.grade_id and cell.id in by_id:  # an editor that drops the marks keeps the ids
            place.setdefault(by_id[cell.id], n)
    name_at = {n: name for name, n in place.items()}
    cells = [
        _in_place(cell, marked[name_at[n]]) if n in name_at else Placed(replace(cell, grade_id=""))
        for n, cell in enumerate(notebook.cells)
    ]
    missing = [each for each in teacher.cells if each.name not in place and (each.locked or each.grade or each.task)]
    at_the_end: set[str] = set()
    for each in missing:
        _put_back(cells, each, teacher.cells, at_the_end)
    notes = []
    if missing:
        notes.append(
            f"Cells of the problem set are missing, and were put back: {_list(each.name for each in missing)}."
        )
    if copied:
        notes.append(f"Cells are there more than once, and the last counts: {_list(sorted(copied))}.")
    gone = [each.name for each in teacher.cells if each.name not in place and each not in missing]
    if gone:
        notes.append(f"Cells to write in are missing: {_list(gone)}.")
    texts = {(cell.grade_id, cell.source) for cell in notebook.cells if cell.grade_id in copied}
    written = [name for name, _ in texts if marked[name].solution]
    return Assembled(tuple(cells), tuple(notes), copies_differ=len(written) > len(set(written)))


def _in_place(cell: Cell, teacher: TeacherCell) -> Placed:
    source = teacher.source if teacher.locked else cell.source
    pictures = cell.attachments if teacher.kind == "markdown" else {}
    return Placed(Cell(teacher.kind, source, teacher.name, cell.id, teacher.tags or cell.tags, pictures), teacher)


def _put_back(cells: list[Placed], missing: TeacherCell, order: tuple[TeacherCell, ...], at_the_end: set[str]) -> None:
    told = "This cell was missing from the submission, and was put back."
    if missing.kind == "markdown":
        source = f"*{told}*\n\n{missing.source}"
    else:  # a magic of the whole cell must stay its first line
        source = missing.source if missing.source.startswith("%%") else f"# {told}\n{missing.source}"
    here = {each.teacher.name: n for n, each in enumerate(cells) if each.teacher}
    before = [each.name for each in order[: order.index(missing)]]
    if not before:
        where = 0
    elif not (missing.grade or missing.task):
        where = max((here[name] + 1 for name in before if name in here and name not in at_the_end), default=0)
    elif before[-1] in here:
        where = here[before[-1]] + 1
        if before[-1] in at_the_end:
            at_the_end.add(missing.name)
    else:
        where = len(cells)
        at_the_end.add(missing.name)
    cell = Cell(missing.kind, source, missing.name, missing.id, missing.tags)
    cells.insert(where, Placed(cell, missing, put_back=True))


def _list(names: Iterable[str]) -> str:
    names = list(names)
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
