"""The parent's side of a worker: sends a request, waits within the limit, ends what is too slow.

The limit of a fit counts time of the processor, so that other load on the machine changes nothing.
"""

import json
import os
import selectors
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).parents[2]
LOADING, PREDICTING = 600.0, 600.0
THREADS = 2  # the limit is seconds of so many threads, however many there are
PATIENCE = 30.0  # a fit may take so many times its limit of wall time


class Worker:
    """A process that fits one library, started when first asked."""

    def __init__(self, library: dict, threads: int, limit: float) -> None:
        self.library, self._threads, self._limit = library, threads, limit
        self._process: subprocess.Popen | None = None
        self._held = b""
        self._stopped = False

    def ask(self, name: str, fold: int) -> dict:
        """Return what was found; `status` is "ok", "limit" or "failed"."""
        if self._stopped:
            return {"status": "failed", "message": "stopped"}
        process = self._started()
        request = self.library | {"set": name, "fold": fold, "threads": self._threads}
        found: dict = {}
        stage = "asked"
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            while stage not in ("done", "failed"):
                line = self._line(stage)
                if line is None:
                    return found | self._ended(stage)
                found |= json.loads(line)
                stage = found.pop("stage")
        except BrokenPipeError:
            return found | self._ended(stage)
        return found | {"status": "ok" if stage == "done" else "failed"}

    def stop(self) -> None:
        """End the process for good; from any thread."""
        self._stopped = True
        process = self._process
        if process is not None:
            _kill(process)

    def close(self) -> None:
        """End the process; the next request starts another."""
        if self._process is not None:
            _kill(self._process)
            self._process.wait()
            self._process.stdin.close()
            self._process.stdout.close()
        self._process, self._held = None, b""

    def _started(self):
        if self._process is None:
            threads = str(self._threads)
            variables = {
                "OMP_NUM_THREADS": threads,
                "OMP_WAIT_POLICY": "PASSIVE",  # the machine may be busy
                "NUMBA_NUM_THREADS": threads,
                "CHIMERABOOST_NO_NOTICE": "1",
            }
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.unfamiliar.worker"],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=os.environ | variables,
                start_new_session=True,
            )
        return self._process

    def _ended(self, stage):
        """End the process; return why."""
        code = self._process.poll()
        self.close()
        if code is None and stage == "ready":
            return {"status": "limit", "limit": self._limit}
        message = f"too slow after stage {stage}" if code is None else f"exit status {code}"
        return {"status": "failed", "message": message}

    def _line(self, stage):
        """Return the next line, or None if the process ended or took too long."""
        busy, start = self._cpu(), monotonic()
        pipe = self._process.stdout.fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while b"\n" not in self._held:
                if selector.select(1.0):
                    more = os.read(pipe, 65536)
                    if not more:
                        with suppress(subprocess.TimeoutExpired):
                            self._process.wait(timeout=10.0)
                        return None
                    self._held += more
                elif self._is_late(stage, self._cpu() - busy, monotonic() - start):
                    return None
        line, _, self._held = self._held.partition(b"\n")
        return line

    def _is_late(self, stage, cpu, wall):
        if stage == "ready":
            return cpu > THREADS * self._limit or wall > PATIENCE * self._limit
        return wall > (LOADING if stage == "asked" else PREDICTING)

    def _cpu(self):
        """Return the seconds of the processor that the process has used."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return THREADS * monotonic()  # not known here: as if the threads were busy
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _kill(process):
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
