"""The sum of fits, and its score on rows that neither the fits nor their shares have seen."""

import math

import numpy as np
import pytest

from marginboost.boosting.calibration import Calibration, best_calibration
from marginboost.boosting.cross_fit import (
    MOST_BLENDED,
    Blend,
    FoldRows,
    cross_fitted_score,
    find_blend,
)

EVEN = np.full(3, 1 / 3)


def problem(n_rows=120, n_fits=2, seed=0):
    """Return F[i, r] - F[i, y_i] of noisy fits, and the rows."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n_rows)
    logs = []
    for _ in range(n_fits):
        scores = rng.normal(size=(n_rows, 3)) + 1.5 * np.eye(3)[labels]
        logs.append(scores - scores[np.arange(n_rows), labels][:, None])
    return logs, FoldRows(labels, rng.uniform(0.5, 1.5, n_rows), float(n_rows))


def test_the_score_of_a_blend_is_that_of_its_probabilities():
    logs, rows = problem()
    frequencies = np.array([0.5, 0.3, 0.2])
    blend = Blend(np.array([0.75, 0.25]), np.array([1.5, 0.25]), Calibration(0.5, 0.25))
    logits = 0.5 * (1.5 * logs[0] + 0.25 * logs[1]) + 0.25 * np.log(frequencies)
    probabilities = np.exp(logits)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    own = probabilities[np.arange(len(logits)), rows.labels]
    error, loss = blend.score(logs, rows, frequencies)
    assert loss == pytest.approx(np.average(-np.log(own), weights=rows.weight), rel=1e-12)
    wrong = probabilities.argmax(axis=1) != rows.labels
    assert error == pytest.approx(np.average(wrong, weights=rows.weight), rel=1e-12)


def test_a_single_fit_keeps_its_scores():
    logs, rows = problem(n_fits=1)
    blend = find_blend(logs, rows, EVEN)
    assert blend.shares.tolist() == blend.factors.tolist() == [1.0]
    assert blend.calibration == best_calibration(
        logs[0], rows.labels, rows.weight, EVEN, rows.n_counted
    )


def test_only_the_best_fits_are_blended():
    logs, rows = problem(n_fits=MOST_BLENDED + 3)
    useless = [np.zeros_like(one) for one in logs[:3]]
    blend = find_blend([*useless, *logs[3:]], rows, EVEN)
    assert (blend.shares[:3] == 0.0).all()
    assert blend.shares.sum() == 1.0
    assert np.count_nonzero(blend.shares) > 1


def test_no_fold_is_scored_by_shares_that_saw_it():
    # On each fold another fit is right, and the other one wrong without a doubt.
    labels = np.zeros(20, dtype=np.int64)
    right, wrong = (np.column_stack([np.zeros(20), np.full(20, gap)]) for gap in (-9.0, 9.0))
    rows = FoldRows(labels, np.ones(20), 20.0)
    half = np.full(2, 0.5)
    error, loss = cross_fitted_score([[right, wrong], [wrong, right]], [rows, rows], half)
    assert error == 1.0
    assert loss > 1.0


def test_the_cross_fitted_score_is_the_mean_over_folds():
    logs, rows = problem(n_rows=150)
    cuts = [slice(0, 40), slice(40, 90), slice(90, 150)]
    folds = [
        FoldRows(rows.labels[cut], rows.weight[cut], float(cut.stop - cut.start)) for cut in cuts
    ]
    found = cross_fitted_score([[one[cut] for cut in cuts] for one in logs], folds, EVEN)
    expected = np.zeros(2)
    for at, cut in enumerate(cuts):
        left = np.ones(150, dtype=bool)
        left[cut] = False
        others = FoldRows.join([fold for n, fold in enumerate(folds) if n != at])
        blend = find_blend([one[left] for one in logs], others, EVEN)
        score = blend.score([one[cut] for one in logs], folds[at], EVEN)
        expected += np.array(score) * rows.weight[cut].sum()
    np.testing.assert_allclose(found, expected / rows.weight.sum(), rtol=1e-12)


def test_one_fold_has_no_honest_score():
    logs, rows = problem()
    assert all(math.isnan(number) for number in cross_fitted_score([[logs[0]]], [rows], EVEN))
