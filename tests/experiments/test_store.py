"""Records on disk."""

import json

import pytest

from experiments.draws import seed_of
from experiments.store import Store, read_results, write_results
from experiments.trial import Record, Trial


def record(repeat, wrong=1):
    trial = Trial("iris", "exp", repeat, {"nu": 1e-9}, {"rows": "all rows"})
    return Record(trial, {"wrong": wrong, "n_test": 4}, {"commit": "abc", "jobs": 2})


def test_records_come_back(tmp_path):
    store = Store(tmp_path / "not" / "there", "table1")
    assert len(store.read()) == 0
    for repeat in range(3):
        store.add(record(repeat))
    assert list(store.read()) == [record(repeat) for repeat in range(3)]
    assert len(Store(tmp_path / "not" / "there", "table2").read()) == 0


def test_the_last_of_two_records_of_a_trial_counts(tmp_path):
    store = Store(tmp_path, "table1")
    store.add(record(0, wrong=1))
    store.add(record(0, wrong=2))
    assert store.read().measures("wrong") == [2]


@pytest.mark.parametrize("kept", [1, 30, -2])
def test_a_line_that_was_being_written_is_left_out(tmp_path, kept):
    store = Store(tmp_path, "table1")
    store.add(record(0))
    path = next(tmp_path.iterdir())
    line = path.read_text("utf-8")
    path.write_text(line + line.replace('"repeat": 0', '"repeat": 1')[:kept], "utf-8")
    assert list(store.read()) == [record(0)]
    store.add(record(2))
    assert list(store.read()) == [record(0), record(2)]


def test_results_come_back_and_say_once_what_is_shared(tmp_path):
    records = [record(repeat) for repeat in range(3)]
    path = tmp_path / "sub" / "table1.json"
    write_results(path, "table1", records)
    assert list(read_results(path)) == records
    held = json.loads(path.read_text("utf-8"))
    assert held["experiment"] == "table1"
    assert held["origins"] == [{"commit": "abc", "jobs": 2}]
    assert held["conditions"] == [{"rows": "all rows"}]
    assert [line["conditions"] for line in held["records"]] == [0, 0, 0]
    assert [line["seed"] for line in held["records"]] == [seed_of("iris", n) for n in range(3)]
    assert [line["origin"] for line in held["records"]] == [0, 0, 0]


def test_no_results_are_results_too(tmp_path):
    write_results(tmp_path / "none.json", "none", [])
    assert len(read_results(tmp_path / "none.json")) == 0


def test_another_format_is_refused(tmp_path):
    path = tmp_path / "table1.json"
    path.write_text('{"format": 99}', "utf-8")
    with pytest.raises(ValueError, match="must be of format 2; got 99"):
        read_results(path)
