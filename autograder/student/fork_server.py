"""Fork a student's process for each submission, from one that has imported all it needs and holds no work of anyone.

It serves one grader over a Unix socket of packets, each a JSON object:

- first it sends ``{"missing": {promise: reason}, "memory_cgroup": bool}``;
- for a packet with two files, the ends of pipes that a student's process is to read from and to write to, it sends
  ``{"started": id}`` with a pidfd of the process, or ``{"error": text}``;
- when a process has ended, it sends ``{"ended": id, "status": int, "cpu": seconds, "memory": bool}``: the status as
  `os.wait` has it, and whether the kernel killed a process for memory.

It ends, with all that it forked, when the grader closes the socket or is gone.
"""

import gc
import importlib
import json
import os
import select
import shutil
import signal
import socket
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn, TypeVar

from jail import SCRATCH, Jail, Limits  # type: ignore[import-not-found]  # the file beside this one

T = TypeVar("T")


def main(channel: int, settings: str, make: Callable[[], T]) -> T:
    """Be a fork server. Returns only in its children, which are shut in, with the grader's pipes as 0 and 1.

    Parameters
    ----------
    channel : int
        The socket.
    settings : str
        JSON: ``limits``, ``hidden`` (folders, see `Jail.enter`) and ``preload`` (modules to import before forking).
    make : callable
        Makes, once, what the children need.
    """
    given = json.loads(settings)
    jail = Jail(Limits(**given["limits"]))
    jail.begin()
    for module in given["preload"]:
        with suppress(ImportError):
            importlib.import_module(module)
    jail.enter(given["hidden"])
    if "file system" not in jail.missing:
        _live_in(SCRATCH)
    home = tempfile.mkdtemp()  # IPython makes a profile there; no child sees it
    before, os.environ["HOME"] = os.environ["HOME"], home
    try:
        made = make()
    except Exception as error:  # such as a module that lies outside of what `jail` lets it see
        reason = f"it cannot make what all submissions need: {type(error).__name__}: {error}"
        socket.socket(fileno=channel).send(json.dumps({"error": reason}).encode())
        os._exit(1)
    os.environ["HOME"] = before
    shutil.rmtree(home)
    gc.collect()
    gc.freeze()  # the collector of a child leaves these pages alone, so they stay shared
    _Server(socket.socket(fileno=channel), jail).serve()
    return made


def _live_in(folder: str) -> None:
    """Make a folder the home, and the place for temporary files."""
    os.environ.update(HOME=folder, TMPDIR=folder)
    tempfile.tempdir = None  # it is found anew


class _Server:
    def __init__(self, channel: socket.socket, jail: Jail) -> None:
        self._channel = channel
        self._jail = jail
        self._children: dict[int, tuple[int, str, int]] = {}  # by pidfd: process id, scratch folder, kills before it
        self._poll = select.poll()

    def serve(self) -> None:
        """Fork as asked; returns in each child."""
        nothing = os.open(os.devnull, os.O_RDWR)
        child, failed = self._fork(nothing, nothing)  # a trial, to see what fails
        if not child:
            return  # and end, since there is nothing to read
        self._jail.missing.update(failed)
        os.waitpid(child, 0)
        self._send({"missing": self._jail.missing, "memory_cgroup": self._jail.memory_cgroup})
        self._poll.register(self._channel, select.POLLIN)
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor in self._children:
                    self._reap(descriptor)
                elif self._start():
                    return

    def _start(self) -> bool:
        """Answer a request; True in the child."""
        _, files, _, _ = socket.recv_fds(self._channel, 100, 2)
        if len(files) != 2:  # the grader is gone
            self._end()
        scratch = tempfile.mkdtemp() if "file system" in self._jail.missing else ""
        kills = self._jail.killed_for_memory()
        try:
            child, failed = self._fork(files[0], files[1], scratch)
        except OSError as error:
            self._send({"error": str(error)})
            return False
        if not child:
            return True
        for each in files:
            os.close(each)
        process = os.pidfd_open(child)
        self._children[process] = child, scratch, kills
        self._poll.register(process, select.POLLIN)
        if failed.keys() <= self._jail.missing.keys():
            self._send({"started": child}, process)
        else:  # it has run nothing yet
            signal.pidfd_send_signal(process, signal.SIGKILL)
            self._send({"error": "; ".join(f"{name}: {reason}" for name, reason in failed.items())})
        return False

    def _fork(self, reads: int, writes: int, scratch: str = "") -> tuple[int, dict[str, str]]:
        """Fork a child, which returns 0 when it is shut in; the parent also gets what failed."""
        told, tell = os.pipe()
        try:
            child = self._jail.fork()
        except OSError:
            os.close(told)
            os.close(tell)
            raise
        if not child:
            self._be_shut_in(reads, writes, scratch, tell)
            return 0, {}
        os.close(tell)
        with os.fdopen(told, "rb") as stream:
            text = stream.read()
        return child, json.loads(text) if text else {"processes": "a child ended before it was shut in"}

    def _be_shut_in(self, reads: int, writes: int, scratch: str, tell: int) -> None:
        self._channel.detach()  # closed below; the object must not close that number again, when it is another file
        if scratch:
            os.chdir(scratch)
            _live_in(scratch)
        self._jail.shut_in()
        try:
            for file in (os.__file__, json.__file__):
                open(file, "rb").close()
        except OSError as error:
            self._jail.missing["file system"] = f"others may not read this Python: {error}"
        os.write(tell, json.dumps(self._jail.missing).encode())
        os.dup2(reads, 0)
        os.dup2(writes, 1)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 2)
        os.closerange(3, 1 << 20)

    def _reap(self, process: int) -> None:
        """Take note of the end of a child, and see to it that all it started ends, too."""
        child, scratch, kills = self._children.pop(process)
        self._poll.unregister(process)
        if "processes" in self._jail.missing:  # else the kernel has done it
            with suppress(OSError):
                os.killpg(child, signal.SIGKILL)
        os.close(process)
        _, status, used = os.wait4(child, 0)
        if scratch:
            shutil.rmtree(scratch, ignore_errors=True)
        for_memory = self._jail.killed_for_memory() > kills
        cpu = used.ru_utime + used.ru_stime
        self._send({"ended": child, "status": status, "cpu": cpu, "memory": for_memory})

    def _send(self, message: dict[str, Any], *files: int) -> None:
        try:
            socket.send_fds(self._channel, [json.dumps(message).encode()], files)
        except OSError:
            self._end()

    def _end(self) -> NoReturn:
        for process, (child, scratch, _) in self._children.items():
            with suppress(OSError):
                os.killpg(child, signal.SIGKILL)
            with suppress(OSError):
                signal.pidfd_send_signal(process, signal.SIGKILL)
            if scratch:
                shutil.rmtree(scratch, ignore_errors=True)
        os._exit(0)
