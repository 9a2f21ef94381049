"""A headless Chromium driven by its own protocol over two pipes: no driver, no further package, no network."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: the pages are not tried in a browser")
_PATIENCE = 60  # seconds


def _pipe() -> tuple[int, int]:
    """A pipe whose ends are above 9, so that the browser's own two can be set without overwriting one."""
    ends = os.pipe()
    high = tuple(fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in ends)
    for end in ends:
        os.close(end)
    return high


class Browser:
    """One page in a browser of its own profile."""

    def __init__(self, folder: Path) -> None:
        (commands, self._out), (self._in, answers) = _pipe(), _pipe()
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--disable-dev-shm-usage",
                   "--no-first-run", "--disable-background-networking", f"--user-data-dir={folder / 'profile'}"]  # fmt: skip
        script = f'exec "$@" 3<&{commands} 4>&{answers}'
        self.process = subprocess.Popen(
            ["bash", "-c", script, "bash", CHROMIUM, *options, "about:blank"],
            pass_fds=(commands, answers),
            stderr=subprocess.DEVNULL,
        )
        os.close(commands), os.close(answers)
        self._number, self._buffer, self._session = 0, b"", None
        self.complaints: list[str] = []
        (page,) = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self._session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._out), os.close(self._in)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to one command."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session and not method.startswith(("Target", "Browser")):
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            part = os.read(self._in, 1 << 20)
            assert part, "the browser is gone"
            self._buffer += part
        text, self._buffer = self._buffer.split(b"\0", 1)
        message = json.loads(text)
        if message.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown", "Page.javascriptDialogOpening"):
            self.complaints.append(json.dumps(message["params"], ensure_ascii=False))
        return message

    def open(self, file: Path, width: int = 1280, height: int = 900) -> None:
        """Show a file, and wait until it is there."""
        phone = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **phone)
        self.call("Page.navigate", url=file.as_uri())
        self.until(f"document.readyState === 'complete' && location.href === {json.dumps(file.as_uri())}")

    def value(self, expression: str) -> Any:
        """What an expression in the page is."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait for an expression to hold."""
        end = time.monotonic() + _PATIENCE
        while not self.value(expression):
            assert time.monotonic() < end, expression
            time.sleep(0.02)

    def press(self, key: str) -> None:
        """Press a key of the keyboard."""
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=f"Key{key.upper()}", **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=f"Key{key.upper()}")

    def screenshot(self, file: Path, whole: bool = False) -> None:
        """A picture of the window, or of the whole page."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole, **({"clip": self._all()} if whole else {}))[
            "data"
        ]
        file.write_bytes(base64.b64decode(data))

    def _all(self) -> dict[str, float]:
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 12_000), "scale": 1}
