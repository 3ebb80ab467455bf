"""The problem sets on their page: a table of them, and one archive with all."""

import os
import zipfile
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

#: Packages that a problem set needs, installed as the lock pins them.
PACKAGES = ("ipykernel", "jupyterlab", "numpy")

README = """\
# The Embedding Table: problem sets

Each notebook is one problem set. You need Python 3.11 to 3.14. In a terminal, in this folder:

    python3 -m venv .venv
    .venv/bin/pip install -r requirements.txt
    .venv/bin/jupyter lab ps1.ipynb

On Windows, write `py` for `python3` and `.venv\\Scripts\\` for `.venv/bin/`.

Write each function in place of `raise NotImplementedError`, then choose *Run > Run All Cells*. Each check says pass or
FAIL, and what is probably wrong. Hand in a notebook under the name it has.

The text is under CC BY 4.0, the code under the BSD 3-Clause licence.
"""


def requirements(lock: str) -> str:
    """The lines of ``requirements.lock`` that pin `PACKAGES`."""
    return "".join(f"{line}\n" for line in lock.splitlines() if line.partition("==")[0] in PACKAGES)


def write_archive(path: Path, root: Path) -> None:
    """Write a ZIP file of the released problem sets, with what they need and how to begin.

    The same files give the same archive, to the byte.
    """
    files = {"README.md": README.encode()}
    files["requirements.txt"] = requirements((root / "requirements.lock").read_text(encoding="utf-8")).encode()
    for released in sorted((root / "autograder" / "release").glob("*/*.ipynb")):
        files[released.name] = released.read_bytes()
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(f"problem-sets/{name}")  # of 1980, whenever it is made
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)


class ProblemSets(SphinxDirective):
    """``{problem-sets}``: a table of the problem sets, with their downloads."""

    def run(self) -> list[nodes.Node]:
        """Make the table from what the problem sets, their checks and the chapters say."""
        from autograder.overview import problem_sets  # a book without this directive need not have them

        root, launch = Path(self.env.srcdir), self.config.book_launch
        archive = Path(self.env.app.outdir).parent / "archive" / "problem-sets.zip"
        write_archive(archive, root)
        for used in ("chapters/*.md", "autograder/problem_sets/*.md", "autograder/checks/*.py", "requirements.lock"):
            for path in root.glob(used):
                self.env.note_dependency(str(path))
        heads = ["notebook", "points", "time", "after", *["run it on"] * bool(launch), "you write"]
        rows = [heads, ["---"] * len(heads)]
        for each in problem_sets():
            row = [
                f"{{download}}`{each.name}.ipynb </autograder/release/{each.name}/{each.name}.ipynb>`",
                f"{each.points}",
                each.time.replace(" ", "\N{NO-BREAK SPACE}"),
                f"{{doc}}`chapter\N{NO-BREAK SPACE}{int(each.chapter[:2])} </chapters/{each.chapter}>`",
            ]
            if launch:
                row.append(", ".join(f"[{service}]({url})" for service, url in launch.links(each.name).items()))
            row.append(", ".join(f"`{exercise.name}`" for exercise in each.exercises))
            rows.append(row)
        place = Path(os.path.relpath(archive, root)).as_posix()
        text = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        text += f"\n\nAll in one: {{download}}`problem-sets.zip </{place}>`, with a list of what to install."
        if launch:
            text += (
                "\n\nBinder forgets what you wrote when you close it, and Colab asks for an account. Download your "
                "notebook from there when you are done."
            )
        return self.parse_text_to_nodes(text)
