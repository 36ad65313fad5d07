"""Trials and their records."""

import json

from experiments.trial import Record, Records, Trial


def test_the_same_trial_has_the_same_key_whatever_the_order_of_its_settings():
    one = Trial("iris", "exp", 0, {"nu": 0.1, "rounds": 5})
    other = Trial("iris", "exp", 0, {"rounds": 5, "nu": 0.1})
    assert one.key == other.key
    assert json.loads(one.key) == ["iris", "exp", 0, {"nu": 0.1, "rounds": 5}, {}]


def test_whatever_decides_a_trial_is_in_its_key():
    trials = [
        Trial("iris", "exp", 0),
        Trial("wine", "exp", 0),
        Trial("iris", "log", 0),
        Trial("iris", "exp", 1),
        Trial("iris", "exp", 0, {"nu": 0}),
        Trial("iris", "exp", 0, {"nu": 0}, {"rows": "all rows"}),
        Trial("iris", "exp", 0, {"nu": 0}, {"rows": "all rows", "parameters": {"max_depth": 2}}),
    ]
    assert len({trial.key for trial in trials}) == len(trials)


def test_words():
    assert str(Trial("iris", "exp", 2)) == "iris, exp, repeat 2"
    assert str(Trial("iris", "exp", 2, {"nu": 0.1})) == "iris, exp, repeat 2, nu 0.1"


def test_records_are_chosen_by_what_they_are_of():
    records = Records(
        [
            Record(Trial(data, method, repeat, {"nu": nu}), {"wrong": repeat, "n_test": 8}, {})
            for repeat in (1, 0)
            for data in ("iris", "wine")
            for method in ("exp", "log")
            for nu in (0, 0.1)
        ]
    )
    found = records.of("wine", "log", nu=0.1)
    assert [record.trial.repeat for record in found] == [0, 1]
    assert found.errors == [0.0, 12.5]
    assert found.measures("wrong") == [0, 1]
    assert len(records.of(method="exp")) == len(records) / 2
    assert len(records.of("iris", rounds=3)) == 0
