"""Run cells and call functions as the grader asks, in a process that holds nothing but the student's work."""

import os
import sys
import traceback
from typing import Any, BinaryIO

import numpy as np
import outputs  # type: ignore[import-not-found]  # the files beside this one: this folder is first in sys.path
import wire  # type: ignore[import-not-found]
from IPython.core.history import HistoryManager
from IPython.core.interactiveshell import InteractiveShell


def take_the_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Keep standard input and output for the grader, and give the student's code empty ones in their place."""
    reader, writer = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    sys.stdin = open(0)  # noqa: SIM115
    return reader, writer


def make_shell() -> InteractiveShell:
    """Make IPython's shell, whose outputs are recorded."""
    HistoryManager.enabled = False  # type: ignore[assignment]  # no database, and no thread that writes it
    recorded = outputs.Outputs()
    outputs.Shell.outputs = outputs.Shown.outputs = outputs.Value.outputs = recorded
    sys.stdout, sys.stderr = outputs.Printed("stdout", recorded), outputs.Printed("stderr", recorded)
    return outputs.Shell.instance(displayhook_class=outputs.Value, display_pub_class=outputs.Shown)


def describe(error: BaseException) -> dict[str, Any]:
    """Say in plain data what was raised: the names of its types, its text, and the student's last line on the way."""
    try:
        text = str(error)
    except Exception:  # the text of a student's exception is the student's code
        text = ""
    line, number = "", 0
    if isinstance(error, SyntaxError):
        line, number = (error.text or "").strip(), error.lineno or 0
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename.startswith(("<ipython-input", "<cell")) or "ipykernel_" in frame.filename:
            line, number = (frame.line or "").strip(), frame.lineno or 0
    kinds = [kind.__name__ for kind in type(error).__mro__]
    return {"kinds": kinds, "text": text[:2000], "line": line[:200], "number": number}


def run(shell: InteractiveShell, source: str) -> dict[str, Any]:
    """Run a cell as Jupyter would."""
    outputs.Shell.outputs.take()  # what functions printed while they were checked belongs to no cell
    result = shell.run_cell(source, store_history=False)
    error = result.error_before_exec or result.error_in_exec
    reply: dict[str, Any] = {"outputs": outputs.Shell.outputs.take()}
    if error:
        reply["raised"] = describe(error)
    return reply


def call(shell: InteractiveShell, name: str, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Call a function of the notebook, and tell what became of its arguments."""
    function = shell.user_ns.get(name)
    if not callable(function):
        return {"missing": wire.Other(type(function).__name__) if name in shell.user_ns else None}
    given = {**{str(n): value for n, value in enumerate(args)}, **kwargs}
    arrays = {key: value for key, value in given.items() if isinstance(value, np.ndarray)}
    buffers = {key: (value.__array_interface__["data"][0], value.nbytes) for key, value in arrays.items()}
    reply: dict[str, Any] = {}
    try:
        result = function(*args, **kwargs)
    except BaseException as error:
        reply["raised"] = describe(error)
    else:
        reply["result"] = result
        parts = result if isinstance(result, (tuple, list)) else (result,)
        reply["shares"] = [
            (n, key, part.__array_interface__["data"][0] - start, tuple(part.strides))
            for n, part in enumerate(parts)
            if type(part) is np.ndarray and part.size
            for key, (start, length) in buffers.items()
            if 0 <= part.__array_interface__["data"][0] - start < length
        ]
    reply["after"] = arrays
    return reply


def warm_shell() -> InteractiveShell:
    """Make the shell and let it do once what takes long the first time."""
    shell = make_shell()
    names = set(shell.user_ns)
    shell.run_cell("import numpy as np\ndef f(x):\n    return x + 'y'\nf(np.zeros(1))", store_history=False)
    for name in set(shell.user_ns) - names:
        del shell.user_ns[name]
    outputs.Shell.outputs.take()
    return shell


def main() -> None:
    """Serve one grader until it closes the pipe."""
    if sys.argv[1:2] == ["--fork-server"]:
        import fork_server  # type: ignore[import-not-found]

        shell = fork_server.main(int(sys.argv[2]), sys.argv[3], warm_shell)
        reader, writer = take_the_pipes()
    else:
        reader, writer = take_the_pipes()
        shell = make_shell()
    serve(reader, writer, shell)


def serve(reader: BinaryIO, writer: BinaryIO, shell: InteractiveShell) -> None:
    """Answer requests until the pipe is closed."""
    while True:
        try:
            request = wire.read(reader)
        except EOFError:
            return
        if request["do"] == "run":
            reply = run(shell, request["source"])
        else:
            reply = call(shell, request["name"], request["args"], request["kwargs"])
        wire.write(writer, reply)


if __name__ == "__main__":
    main()
