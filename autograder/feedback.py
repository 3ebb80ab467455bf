"""What a student gets back: each check's name, points and message, and nothing of a hidden check's source.

``nbgrader generate_feedback`` runs `StudentsView`, as nbgrader_config.py says, between reading the grades and writing
the page.
"""

import glob
import html
import os
import re
from types import SimpleNamespace
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.converters import base
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, List

HIDDEN = re.compile(r"^[ \t]*### BEGIN HIDDEN TESTS\n.*?^[ \t]*### END HIDDEN TESTS[ \t]*\n?", re.DOTALL | re.MULTILINE)
#: Kinds of output that cannot carry a script into the page.
SAFE = {"text/plain", "image/png", "image/jpeg"}


class StudentsView(NbGraderPreprocessor):
    """Take out of an autograded notebook what a student should not see, and what could run in the page."""

    show_hidden = Bool(
        False, help="Show hidden tests and their tracebacks; on the command line: --StudentsView.show_hidden=True"
    ).tag(config=True)
    display_data_priority: List = List(config=True)  # nbconvert sets it, and warns where it is not known

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
            output.traceback = [f"{output.ename}: {output.evalue}"]
        if "data" in output:
            output.data = NotebookNode({kind: text for kind, text in output.data.items() if kind in SAFE})
        return output


@pass_context
def markdown_to_html(context: Context, source: str) -> str:
    """Turn Markdown into HTML as nbconvert does, but no link that runs a script when it is clicked."""
    attachments = context.get("cell", {}).get("attachments", {})
    renderer = IPythonRenderer(escape=False, allow_harmful_protocols=False, attachments=attachments)
    return str(MarkdownWithMath(renderer=renderer).render(source))


def find_any_student() -> None:
    """Let nbgrader's converters find the work of a student whose id holds a bracket or a star.

    They take the path of a folder that is there for a pattern, and then say that it matches nothing.
    """

    def find(pattern: str) -> list[str]:
        folder, name = os.path.split(pattern)
        return glob.glob(os.path.join(glob.escape(folder) if os.path.isdir(folder) else folder, name))

    base.glob = SimpleNamespace(glob=find)
