"""What is measured of a classifier."""

import numpy as np
import pytest

from experiments.draws import draw
from experiments.measuring import checkpoints, measure
from experiments.methods import METHODS
from marginboost import MarginBoostClassifier, MCBoostClassifier


@pytest.mark.parametrize("rounds", [1, 2, 7, 100, 1000])
def test_checkpoints_go_from_the_first_round_to_the_last(rounds):
    found = checkpoints(rounds)
    assert found[0] == 1
    assert found[-1] == rounds
    assert found == sorted(set(found))
    if rounds >= 100:  # nearly even on a logarithmic scale, from ten on
        steps = np.diff(np.log([number for number in found if number >= 10]))
        assert steps.max() < 1.4 * steps.min()


def test_measures_are_those_of_the_classifier():
    split = draw("wine", 0, per_class=30)
    found = measure("log", split, rounds=12, seed=0, curve=True)
    model = MCBoostClassifier(12, loss="logistic", calibrate=False, n_jobs=1)
    model.fit(split.X, split.y)
    wrong = [int(np.sum(y != split.y_test)) for y in model.staged_predict(split.X_test)]
    assert found["wrong"] == wrong[-1] == found["curve"][-1]
    assert found["curve"] == [wrong[number - 1] for number in checkpoints(12)]
    assert (found["n_train"], found["n_test"]) == (len(split.y), len(split.y_test))
    assert (found["n_features"], found["n_classes"], found["rounds"]) == (13, 3, 12)


@pytest.mark.parametrize("method", ["exp", "samme", "mh", "multiboost"])
def test_the_time_of_the_coefficients_is_part_of_the_time_of_the_fit(method):
    found = measure(method, draw("iris", 0, per_class=20), rounds=5, seed=0)
    assert 0 < found["coefficient_seconds"] < found["fit_seconds"]
    assert "curve" not in found


@pytest.mark.parametrize("method", ["exp", "marginboost", "lightgbm"])
def test_times_of_the_processor_are_measured_where_they_are_asked_for(method):
    if method == "lightgbm":
        pytest.importorskip("lightgbm")
    split = draw("iris", 0, per_class=20)
    found = measure(method, split, rounds=5, seed=0, processor_times=True)
    assert found["fit_processor_seconds"] > 0
    assert 0 < found["predict_processor_seconds"] < 1
    assert "fit_processor_seconds" not in measure("exp", split, rounds=5, seed=0)


def test_a_fit_that_ends_early_stays_as_it_was():
    """A large penalty ends it after a few rounds."""
    split = draw("wine", 0, per_class=30)
    found = measure(
        "exp", split, rounds=100, seed=0, parameters={"regularization": 0.2}, curve=True
    )
    assert found["rounds"] < 100
    assert len(found["curve"]) == len(checkpoints(100))
    assert found["curve"][-1] == found["wrong"]


def test_methods_that_draw_do_so_by_the_seed():
    split = draw("digits", 0, per_class=10)
    same = [measure("ecc", split, rounds=10, seed=seed, curve=True)["curve"] for seed in (1, 1, 2)]
    assert same[0] == same[1] != same[2]


def test_marginboost_has_its_defaults():
    """With `calibrate=False`, for example, it would choose nothing."""
    model = METHODS["marginboost"].make(500, 0, 1, {})
    given = {"n_jobs", "random_state"}
    usual = MarginBoostClassifier().get_params()
    assert {name for name, value in model.get_params().items() if value != usual[name]} <= given
    split = draw("iris", 0, per_class=20)
    assert model.fit(split.X, split.y).chosen_


def test_those_that_cannot_tell_of_fewer_rounds_have_no_curve():
    found = measure("marginboost", draw("iris", 0, per_class=20), rounds=3, seed=0, curve=True)
    assert "curve" not in found


def test_an_interrupted_fit_is_no_trial(monkeypatch):
    """The classifier itself ends with the rounds that it has made, and a warning."""

    def interrupt(finished):
        if finished.number == 3:
            raise KeyboardInterrupt

    fit = MCBoostClassifier.fit

    def interrupted(self, X, y):
        return fit(self.set_params(callbacks=[interrupt]), X, y)

    monkeypatch.setattr(MCBoostClassifier, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        measure("log", draw("iris", 0, per_class=20), rounds=12, seed=0)
