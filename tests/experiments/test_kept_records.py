"""Kept records, measured again: what was inferred about them must give their errors."""

import pytest
from page_support import ROOT

from experiments.catalogue import EXPERIMENTS
from experiments.store import read_results

RESULTS = ROOT / "experiments" / "results"
# On data that scikit-learn embeds, and methods whose fits take less than a second.
SAMPLE = [
    (name, data, method)
    for name, data in (
        ("table1", "iris"),
        ("table2", "iris"),
        ("table4", "iris"),
        ("table5", "wine"),
    )
    for method in ("exp", "log", "samme", "ecc", "mh", "gradboost", "marginboost")
]


@pytest.mark.parametrize(("name", "data", "method"), SAMPLE)
def test_a_kept_record_is_what_the_code_gives_now(name, data, method):
    path = RESULTS / f"{name}.json"
    if not path.is_file():
        pytest.skip(f"no results of {name} are kept")
    records = [
        record for record in read_results(path).of(data, method) if record.trial.repeat in (0, 7)
    ]
    experiment = EXPERIMENTS[name]()
    for record in records:
        found = experiment.run(record.trial, 1)
        assert found["wrong"] == record.measures["wrong"], record.trial
        assert found["n_test"] == record.measures["n_test"]


def test_timed_fits_and_those_of_table_iv_are_the_same():
    """So that one record may serve both."""
    timed, table = (read_results(RESULTS / f"{name}.json") for name in ("timing", "table4"))
    wrong = {
        (each.trial.data, each.trial.method, each.trial.repeat): each.measures["wrong"]
        for each in table
    }
    whole = timed.of(classes=None)
    assert len(whole) >= 100
    for each in whole:
        trial = each.trial
        assert each.measures["wrong"] == wrong[trial.data, trial.method, trial.repeat], trial
