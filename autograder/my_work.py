"""Give a student a copy of each released problem set to work in, and never touch a copy that is there.

``python -m autograder.my_work`` fills the folder ``my_work`` beside this package; ``make lab`` runs it, and opens the
page that says what there is to do.
"""

import json
import shlex
import shutil
import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_markdown_cell, new_notebook

from autograder.build import COURSE
from autograder.overview import chapters, problem_sets

MY_WORK = COURSE.parent / "my_work"
#: JupyterLab opens a Markdown file as a notebook here, since chapters are; so the page is one as well.
START = "start.ipynb"


def hand_out(release: Path, my_work: Path) -> list[str]:
    """Copy the released notebooks that ``my_work`` does not have yet.

    Parameters
    ----------
    release : Path
        nbgrader's release folder: a folder for each problem set, with its notebook.
    my_work : Path
        The student's folder; made if need be. Files in it are never changed. A copy of what was handed out is
        kept in ``.handed_out``, to notice when a release has changed since.

    Returns
    -------
    list of str
        A sentence for each notebook.
    """
    handed_out = my_work / ".handed_out"
    handed_out.mkdir(parents=True, exist_ok=True)
    told = []
    for released in sorted(release.glob("*/*.ipynb")):
        mine, original = my_work / released.name, handed_out / released.name
        place = f"{my_work.name}/{released.name}"
        if not mine.exists():
            shutil.copyfile(released, mine)
            shutil.copyfile(released, original)
            told.append(f"{place} is new.")
        elif original.exists() and _cells(original) != _cells(released):
            told.append(
                f"{place} is yours and was left alone, but the problem set has changed since you got it. "
                "To start from the new one, rename your file and run this command again."
            )
        else:
            told.append(f"{place} is yours and was left alone.")
    return told


def _cells(path: Path) -> list[tuple[str, str]]:
    """What a notebook says, whatever version of a program wrote it."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [(cell["cell_type"], "".join(cell["source"])) for cell in cells]


def start_page() -> nbformat.NotebookNode:
    """The page that ``make lab`` opens: what there is to do, and how. Its links are for a file in ``my_work``."""
    to_solve = [
        f"| [{each.name}.ipynb]({each.name}.ipynb) | {', '.join(f'`{one.name}`' for one in each.exercises)} "
        f"| {each.points} | {each.time} | {int(each.chapter[:2])} |"
        for each in problem_sets()
    ]
    command = f"{shlex.quote(str(Path(sys.executable).with_name('autograder')))} check"
    to_read = [f"- [{title}](../chapters/{name}.md)" for name, title in chapters().items()]
    text = f"""\
# The Embedding Table

Select a link to open what it names.

## Problem sets

| notebook | you write | points | time | after chapter |
| --- | --- | --- | --- | --- |
{chr(10).join(to_solve)}

1. Write each function in place of `raise NotImplementedError`. Its docstring says what is asked.
2. *Run > Run All Cells*. Each check says pass or FAIL, and what is probably wrong.
3. Press **Validate** above the notebook. It saves, and runs all cells, visible checks among them, in a fresh kernel.
4. *File > New > Terminal*, and there `{command} {shlex.quote(str(MY_WORK / "ps1.ipynb"))}` runs the hidden checks, too.
5. Hand in the file under the name it has.

## Chapters

They open as notebooks. JupyterLab saves by itself every two minutes, and what you run or write there changes the book's
own text. `git checkout chapters` in the book's folder brings that back.

{chr(10).join(to_read)}

---
`make lab` writes this page anew each time. It never changes your problem sets, which are in the folder `my_work`.
"""
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    return new_notebook(cells=[new_markdown_cell(text, id="start")], metadata={"kernelspec": kernel})


if __name__ == "__main__":
    print("Your problem sets:")
    for sentence in hand_out(COURSE / "release", MY_WORK):
        print(f"  {sentence}")
    nbformat.write(start_page(), MY_WORK / START)
