"""Parts of training sets, and clusters of real processes to put them on."""

import asyncio
import functools
import logging
import multiprocessing
import os
import signal
import time
from copy import copy

import numpy as np
from distributed import Client, Scheduler, Worker
from support import EnsembleBuilder, boost, part_of

from marginboost.engine import NativeStumpEngine, NativeTreeEngine
from marginboost.engine.cluster import ClusterTrainingSet, Recipe


def cut(whole, kind, seed=0):
    """Cut a training set into parts, in one of several ways."""
    n = whole.n_rows
    if kind == "by class":  # each part lacks most of the classes
        owner = whole.labels % 3
    elif kind == "blocks":  # within each class the rows of the first part come first, and so on
        start = whole.class_offsets[whole.labels]
        size = np.diff(whole.class_offsets)[whole.labels]
        owner = (np.arange(n) - start) * 3 // size
    elif kind == "one empty":
        owner = np.random.default_rng(seed).integers(0, 2, n) * 2
    else:
        owner = np.random.default_rng(seed).integers(0, kind, n)
    n_parts = kind if isinstance(kind, int) else 3
    return [part_of(whole, np.flatnonzero(owner == number)) for number in range(n_parts)]


def set_of_parts(client, parts, whole, *, scatter=True, deadline=60.0):
    """Distribute parts of a training set over the workers in turn.

    With `scatter` only the workers keep the parts. Otherwise the client keeps them too, and can send them
    again after a loss.
    """
    workers = list(client.nthreads())
    recipes = []
    for number, part in enumerate(parts):
        worker = workers[number % len(workers)]
        rows = client.scatter(part, workers=[worker], hash=False) if scatter else part
        recipes.append(Recipe(copy, (rows,), worker))
    return ClusterTrainingSet(
        client,
        recipes,
        thresholds=whole.binned.thresholds,
        class_mass=whole.class_mass,
        class_counts=whole.class_counts,
        n_rows=whole.n_rows,
        largest_weight=whole.largest_weight,
        deadline=deadline,
    )


def ensemble_of(method, data, n_rounds, callback=lambda finished: None, *, ahead=False):
    """Boost; return the ensemble and all that was recorded of the rounds.

    With `ahead` rounds may be found before they are asked for.
    """
    builder = EnsembleBuilder(data.binned.n_features, data.n_classes)
    rounds = []

    def record(finished):
        rounds.append(finished)
        callback(finished)

    horizon = (lambda number: n_rounds - number + 1) if ahead else None
    reason = boost(method, n_rounds, builder, record, horizon=horizon)
    return builder.build(), rounds, reason


def assert_same_rounds(ours, theirs):
    """Compare the records of rounds with no tolerance; only what they took may differ."""
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        timeless = [finished._replace(coefficient_seconds=0.0) for finished in (one, other)]
        for mine, yours in zip(*timeless, strict=True):
            np.testing.assert_array_equal(mine, yours)


# --- processes ------------------------------------------------------------------------------------


def _run(make, pipe):
    """Run a scheduler or a worker until it is closed or killed."""

    async def serve():
        async with make() as server:
            pipe.send(server.address)
            await server.finished()

    logging.disable(logging.CRITICAL)
    asyncio.run(serve())


class Processes:
    """A scheduler and workers, each in a process of its own with nobody to start it again."""

    def __init__(self):
        # Forked from a process that has imported what they need: far quicker than to start anew.
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["distributed", "marginboost.engine.cluster"])
        self._workers = []

    def __enter__(self):
        make = functools.partial(Scheduler, port=0, dashboard_address=":0")
        self._scheduler, pipe = self._start(make)
        self.scheduler = pipe.recv()
        return self

    def connect(self, n_workers, *, set_as_default=False):
        """Have so many workers, and return a client of theirs."""
        self.restore(n_workers)
        client = Client(self.scheduler, set_as_default=set_as_default, timeout=300)
        client.wait_for_workers(n_workers, timeout=300)
        return client

    def __exit__(self, *failure):
        for process in [*self._workers, self._scheduler]:
            self.kill_process(process)

    def _start(self, make):
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_run, args=(make, theirs), daemon=True)
        process.start()
        return process, ours

    def add(self, n_workers):
        make = functools.partial(Worker, self.scheduler, nthreads=1, dashboard=False)
        started = [self._start(make) for _ in range(n_workers)]
        self._workers += [process for process, _ in started]
        for _, pipe in started:
            pipe.recv()

    def restore(self, n_workers):
        """Have so many workers; none of those that were killed or frozen."""
        for process in self._frozen():
            self.kill_process(process)
        self.add(n_workers - len(self.living()))

    def living(self):
        return [process for process in self._workers if process.is_alive()]

    def kill(self, n_workers):
        for process in self.living()[:n_workers]:
            self.kill_process(process)

    def freeze(self, n_workers):
        for process in self.living()[:n_workers]:
            os.kill(process.pid, signal.SIGSTOP)
            process.frozen = True

    def _frozen(self):
        return [process for process in self.living() if getattr(process, "frozen", False)]

    def kill_scheduler(self):
        self.kill_process(self._scheduler)

    def kill_process(self, process):
        process.kill()
        process.join()


# --- engines that get into trouble ----------------------------------------------------------------


def _wait_for(path):
    """Wait for a file; after a minute make it, so that a test fails and does not hang."""
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.1)
    path.touch()


class Trouble:
    """At the nth call of a method, on one worker alone and once: be killed, raise, or wait."""

    engine = None

    def __init__(self, folder, method, calls, kind, n_threads):
        self._engine = self.engine(n_threads)
        self._trouble = folder / "trouble", method, kind
        self._calls_left = calls

    def __getattr__(self, name):
        path, method, kind = self._trouble
        if name == method:
            self._calls_left -= 1
            if self._calls_left <= 0 and self._is_first(path):
                if kind == "kill":
                    os.kill(os.getpid(), signal.SIGKILL)
                elif kind == "wait":
                    _wait_for(path.with_name("over"))
                else:
                    raise ZeroDivisionError("in an engine")
        return getattr(self._engine, name)

    def _is_first(self, path):
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


class Troubled(Trouble):
    engine = NativeStumpEngine


class TroubledTrees(Trouble):
    engine = NativeTreeEngine
