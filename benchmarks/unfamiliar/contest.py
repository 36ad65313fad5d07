"""The contest: every library on every set, some at a time."""

import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from benchmarks.report import machine
from benchmarks.unfamiliar import catalogue, results
from benchmarks.unfamiliar.libraries import OURS, Library, fingerprint
from benchmarks.unfamiliar.process import Worker

KEPT = ("status", "limit", "message", "rows", "error", "log_loss", "fit_seconds", "cpu_seconds")


@dataclass(frozen=True)
class Plan:
    """What to measure, and how."""

    libraries: list[Library]
    sets: list[str]
    out: Path
    limit: float = 120.0
    jobs: int = 1
    threads: int = 2
    only_missing: bool = False
    alone: bool = False

    def items(self) -> list[tuple[Library, str]]:
        """Return the measurements: groups one after the other, and in each the quick libraries."""
        groups = dict.fromkeys(map(catalogue.group_of, self.sets))
        return [
            (library, name)
            for group in groups
            for library in self.libraries
            for name in self.sets
            if catalogue.group_of(name) == group
        ]


def hold(plan: Plan, say: Callable[[str], None] = print) -> None:
    """Measure all, and write each set's record as soon as it is complete."""
    here = {**source(), "build": fingerprint()}
    lock = threading.Lock()
    held = threading.local()
    workers: list[Worker] = []
    ended = threading.Event()

    def one(item):
        library, name = item
        ours = library.name == OURS or library.name.startswith(f"{OURS}-")
        kept_build = here["build"] if ours else None
        if plan.only_missing and results.is_settled(
            plan.out, library.name, library.settings, name, kept_build
        ):
            return
        if getattr(held, "name", None) != library.name:
            if hasattr(held, "worker"):
                held.worker.close()
            base = OURS if ours else library.name
            request = {"base": base, "settings": library.settings}
            held.worker, held.name = Worker(request, plan.threads, plan.limit), library.name
            with lock:
                workers.append(held.worker)
        record = _measure(held.worker, name, plan.limit)
        if ended.is_set():
            return
        record |= {"threads": plan.threads, "alone": plan.alone, "time": machine()["time"]}
        if ours:
            record |= here
        with lock:
            head = {"title": library.title, "settings": library.settings}
            results.add(plan.out, library.name, head, name, record)
            say(_words(library, name, record))

    pool = ThreadPoolExecutor(plan.jobs)
    try:
        for future in [pool.submit(one, item) for item in plan.items()]:
            future.result()
    finally:  # also when interrupted: nothing runs on, and nothing half measured is written
        ended.set()
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.stop()
        pool.shutdown()
        for worker in workers:
            worker.close()


def source() -> dict:
    """Return the commit of the marginboost that is imported, and whether its files differ from it."""
    folder = Path(find_spec(OURS).origin).parent

    def git(*arguments):
        try:
            done = subprocess.run(
                ["git", "-C", str(folder), *arguments],
                capture_output=True,
                text=True,
                check=True,
                timeout=10,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.strip()

    return {"commit": git("rev-parse", "HEAD"), "changed": bool(git("status", "--porcelain", "."))}


def _measure(worker, name, limit):
    """Return the record of a library on a set."""
    record: dict = {"group": catalogue.group_of(name)}
    folds: list[dict] = []
    count = 1
    while len(folds) < count:
        if folds and folds[-1]["status"] == "limit":  # the others would be as slow
            found = {"status": "limit", "limit": limit, "assumed": True}
        else:
            found = worker.ask(name, len(folds))
            count = found.get("folds", count)
            record |= {key: found[key] for key in ("data", "shape", "versions") if key in found}
        folds.append({key: found[key] for key in (*KEPT, "wrong", "assumed") if key in found})
    return record | {"folds": folds}


def _words(library, name, record):
    start = f"{library.name:24}{record['group']:9}{name:20}"
    bad = next((fold for fold in record["folds"] if fold["status"] != "ok"), None)
    if bad is not None:
        return f"{start}{bad['status']} {bad.get('message', '')}"
    rows = sum(fold["rows"] for fold in record["folds"])
    error = sum(fold["rows"] * fold["error"] for fold in record["folds"]) / rows
    loss = sum(fold["rows"] * fold["log_loss"] for fold in record["folds"]) / rows
    busy = sum(fold["cpu_seconds"] for fold in record["folds"])
    return f"{start}error {100 * error:6.2f} %  log loss {loss:.4f}  {busy:.1f} s of processor"
