"""A real browser for tests: Chromium, spoken to through a pipe by its DevTools protocol.

No driver and no package is needed. `Chromium.find` skips the test where there is none.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
PATIENCE = 300  # seconds for an answer


class Chromium:
    """One browser with one page."""

    def __init__(self, program, folder):
        there, self._writes = os.pipe()
        self._reads, back = os.pipe()
        # The browser reads commands from descriptor 3 and writes answers to 4.
        high = [os.dup(there), os.dup(back)]
        shell = f'exec "$0" "$@" 3<&{high[0]} 4>&{high[1]}'
        command = ["bash", "-c", shell, program, *FLAGS, f"--user-data-dir={folder}", "about:blank"]
        self._process = subprocess.Popen(
            command, pass_fds=high, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for descriptor in (there, back, *high):
            os.close(descriptor)
        self._number = 0
        self._bytes = b""
        self.events = []
        pages = self._ask("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in pages if target["type"] == "page")
        told = self._ask("Target.attachToTarget", targetId=page, flatten=True)
        self._session = told["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    @staticmethod
    def find():
        """Return the browser's program, or skip the test."""
        for name in NAMES:
            if (program := shutil.which(name)) is not None:
                return program
        return pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")

    def close(self):
        with suppress(OSError, EOFError):
            self._ask("Browser.close")
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._writes)
        os.close(self._reads)

    def _next(self, until):
        """Return the next message."""
        while b"\0" not in self._bytes:
            ready, _, _ = select.select([self._reads], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise TimeoutError("The browser did not answer.")
            some = os.read(self._reads, 1 << 20)
            if not some:
                raise EOFError("The browser has gone.")
            self._bytes += some
        message, self._bytes = self._bytes.split(b"\0", 1)
        return json.loads(message)

    def _ask(self, method, session=None, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._writes, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            answer = self._next(until)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def ask(self, method, **parameters):
        return self._ask(method, self._session, **parameters)

    def open(self, path, *, width=1100, dark=False):
        """Show a file in a window of a width, in light or dark."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900,
                 deviceScaleFactor=1, mobile=False)  # fmt: skip
        scheme = "dark" if dark else "light"
        self.ask("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": scheme}])  # fmt: skip
        self.events.clear()
        self.ask("Page.navigate", url=Path(path).resolve().as_uri())
        until = time.monotonic() + PATIENCE
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next(until))

    def run(self, script):
        """Return the value of some JavaScript, which runs beside the page's own."""
        told = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in told:
            raise RuntimeError(str(told["exceptionDetails"]))
        return told["result"].get("value")

    def complaints(self):
        """Return what the page logged, blocked or failed at, and all that it asked for but itself."""
        self.run("0")  # so that earlier events have come
        found = []
        for event in self.events:
            method, told = event.get("method"), event.get("params", {})
            if method in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
                found.append(told)
            if method == "Network.loadingFailed":
                found.append(told)
            if method == "Network.requestWillBeSent" and told.get("type") != "Document":
                found.append(told["request"]["url"])
        return found

    def screenshot(self, path, *, height=None):
        """Write a picture of the whole page, or of its top."""
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        clip = {
            "x": 0,
            "y": 0,
            "width": size["width"],
            "height": height or size["height"],
            "scale": 1,
        }
        told = self.ask("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        Path(path).write_bytes(base64.b64decode(told["data"]))
