"""What students hand in, whatever it is: found or not, read or not, and with the teacher's cells in their places."""

import json
import os
import random
import socket
import types

import nbformat
import pytest
from grading import as_json, teacher_of
from hypothesis import example, given
from hypothesis import strategies as st

from autograder.assemble import TeacherCell, TeacherNotebook, assemble
from autograder.autograded import as_bytes, autograded_notebook
from autograder.course import Course, shown
from autograder.outcome import CellOutcome, NotebookOutcome
from autograder.reading import MOST_BYTES, Cell, Notebook, UnreadableError, read_file, read_notebook

posix = pytest.mark.skipif(os.name != "posix", reason="links, pipes and devices")


# Files


@pytest.fixture
def course(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    return Course(tmp_path)


def read(course, student="alice", names=("ps1",)):
    folders = dict(course.students("ps1"))
    return course.read(student, "ps1", folders[student], list(names))


def put(course, name, content: bytes = b"{}", student="alice"):
    path = course.root / "submitted" / student / "ps1" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_the_expected_name_is_taken_whatever_lies_beside_it(course):
    put(course, "ps1.ipynb", b"right")
    put(course, "ps1 (1).ipynb", b"wrong")
    put(course, "sub/ps1.ipynb", b"wrong")
    (found,) = read(course).notebooks
    assert (found.content, found.note, found.reason) == (b"right", "", "")


@pytest.mark.parametrize(
    "name", ["ps1 (1).ipynb", "PS1.ipynb", "[ps1]*.ipynb", "lösung.ipynb", "ps1/ps1.ipynb", "a/b/x.ipynb"]
)
def test_the_only_other_one_is_taken_and_said(course, name):
    put(course, name, b"right")
    put(course, ".ipynb_checkpoints/ps1-checkpoint.ipynb", b"wrong")
    put(course, "__MACOSX/._ps1.ipynb", b"wrong")
    put(course, "._ps1.ipynb", b"wrong")
    (found,) = read(course).notebooks
    assert found.content == b"right"
    assert found.note == f"It was handed in as {shown(name)}, not as ps1.ipynb."


def test_of_several_a_person_decides(course):
    put(course, "a.ipynb")
    put(course, "b.ipynb")
    (found,) = read(course).notebooks
    assert (found.content, found.ambiguous) == (None, True)
    assert found.reason == "There is no ps1.ipynb, and it may be any of “a.ipynb”, “b.ipynb”."


def test_none(course):
    put(course, "ps1.py")
    (found,) = read(course).notebooks
    assert (found.content, found.ambiguous, found.reason) == (None, True, "There is no ps1.ipynb, but “ps1.py”.")


def test_several_notebooks_in_a_set(course):
    put(course, "p1.ipynb", b"1")
    put(course, "2.ipynb", b"2")
    one, two, = read(course, names=("p1", "p2")).notebooks  # fmt: skip
    assert (one.content, one.note, two.content) == (b"1", "", b"2")
    assert two.note == "It was handed in as “2.ipynb”, not as p2.ipynb."
    _, two, three = read(course, names=("p1", "p2", "p3")).notebooks
    assert two.ambiguous
    assert three.ambiguous
    (course.root / "submitted/alice/ps1/2.ipynb").unlink()
    _, two = read(course, names=("p1", "p2")).notebooks
    assert (two.content, two.ambiguous, two.reason) == (None, False, "There is no p2.ipynb.")


@posix
def test_links_pipes_sockets_devices_folders_and_long_files_are_not_read(course, monkeypatch):
    secret = course.root / "secret.ipynb"
    secret.write_bytes(b"{}")
    for student, make in {
        "link": lambda path: path.symlink_to(secret),
        "dangling": lambda path: path.symlink_to("/nowhere"),
        "loop": lambda path: path.symlink_to(path),
        "device": lambda path: path.symlink_to("/dev/zero"),
        "pipe": os.mkfifo,
        "folder": lambda path: path.mkdir(),
        "long": lambda path: path.write_bytes(b"") or os.truncate(path, MOST_BYTES + 1),
        "closed": lambda path: path.write_bytes(b"{}") and path.chmod(0),
    }.items():
        folder = course.root / "submitted" / student / "ps1"
        folder.mkdir(parents=True)
        make(folder / "ps1.ipynb")
    monkeypatch.chdir(course.root / "submitted/pipe/ps1")
    with socket.socket(socket.AF_UNIX) as listener:
        (course.root / "submitted/socket/ps1").mkdir(parents=True)
        os.chdir(course.root / "submitted/socket/ps1")
        listener.bind("ps1.ipynb")
    reasons = {student: read(course, student).notebooks[0] for student, _ in course.students("ps1")}
    said = {student: each.reason for student, each in reasons.items() if each.content is None}
    link = "“ps1.ipynb” is a link, and links are not followed."
    odd = "“ps1.ipynb” is no file but a pipe, a socket or a device."
    closed = {"closed": "“ps1.ipynb” cannot be read: Permission denied."} if os.geteuid() else {}
    assert said == closed | {
        "link": link, "dangling": link, "loop": link, "device": link, "pipe": odd, "socket": odd,
        "folder": "“ps1.ipynb” is a folder.",
        "long": "“ps1.ipynb” has 20 MB, and more than 20 MB are not read.",
    }  # fmt: skip


@posix
def test_folders_that_are_links_are_not_followed(course):
    put(course, "ps1.ipynb", student="honest")
    submitted = course.root / "submitted"
    (submitted / "thief").symlink_to(submitted / "honest")
    (submitted / "mallory").mkdir()
    (submitted / "mallory/ps1").symlink_to(submitted / "honest/ps1")
    (submitted / "file").mkdir()
    (submitted / "file/ps1").write_text("")
    (submitted / "note.txt").write_text("")
    assert [student for student, _ in course.students("ps1")] == ["file", "honest", "mallory", "thief"]
    for student, what in (("mallory", "“ps1” is a link"), ("thief", "“thief” is a link"), ("file", "is not a folder")):
        (found,) = read(course, student).notebooks
        assert (found.content, found.ambiguous) == (None, True)
        assert what in found.reason
    put(course, "sub/data.csv", b"1", student="honest")
    (submitted / "honest/ps1/shadow").symlink_to("/etc/passwd")
    (submitted / "honest/ps1/up").symlink_to(course.root)
    os.mkfifo(submitted / "honest/ps1/pipe")
    files = {str(path): content for path, content in course.other_files(submitted / "honest/ps1")}
    assert files == {os.path.join("sub", "data.csv"): b"1"}


def test_the_teachers_settings_hold(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text(
        "c = get_config()\n"
        "c.CourseDirectory.submitted_directory = 'in'\n"
        "c.CourseDirectory.directory_structure = '{nbgrader_step}/{assignment_id}/x_{student_id}_y'\n"
        "c.CourseDirectory.student_id_exclude = 'bob, carol'\n"
        "c.ExecutePreprocessor.timeout = 7\n"
    )
    course = Course(tmp_path)
    for name in ("x_a_b_y", "x_bob_y", "other", ".x_hidden_y"):
        (tmp_path / "in" / "ps1" / name).mkdir(parents=True)
    assert list(course.students("ps1")) == [("a_b", tmp_path / "in/ps1/x_a_b_y")]
    assert course.path("autograded", "a_b", "ps1") == tmp_path / "autograded/ps1/x_a_b_y"
    assert course.cell_limit == 7


def test_the_fingerprint_is_of_what_was_handed_in(course):
    path = put(course, "ps1.ipynb", b"one")
    first = read(course).fingerprint
    assert read(course).fingerprint == first
    path.write_bytes(b"two")
    second = read(course).fingerprint
    put(course, "timestamp.txt", b"2026-01-01 00:00:00 UTC")
    assert len({first, second, read(course).fingerprint}) == 3


# Notebooks


def cells_of(*cells, **more):
    return json.dumps({"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}).encode()


CODE = {"cell_type": "code", "source": "x = 'ä'", "metadata": {}, "outputs": [], "execution_count": None}
ONE = Cell("code", "x = 'ä'")
READ = {
    "as it is": (cells_of(CODE), ONE),
    "with a byte order mark": (cells_of(CODE).decode().encode("utf-8-sig"), ONE),
    "utf-16": (cells_of(CODE).decode().encode("utf-16"), ONE),
    "utf-16 without a mark": (cells_of(CODE).decode().encode("utf-16-le"), ONE),
    "utf-32": (cells_of(CODE).decode().encode("utf-32-be"), ONE),
    "windows": (json.dumps({"cells": [CODE]}, ensure_ascii=False).encode("cp1252"), ONE),
    "lines": (cells_of(CODE | {"source": ["x = ", "'ä'"]}), ONE),
    "lines and others": (cells_of(CODE | {"source": ["x = ", None, {}, "'ä'"]}), ONE),
    "a number": (cells_of(CODE | {"source": 5}), Cell("code", "5")),
    "nothing": (cells_of(CODE | {"source": None}), Cell("code", "")),
    "an object": (cells_of(CODE | {"source": {"a": 1}}), Cell("code", "")),
    "no source": (cells_of({"cell_type": "code"}), Cell("code", "")),
    "half a character": (cells_of(CODE | {"source": "a\ud800b"}), Cell("code", "a?b")),
    "no kind": (cells_of({"source": "x"}), Cell("markdown", "x")),
    "an unknown kind": (cells_of({"cell_type": ["code"], "source": "x"}), Cell("markdown", "x")),
    "format 2": (json.dumps({"nbformat": 2, "worksheets": [{"cells": [{"cell_type": "code", "input": "x"}]}]}).encode(),
                 Cell("code", "x")),
    "format 3": (json.dumps({"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "heading", "level": 3,
                 "source": "x"}]}, 1]}).encode(), Cell("markdown", "### x")),
    "format 5": (cells_of(CODE, nbformat=5, nbformat_minor=0), ONE),
    "format 'x'": (cells_of(CODE, nbformat="x"), ONE),
    "metadata is a list": (cells_of(CODE | {"metadata": [1]}), ONE),
    "the mark is a list": (cells_of(CODE | {"metadata": {"nbgrader": [1]}}), ONE),
    "the id is a number": (cells_of(CODE | {"metadata": {"nbgrader": {"grade_id": 4}}}), ONE),
    "an unknown schema": (cells_of(CODE | {"metadata": {"nbgrader": {"grade_id": "a", "schema_version": 99}}}),
                          Cell("code", "x = 'ä'", "a")),
    "ids": (cells_of(CODE | {"id": "ab-1"}), Cell("code", "x = 'ä'", id="ab-1")),
    "an id that is none": (cells_of(CODE | {"id": "<script>"}), ONE),
    "tags": (cells_of(CODE | {"metadata": {"tags": ["a", 1, None]}}), Cell("code", "x = 'ä'", tags=("a",))),
    "pictures": (cells_of({"cell_type": "markdown", "source": "x", "attachments": {
        "a.png": {"image/png": "aGk="}, "b": {"text/html": "aGk="}, "c": {"image/png": "<script>"}, "d": 3}}),
        Cell("markdown", "x", attachments={"a.png": {"image/png": "aGk="}})),
    "deep metadata": (cells_of(CODE | {"metadata": json.loads("[" * 300 + "]" * 300)}), ONE),
    "a cell that is none": (cells_of(7, CODE, None, "x"), ONE),
}  # fmt: skip


