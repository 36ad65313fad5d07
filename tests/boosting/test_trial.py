"""When a trial ends: its loss no longer falls, or stays far above another candidate's."""

import math

import numpy as np
import pytest
from sklearn.datasets import make_classification

from marginboost import MarginBoostClassifier
from marginboost.boosting import choose
from marginboost.boosting.trial import HOPELESS, ROUNDS_TO_COMPARE, Trial, Trials
from marginboost.estimators import candidates


def trial_of(curve, rounds=(10, 20, 40)):
    return Trial(list(rounds), [curve(number) for number in rounds], [])


def test_a_trial_is_over_after_checkpoints_without_a_lower_loss():
    assert not Trial([1, 2, 3, 5], [1.0, 0.9, 0.95, 0.96]).is_over
    assert Trial([1, 2, 3, 5, 7], [1.0, 0.9, 0.95, 0.96, 0.97]).is_over


@pytest.mark.parametrize("at_the_end", [0.9, 1.0])
def test_a_loss_that_falls_evenly_is_compared_by_where_it_ends(at_the_end):
    """It falls by 0.1 with each doubling; 160 rounds are two doublings away."""
    trial = trial_of(lambda number: at_the_end - 0.1 * math.log2(number / 160))
    reached = at_the_end / HOPELESS
    assert trial.is_hopeless(160, 0.999 * reached)
    assert not trial.is_hopeless(160, 1.001 * reached)
    assert not trial.is_hopeless(160, math.inf)


def test_a_loss_that_rises_does_not_count_as_falling():
    trial = trial_of(lambda number: 1.0 + 0.01 * number)
    assert trial.is_hopeless(300, 0.9)
    assert not trial.is_hopeless(300, 1.05)


def test_few_rounds_say_nothing():
    early = trial_of(lambda number: 5.0, (1, 5, ROUNDS_TO_COMPARE - 1))
    assert not early.is_hopeless(300, 0.1)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_hopeless_candidate_ends_early_and_the_model_keeps_its_bits(monkeypatch, n_threads):
    """Trees of two leaves add up single columns, and there is more to learn."""
    X, y = make_classification(
        4500, 9, n_informative=9, n_redundant=0, n_classes=3, n_clusters_per_class=4, flip_y=0.1,
        random_state=0,
    )  # fmt: skip
    monkeypatch.setattr(candidates, "LEAVES_OF_SMALL_TREES", (2, 2))
    ended = {}

    class Watched(Trials):
        def _run_trial(self, engine, number, trial):
            super()._run_trial(engine, number, trial)
            ended[self._candidate.settings.name] = trial

    monkeypatch.setattr(choose, "Trials", Watched)
    model = MarginBoostClassifier(random_state=0, n_jobs=n_threads).fit(X, y)
    stopped = dict(ended)
    monkeypatch.setattr(Trial, "is_hopeless", lambda *_: False)
    whole = MarginBoostClassifier(random_state=0, n_jobs=n_threads).fit(X, y)
    assert stopped["small"].n_rounds[-1] < ended["small"].n_rounds[-1]
    assert min(ended["small"].losses) > HOPELESS * min(ended["large"].losses)
    assert "small" not in {part["name"] for part in whole.chosen_["parts"]}
    assert model.chosen_ == whole.chosen_
    np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X))
