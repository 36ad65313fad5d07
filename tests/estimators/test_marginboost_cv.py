"""The tuner: one honest model of many fits."""

import io
import itertools
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from support import assert_same_ensemble, noisy_problem
from tuner_support import SETTINGS, mixed_frame, tuner

import marginboost
from marginboost import MarginBoostClassifier
from marginboost.boosting.methods.marginboost import MarginBoost
from marginboost.coefficients.grid import on_grid
from marginboost.data.columns import Columns
from marginboost.data.joined_encoding import with_names
from marginboost.estimators import marginboost_cv as module
from marginboost.estimators import time_limit
from marginboost.estimators.tuning_fits import TuningFits


@pytest.fixture(autouse=True)
def few_settings(monkeypatch):
    monkeypatch.setattr(module, "portfolio", lambda *_: SETTINGS)
    monkeypatch.setattr(module, "MOST_REFINED", 0)


@pytest.fixture
def parts(monkeypatch):
    """Return a list that gets what a fit joins: models, factors, names, calibration, frequencies."""
    found, real = [], module.join_models

    def join_models(*arguments):
        found[:] = arguments
        return real(*arguments)

    monkeypatch.setattr(module, "join_models", join_models)
    return found


def sum_of(parts, X):
    """Add up the scores of fold models, on the grid; X has codes where there are categories."""
    models, factors, names, calibration, _ = parts
    assert calibration.scale > 0.0
    total = 0.0
    for model, factor in zip(models, factors, strict=True):
        encoding = with_names(model.encoding, names)
        known = Columns(X, tuple(names)).recoded(encoding.categories, encoding.lost)
        ensemble = replace(model.ensemble, vectors=on_grid(model.ensemble.vectors * factor))
        total = total + ensemble.decision_function(encoding.apply(known.matrix))
    if calibration.prior > 0.0:
        total = total + on_grid(calibration.offset(parts[4]))
    return total


def coded(frame, names):
    X = np.empty(frame.shape)
    for number, (column, of_column) in enumerate(zip(frame, names, strict=True)):
        if of_column is None:
            X[:, number] = frame[column]
        else:
            place = {name: float(n) for n, name in enumerate(of_column)}
            X[:, number] = [place.get(value, np.nan) for value in frame[column]]
    return X


def test_the_model_is_the_sum_of_fits_of_folds_and_of_all_rows(parts):
    X, y = noisy_problem(150, 4, 3)
    model = tuner().fit(X, y)
    models, factors, *_ = parts
    assert len({id(one) for one in models}) == len(models)
    chosen = model.chosen_["parts"]
    assert sum(part["share"] for part in chosen) == 1.0
    assert len(models) == 7 * len(chosen)
    for place, part in enumerate(chosen):
        assert (part["fits"], part["fits_of_all_rows"]) == (7, 4)
        own = models[7 * place : 7 * place + 7]
        assert {one.ensemble.n_rounds for one in own[3:]} == {part["n_estimators"]}
        assert len(set(factors[7 * place : 7 * place + 7])) == 1
    assert model.encoding_.is_plain
    np.testing.assert_array_equal(model.decision_function(X), sum_of(parts, X))
    assert model.n_iter_ == sum(one.ensemble.n_rounds for one in models)
    if len(chosen) == 1:
        assert factors == [1 / 7] * 7


def test_fits_of_all_rows_are_those_of_the_classifier(monkeypatch, parts):
    X, y = noisy_problem(150, 4, 3)
    weight = np.arange(150.0) % 3
    made, real = [], TuningFits._classifier

    def classifier(self, settings, place, **more):
        made.append((place, settings, real(self, settings, place, **more)))
        return made[-1][2]

    monkeypatch.setattr(TuningFits, "_classifier", classifier)
    model = tuner().fit(X, y, sample_weight=weight)
    whole = [one for one in made if one[0][1] >= 3]
    assert len(whole) == 4 * len(model.chosen_["parts"])
    assert len({one.random_state for *_, one in made}) == len(made)
    for _, settings, found in whole:
        alone = MarginBoostClassifier(
            **settings.parameters, calibrate=False, random_state=found.random_state
        ).fit(X, y, sample_weight=weight)
        assert_same_ensemble(alone.ensemble_, found.ensemble_)
        assert any(found.ensemble_ is one.ensemble for one in parts[0])


def test_rows_that_no_split_has_are_not_learned(parts):
    X, y = noisy_problem(150, 4, 3)
    splits = [(np.arange(0, 60), np.arange(60, 90)), (np.arange(30, 90), np.arange(0, 30))]
    model = tuner(cv=splits).fit(X, y)
    y[90:] = (y[90:] + 1) % 3
    other = tuner(cv=splits).fit(X, y)
    assert other.oof_loss_ == model.oof_loss_
    rounds = [part["fits_of_all_rows"] for part in model.chosen_["parts"]]
    assert set(rounds) == {4}
    assert_same_ensemble(model.ensemble_, other.ensemble_)