@pytest.mark.parametrize("data, cell", READ.values(), ids=READ)
def test_a_notebook_of_any_form_is_read(data, cell):
    assert read_notebook(data).cells == (cell,)


def test_what_is_odd_is_said():
    assert read_notebook(cells_of(CODE)).notes == ()
    assert "format 5" in read_notebook(READ["format 5"][0]).notes[0]
    assert "3 of its 4 cells" in read_notebook(READ["a cell that is none"][0]).notes[0]


UNREADABLE = {
    "empty": (b"", "it is empty"),
    "blank": (b" \n", "it is empty"),
    "text": (b"hello", "Expecting value"),
    "zip": (b"PK\x03\x04\x00\x00\xff\xfe", "is not a notebook that can be read"),
    "zeros": (b"\0" * 1000, "is not a notebook that can be read"),
    "cut off": (cells_of(CODE)[:-20], "is not a notebook that can be read"),
    "deep": (b'{"cells":' * 100_000, "nested too deeply"),
    "deep lists": (b"[" * 5_000_000, "nested too deeply"),
    "a huge number": (b'{"cells": [' + b"9" * 10_000 + b"]}", "is not a notebook that can be read"),
    "a list": (b"[]", "is JSON, but not a notebook"),
    "no cells": (b'{"cells": []}', "is JSON, but not a notebook"),
    "no list": (b'{"cells": {"0": {}}}', "is JSON, but not a notebook"),
    "no sheets": (b'{"worksheets": [1, {"cells": 2}]}', "is JSON, but not a notebook"),
    "only numbers": (b'{"cells": [1, 2]}', "is JSON, but not a notebook"),
    "many cells": (b'{"cells": [' + b"{}," * 10_000 + b"{}]}", "has 10,001 cells"),
}


