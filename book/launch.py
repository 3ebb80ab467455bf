"""Buttons that open a notebook on Binder or Colab, and the notebooks that they open.

They are off until ``repository: url`` in ``_config.yml`` is set. The theme has such buttons, too, but its own lead to a
chapter's MyST source, which Colab cannot open. These lead to ``notebooks/NAME.ipynb``: on the branch that the site is
published from (`PUBLISHED`), for Colab; on Binder, where ``postBuild`` runs ``python -m book.launch``.
"""

import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import yaml
from nbformat.v4 import new_code_cell

#: The folder of the notebooks, both in a copy of the repository on Binder and in the site.
FOLDER = "notebooks"
#: The branch with the site.
PUBLISHED = "gh-pages"

_INSTALL = """\
# Where the book is not installed, as on Colab, this brings its modules. Colab has the other packages that it needs.
from importlib.util import find_spec

if find_spec("autograder") is None:
    %pip install --quiet --no-deps "embedding-table @ git+{repository}@{branch}\""""


@dataclass(frozen=True)
class Launch:
    """Where notebooks are opened.

    Attributes
    ----------
    repository : str
        ``https://github.com/OWNER/NAME``: Colab opens notebooks from there only.
    branch : str
        The branch with the book's sources.
    binder, colab : str
        Addresses of the services; empty for no button.
    """

    repository: str
    branch: str
    binder: str
    colab: str

    def links(self, name: str) -> dict[str, str]:
        """Address of the notebook of that name, for each service."""
        path = f"{FOLDER}/{name}.ipynb"
        project = self.repository.removeprefix("https://github.com/")
        links = {}
        if self.binder:
            links["Binder"] = f"{self.binder}/v2/gh/{project}/{self.branch}?urlpath=lab/tree/{path}"
        if self.colab:
            links["Colab"] = f"{self.colab}/github/{project}/blob/{PUBLISHED}/{path}"
        return links


def launch_of(repository: dict[str, str], buttons: dict[str, str]) -> Launch | None:
    """Read the sections ``repository`` and ``launch_buttons`` of ``_config.yml``.

    Returns
    -------
    Launch or None
        None where no repository is named.

    Raises
    ------
    ValueError
        If the repository is none on GitHub.
    """
    url = (repository.get("url") or "").removesuffix("/").removesuffix(".git")
    if not url:
        return None
    if not re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+", url):
        raise ValueError(f"_config.yml: repository: url must be as https://github.com/OWNER/NAME, or empty; got {url}")
    services = (buttons.get(key, "").rstrip("/") for key in ("binderhub_url", "colab_url"))
    return Launch(url, repository.get("branch") or "main", *services)


def notebook(source: Path, launch: Launch | None) -> nbformat.NotebookNode:
    """Make the notebook of a chapter: without outputs, and with a first cell that installs what it imports."""
    made = jupytext.read(source, fmt="md:myst")
    if launch:
        made.cells.insert(0, new_code_cell(_INSTALL.format(repository=launch.repository, branch=launch.branch)))
    for number, cell in enumerate(made.cells):
        cell.id = f"cell-{number}"  # jupytext's are random
    return made


def write_notebooks(root: Path, folder: Path, launch: Launch | None) -> None:
    """Write the notebook of each chapter, and copy the problem sets, which need no package but NumPy."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in sorted((root / "chapters").glob("*.md")):
        nbformat.write(notebook(source, launch), folder / f"{source.stem}.ipynb")
    for released in sorted((root / "autograder" / "release").glob("*/*.ipynb")):
        shutil.copy(released, folder)


def button_group(launch: Launch, name: str) -> dict[str, Any]:
    """A menu for the header of a page, in the theme's form."""
    icons = {"Binder": "_static/images/logo_binder.svg", "Colab": "_static/images/logo_colab.png"}
    return {
        "type": "group",
        "label": "launch-buttons",
        "icon": "fas fa-rocket",
        "tooltip": "Run this chapter",
        "buttons": [
            {
                "type": "link",
                "text": service,
                "tooltip": f"Run this chapter on {service}",
                "icon": icons[service],
                "url": url,
            }
            for service, url in launch.links(name).items()
        ],
    }


if __name__ == "__main__":
    root = Path(__file__).parent.parent
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    write_notebooks(root, Path(sys.argv[1]), launch_of(config["repository"], config["launch_buttons"]))
