"""The parent's side of a measurement: starts the process, waits within the limit, ends it."""

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from time import monotonic

from libraries import THREADS

SCRIPT = Path(__file__).with_name("measure.py")
# Loading data, and predicting and saving, get their own time, so that neither counts as fitting.
LOADING, PREDICTING = 180.0, 180.0


def measure(request: dict, limit: float) -> dict:
    """Return what the process found.

    `status` is "ok"; "limit" if the fit took longer than the limit; "failed" if the process ended
    early, with `message`, its last output; or "unfinished" if predicting took too long.
    """
    # OMP_WAIT_POLICY stays as it is: with PASSIVE, small fits of the peers take ten times as long.
    variables = os.environ | {"OMP_NUM_THREADS": str(THREADS)}
    with tempfile.TemporaryFile("w+") as words:
        process = subprocess.Popen(
            [sys.executable, str(SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=words,
            env=variables,
            start_new_session=True,
        )
        try:
            found = _listen(process, request, limit)
        finally:
            _end(process)
        if found["status"] == "failed":
            words.seek(0)
            lines = [line.strip() for line in words.read().splitlines() if line.strip()]
            found["message"] = lines[-1] if lines else f"exit status {process.returncode}"
    return found


def _listen(process, request, limit):
    process.stdin.write(json.dumps(request).encode())
    process.stdin.close()
    found: dict = {"stage": "started"}
    allowed = {"started": LOADING, "ready": limit, "fitted": PREDICTING, "scored": PREDICTING}
    lines = _Lines(process.stdout.fileno())
    while found["stage"] != "done":
        try:
            line = lines.next_line(monotonic() + allowed[found["stage"]])
        except TimeoutError:
            if found["stage"] == "ready":
                return found | {"status": "limit", "limit": limit} | _peak_so_far(process, found)
            return found | {"status": "failed" if found["stage"] == "started" else "unfinished"}
        if line is None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=10.0)
            return found | {"status": "failed"}
        found |= json.loads(line)
    return found | {"status": "ok"}


def _peak_so_far(process, found):
    """Return the memory that a running fit has used, if the system provides it."""
    try:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    except OSError:
        return {}
    highest = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    return {"peak_bytes": highest - found["held_bytes"]}


class _Lines:
    """Lines from a pipe, each with a deadline."""

    def __init__(self, pipe: int) -> None:
        self._pipe, self._held = pipe, b""
        self._selector = selectors.DefaultSelector()
        self._selector.register(pipe, selectors.EVENT_READ)

    def next_line(self, deadline: float) -> bytes | None:
        """Return a line, or None at the end of the pipe; raise TimeoutError at the deadline."""
        while b"\n" not in self._held:
            if not self._selector.select(max(0.0, deadline - monotonic())):
                raise TimeoutError
            more = os.read(self._pipe, 65536)
            if not more:
                return None
            self._held += more
        line, _, self._held = self._held.partition(b"\n")
        return line


def _end(process):
    """End the process and its children; give a failed process time to end by itself."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