@pytest.mark.parametrize("data, reason", UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_no_notebook_has_a_reason(data, reason):
    with pytest.raises(UnreadableError, match=reason):
        read_notebook(data)


PS1 = TeacherNotebook(
    "t",
    tuple(
        TeacherCell(
            cell.metadata.nbgrader.grade_id,
            cell.cell_type,
            cell.source,
            "0",
            cell.metadata.nbgrader.locked,
            cell.metadata.nbgrader.grade,
            cell.metadata.nbgrader.solution,
            points=cell.metadata.nbgrader.get("points"),
        )
        for cell in teacher_of("ps1").cells
    ),
    {"name": "python3", "display_name": "Python 3"},
)


def through(data: bytes) -> None:
    """Whatever the bytes, there is a reason, or a valid notebook with every check once and in the teacher's words."""
    try:
        notebook = read_notebook(data)
    except UnreadableError as error:
        assert str(error)  # noqa: PT017
        return
    cells = assemble(notebook, PS1).cells
    found = [placed.teacher for placed in cells if placed.teacher]
    wanted = [each for each in PS1.cells if each.locked]
    assert sorted(each.name for each in found if each.locked) == sorted(each.name for each in wanted)
    assert len({each.name for each in found}) == len(found)
    for placed in cells:
        if placed.teacher and placed.teacher.locked and placed.teacher.kind == "code":
            assert placed.code == placed.teacher.source
    written = as_bytes(autograded_notebook(PS1, NotebookOutcome(tuple((each, CellOutcome()) for each in cells))))
    nbformat.validate(nbformat.reads(written.decode(), as_version=4))


NAMES = [each.name for each in PS1.cells]
KEYS = [
    "cells", "cell_type", "source", "metadata", "nbgrader", "grade_id", "id", "tags", "attachments", "worksheets",
    "input", "level", "outputs", "nbformat",
]  # fmt: skip
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from([*NAMES, "code", "markdown"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=12,
)


@given(st.lists(values, max_size=6), st.dictionaries(st.text(), values, max_size=2))
def test_any_json_is_read_or_has_a_reason(cells, more):
    through(json.dumps(more | {"cells": cells}).encode("utf-8", "surrogatepass"))


@given(st.binary())
@example(b"\xef\xbb\xbf\xff")
def test_any_bytes_are_read_or_have_a_reason(data):
    through(data)


def changed(data: bytes, rng: random.Random) -> bytes:
    """A notebook with a few bytes changed, cut out or copied, at places where it matters."""
    text = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(text) + 1)
        match rng.randrange(5):
            case 0:
                text[start : start + 1] = bytes([rng.randrange(256)])
            case 1:
                text[start : start + rng.randrange(200)] = b""
            case 2:
                text[start:start] = text[start : start + rng.randrange(400)]
            case 3:
                text[start:start] = rng.choice([b"null", b"{", b"]", b'"', b"[1]", b"1e999", b"\\ud800", b"NaN", b"-"])
            case 4:
                values = [
                    b'"source": ',
                    b'"metadata": ',
                    b'"nbgrader": ',
                    b'"grade_id": ',
                    b'"cell_type": ',
                    b'"cells": ',
                ]
                at = text.find(rng.choice(values), start)
                if at >= 0:
                    place = text.index(b": ", at) + 2
                    text[place:place] = rng.choice([b'null, "x": ', b'5, "x": ', b'[], "x": ', b'{"a": 1}, "x": '])
    return bytes(text)


def fuzz(count: int, seed: int = 0) -> None:
    rng = random.Random(seed)
    data = as_json(teacher_of("ps1"))
    for _ in range(count):
        through(changed(data, rng))


def test_a_notebook_with_bytes_changed_is_read_or_has_a_reason():
    fuzz(300)


# The teacher's cells


def notebook_of(*cells: Cell) -> Notebook:
    return Notebook(cells)


TEACHER = TeacherNotebook(
    "t",
    (
        TeacherCell("imports", "code", "import x", "0", True, id="id-imports"),
        TeacherCell("f", "code", "def f(): ...", "0", False, solution=True, id="id-f"),
        TeacherCell("f-1", "code", "assert f() == 1", "0", True, grade=True, points=1),
        TeacherCell("f-2", "code", "%%time\nassert f() == 2", "0", True, grade=True, points=1),
        TeacherCell("text", "markdown", "Now g.", "0", True),
        TeacherCell("g", "code", "def g(): ...", "0", False, solution=True),
        TeacherCell("g-1", "code", "assert g() == 1", "0", True, grade=True, points=1),
    ),
    {},
)
WHOLE = [Cell(each.kind, each.source, each.name) for each in TEACHER.cells]


def order(*cells):
    assembled = assemble(notebook_of(*cells), TEACHER)
    return " ".join(
        (each.teacher.name + ("+" if each.put_back else "")) if each.teacher else "own" for each in assembled.cells
    ), assembled


def test_a_whole_notebook_stays_as_it_is():
    names, assembled = order(*WHOLE)
    assert names == "imports f f-1 f-2 text g g-1"
    assert assembled.notes == ()
    assert [each.code for each in assembled.cells] == [
        each.source if each.kind == "code" else "" for each in TEACHER.cells
    ]


@pytest.mark.parametrize(
    "kept, names",
    [
        ("f f-1 f-2 text g g-1", "imports+ f f-1 f-2 text g g-1"),
        ("imports f f-2 text g g-1", "imports f f-1+ f-2 text g g-1"),
        ("imports f", "imports f f-1+ f-2+ text+ g-1+"),
        ("imports own", "imports text+ own f-1+ f-2+ g-1+"),  # f may be the student's own cell
        ("imports own text g g-1", "imports own text g g-1 f-1+ f-2+"),
        ("g-1 g text f-2 f-1 f imports", "g-1 g text f-2 f-1 f imports"),
        ("own", "imports+ text+ own f-1+ f-2+ g-1+"),
    ],
)
def test_cells_that_are_missing_are_put_back(kept, names):
    by_name = {cell.grade_id: cell for cell in WHOLE}
    got, assembled = order(*(by_name.get(name, Cell("code", "def f(): return 1")) for name in kept.split()))
    assert got == names
    for each in assembled.cells:
        if each.put_back:
            assert each.teacher.name in assembled.notes[0]
            if each.teacher.kind == "code":
                assert each.code == each.teacher.source
                assert each.cell.source.startswith(
                    "%%time" if each.teacher.name == "f-2" else "# This cell was missing"
                )


def test_of_copies_the_last_counts():
    names, assembled = order(WHOLE[0], WHOLE[1], *WHOLE[:3], *WHOLE[2:])
    assert names == "own own imports f own f-1 f-2 text g g-1"
    assert assembled.notes == ("Cells are there more than once, and the last counts: f, f-1, imports.",)


def test_what_the_teacher_locked_is_the_teachers():
    edited = [Cell("raw" if n % 2 else "markdown", "edited", cell.grade_id) for n, cell in enumerate(WHOLE)]
    names, assembled = order(*edited)
    assert names == "imports f f-1 f-2 text g g-1"
    for placed in assembled.cells:
        assert placed.cell.kind == placed.teacher.kind
        assert placed.cell.source == (placed.teacher.source if placed.teacher.locked else "edited")


def test_a_cell_that_lost_its_mark_is_known_by_its_id():
    names, assembled = order(Cell("code", "y", id="id-imports"), Cell("code", "mine", id="id-f"), *WHOLE[2:])
    assert names == "imports f f-1 f-2 text g g-1"
    assert assembled.cells[0].code == "import x"
    assert assembled.cells[1].code == "mine"
    names, _ = order(*WHOLE, Cell("code", "y", id="id-f"))
    assert names.endswith("g-1 own")


def test_an_unknown_mark_is_none():
    names, assembled = order(*WHOLE, Cell("code", "x", "never-heard-of"))
    assert names.endswith("g-1 own")
    assert assembled.cells[-1].cell.grade_id == ""
    assert (
        "nbgrader"
        not in autograded_notebook(TEACHER, NotebookOutcome(((assembled.cells[-1], CellOutcome()),)))["cells"][0][
            "metadata"
        ]
    )


def test_read_file_follows_a_link_of_ones_own(tmp_path):
    (tmp_path / "a").write_bytes(b"x")
    try:
        (tmp_path / "b").symlink_to("a")
    except OSError:
        pytest.skip("no links here")
    assert read_file(tmp_path / "b", follow_links=True) == b"x"
    with pytest.raises(UnreadableError, match="is a link"):
        read_file(tmp_path / "b")
    with pytest.raises(FileNotFoundError):
        read_file(tmp_path / "c")


def test_a_folder_that_may_not_be_read_is_no_end(tmp_path, monkeypatch):
    (tmp_path / "closed").mkdir()
    (tmp_path / "a").write_bytes(b"x")
    scandir = os.scandir

    def denied(path):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr("os.scandir", denied)
    course = Course.__new__(Course)
    course.root, course.directory = tmp_path, types.SimpleNamespace(ignore=[])
    assert course.no_folder(tmp_path / "closed") == "“closed” cannot be read: Permission denied."
    assert [str(path) for path, _ in course.other_files(tmp_path)] == ["a"]
