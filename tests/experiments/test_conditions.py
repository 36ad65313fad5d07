"""Conditions, choices and origins: what a record says of itself."""

import shutil
import subprocess
from dataclasses import replace

import pytest
from experiments_support import Flowers

from experiments import origin as origin_module
from experiments.choices import FEW, GRIDS, Choices, best, tried
from experiments.conditions import conditions, rows_drawn
from experiments.reproduce import keep
from experiments.runner import run
from experiments.store import Store, read_results
from experiments.table1 import Table1
from experiments.table4 import Table4
from experiments.table5 import Table5
from experiments.timing import Timing
from experiments.trial import PROCESSOR, Record, Records, Trial


def test_all_parameters_are_conditions_and_how_it_runs_is_not():
    found = conditions("multiboost", rounds=7, rows="all", parameters={"regularization": 0.5})
    assert found["parameters"]["regularization"] == 0.5
    assert found["parameters"]["n_estimators"] == 7
    assert found["parameters"]["stopping"] == "paper"
    assert not found["parameters"].keys() & {"n_jobs", "device", "engine", "callbacks", "verbose"}
    assert None not in found["parameters"].values()
    assert (
        conditions("multiboost-optimum", rounds=7, rows="all")["parameters"]["stopping"]
        == "optimum"
    )


def test_rows_in_words():
    assert rows_drawn() == "all rows, 75 % for training"
    assert rows_drawn(50, first=4) == "50 rows per class of the first 4 classes, 75 % for training"
    assert rows_drawn(50, largest=38).startswith("50 rows per class of the 38 largest classes")


def test_the_chosen_regularisation_is_in_the_key_of_a_trial(monkeypatch):
    keys = set()
    for value in (0.1, 0.5):
        monkeypatch.setattr("experiments.choices.best", lambda *a, value=value: value)
        found = Table5().conditions(Trial("iris", "gradboost", 0))
        assert found["parameters"]["regularization"] == value
        keys.add(Trial("iris", "gradboost", 0, {}, found).key)
    assert len(keys) == 2


def test_of_scenes_only_multiboost_has_a_choice():
    trials = [trial for trial in Choices().trials(1) if trial.data == "scene15"]
    assert {trial.method for trial in trials} == {"multiboost", "multiboost-zero"}
    assert {trial.settings["regularization"] for trial in trials} >= set(FEW["multiboost"])
    assert "training images" in Choices().conditions(trials[0])["rows"]


def record(value, repeat, wrong):
    trial = Trial("iris", "gradboost", repeat, {"regularization": value})
    return Record(trial, {"wrong": wrong, "n_test": 100}, {})


def test_values_are_chosen_on_draws_that_all_have_seen():
    low, high = GRIDS["gradboost"][:2]
    records = [record(low, 0, 5), record(high, 0, 7), record(low, 1, 90)]
    assert tried(Records(records), "iris", "gradboost") == {low: [5.0], high: [7.0]}
    assert best(Records(records), "iris", "gradboost") == low
    # Of several, the larger one.
    assert best(Records([record(low, 0, 5), record(high, 0, 5)]), "iris", "gradboost") == high


def test_records_of_other_conditions_are_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("experiments.reproduce.EXPERIMENTS", {"flowers": Flowers})
    store = Store(tmp_path / "out" / "records", "flowers")
    run(Flowers(), 1, jobs=1, store=store)
    assert keep(tmp_path / "out", tmp_path / "results") == {"flowers": (4, 0)}
    stale = next(iter(store.read()))
    other = {"rows": "all", "parameters": {}}
    trial = Trial(stale.trial.data, stale.trial.method, 0, stale.trial.settings, other)
    store.add(Record(trial, stale.measures, stale.origin))
    assert keep(tmp_path / "out", tmp_path / "results") == {"flowers": (4, 1)}
    kept = read_results(tmp_path / "results" / "flowers.json")
    assert trial.key not in {each.trial.key for each in kept}


def test_one_fit_of_a_modern_classifier_serves_all_tables(tmp_path, monkeypatch):
    monkeypatch.setattr("experiments.reproduce.EXPERIMENTS", {"table1": Table1, "table4": Table4})
    measures = {"wrong": 1, "n_test": 10}
    for name, kind, method in (
        ("table1", Table1, "lightgbm"),
        ("table1", Table1, "marginboost"),
        ("table4", Table4, "exp"),
    ):
        trial = next(t for t in kind().trials(1) if (t.data, t.method) == ("iris", method))
        trial = replace(trial, conditions=kind().conditions(trial))
        Store(tmp_path / "out" / "records", name).add(Record(trial, measures, {"commit": name}))
    assert keep(tmp_path / "out", tmp_path / "results") == {"table1": (2, 0), "table4": (3, 0)}
    kept = read_results(tmp_path / "results" / "table4.json")
    assert {(each.trial.method, each.origin["commit"]) for each in kept} == {
        ("exp", "table4"),
        ("lightgbm", "table1"),
        ("marginboost", "table1"),
    }


def test_a_timed_fit_serves_table_iv_but_not_the_other_way(tmp_path, monkeypatch):
    monkeypatch.setattr("experiments.reproduce.EXPERIMENTS", {"timing": Timing, "table4": Table4})
    measures = {"wrong": 1, "n_test": 10}
    for name, kind, method, more in (
        ("timing", Timing, "multiboost", {"clock": PROCESSOR}),
        ("table4", Table4, "exp", {}),
    ):
        trials = [t for t in kind().trials(1) if (t.data, t.method) == ("letter", method)]
        for trial in trials:  # of the times: by the number of classes, and of all classes
            known = replace(trial, conditions=kind().conditions(trial))
            Store(tmp_path / "out" / "records", name).add(Record(known, measures | more, {}))
    assert keep(tmp_path / "out", tmp_path / "results") == {"timing": (4, 0), "table4": (2, 0)}
    kept = read_results(tmp_path / "results" / "table4.json")
    assert [(each.trial.method, dict(each.trial.settings)) for each in kept] == [
        ("exp", {}),
        ("multiboost", {}),
    ]


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_an_input_that_git_does_not_know_makes_a_run_dirty(tmp_path, monkeypatch):
    def git(*arguments):
        name = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *name, *arguments], cwd=tmp_path, check=True, capture_output=True)

    def commit():
        origin_module._commit.cache_clear()
        return origin_module._commit()

    monkeypatch.setattr(origin_module, "ROOT", tmp_path)
    assert commit() == "unknown"
    for name in origin_module.INPUTS:
        path = tmp_path / name
        if "." in name:
            path.write_text("")
        else:
            path.mkdir()
            (path / "a.py").write_text("")
    git("init")
    git("add", ".")
    git("commit", "-m", "First")
    clean = commit()
    assert len(clean) == 12
    (tmp_path / "elsewhere.txt").write_text("")
    assert commit() == clean
    (tmp_path / "experiments" / "choices.json").write_text("{}")
    assert commit() == f"{clean}-dirty"
    (tmp_path / "experiments" / "choices.json").unlink()
    (tmp_path / "src" / "a.py").write_text("changed")
    assert commit() == f"{clean}-dirty"
    origin_module._commit.cache_clear()


def test_the_origin_is_detected():
    found = origin_module.origin(1)
    assert found["conditions"] == "recorded"
    assert len(found["code"]) == 16
    assert found["device"] == "cpu"
