"""A headless Chromium driven over its debugging pipe: no driver binary and no further package.

The protocol is https://chromedevtools.github.io/devtools-protocol/; messages are JSON ended by a zero byte.
"""

import base64
import json
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
    "--remote-debugging-pipe",
)


def binary() -> str:
    """Chromium on PATH. Raises FileNotFoundError."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        raise FileNotFoundError(f"none of {', '.join(NAMES)} is on PATH; Debian: apt-get install chromium")
    return found


class Page:
    """One tab."""

    def __init__(self, send: int, receive: int) -> None:
        self._send, self._receive = send, receive
        self._buffer = b""
        self._count = 0
        self._session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")

    def call(self, method: str, **params: object) -> dict[str, Any]:
        """Send a command and wait for its answer. Raises RuntimeError when it was refused."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result

    def open(self, url: str, *, width: int = 1400, height: int = 900) -> None:
        """Load a page and wait until it is complete."""
        self.size(width, height)
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        while self.value("document.readyState + location.href.slice(0, 4)") != "completefile":
            pass

    def size(self, width: int, height: int = 900) -> None:
        shape = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **shape)

    def media(self, scheme: str = "light", medium: str = "") -> None:
        """Colour scheme and medium (`print`) that the page sees."""
        self.call(
            "Emulation.setEmulatedMedia",
            media=medium,
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )

    def scripts(self, *, enabled: bool) -> None:
        self.call("Emulation.setScriptExecutionDisabled", value=not enabled)

    def value(self, expression: str) -> Any:
        """What an expression evaluates to, as JSON. Raises RuntimeError when it throws."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def click(self, selector: str) -> None:
        """Press the mouse on an element, as a person would."""
        place = self.value(
            f"(() => {{const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center'});const r = e.getClientRects()[0];"
            "return [r.x + r.width / 2, r.y + r.height / 2]})()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1
            )

    def picture(self, path: Path) -> None:
        """Save what is visible as PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def pdf(self) -> bytes:
        """The page as it is printed."""
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"])

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            more = os.read(self._receive, 1 << 20)
            if not more:
                raise RuntimeError("Chromium has ended")
            self._buffer += more
        message, self._buffer = self._buffer.split(b"\0", 1)
        answer: dict[str, Any] = json.loads(message)
        return answer


class Browser:
    """A Chromium process with a profile of its own."""

    def __enter__(self) -> Self:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        child_reads, self._send = os.pipe()
        self._receive, child_writes = os.pipe()
        flags = shlex.join([binary(), *FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"])
        self._process = subprocess.Popen(
            ["bash", "-c", f"exec {flags} 3<&{child_reads} 4>&{child_writes}"],
            pass_fds=(child_reads, child_writes),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(child_reads)
        os.close(child_writes)
        return self

    def page(self) -> Page:
        return Page(self._send, self._receive)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._send)
        os.close(self._receive)
        self._profile.cleanup()


@contextmanager
def open_page() -> Iterator[Page]:
    """A tab of a browser of its own."""
    with Browser() as browser:
        yield browser.page()
