"""Give a student a copy of each released problem set to work in, and never touch a copy that is there.

``python -m autograder.my_work`` fills the folder ``my_work`` beside this package; ``make lab`` runs it.
"""

import json
import shutil
from pathlib import Path

from autograder.build import COURSE

MY_WORK = COURSE.parent / "my_work"


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


if __name__ == "__main__":
    print("Your problem sets:")
    for sentence in hand_out(COURSE / "release", MY_WORK):
        print(f"  {sentence}")
