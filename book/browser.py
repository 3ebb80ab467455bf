"""A built site as readers get it: served on this computer, and opened in a browser."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from playwright.sync_api import Browser, sync_playwright


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files and prints nothing."""

    def log_message(self, *args: object) -> None:
        """Leave a request out of the log."""


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve a folder; yields its address, with a slash at the end."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium if there is one, else the one that ``playwright install chromium`` brings.

    It finds no host but this computer: nothing that a page asks of another one arrives.

    Raises
    ------
    FileNotFoundError
        If there is neither.
    """
    with sync_playwright() as playwright:
        program = shutil.which("chromium") or playwright.chromium.executable_path
        if not Path(program).exists():
            raise FileNotFoundError("needs Chromium: Debian's package chromium, or `playwright install chromium`")
        only_here = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
        browser = playwright.chromium.launch(executable_path=program, args=[only_here])
        yield browser
        browser.close()
