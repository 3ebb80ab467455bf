"""The command ``autograder``, also ``python -m autograder``."""

import argparse
import json
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from autograder.notebook import UngradableError, grade_notebook


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    parser = argparse.ArgumentParser(prog="autograder", description="Grade problem sets of The Embedding Table.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    check = commands.add_parser(
        "check",
        help="grade one problem-set notebook and print the report",
        description="Grade one problem-set notebook and print the report. No course and no gradebook are needed, and "
        "the file is not changed. The notebook's code runs on this computer as if you had run it in JupyterLab.",
        epilog="Exit status: 0 full marks, 1 less, 2 the notebook could not be graded.",
    )
    check.add_argument("notebook", type=Path, help="such as my_work/ps1.ipynb")
    check.add_argument("--json", action="store_true", help="print the report as JSON")
    options = parser.parse_args(arguments)
    try:
        report = grade_notebook(options.notebook)
    except UngradableError as error:
        return _sorry(str(error), as_json=options.json)
    except KeyboardInterrupt:
        return _sorry("Stopped before the end.", as_json=options.json)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}, line {place.lineno}"
        told = f"The autograder itself has a fault: {type(error).__name__}: {error} ({where}). Please report it."
        return _sorry(told, as_json=options.json)
    print(json.dumps(report.as_data(), indent=1) if options.json else report)
    return 0 if report.points == report.max_points else 1


def _sorry(reason: str, *, as_json: bool) -> int:
    """Say why there is no report."""
    if as_json:
        print(json.dumps({"error": reason}, indent=1))
    else:
        print(reason, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
