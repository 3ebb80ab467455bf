"""What a student gets back: each check's name, points and message, and nothing of a hidden check's source.

``nbgrader generate_feedback`` runs `GetGradesAndName`, then `StudentsView`, and writes the page with `FeedbackPage`, as
nbgrader_config.py says. The page itself is ``templates/feedback.html.j2``.
"""

import glob
import html
import os
import re
import textwrap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.api import Gradebook
from nbgrader.converters import base
from nbgrader.preprocessors import GetGrades, NbGraderPreprocessor
from traitlets import Bool, List, default

from autograder.examine import WIDTH

HIDDEN = re.compile(r"^[ \t]*### BEGIN HIDDEN TESTS\n.*?^[ \t]*### END HIDDEN TESTS[ \t]*\n?", re.DOTALL | re.MULTILINE)
#: Kinds of output that cannot carry a script into the page.
SAFE = {"text/plain", "image/png", "image/jpeg"}
#: An address with a scheme or a host.
ELSEWHERE = re.compile(r"[\w+.-]+:|//")
TEMPLATES = Path(__file__).parent / "templates"


class FeedbackPage(HTMLExporter):
    """Write the page with this folder's template, which takes what cells print and show from nbconvert's."""

    @default("template_file")
    def _template_file_default(self) -> str:
        return "feedback.html.j2"

    @default("template_paths")
    def _template_paths(self, prune: bool = True, root_dirs: list[str] | None = None) -> list[str]:
        return [str(TEMPLATES), *super()._template_paths(prune, root_dirs)]


class GetGradesAndName(GetGrades):
    """Read the student's name from the gradebook, too."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        nb, resources = super().preprocess(nb, resources)
        with Gradebook(self.db_url) as gradebook:
            student = gradebook.find_student(self.student_id)
            resources["nbgrader"]["name"] = " ".join(filter(None, [student.first_name, student.last_name]))
        return nb, resources


class StudentsView(NbGraderPreprocessor):
    """Take out of an autograded notebook what a student should not see, and what could run in the page."""

    show_hidden = Bool(
        False, help="Show hidden tests and their tracebacks; on the command line: --StudentsView.show_hidden=True"
    ).tag(config=True)
    display_data_priority: List = List(config=True)  # nbconvert sets it, and warns where it is not known

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Go through the cells; where no notebook was read, leave out what only repeats the problem set."""
        nothing_read = nb.metadata.get("autograder") == {"nothing_read": True}
        nb, resources = super().preprocess(nb, resources)
        if nothing_read:
            nb.cells = [cell for cell in nb.cells if is_marked(cell) or "nbgrader" not in cell.metadata]
        for cell in nb.cells:
            cell.metadata.pop("feedback", None)  # of a student, where `nbgrader autograde` graded
            if is_marked(cell):
                cell.metadata.feedback = described(cell, nothing_read)
                cell.source = "" if nothing_read else cell.source
        return nb, resources

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], cell_index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        comment = cell.metadata.get("nbgrader", {}).get("comment")
        if comment:  # shown as Markdown; it may quote the student's own code, which the gradebook holds escaped
            cell.metadata.nbgrader["comment"] = html.escape(html.unescape(comment), quote=False)
        if cell.cell_type != "code":
            return cell, resources
        is_hidden = utils.is_grade(cell) and bool(HIDDEN.search(cell.source)) and not self.show_hidden
        if is_hidden:
            cell.source = HIDDEN.sub("", cell.source).rstrip()
        cell.outputs = [self._output(output, is_hidden) for output in cell.outputs]
        return cell, resources

    def _output(self, output: NotebookNode, is_hidden: bool) -> NotebookNode:
        if output.output_type == "error" and is_hidden:  # a traceback quotes the lines of the test
            output.traceback = [textwrap.fill(f"{output.ename}: {output.evalue}", WIDTH)]
        if "data" in output:
            output.data = NotebookNode({kind: text for kind, text in output.data.items() if kind in SAFE})
        return output


def is_marked(cell: NotebookNode) -> bool:
    """Whether a cell can get points or a comment."""
    return bool(utils.is_grade(cell) or utils.is_solution(cell) or utils.is_task(cell))


def described(cell: NotebookNode, nothing_read: bool) -> NotebookNode:
    """What the page says of a marked cell.

    Parameters
    ----------
    cell : NotebookNode
        With the points and the comment that `GetGrades` found.
    nothing_read : bool
        Whether there was no notebook to check.

    Returns
    -------
    NotebookNode
        ``exercise`` and ``name`` (the mark of a cell of another course may not tell them apart: then ``exercise`` is
        empty), ``anchor``, ``shown`` (whether the cell stands in the page, with a head), and ``result``: ``"pass"``,
        ``"FAIL"``, ``"partly"``, ``"not run"``, or ``"by hand"`` where a person gives the points.
    """
    marks = cell.metadata.nbgrader
    mark = marks.get("grade_id", "")
    exercise, dash, name = mark.partition("-")
    score, points = marks.get("score", 0), marks.get("points", 0)
    if not utils.is_grade(cell) or utils.is_solution(cell):
        result = "by hand"
    elif nothing_read:
        result = "not run"
    elif score < points or (not points and any(each.output_type == "error" for each in cell.get("outputs", ()))):
        result = "partly" if score > 0 else "FAIL"
    else:
        result = "pass"
    return NotebookNode(
        exercise=exercise if dash else "",
        name=name if dash else mark,
        anchor=f"cell-{mark}",
        shown=bool(marks.get("comment")) or not nothing_read,
        result=result,
    )


class Renderer(IPythonRenderer):
    """Writes no link that runs a script when it is clicked, and no picture that another host would send."""

    def image(self, text: str, url: str, title: str | None = None) -> str:
        if url.startswith("attachment:"):
            is_here = url.removeprefix("attachment:") in self.attachments
        else:
            is_here = url.startswith("data:image/") or not ELSEWHERE.match(url)
        if is_here:
            return super().image(text, url, title)
        return f"<em>[Picture left out: {text or url}]</em>"  # both are escaped as all text is


@pass_context
def markdown_to_html(context: Context, source: str) -> str:
    """Turn Markdown into HTML as nbconvert does, but nothing that runs a script or asks another host."""
    attachments = context.get("cell", {}).get("attachments", {})
    renderer = Renderer(escape=False, allow_harmful_protocols=False, attachments=attachments, exclude_anchor_links=True)
    return str(MarkdownWithMath(renderer=renderer).render(source))


def find_any_student() -> None:
    """Let nbgrader's converters find the work of a student whose id holds a bracket or a star.

    They take the path of a folder that is there for a pattern, and then say that it matches nothing.
    """

    def find(pattern: str) -> list[str]:
        folder, name = os.path.split(pattern)
        return glob.glob(os.path.join(glob.escape(folder) if os.path.isdir(folder) else folder, name))

    base.glob = SimpleNamespace(glob=find)
