"""Sphinx extension: what the pages need beyond Jupyter Book.

- A page runs again when a package of this repository that it imports changes, not only when its own cells do.
- A chapter can be downloaded as the notebook that was executed, and opened on Binder and Colab.
- The problem sets are listed, and can be downloaded one by one or all at once.
- Fonts for formulas, headings and icons are served by the site itself.
- A page says what it is about, and has a picture for those who link to it.
- A page with a figure that moves loads its script; no other page does.
- A build with a warning leaves nothing behind that would make the next build look clean.
"""

import hashlib
import html
import json
import os
import platform
import re
import shutil
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jupyter_cache.executors.utils
import nbclient
import nbformat
import yaml
from docutils import nodes
from myst_nb.sphinx_ext import add_global_html_resources
from sphinx.addnodes import download_reference
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.errors import ConfigError
from sphinx.transforms import SphinxTransform
from sphinx.writers.html5 import HTML5Translator

from book import card, fonts, launch
from book.problem_sets import ProblemSets

_IMPORT = re.compile(r"^\s*(?:from|import)\s+(autograder|book|solutions)\b", re.MULTILINE)
_SCRIPT = re.compile(r'<div class="book-moving" data-script="([\w.]+)"')
_KERNELSPEC = re.compile(r"^kernelspec:\n(?: +.*\n)+", re.MULTILINE)


def imported_files(text: str, root: Path) -> list[Path]:
    """Files that may decide what a page's cells print.

    Every module of each package that it imports, and so on, and the texts of the problem sets, which say where an
    exercise stands.

    Parameters
    ----------
    text : str
        The page's source.
    root : Path
        The repository.

    Returns
    -------
    list of Path
        These, and the file that pins the versions of all other packages; sorted.
    """
    found: set[Path] = {root / "requirements.lock"}
    texts = [text]
    while texts:
        for package in _IMPORT.findall(texts.pop()):
            modules = set((root / package).rglob("*.py")) - found
            found |= modules | set((root / package).glob("*/*.md"))
            texts += [module.read_text(encoding="utf-8") for module in modules]
    return sorted(path for path in found if path.exists())


