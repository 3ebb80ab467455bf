"""The grader's side of a fork server: student's processes in milliseconds, each shut in."""

import importlib.util
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Collection
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, Literal

from autograder.process import STUDENT, PlainProcess, Process, in_words
from autograder.student.jail import PROMISES, Limits

#: What a fork server is started with; the socket's number and the settings follow. ``-I``: no module is found through
#: the environment or the folder that it is started in.
COMMAND = [sys.executable, "-I", str(STUDENT), "--fork-server"]
#: Seconds within which it must answer: the first time, with all imports, and later.
FIRST, LATER = 120.0, 30.0
_LINUX = sys.platform == "linux"
#: Whether to refuse where a promise cannot be kept, or to go on and say so.
Isolation = Literal["strict", "best-effort"]


class IsolationError(Exception):
    """Not all that is promised can be enforced here; the text says what, and why."""


class ForkServerError(Exception):
    """The fork server is gone or could not start a process: a fault of the machine or of this program."""


class ForkServer:
    """Starts student's processes, for one thread of one grader.

    The server itself is started when it is first needed, and again when it is gone. Where the system is not Linux,
    there is none, nothing can be enforced, and each process is a plain one in an empty folder.

    Parameters
    ----------
    limits : Limits, optional
        What each process may use.
    isolation : {"strict", "best-effort"}
        Whether to refuse where a promise cannot be kept.
    hidden : collection of Path
        Folders that no student's process may see, even where they lie among Python's own. The packages of this book
        are always among them.
    preload : collection of str
        Modules to import before the first process is forked; those that are not installed are left out.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        isolation: Isolation = "strict",
        hidden: Collection[Path] = (),
        preload: Collection[str] = ("numpy.testing",),
    ) -> None:
        self.limits = limits or Limits()
        self._isolation = isolation
        self._hidden = [*hidden, *_own_packages()]
        self._preload = list(preload)
        self._command = COMMAND
        self._server: subprocess.Popen | None = None
        self._channel: socket.socket | None = None
        self._hello: dict[str, Any] = {}
        self._ended: dict[int, dict[str, Any]] = {}
        self._folders: list[tempfile.TemporaryDirectory] = []

    def __enter__(self) -> "ForkServer":
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    @property
    def missing(self) -> dict[str, str]:
        """The promises that cannot be kept here, each with the reason.

        Raises
        ------
        IsolationError
            If there are any and isolation is strict.
        """
        if not _LINUX:
            missing = dict.fromkeys(PROMISES, f"only Linux can, and this is {sys.platform}")
            self._refuse_if_strict(missing)
            return missing
        self._open()
        return dict(self._hello["missing"])

    @property
    def memory_cgroup(self) -> bool:
        """Whether the memory limit holds for all processes of a submission together, and not only for each."""
        if not _LINUX:
            return False
        self._open()
        return bool(self._hello["memory_cgroup"])

    def start(self) -> Process:
        """Start a process.

        Raises
        ------
        IsolationError
            If a promise cannot be kept and isolation is strict.
        ForkServerError
            If there is no process for another reason.
        """
        if not _LINUX:
            assert self.missing  # or strict, and refused
            folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
            self._folders.append(folder)
            return PlainProcess(Path(folder.name))
        try:
            try:
                return self._start()
            except ForkServerError:  # it was killed, perhaps: once more, with another server
                self.stop()
                return self._start()
        except BaseException:
            self.stop()  # an answer may be on its way, and would be taken for another one's
            raise

    def stop(self) -> None:
        """End the server and all its processes."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self._server is not None:
            try:
                self._server.wait(5)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait()
            self._server = None
        self._ended.clear()
        while self._folders:
            self._folders.pop().cleanup()

    def _start(self) -> "ForkedProcess":
        channel = self._open()
        reads, to_student = os.pipe()
        from_student, writes = os.pipe()
        try:
            socket.send_fds(channel, [b"start"], [reads, writes])
            answer, files = self._receive("started")
        except BaseException as error:
            os.close(to_student)
            os.close(from_student)
            if isinstance(error, OSError):
                raise ForkServerError(f"The fork server does not answer: {error}") from None
            raise
        finally:
            os.close(reads)
            os.close(writes)
        return ForkedProcess(self, answer["started"], files[0], to_student, from_student)

    def _open(self) -> socket.socket:
        """Start the server, unless it runs."""
        if self._channel is not None:
            return self._channel
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        settings = {"limits": asdict(self.limits), "hidden": self._hidden, "preload": self._preload}
        with theirs:
            self._server = subprocess.Popen(
                [*self._command, str(theirs.fileno()), json.dumps(settings, default=str)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=_environment(),
                cwd="/",
                start_new_session=True,
            )
        try:
            self._channel.settimeout(FIRST)
            self._hello, _ = self._receive("missing")
            self._channel.settimeout(LATER)
            self._refuse_if_strict(self._hello["missing"])
        except BaseException:
            self.stop()
            raise
        return self._channel

    def _refuse_if_strict(self, missing: dict[str, str]) -> None:
        if self._isolation == "strict" and missing:
            lines = [f"  - {name}: that {PROMISES[name]} ({reason})" for name, reason in missing.items()]
            first = "Submissions cannot be shut in here as promised. This cannot be enforced:"
            raise IsolationError("\n".join([first, *lines]))

    def _receive(self, key: str) -> tuple[dict[str, Any], list[int]]:
        """Wait for a message with a key, and keep what comes before about processes that ended."""
        while True:
            if self._channel is None:
                raise ForkServerError("The fork server was stopped.")
            try:
                packet, files, _, _ = socket.recv_fds(self._channel, 1 << 16, 1)
            except OSError as error:
                raise ForkServerError(f"The fork server does not answer: {error}") from None
            message: dict[str, Any] = json.loads(packet) if packet else {"error": "it has ended"}
            if "ended" in message:
                self._ended[message["ended"]] = message
            if key in message:
                return message, list(files)
            if "error" in message:
                raise ForkServerError(f"The fork server started no process: {message['error']}.")

    def how_it_ended(self, number: int) -> dict[str, Any]:
        """What the server told of a process that has ended; empty where the server is gone."""
        with suppress(ForkServerError):
            while number not in self._ended:
                self._receive("ended")
        return self._ended.get(number, {})

    def forget(self, number: int) -> None:
        """Drop what the server told of a process: its number may be another one's."""
        self.how_it_ended(number)
        self._ended.pop(number, None)


class ForkedProcess:
    """A student's process, forked and shut in. See `autograder.process.Process`."""

    def __init__(self, server: ForkServer, number: int, process: int, to_student: int, from_student: int) -> None:
        self.stdin: BinaryIO = os.fdopen(to_student, "wb")
        self.stdout: BinaryIO = os.fdopen(from_student, "rb")
        self._server = server
        self._number = number
        self._process = process  # a pidfd: it means this process for ever, even when its number is another one's
        self._how: dict[str, Any] | None = None

    def kill(self) -> None:
        if self._process < 0:
            return
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._process, signal.SIGKILL)
        self.how_it_ended(60)
        for each in (self.stdin, self.stdout):
            with suppress(OSError):  # the rest of a message that it did not take
                each.close()
        os.close(self._process)
        self._process = -1
        self._server.forget(self._number)

    def how_it_ended(self, seconds: float) -> str:
        if self._how is None and self._has_ended(seconds):
            self._how = self._server.how_it_ended(self._number)
        if self._how is None:
            return in_words(None)
        if not self._how:
            return in_words(-signal.SIGKILL)
        words = in_words(os.waitstatus_to_exitcode(self._how["status"]))
        limits = self._server.limits
        if self._how["memory"]:
            return f"{words} (it wanted more memory than the {_size(limits.memory)} that it may use)"
        # The kernel enforces the limit by counting ticks, and tells the time that it measured, which may be less.
        if self._how["cpu"] > 0.5 * limits.cpu_seconds and words == in_words(-signal.SIGKILL):
            return f"{words} (it used up its {limits.cpu_seconds} seconds of processor time)"
        return words

    def _has_ended(self, seconds: float) -> bool:
        poll = select.poll()
        poll.register(self._process, select.POLLIN)
        return bool(poll.poll(seconds * 1000))


def _own_packages() -> list[Path]:
    """Where the checks and the solutions are."""
    specs = map(importlib.util.find_spec, ("autograder", "solutions"))
    return [Path(spec.origin).resolve().parent for spec in specs if spec is not None and spec.origin]


def _environment() -> dict[str, str]:
    """What a student's process gets to see of the environment: nothing of the grader's."""
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}  # a fork keeps no threads
    return {"PATH": f"{sys.prefix}/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/tmp", **threads}


def _size(number: int) -> str:
    return f"{number / 2**30:.3g} GiB" if number >= 2**30 else f"{number / 2**20:.3g} MiB"