def test_a_frame_with_categories_and_gaps(parts):
    frame, y = mixed_frame()
    model = tuner().fit(frame, y)
    encodings = [one.encoding for one in parts[0]]
    assert len({one.n_ordered for one in encodings}) > 1  # or there would be nothing to join
    names = parts[2]
    assert names[2] == ("Bonn", "Graz", "Oslo", "Rome", "Ulm")
    X = coded(frame, names)
    np.testing.assert_array_equal(model.decision_function(frame), sum_of(parts, X))
    unseen = frame.assign(town="Bern", rare=None)
    X = coded(unseen, names)
    np.testing.assert_array_equal(model.decision_function(unseen), sum_of(parts, X))
    np.testing.assert_array_equal(model.predict(frame), model.predict(frame[frame.columns[::-1]]))


def test_sparse_rows_give_the_bits_of_dense_ones():
    rng = np.random.default_rng(0)
    X, y = noisy_problem(150, 5, 3)
    X = np.where(rng.random(X.shape) < 0.5, 0.0, X)
    dense = tuner().fit(X, y)
    for kind in (sparse.csr_array, sparse.csc_matrix):
        other = tuner().fit(kind(X), y)
        assert_same_ensemble(dense.ensemble_, other.ensemble_)
        np.testing.assert_array_equal(dense.predict_proba(X), other.predict_proba(kind(X)))


def test_every_fit_learns_from_its_own_rows_alone(monkeypatch):
    X, y = noisy_problem(150, 4, 3)
    fits, real = {}, TuningFits.without

    def without(self, fold, settings, setting, max_time):
        found = real(self, fold, settings, setting, max_time)
        fits[setting, fold] = self._folds[fold], settings, found
        return found

    monkeypatch.setattr(TuningFits, "without", without)
    model = tuner().fit(X, y)
    assert len(fits) == 9
    for (setting, fold), (rows, settings, found) in fits.items():
        assert settings is SETTINGS[setting]
        seed, n_rounds = found.model.random_state, found.model.n_iter_
        alone = MarginBoostClassifier(
            **settings.parameters | {"n_estimators": n_rounds}, calibrate=False, random_state=seed
        )
        alone.fit(X[rows.train], y[rows.train])
        assert_same_ensemble(alone.ensemble_, found.model.ensemble_)
        losses = model.cv_results_[f"split{fold}_test_loss"]
        assert losses[setting] == found.model.validation_losses_.min()
    assert len({found.model.random_state for *_, found in fits.values()}) == 9


def test_the_same_seed_gives_the_same_model():
    X, y = noisy_problem(150, 4, 3)
    model, same, other = (tuner(random_state=seed).fit(X, y) for seed in (0, 0, 1))
    assert_same_ensemble(model.ensemble_, same.ensemble_)
    assert not np.array_equal(model.decision_function(X), other.decision_function(X))
    threads = tuner(n_jobs=2).fit(X, y)
    assert_same_ensemble(model.ensemble_, threads.ensemble_)
    reference = tuner(engine="reference").fit(X, y)
    assert_same_ensemble(model.ensemble_, reference.ensemble_)


def test_results_are_arrays_with_an_entry_per_setting():
    X, y = noisy_problem(150, 4, 3)
    model = tuner().fit(X, y)
    found = model.cv_results_
    assert all(len(column) == 3 for column in found.values())
    assert found["n_folds"].tolist() == [3, 3, 3]
    assert found["params"][1]["min_samples_leaf"] == found["param_min_samples_leaf"][1] == 2
    losses = np.array([found[f"split{fold}_test_loss"] for fold in range(3)])
    np.testing.assert_allclose(found["mean_test_loss"], losses.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found["std_test_loss"], losses.std(axis=0), rtol=1e-9)
    assert found["rank_test_loss"][np.argmin(found["mean_test_loss"])] == 1
    assert sorted(found["rank_test_loss"]) == [1, 2, 3]
    assert model.chosen_["held_out_error"] == model.oof_error_
    assert 0.0 < model.oof_error_ < 1.0


def test_in_time_that_is_left_the_best_settings_are_refined(monkeypatch):
    monkeypatch.setattr(module, "MOST_REFINED", 2)
    X, y = noisy_problem(150, 4, 3)
    model = tuner().fit(X, y)
    results = model.cv_results_
    before = tuner().fit(X, y)  # refined as well
    assert_same_ensemble(model.ensemble_, before.ensemble_)
    assert model.stop_reason_ == "completed"
    base = results["mean_test_loss"][:3]
    best = [SETTINGS[place] for place in np.argsort(base)[:2]]
    assert list(results["name"][3:5]) == [f"{one.name}, slower" for one in best]
    for one, found in zip(best, results["params"][3:5], strict=True):
        assert found["learning_rate"] == pytest.approx(one.learning_rate / 3)
        assert found["n_estimators"] == 3 * one.n_estimators
    again = [
        results["name"][place] + ", again" for place in np.argsort(results["mean_test_loss"][:5])
    ]
    assert list(results["name"][5:]) == again[:2]
    assert (results["n_folds"] == 3).all()
    # Fits again draw anew.
    first = np.argsort(results["mean_test_loss"][:5])[0]
    assert results["split0_test_loss"][5] != results["split0_test_loss"][first]
    assert module.portfolio(0, 1) == SETTINGS
    assert len(SETTINGS) == 3


