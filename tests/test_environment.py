"""The dependencies: pyproject.toml, requirements.lock, environment.yml and what is installed say the same."""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import jupytext
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCK = [
    Requirement(line)
    for line in (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    if line and not line.lstrip().startswith("#")
]
#: What the lock holds for this Python and system. A package may have one line for each of several Pythons.
LOCKED_HERE = {canonicalize_name(pin.name): pin for pin in LOCK if pin.marker is None or pin.marker.evaluate()}
#: What the lock leaves out on purpose; pyproject.toml says why.
LEFT_OUT = {canonicalize_name(name) for name in PYPROJECT["tool"]["uv"]["exclude-dependencies"]}

PROJECT = PYPROJECT["project"]
DIRECT = [Requirement(line) for line in PROJECT["dependencies"] + PROJECT["optional-dependencies"]["dev"]]


def test_the_lock_pins_exact_versions() -> None:
    loose = [str(pin) for pin in LOCK if not re.fullmatch(r"==[^*,]+", str(pin.specifier))]
    assert not loose, "run `make lock`"


@pytest.mark.parametrize("wanted", DIRECT, ids=str)
def test_the_lock_has_what_pyproject_asks_for(wanted: Requirement) -> None:
    pins = [pin for pin in LOCK if canonicalize_name(pin.name) == canonicalize_name(wanted.name)]
    assert pins, f"requirements.lock lacks {wanted.name}; run `make lock`"
    for pin in pins:
        version = str(pin.specifier).removeprefix("==")
        assert wanted.specifier.contains(version, prereleases=True), f"{pin} is outside {wanted}; run `make lock`"


def installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def test_the_pinned_versions_are_installed() -> None:
    wrong = {
        str(pin): installed(name)
        for name, pin in LOCKED_HERE.items()
        # 2.13.0+cpu satisfies ==2.13.0
        if not (installed(name)[0].isdigit() and pin.specifier.contains(installed(name), prereleases=True))
    }
    assert not wrong, "run `make install`, or `pip install -r requirements.lock`"


def test_the_lock_is_complete() -> None:
    missing = {}
    todo = [(canonicalize_name(wanted.name), extra) for wanted in DIRECT for extra in ("", *wanted.extras)]
    done = set()
    while todo:
        name, extra = todo.pop()
        if (name, extra) in done:
            continue
        done.add((name, extra))
        for line in metadata.requires(name) or []:
            needed = Requirement(line)
            if needed.marker is not None and not needed.marker.evaluate({"extra": extra}):
                continue
            other = canonicalize_name(needed.name)
            if other in LOCKED_HERE:
                todo += [(other, each) for each in ("", *needed.extras)]
            elif other not in LEFT_OUT:
                missing[other] = name
    assert not missing, f"not in requirements.lock, but needed: {missing}; run `make lock`"


def test_conda_installs_the_same_set() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    python, pip, packages = environment["dependencies"]
    # conda brings Python, and pip has no say in it. Binder passes over a range, and takes what it has.
    version = re.fullmatch(r"python=(3\.\d+)", python)
    assert version
    assert SpecifierSet(PROJECT["requires-python"]).contains(version[1])
    assert pip == "pip"
    assert packages == {"pip": ["-r requirements.lock", "-e ."]}
    assert environment["name"] == PROJECT["name"]


def test_this_python_is_one_of_those_asked_for() -> None:
    assert SpecifierSet(PROJECT["requires-python"]).contains(".".join(map(str, sys.version_info[:3])))


def test_make_asks_for_the_same_python() -> None:
    bounds = {each.operator: Version(each.version).release for each in SpecifierSet(PROJECT["requires-python"])}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"{bounds['>=']} <= sys.version_info < {bounds['<']}" in makefile
    (lowest,) = re.findall(r"--python-version (\S+)", makefile)
    assert Version(lowest).release == bounds[">="], "`make lock` must lock for the oldest Python"


def imports() -> Iterator[tuple[str, str]]:
    """Every file of the project with each module that it imports."""
    texts = {
        path: path.read_text(encoding="utf-8")
        for folder in ("solutions", "autograder", "book", "tests", "benchmarks")
        for path in (ROOT / folder).rglob("*.py")
    }
    for path in (ROOT / "chapters").glob("*.md"):
        cells = jupytext.read(path).cells
        texts[path] = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    for path, text in texts.items():
        for module in re.findall(r"^\s*(?:import|from) +(\w+)", text, re.MULTILINE):
            yield path.relative_to(ROOT).as_posix(), module


def test_what_is_imported_is_a_direct_dependency() -> None:
    declared = {canonicalize_name(wanted.name) for wanted in DIRECT} | {canonicalize_name(PROJECT["name"])}
    distributions = metadata.packages_distributions()
    undeclared = {
        (path, module)
        for path, module in imports()
        if module in distributions and not declared & set(map(canonicalize_name, distributions[module]))
    }
    assert not undeclared, "pyproject.toml should name what these files import"


COMMANDS = re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
PROSE = [*ROOT.glob("*.md"), ROOT / "autograder" / "README.md", ROOT / ".ci" / "run"]


@pytest.mark.parametrize("path", PROSE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_make_commands_in_the_text_exist(path: Path) -> None:
    told = re.findall(r"(?:^|`)make ([a-z][a-z-]*)", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(told) <= set(COMMANDS)


def test_ci_does_what_the_readme_says_and_nothing_else() -> None:
    commands = (ROOT / ".ci" / "run").read_text(encoding="utf-8").split('cd "$(dirname "$0")/.."\n')[1].splitlines()
    readme = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    # apart from Debian packages that optional tests need
    assert [each for each in commands if not each.startswith(("apt-get ", "#"))] == ["make book", "make test"]
    assert {"make book", "make test"} <= {line.split("#")[0].strip() for line in readme}


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
def test_clean_keeps_results_work_and_grades(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    kept = [
        "_build/.jupyter_cache/global.db",
        "my_work/ps1.ipynb",
        *(f"autograder/{each}/alice/ps1/ps1.ipynb" for each in ("submitted", "autograded", "feedback")),
        "autograder/gradebook.db",
        "autograder/grades.csv",
        "autograder/exchange/token-embeddings/inbound/alice",
        "autograder/source/mine/mine.ipynb",
        ".venv/bin/python",
    ]
    removed = ["_build/html/index.html", "_build/.doctrees/environment.pickle", ".mypy_cache/x"]
    for each in kept + removed:
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).touch()
    subprocess.run(["make", "clean"], cwd=tmp_path, check=True, capture_output=True)
    assert all((tmp_path / each).exists() for each in kept)
    assert not any((tmp_path / each).exists() for each in removed)
    subprocess.run(["make", "clean"], cwd=tmp_path, check=True, capture_output=True)  # nothing left to remove