def fingerprint(text: str, root: Path) -> str:
    """Digest of Python's version, and of the names and contents of `imported_files`."""
    digest = hashlib.sha256(platform.python_version().encode())  # Python brings the text that chapters read
    for path in imported_files(text, root):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def add_fingerprint(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the fingerprint into a notebook's kernelspec.

    The execution cache finds a notebook by its code cells and its kernelspec, and by nothing else.
    """

    def marked(match: re.Match[str]) -> str:
        kernelspec = yaml.safe_load(match[0])["kernelspec"]
        kernelspec["fingerprint"] = fingerprint(source[0], Path(app.srcdir))
        # On one line, then as many empty ones as there were, so that warnings name the right line.
        return f"kernelspec: {json.dumps(kernelspec)}" + "\n" * match[0].count("\n")

    source[0] = _KERNELSPEC.sub(marked, source[0], count=1)


def pages_to_run_again(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> Iterator[str]:
    """Yield the pages whose fingerprint is no longer the one they were read with."""
    for docname, metadata in env.metadata.items():
        if docname not in removed and "kernelspec" in metadata:
            text = Path(env.doc2path(docname)).read_text(encoding="utf-8")
            if metadata["kernelspec"].get("fingerprint") != fingerprint(text, Path(app.srcdir)):
                yield docname


def set_environment(app: Sphinx) -> None:
    """Let the notebooks' kernels import this folder's packages, and compute on one thread.

    With several threads, sums are added up in another order from run to run, and times depend on what else runs. All
    that a cell prints becomes one piece, however the kernel sends it. Progress bars are for those who wait.
    """
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", TQDM_DISABLE="1")
    jupyter_cache.executors.utils.executenb = partial(nbclient.execute, coalesce_streams=True)
    paths = [str(app.srcdir), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))


def notebook_of(app: Sphinx, docname: str) -> str:
    """Path of the executed notebook that myst-nb writes for a page, relative to the sources."""
    path = Path(app.outdir).parent / "jupyter_execute" / f"{docname}.ipynb"
    return Path(os.path.relpath(path, app.srcdir)).as_posix()


class NotebookLink(SphinxTransform):
    """Under the title of a notebook's page, a link that downloads the notebook."""

    default_priority = 500

    def apply(self, **kwargs: Any) -> None:
        """Add the link."""
        title = next(self.document.findall(nodes.title), None)
        if title is None or "kernelspec" not in self.env.metadata[self.env.docname]:
            return
        link = download_reference("", reftarget="/" + notebook_of(self.app, self.env.docname))
        link += nodes.inline("", "Download this chapter as a notebook")
        paragraph = nodes.paragraph("", "", link, classes=["book-notebook"])
        title.parent.insert(title.parent.index(title) + 1, paragraph)


def fill_notebook(app: Sphinx, doctree: nodes.document) -> None:
    """Put the outputs from the execution cache into the notebook that is offered for download.

    myst-nb writes that notebook without outputs when they came from the cache.
    """
    path = Path(app.srcdir, notebook_of(app, app.env.docname))
    if "kernelspec" in app.env.metadata[app.env.docname]:
        cache = jupyter_cache.get_cache(app.config.nb_execution_cache_path)
        _, notebook = cache.merge_match_into_notebook(nbformat.read(path, as_version=4))
        nbformat.write(notebook, path)


def mend_download_menu(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Let the download menu in a page's header offer the executed notebook in place of the page's source."""
    for group in context.get("header_buttons", []):
        if group.get("label") != "download-buttons":
            continue
        group["buttons"] = [b for b in group["buttons"] if b["label"] != "download-source-button"]
        downloads = app.env.dlfiles.get(notebook_of(app, page))
        if downloads:
            group["buttons"].insert(
                0,
                {
                    "type": "link",
                    "url": context["pathto"](f"_downloads/{downloads[1]}", 1),
                    "text": ".ipynb",
                    "tooltip": "Download this chapter as a notebook",
                    "icon": "fas fa-code",
                    "label": "download-notebook-button",
                },
            )


def read_launch(app: Sphinx, config: Config) -> None:
    """Take the settings of the launch buttons away from the theme (book/launch.py)."""
    options = config.html_theme_options
    repository = {"url": options.get("repository_url"), "branch": options.get("repository_branch")}
    try:
        config.book_launch = launch.launch_of(repository, options.pop("launch_buttons", {}))
    except ValueError as error:
        raise ConfigError(str(error)) from None


def add_launch_menu(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Let the header of a chapter open its notebook on Binder and Colab."""
    folder, _, name = page.rpartition("/")
    if app.config.book_launch and folder == "chapters":
        context["header_buttons"].insert(0, launch.button_group(app.config.book_launch, name))


def write_launch_notebooks(app: Sphinx, exception: Exception | None) -> None:
    """Put the notebooks that Colab opens into the site, to be published with it."""
    folder = Path(app.outdir) / launch.FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    if exception is None and app.builder.name == "html" and app.config.book_launch:
        launch.write_notebooks(Path(app.srcdir), folder, app.config.book_launch)


def add_scripts(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Link the scripts of the figures that move, on the pages that show one (book/moving_figures.py)."""
    for script in dict.fromkeys(_SCRIPT.findall(context.get("body", ""))):
        app.add_js_file(script, loading_method="defer")


def visit_citation(translator: HTML5Translator, node: nodes.citation) -> None:
    """Write an entry of the bibliography with the role that its list asks for.

    Docutils gives it ``doc-biblioentry``, which was deprecated since no list may hold it.
    """
    type(translator).visit_citation(translator, node)
    translator.body[-1] = translator.body[-1].replace("doc-biblioentry", "listitem")


def depart_citation(translator: HTML5Translator, node: nodes.citation) -> None:
    """End an entry of the bibliography."""
    type(translator).depart_citation(translator, node)


def make_static_files(app: Sphinx) -> None:
    """Put fonts and card where Sphinx takes static files from; made once, since cutting fonts takes a second."""
    folder = Path(app.outdir).parent / "static"
    folder.mkdir(parents=True, exist_ok=True)
    source = max(Path(__file__).with_name(name).stat().st_mtime for name in ("fonts.py", "card.py"))
    for name, make in [
        ("serif.css", lambda: fonts.serif_style_sheet().encode()),
        ("icons.css", lambda: fonts.icon_style_sheet().encode()),
        ("card.png", card.card),
    ]:
        path = folder / name
        if not path.exists() or path.stat().st_mtime < source:
            path.write_bytes(make())
    app.config.html_static_path.append(str(folder))


def describe_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Say what a page is about, for searches and for programs that show a card beside a link to it (Open Graph).

    The card is a picture, which must be named by its whole address, so it is there where ``baseurl`` is set.
    """
    if doctree is None:
        return
    texts = (each.astext() for each in doctree.findall(nodes.paragraph) if "book-notebook" not in each["classes"])
    description = " ".join(next(texts, app.config.html_title).split())
    about = {
        "og:title": app.env.titles[page].astext(),
        "og:description": description,
        "og:type": "website",
        "og:site_name": app.config.html_title,
    }
    if app.config.html_baseurl:
        site = app.config.html_baseurl.rstrip("/")
        about |= {
            "og:url": context["pageurl"],
            "og:image": f"{site}/_static/card.png",
            "og:image:width": str(card.SIZE[0]),
            "og:image:height": str(card.SIZE[1]),
            "og:image:alt": card.TEXT,
            "twitter:card": "summary_large_image",
        }
    tags = [f'<meta property="{name}" content="{html.escape(content)}">' for name, content in about.items()]
    tags.append(f'<meta name="description" content="{html.escape(description)}">')
    context["metatags"] += "\n".join(tags)


def note_looks(app: Sphinx, config: Config) -> None:
    """Tell Sphinx what the style sheets and templates are, so that it writes all pages again when one changes.

    By itself it does not even copy a changed style sheet when no page changed.
    """
    folder = Path(__file__).parent
    looks = sorted(path for name in ("static", "templates") for path in (folder / name).rglob("*") if path.is_file())
    config.book_looks = zlib.crc32(b"".join(path.read_bytes() for path in looks))


def copy_notebook_style_sheet(app: Sphinx) -> None:
    """Copy myst-nb's style sheet now, and not after the pages are written, when myst-nb does it.

    Sphinx adds a checksum to the link if the file is there. Pages of a first and a second build would differ.
    """
    if app.builder.format == "html":
        (Path(app.outdir) / "_static").mkdir(parents=True, exist_ok=True)
        add_global_html_resources(app, None)


def remove_old_pages(app: Sphinx, exception: Exception | None) -> None:
    """Remove pages that are no longer in the table of contents; Sphinx leaves them where they are."""
    if exception is None and app.builder.name == "html":
        pages = {*app.env.found_docs, "index", "search"}
        for path in Path(app.outdir).rglob("*.html"):
            name = path.relative_to(app.outdir).with_suffix("").as_posix()
            if name not in pages and not name.startswith("_"):
                path.unlink()


def forget_after_warnings(app: Sphinx, exception: Exception | None) -> None:
    """Make the next build read every page again if this one failed or warned.

    Sphinx warns while it reads a page, and does not read it again until it changes: a second build would pass. What
    ``make links`` warns of stands in no page of ours.
    """
    if exception is not None or (app._warncount and app.builder.name != "linkcheck"):
        (Path(app.doctreedir) / "environment.pickle").unlink(missing_ok=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.setup_extension("book.mathematics")
    app.add_config_value("book_looks", 0, "html")
    app.add_config_value("book_launch", None, "env")
    app.add_directive("problem-sets", ProblemSets)
    app.connect("config-inited", note_looks)
    app.connect("config-inited", read_launch)
    app.connect("builder-inited", set_environment)
    app.connect("builder-inited", make_static_files)
    app.connect("builder-inited", copy_notebook_style_sheet)
    app.connect("source-read", add_fingerprint)
    app.connect("env-get-outdated", pages_to_run_again)
    app.add_transform(NotebookLink)
    app.add_node(nodes.citation, override=True, html=(visit_citation, depart_citation))
    app.connect("doctree-read", fill_notebook)
    app.connect("html-page-context", mend_download_menu, priority=900)  # after the theme made the menu
    app.connect("html-page-context", add_launch_menu, priority=900)
    app.connect("html-page-context", add_scripts)
    app.connect("html-page-context", describe_page)
    app.connect("build-finished", write_launch_notebooks)
    app.connect("build-finished", remove_old_pages)
    app.connect("build-finished", forget_after_warnings)
    # Sphinx reads all pages again when this number changes: after an edit of this package.
    code = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    return {"parallel_read_safe": True, "parallel_write_safe": True, "env_version": zlib.crc32(code)}