def test_out_of_fold_scores_are_not_those_of_rows_that_were_learned():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 6)), rng.integers(0, 3, 150)  # nothing to learn
    model = tuner().fit(X, y)
    assert model.oof_error_ > 0.5
    assert model.oof_loss_ > 1.05


def test_where_nothing_is_to_be_learned_the_frequencies_are_the_model(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, size=(200, 1)), np.repeat([0, 1, 2], [150, 30, 20])
    with pytest.warns(UserWarning, match="no setting adds anything to the class frequencies"):
        model = tuner().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), [[0.75, 0.15, 0.1]] * 200, rtol=1e-9)
    assert {part["fits_of_all_rows"] for part in model.chosen_["parts"]} == {0}
    assert model.stop_reason_ == "completed"
    assert model.oof_loss_ == pytest.approx(0.73, abs=0.05)
    model.save(tmp_path / "model.safetensors")
    same = marginboost.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(same.predict_proba(X), model.predict_proba(X))


def test_time_that_is_over_ends_the_search(monkeypatch):
    X, y = noisy_problem(150, 4, 3)
    monkeypatch.setattr(time_limit, "clock", itertools.count(0.0, 10.0).__next__)
    model = tuner(time_limit=1.0).fit(X, y)
    assert model.stop_reason_ == "max_time"
    assert model.cv_results_["n_folds"].tolist() == [3, 0, 0]
    assert np.isnan(model.cv_results_["mean_test_loss"][1:]).all()
    assert [part["name"] for part in model.chosen_["parts"]] == ["first"]
    assert [part["fits_of_all_rows"] for part in model.chosen_["parts"]] == [0]


def interrupt_at(monkeypatch, call):
    """Raise KeyboardInterrupt before a given round, through all fits."""
    real, calls = MarginBoost.take_ahead, itertools.count(1)

    def take_ahead(self, *arguments):
        if next(calls) == call:
            raise KeyboardInterrupt
        return real(self, *arguments)

    monkeypatch.setattr(MarginBoost, "take_ahead", take_ahead)


@pytest.mark.parametrize(("call", "n_folds"), [(20, 1), (45, 2), (70, 3)])
def test_an_interrupt_keeps_the_best_so_far(monkeypatch, parts, call, n_folds):
    X, y = noisy_problem(150, 4, 3)
    settings = [one._replace(patience=100) for one in SETTINGS]
    monkeypatch.setattr(module, "portfolio", lambda *_: settings)
    interrupt_at(monkeypatch, call)
    with pytest.warns(UserWarning, match="Interrupted: the model is the best of the"):
        model = tuner().fit(X, y)
    monkeypatch.undo()
    assert model.stop_reason_ == "interrupted"
    assert model.cv_results_["n_folds"].max() == n_folds
    assert np.isnan(model.oof_error_) == (n_folds == 1)
    assert len(parts[0]) == n_folds * len(model.chosen_["parts"])
    np.testing.assert_array_equal(model.decision_function(X), sum_of(parts, X))
    assert model.score(X, y) > 0.4


def test_an_interrupt_of_fits_of_all_rows_keeps_those_of_folds(monkeypatch, parts):
    X, y = noisy_problem(150, 4, 3)
    complete = tuner().fit(X, y)

    def of_all(self, *arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(TuningFits, "of_all", of_all)
    with pytest.warns(UserWarning, match="Interrupted: the model is the best of the 9 fits"):
        model = tuner().fit(X, y)
    assert model.stop_reason_ == "interrupted"
    assert (model.oof_error_, model.oof_loss_) == (complete.oof_error_, complete.oof_loss_)
    assert {part["fits_of_all_rows"] for part in model.chosen_["parts"]} == {0}
    assert len(parts[0]) == 3 * len(model.chosen_["parts"])
    np.testing.assert_array_equal(model.decision_function(X), sum_of(parts, X))


def test_an_interrupt_before_the_first_model_leaves_what_was_there(monkeypatch):
    X, y = noisy_problem(150, 4, 3)
    model = tuner().fit(X, y)
    before = model.ensemble_
    interrupt_at(monkeypatch, 3)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.ensemble_ is before


def test_progress_is_a_line_per_fit(monkeypatch):
    X, y = noisy_problem(150, 4, 3)
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    tuner().fit(X, y)
    assert not stream.getvalue()
    tuner(verbose=1).fit(X, y)
    lines = stream.getvalue().splitlines()
    assert all(", fold " in line and " rounds; " in line for line in lines[:9])
    assert lines[0].startswith("first, fold 1/3: loss ")
    assert len(lines) > 9
    assert all(": 4 fits of all rows; " in line for line in lines[9:])
    stream.close()
    tuner(verbose=1).fit(X, y)
