"""The grader's side of a student's process: run cells there, and call functions there as if they were here."""

import builtins
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from autograder.process import PlainProcess, Process
from autograder.student import wire
from autograder.trace import OutOfTimeError, time_limit


class NotDefinedError(Exception):
    """The notebook defines no function of that name."""


class StudentProcessError(Exception):
    """The student's process ended, or sent something that is no answer."""


class Session:
    """A process that holds the state of one notebook.

    It is started when it is first needed, and again after it broke: then the cells that ran before run once more.

    Parameters
    ----------
    folder : Path
        Where the notebook's code runs; files that it opens by name are looked for there.
    cell_limit : float
        Seconds that a cell may take.
    launch : callable, optional
        Starts the process: such as `autograder.fork_server.ForkServer.start`, whose processes are shut in and have a
        folder of their own. Without it, Python is started in ``folder``, with the rights of whoever calls this.
    """

    def __init__(self, folder: Path, cell_limit: float = 60.0, launch: Callable[[], Process] | None = None) -> None:
        self._launch = launch or (lambda: PlainProcess(folder))
        self._cell_limit = cell_limit
        self._cells: list[str] = []
        self._cells_took = 0.0
        self._over = False  # its cells did not run again
        self._process: Process | None = None
        #: What the last cell printed and showed, in the form of a notebook file; it may be anything that crosses.
        self.outputs: Any = []

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def run(self, source: str) -> dict[str, Any] | None:
        """Run a cell.

        Returns
        -------
        dict or None
            What it raised, as `autograder.student` describes it; None where it ran to its end. A cell that took too
            long, or ended the process, is not run again when the session has to start anew.
        """
        self.outputs = []
        begin = time.monotonic()
        try:
            with time_limit(self._cell_limit):
                reply = self._ask({"do": "run", "source": source})
        except OutOfTimeError:
            return {"kinds": [], "text": f"The cell was still running after {self._cell_limit:g} seconds.", "number": 0}
        except StudentProcessError as error:
            return {"kinds": [], "text": str(error), "number": 0}
        self._cells.append(source)
        self._cells_took += time.monotonic() - begin
        self.outputs = reply.get("outputs", [])
        return _described(reply["raised"]) if "raised" in reply else None

    def function(self, name: str) -> Callable:
        """A function of the notebook, to be called here.

        What is passed to it and what it returns are plain data. A change that it makes to an array is made to the
        array here, an array that it returns shares the memory of an argument here if it did there, and an exception
        is raised here with the name, the text and the nearest built-in type.

        Parameters
        ----------
        name : str
            It need not exist: a call then raises NotDefinedError.
        """

        def proxy(*args: Any, **kwargs: Any) -> Any:
            reply = self._ask({"do": "call", "name": name, "args": args, "kwargs": kwargs})
            if "missing" in reply:
                kind = reply["missing"]
                is_a = f" is a {kind.kind}, not a function." if isinstance(kind, wire.Other) else " is not defined."
                raise NotDefinedError(f"In this notebook {name}{is_a}")
            given = {**{str(n): value for n, value in enumerate(args)}, **kwargs}
            _apply_changes(given, reply.get("after"))
            if "raised" in reply:
                raise _as_exception(_described(reply["raised"]))
            return _with_shared_memory(_known_types(reply.get("result")), given, reply.get("shares"))

        proxy.__name__ = name
        return proxy

    def start(self) -> None:
        """Start the process, unless it runs: to be called where the time that the cells take counts for nothing.

        Cells that ran before may do something else when they run again. If they break it then, or take much longer,
        the session is over: what is asked later raises StudentProcessError.
        """
        if self._process is None and not self._over:
            try:
                with time_limit(self._cell_limit + self._cells_took):
                    self._start()
            except (OutOfTimeError, StudentProcessError):
                self._over = True

    def stop(self) -> None:
        """End the process and all that it started; a later call starts another one."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._over:
            raise StudentProcessError("Python had ended, and the cells that ran before did not run again.")
        if self._process is None:
            self._start()
        try:
            return self._exchange(request)
        except BaseException:
            self.stop()  # whatever is on its way no longer belongs to a question
            raise

    def _start(self) -> None:
        self._process = self._launch()
        for source in self._cells:
            self._ask({"do": "run", "source": source})

    def _exchange(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process is not None
        try:
            wire.write(self._process.stdin, request)
            return wire.read(self._process.stdout, wire.ANSWER_LIMIT)
        except (EOFError, BrokenPipeError):
            how = self._process.how_it_ended(5)
            raise StudentProcessError(f"Python ended {how} while it ran your code.") from None
        except wire.WireError as error:
            raise StudentProcessError(f"Your code answered with {error}.") from None


def _apply_changes(given: dict[str, Any], after: Any) -> None:
    """Make the changes to arguments here that the function made there."""
    for key, value in after.items() if isinstance(after, dict) else ():
        here = given.get(key)
        if not isinstance(here, np.ndarray) or not isinstance(value, np.ndarray):
            continue
        if here.shape != value.shape and here.size == value.size:
            here.shape = value.shape
        if here.shape == value.shape and here.dtype == value.dtype and not np.array_equal(here, value, equal_nan=True):
            here[...] = value


def _known_types(value: Any) -> Any:
    """Give what did not cross a type of the same name, for the messages."""
    if isinstance(value, wire.Other):
        return type(value.kind.replace("\0", ""), (), {})()
    if isinstance(value, (tuple, list)):
        return type(value)(map(_known_types, value))
    if isinstance(value, dict):
        return {_known_types(key): _known_types(each) for key, each in value.items()}
    return value


def _with_shared_memory(result: Any, given: dict[str, Any], shares: Any) -> Any:
    """Put results into the memory of arguments where they lay in it there.

    A claim that is not true is dropped: NumPy refuses strides that leave the buffer, and the values must be equal.
    """
    parts = list(result) if isinstance(result, (tuple, list)) else [result]
    for share in shares if isinstance(shares, list) else ():
        with suppress(Exception):  # the claim may be anything
            n, key, offset, strides = share
            part, argument = parts[n], given[key]
            view = np.ndarray(part.shape, part.dtype, argument.data.cast("B"), offset, strides)
            if np.array_equal(view, part, equal_nan=True):
                parts[n] = view
    return type(result)(parts) if isinstance(result, (tuple, list)) else parts[0]


def _described(raised: Any) -> dict[str, Any]:
    """What a student's process tells of an exception, in the form that `autograder.student` gives it."""
    told = raised if isinstance(raised, dict) else {}
    kinds, text, line, number = (told.get(key) for key in ("kinds", "text", "line", "number"))
    names = [each for each in kinds if isinstance(each, str) and each.isidentifier()] if type(kinds) is list else []
    return {
        "kinds": names or ["Exception"],
        "text": text[:2000] if isinstance(text, str) else "",
        "line": line[:200] if isinstance(line, str) else "",
        "number": number if type(number) is int and 0 <= number < 10**6 else 0,
    }


def _as_exception(raised: dict[str, Any]) -> Exception:
    """Make an exception of the same name, from the nearest built-in type, with the student's line."""
    kinds = raised["kinds"]
    known = (getattr(builtins, kind, None) for kind in kinds)
    base = next((kind for kind in known if isinstance(kind, type) and issubclass(kind, Exception)), Exception)
    text = [raised["text"]] if raised["text"] else []
    try:
        error = base(*text) if base.__name__ == kinds[0] else type(kinds[0], (base,), {})(*text)
    except Exception:  # a type that wants other arguments, such as UnicodeDecodeError
        error = type(kinds[0], (Exception,), {})(*text)
    error.__dict__["student_line"] = line_of(raised)
    return error


def line_of(raised: dict[str, Any]) -> str:
    """Say which line of the student's raised, from what the student's process tells of an exception."""
    return f"line {raised['number']}: `{raised['line']}`" if raised.get("line") else ""
