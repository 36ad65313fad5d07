"""Masked arrays: what is masked in X is missing, and labels and weights must not be masked."""

import numpy as np
import pytest
from support import assert_same_ensemble, noisy_problem
from support import small_margin_boost as small

from marginboost import MarginBoostClassifierCV
from marginboost.backends.input_columns import asked_columns
from marginboost.data.columns import is_missing
from marginboost.data.masked import without_mask
from marginboost.evaluation.evaluate import evaluate


@pytest.fixture
def problem():
    X, y = noisy_problem(150, 4, 3, n_values=30)
    return X, y, np.random.default_rng(0).random(X.shape) < 0.2


def test_masked_values_are_missing(problem):
    X, y, mask = problem
    gaps = np.where(mask, np.nan, X)
    masked = np.ma.masked_array(X, mask=mask)
    model, expected = small().fit(masked, y), small().fit(gaps, y)
    assert_same_ensemble(model.ensemble_, expected.ensemble_)
    np.testing.assert_array_equal(model.predict_proba(masked), expected.predict_proba(gaps))
    assert (model.predict_proba(masked) != model.predict_proba(X)).any()  # behind the mask
    served = model.compile()
    np.testing.assert_array_equal(served.predict_proba(masked), served.predict_proba(gaps))
    np.testing.assert_array_equal(served.predict_proba(masked[0]), served.predict_proba(gaps[0]))


def test_masked_categories_are_missing(problem):
    X, y, mask = problem
    codes = np.argsort(np.argsort(X[:, :2], axis=0), axis=0) // 40
    masked = np.ma.masked_array(codes, mask=mask[:, :2])
    options = {"categorical_features": [0]}
    model = small(**options).fit(masked, y)
    expected = small(**options).fit(np.where(mask[:, :2], np.nan, codes), y)
    assert_same_ensemble(model.ensemble_, expected.ensemble_)


@pytest.mark.parametrize("kind", [bool, np.int32, np.float32, np.float64, object, "U3"])
def test_kinds_of_arrays(kind):
    values = np.ma.masked_array(np.array([[1, 0], [1, 1]]).astype(kind), mask=[[0, 1], [0, 0]])
    plain = without_mask(values)
    assert type(plain) is np.ndarray
    assert [is_missing(value) for value in plain.ravel().tolist()] == [False, True, False, False]
    assert plain.dtype == {np.float32: np.float32, object: object, "U3": object}.get(kind, float)


@pytest.mark.parametrize("make", [small, MarginBoostClassifierCV])
def test_labels_and_weights_must_not_be_masked(make, problem):
    X, y, _ = problem
    masked = np.arange(len(y)) % 50 == 7
    with pytest.raises(
        ValueError, match="label for every row; got a masked one at row 7 and 2 more"
    ):
        make().fit(X, np.ma.masked_array(y, mask=masked))
    with pytest.raises(
        ValueError, match=r"sample_weight must hold a number .* masked one at row 7"
    ):
        make().fit(X, y, sample_weight=np.ma.masked_array(np.ones(len(y)), mask=masked))


MASKED = "masked one at row 7 and 2 more. Leave those rows out"


def test_other_labels_and_weights_must_not_be_masked(problem):
    """Of validation rows, of rows to score, and groups."""
    X, y, _ = problem
    mask = np.arange(len(y)) % 50 == 7
    labels, ones = np.ma.masked_array(y, mask=mask), np.ma.masked_array(np.ones(len(y)), mask=mask)
    with pytest.raises(ValueError, match=f"y_val must hold a label .* {MASKED}"):
        small().fit(X, y, X_val=X, y_val=labels)
    with pytest.raises(ValueError, match=f"sample_weight_val must hold a number .* {MASKED}"):
        small().fit(X, y, X_val=X, y_val=y, sample_weight_val=ones)
    with pytest.raises(ValueError, match=f"groups must hold a group .* {MASKED}"):
        MarginBoostClassifierCV().fit(X, y, groups=labels)
    model = small().fit(X, y)
    with pytest.raises(ValueError, match=f"y must hold a label .* {MASKED}"):
        model.score(X, labels)
    with pytest.raises(ValueError, match=f"sample_weight must hold a number .* {MASKED}"):
        model.score(X, y, ones)
    with pytest.raises(ValueError, match=f"y must hold a label .* {MASKED}"):
        evaluate(model, X, labels)


def test_masked_partitions(problem):
    """What a worker does with its part of a collection."""
    _make_part = pytest.importorskip("marginboost.engine.cluster.parts")._make_part
    X, y, mask = problem
    masked, gaps = np.ma.masked_array(X, mask=mask), np.where(mask, np.nan, X)
    given = asked_columns("from_dtype", X.shape[1], None), ()
    parts = [_make_part(values, y, None, *given) for values in (masked, gaps)]
    np.testing.assert_array_equal(parts[0].columns.matrix, parts[1].columns.matrix)
    wrong = np.ma.masked_array(y, mask=np.arange(len(y)) % 50 == 7)
    with pytest.raises(ValueError, match=f"every partition of y must hold a value .* {MASKED}"):
        _make_part(X, wrong, None, *given)
    with pytest.raises(ValueError, match=f"every partition of sample_weight .* {MASKED}"):
        _make_part(X, y, wrong, *given)
