"""A process that runs a student's code: how the grader starts one, ends it, and learns how it ended."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Protocol, cast

import autograder.student

STUDENT = Path(autograder.student.__file__).parent


class Process(Protocol):
    """What `autograder.session.Session` asks of a process.

    Attributes
    ----------
    stdin, stdout : BinaryIO
        Pipes to and from it.
    """

    stdin: BinaryIO
    stdout: BinaryIO

    def kill(self) -> None:
        """End it and all that it started, and wait until it is gone."""

    def how_it_ended(self, seconds: float) -> str:
        """Say it in words that follow "Python ended"; wait so long for it to end."""


class PlainProcess:
    """A process with the rights of whoever starts it.

    Parameters
    ----------
    folder : Path
        Where it runs.
    """

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(STUDENT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            start_new_session=True,
        )
        self.stdin = cast(BinaryIO, self._process.stdin)
        self.stdout = cast(BinaryIO, self._process.stdout)

    def kill(self) -> None:
        with suppress(ProcessLookupError, AttributeError):  # it has gone; there are no groups on Windows
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.communicate()

    def how_it_ended(self, seconds: float) -> str:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return in_words(self._process.returncode)


def in_words(code: int | None) -> str:
    """Say how a process ended.

    Parameters
    ----------
    code : int or None
        Its exit status, a signal's number with a minus, or None where it runs on.
    """
    if code is None:
        return "its talk with the grader"
    return f"by signal {-code}" if code < 0 else f"with exit status {code}"
