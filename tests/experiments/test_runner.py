"""Trials that are run, and gone on with."""

from dataclasses import dataclass, replace

import pytest
from experiments_support import Flowers

from experiments.runner import run
from experiments.store import Store

TIMES = {"fit_seconds", "coefficient_seconds", "seconds_curve", "predict_seconds", "load"}
TIMES |= {"fit_processor_seconds", "predict_processor_seconds"}


def timeless(records):
    """Return trials and measures without what no two runs share."""
    return [
        (record.trial, {k: v for k, v in record.measures.items() if k not in TIMES})
        for record in records
    ]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path, "flowers")


def test_every_trial_is_run_and_kept_with_its_origin(store):
    told = []
    found = run(Flowers(), 2, jobs=1, store=store, progress=lambda *heard: told.append(heard))
    trials = sorted(Flowers().trials(2), key=lambda trial: trial.repeat)
    asked = [replace(trial, conditions=Flowers().conditions(trial)) for trial in trials]
    assert [record.trial for record in found.records] == asked
    assert found.missing == []
    assert list(store.read()) == list(found.records)
    assert [(done, total) for done, total, _ in told] == [(n, 8) for n in range(1, 9)]
    assert {"commit", "version", "date", "cpu", "jobs"} <= set(found.records[0].origin)


def test_all_methods_see_the_same_draws(store):
    found = run(Flowers(), 1, jobs=1, store=store).records
    for data in ("iris", "wine"):
        sizes = {(r.measures["n_train"], r.measures["n_test"]) for r in found.of(data)}
        assert len(sizes) == 1


def test_what_is_there_is_not_run_again(store):
    first = run(Flowers(), 1, jobs=1, store=store).records
    told = []
    again = run(Flowers(), 2, jobs=1, store=store, progress=lambda *heard: told.append(heard))
    assert [(done, total) for done, total, _ in told] == [(n, 4) for n in range(1, 5)]
    assert {trial.repeat for _, _, trial in told} == {1}
    assert list(again.records)[: len(first)] == list(first)  # times and all


@dataclass(frozen=True)
class Shrunk(Flowers):
    """The same trials with another step: as after a change of a default."""

    learning_rate: float = 0.5

    def conditions(self, trial):
        found = super().conditions(trial)
        found["parameters"]["learning_rate"] = self.learning_rate
        return found


def test_other_conditions_make_another_trial(store):
    first = run(Shrunk(), 1, jobs=1, store=store).records
    same = run(Shrunk(), 1, jobs=1, store=store, kept=first).records
    assert list(same) == list(first)
    told = []
    other = run(
        Shrunk(learning_rate=0.1), 1, jobs=1, store=store, progress=lambda *a: told.append(a)
    )
    assert len(told) == len(other.records) == 4
    assert {r.trial.conditions["parameters"]["learning_rate"] for r in other.records} == {0.1}


def test_what_is_kept_elsewhere_is_not_run_again(store, tmp_path):
    first = run(Flowers(), 1, jobs=1, store=store).records
    told = []
    elsewhere = Store(tmp_path / "elsewhere", "flowers")
    found = run(
        Flowers(), 2, jobs=1, store=elsewhere, kept=first, progress=lambda *a: told.append(a)
    )
    assert len(told) == 4
    assert len(found.records) == 8
    assert {record.trial.repeat for record in elsewhere.read()} == {1}


class OnGpu(Flowers):
    def run(self, trial, n_jobs):
        return super().run(trial, n_jobs) | {"device": "cuda"}


def test_the_device_is_the_one_that_the_fit_names(store):
    (record,) = run(OnGpu(data=("iris",), methods=("exp",)), 1, jobs=1, store=store).records
    assert record.origin["device"].startswith("cuda: ")
    assert "device" not in record.measures


def test_more_repeats_than_are_asked_for_are_left_out(store):
    run(Flowers(), 2, jobs=1, store=store)
    assert {record.trial.repeat for record in run(Flowers(), 1, jobs=1, store=store).records} == {0}


def test_only_some_sets_and_methods_are_run_where_asked_for(store):
    first = run(Flowers(), 1, jobs=1, store=store, data=["wine"], methods=["exp"])
    assert [(r.trial.data, r.trial.method) for r in first.records] == [("wine", "exp")]
    second = run(Flowers(), 1, jobs=1, store=store, data=["iris"])
    assert len(second.records) == 3  # with the one that was there


def test_an_interrupted_run_is_gone_on_with(store):
    def stop(done, total, trial):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(Flowers(), 2, jobs=1, store=store, progress=stop)
    assert len(store.read()) == 3
    found = run(Flowers(), 2, jobs=1, store=store).records
    assert [record.trial.repeat for record in found] == [0] * 4 + [1] * 4


def test_missing_data_do_not_keep_others_from_being_run(store):
    experiment = Flowers(data=("no-such-set", "iris"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("experiments.draws.load", only_iris)
        found = run(experiment, 2, jobs=1, store=store)
    assert found.missing == ["There is no no-such-set."]  # once, not once a trial
    assert {record.trial.data for record in found.records} == {"iris"}
    assert len(found.records) == 4


def only_iris(name):
    from experiments.data import MissingData, load  # noqa: PLC0415

    if name != "iris":
        raise MissingData(f"There is no {name}.")
    return load(name)


def test_other_faults_are_not_hidden(store):
    with pytest.raises(KeyError, match="no-such-method"):
        run(Flowers(methods=("no-such-method",)), 1, jobs=1, store=store)


def test_processes_give_the_same_records_as_one(tmp_path):
    """Whichever process a trial runs in, only its times differ."""
    alone = run(Flowers(), 2, jobs=1, store=Store(tmp_path / "1", "flowers"))
    beside = run(Flowers(), 2, jobs=2, store=Store(tmp_path / "2", "flowers"))
    assert timeless(alone.records) == timeless(beside.records)
