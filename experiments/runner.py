"""Run the trials of an experiment that have not been run yet, and store their records."""

from __future__ import annotations

import itertools
import os
import signal
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import joblib
from threadpoolctl import threadpool_limits

from experiments.data import MissingData, WrongData
from experiments.experiment import Experiment
from experiments.origin import origin
from experiments.store import Store
from experiments.trial import Measures, Record, Records, Trial

# Called with the number of finished trials, the number of all trials, and the last one.
Progress = Callable[[int, int, Trial], None]


class Run:
    """The outcome of running an experiment.

    Attributes
    ----------
    records : Records
        Records of its trials, in order, as far as there was data.
    missing : list of str
        Why some trials were not run; each reason once.
    """

    def __init__(self, records: Records, missing: list[str]) -> None:
        self.records = records
        self.missing = missing


def run(
    experiment: Experiment,
    repeats: int,
    *,
    jobs: int,
    store: Store,
    data: Collection[str] = (),
    methods: Collection[str] = (),
    small: bool = False,
    kept: Records | None = None,
    progress: Progress | None = None,
) -> Run:
    """Run an experiment.

    Parameters
    ----------
    experiment : Experiment
        Which.
    repeats : int
        How many random draws.
    jobs : int
        Number of trials at a time, each on one thread; or, if a trial uses many threads, their number.
    store : Store
        Trials in it are not run again; the others are added, each as soon as it is finished.
    data, methods : collections of str
        Only the trials of these sets and methods; all if empty. The records of the others are still
        read from the store.
    small : bool
        Whether this is the experiment's small version; its records say so.
    kept : Records, optional
        Records of earlier runs; their trials are not run again, and are not added to the store.
    progress : callable, optional
        Called after each trial.

    Returns
    -------
    Run
        Its records.
    """
    # By repeat: an interrupted run then has about the same number of trials in every cell.
    trials = [
        replace(trial, conditions=experiment.conditions(trial))
        for trial in sorted(experiment.trials(repeats), key=lambda trial: trial.repeat)
    ]
    known = {record.trial.key: record for record in (*(kept or ()), *store.read())}
    open_trials = [
        trial
        for trial in trials
        if trial.key not in known
        and (not data or trial.data in data)
        and (not methods or trial.method in methods)
    ]
    missing: dict[str, None] = {}
    done = itertools.count(1)
    for trial, outcome in _outcomes(experiment, open_trials, jobs):
        if isinstance(outcome, str):
            missing[outcome] = None
        else:
            here = origin(jobs, outcome.pop("device", "cpu"), small=small)
            known[trial.key] = record = Record(trial, outcome, here)
            store.add(record)
        if progress is not None:
            progress(next(done), len(open_trials), trial)
    found = [known[trial.key] for trial in trials if trial.key in known]
    return Run(Records(found), list(missing))


def _outcomes(experiment: Experiment, trials: list[Trial], jobs: int) -> Any:
    """Yield each trial with its measures, or with the reason why there are none."""
    if experiment.own_threads or jobs == 1:
        n_jobs = jobs if experiment.own_threads else 1
        return (_attempt(experiment, trial, n_jobs) for trial in trials)
    pool = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
    with _processes_without_ctrl_c():
        return pool(joblib.delayed(_attempt)(experiment, trial, 1) for trial in trials)


@contextmanager
def _processes_without_ctrl_c() -> Iterator[None]:
    """Let processes that start here ignore Ctrl-C: this one gets it too, and ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _attempt(experiment: Experiment, trial: Trial, n_jobs: int) -> tuple[Trial, Measures | str]:
    try:
        with threadpool_limits(n_jobs):
            before = _load()
            measures = experiment.run(trial, n_jobs)
            return trial, measures | _at_most(before, _load())
    except (MissingData, WrongData) as error:
        return trial, str(error)


def _load() -> float | None:
    """Return the load of the machine in the last minute; None where it is not known."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return None


def _at_most(*loads: float | None) -> Measures:
    """Return the highest load as a measure."""
    known = [load for load in loads if load is not None]
    return {"load": round(max(known), 2)} if known else {}
