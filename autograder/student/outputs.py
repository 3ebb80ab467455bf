"""What cells print and show, recorded as a notebook records it, up to a limit."""

import base64
import io
import subprocess
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

#: Characters that one cell may print and show; what comes after is dropped, and a line says so.
LIMIT = 200_000
CUT = "\n[The rest of this cell's output was dropped: it is too long.]\n"


class Outputs:
    """The outputs of the cell that runs: dictionaries in the form of a notebook file."""

    def __init__(self) -> None:
        self._outputs: list[dict[str, Any]] = []
        self._length = 0

    def take(self) -> list[dict[str, Any]]:
        """Give the outputs out, and begin anew."""
        taken, self._outputs, self._length = self._outputs, [], 0
        return taken

    def add(self, output: dict[str, Any]) -> None:
        """Add an output; one that is too long is left out."""
        size = len(str(output))
        if self._length + size > LIMIT:
            self.write("stdout", CUT)
            self._length = LIMIT
            return
        self._length += size
        self._outputs.append(output)

    def write(self, name: str, text: str) -> None:
        """Add to what was printed last, or begin a new output."""
        if self._length >= LIMIT or not text:
            return
        self._length += len(text)
        if self._length >= LIMIT:
            text = text[: max(0, len(text) - (self._length - LIMIT))] + (CUT if text != CUT else "")
        last = self._outputs[-1] if self._outputs else {}
        if last.get("output_type") == "stream" and last["name"] == name:
            last["text"] += text
        else:
            self._outputs.append({"output_type": "stream", "name": name, "text": text})


class Printed(io.TextIOBase):
    """Stands for standard output or standard error."""

    encoding = "utf-8"

    def __init__(self, name: str, outputs: Outputs) -> None:
        self.name, self._outputs = f"<{name}>", outputs
        self._stream = name

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._outputs.write(self._stream, str(text))
        return len(text)


class Shown(DisplayPublisher):
    """Takes what ``display`` shows."""

    outputs = Outputs()

    def publish(self, data: Any, metadata: Any = None, *more: Any, **others: Any) -> None:
        self.outputs.add({"output_type": "display_data", "data": _texts(data), "metadata": {}})


class Value(DisplayHook):
    """Takes the value of a cell's last line."""

    outputs = Outputs()

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: dict[str, Any], md_dict: dict[str, Any] | None = None) -> None:
        count = self.shell.execution_count if self.shell else None
        self.outputs.add(
            {"output_type": "execute_result", "execution_count": count, "data": _texts(format_dict), "metadata": {}}
        )


class Shell(InteractiveShell):
    """IPython without a window system and without a terminal, whose outputs are recorded."""

    outputs = Outputs()

    def enable_gui(self, gui: str | None = None) -> None:
        """Do nothing; ``%matplotlib inline`` asks for it."""

    def system(self, cmd: str) -> None:
        """Run ``!command``. IPython's own way needs a terminal device, and where this is shut in there is none."""
        command = self.var_expand(cmd, depth=1)
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        done = subprocess.run(command, shell=True, stdin=nothing, stdout=pipe, stderr=subprocess.STDOUT)
        self.outputs.write("stdout", done.stdout.decode(errors="replace"))
        self.user_ns["_exit_code"] = done.returncode

    def _showtraceback(self, etype: type, evalue: BaseException, stb: list[str]) -> None:
        try:
            text = str(evalue)
        except Exception:  # the text of a student's exception is the student's code
            text = ""
        lines = stb if isinstance(stb, list) else [str(stb)]
        self.outputs.add({"output_type": "error", "ename": etype.__name__, "evalue": text, "traceback": lines})


def _texts(data: dict[str, Any]) -> dict[str, str]:
    """The representations that are text; an image in bytes becomes base64, as in a notebook file."""
    return {
        kind: base64.b64encode(value).decode() if isinstance(value, bytes) else value
        for kind, value in data.items()
        if isinstance(value, (str, bytes))
    }
