"""Costs decide what is predicted, everywhere in the same way, and nothing else."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV
from support import noisy_problem

import marginboost
from marginboost import MarginBoostClassifier, MarginBoostClassifierCV, MCBoostClassifier, mean_cost

COSTS = np.array([[0.0, 1, 9, 1], [2, 0, 1, 1], [1, 5, 0, 1], [30, 1, 1, 0]])
LABELS = np.array(["a", "b", "c", "d"])
ORDER = ["c", "a", "d", "b"]
KINDS = {
    "trees": lambda **given: MarginBoostClassifier(6, random_state=0, n_jobs=1, **given),
    "stumps": lambda **given: MCBoostClassifier(6, n_jobs=1, **given),
    "tuner": lambda **given: MarginBoostClassifierCV(0.1, cv=2, random_state=0, n_jobs=1, **given),
}
ALL = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def rows():
    X, y = noisy_problem(200, 4, 4, n_values=30)
    return X, LABELS[y]


def least(probabilities, costs):
    """Return the first class of least expected cost, term by term."""
    expected = np.zeros_like(probabilities)
    for a in range(len(costs)):
        expected += probabilities[:, [a]] * costs[a]
    return expected.argmin(axis=1)


@ALL
def test_the_class_of_least_expected_cost_is_predicted(kind, rows):
    X, y = rows
    model = KINDS[kind](cost_matrix=COSTS).fit(X, y)
    assert np.array_equal(model.cost_matrix_, COSTS)
    probabilities = model.predict_proba(X)
    expected = least(probabilities, COSTS)
    assert np.array_equal(model.predict(X), LABELS[expected])
    assert (expected != probabilities.argmax(axis=1)).any()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


def test_scores_and_probabilities_stay_the_same(rows):
    X, y = rows
    for kind in ("trees", "stumps"):
        plain, costly = KINDS[kind]().fit(X, y), KINDS[kind](cost_matrix=COSTS).fit(X, y)
        assert np.array_equal(plain.decision_function(X), costly.decision_function(X))
        assert np.array_equal(plain.predict_proba(X), costly.predict_proba(X))
        assert not hasattr(plain, "cost_matrix_")


def test_everything_names_the_same_class(rows):
    X, y = rows
    model = KINDS["trees"](cost_matrix=COSTS).fit(X, y)
    predicted = model.predict(X)
    compiled = model.compile()
    for served in (compiled, pickle.loads(pickle.dumps(compiled))):
        assert np.array_equal(served.predict(X), predicted)
        assert np.array_equal(served(X)[0], predicted)
        assert [served.predict(row) for row in X[:50]] == predicted[:50].tolist()
        assert [served(row)[0] for row in X[:50]] == predicted[:50].tolist()
    assert np.array_equal(list(model.staged_predict(X))[-1], predicted)
    assert model.score(X, y) == np.mean(predicted == y)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), predicted)


def test_one_row_has_the_bits_of_many(rows):
    """The expected costs of two classes may be equal but for rounding."""
    X, y = rows
    costs = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) / 3.0
    model = KINDS["trees"](cost_matrix=costs).fit(X, y)
    assert np.array_equal(np.concatenate([model.predict(row[None]) for row in X]), model.predict(X))


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_engines_decide_alike(engine, rows):
    X, y = rows
    expected = KINDS["trees"](cost_matrix=COSTS).fit(X, y)
    found = KINDS["trees"](cost_matrix=COSTS, engine=engine).fit(X, y)
    assert np.array_equal(found.predict(X), expected.predict(X))


@ALL
def test_an_order_gives_distances(kind, rows):
    X, y = rows
    model = KINDS[kind](classes_order=ORDER).fit(X, y)
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    assert model.class_ranks_.tolist() == [1, 3, 0, 2]
    distances = np.abs(np.subtract.outer(model.class_ranks_, model.class_ranks_))
    assert np.array_equal(model.cost_matrix_, distances)
    # The least expected distance is that of a median.
    shares = model.predict_proba(X)[:, np.argsort(model.class_ranks_)]
    below = shares.cumsum(axis=1)
    place = (below >= 0.5).argmax(axis=1)
    clear = np.abs(below - 0.5).min(axis=1) > 1e-9
    assert np.array_equal(model.predict(X)[clear], np.array(ORDER)[place][clear])


@ALL
@pytest.mark.parametrize(
    "ordered",
    [
        lambda y: pd.Series(pd.Categorical(y, categories=ORDER, ordered=True)),
        lambda y: pd.Categorical(y, categories=ORDER, ordered=True),
        lambda y: pl.Series(y, dtype=pl.Enum(ORDER)),
    ],
    ids=["pandas series", "pandas categorical", "polars enum"],
)
def test_an_ordered_target_gives_its_order(kind, ordered, rows):
    X, y = rows
    expected = KINDS[kind](classes_order=ORDER).fit(X, y)
    found = KINDS[kind]().fit(X, ordered(y))
    assert np.array_equal(found.class_ranks_, expected.class_ranks_)
    assert np.array_equal(found.cost_matrix_, expected.cost_matrix_)


def test_equal_costs_predict_the_most_probable_of_ordered_classes(rows):
    X, y = rows
    model = KINDS["trees"](classes_order=ORDER, cost_matrix="equal").fit(X, y)
    assert not hasattr(model, "cost_matrix_")
    assert model.class_ranks_.tolist() == [1, 3, 0, 2]
    assert np.array_equal(model.predict(X), LABELS[model.predict_proba(X).argmax(axis=1)])


def test_a_second_fit_forgets_the_costs(rows):
    X, y = rows
    model = KINDS["trees"](classes_order=ORDER).fit(X, y)
    model.set_params(classes_order=None).fit(X, y)
    assert not hasattr(model, "cost_matrix_")
    assert not hasattr(model, "class_ranks_")


def test_a_fit_that_fails_keeps_the_costs(rows):
    X, y = rows
    model = KINDS["trees"](classes_order=ORDER).fit(X, y)
    before = model.predict(X)
    model.set_params(cost_matrix=np.ones((2, 2)))
    with pytest.raises(ValueError, match="4 rows and columns"):
        model.fit(X, y)
    assert np.array_equal(model.predict(X), before)


@ALL
def test_parameters_are_checked_before_the_rows(kind, rows):
    for given in ({"cost_matrix": "ordinary"}, {"classes_order": "a,b"}, {"cost_matrix": [1, 2]}):
        (name,) = given
        with pytest.raises(ValueError, match=f"^{name} must"):
            KINDS[kind](**given).fit("nothing", "nothing")


@ALL
def test_files_keep_the_costs(kind, rows, tmp_path):
    X, y = rows
    model = KINDS[kind](cost_matrix=COSTS, classes_order=ORDER).fit(X, y)
    model.save(tmp_path / "model.safetensors")
    found = marginboost.load(tmp_path / "model.safetensors")
    assert np.array_equal(found.predict(X), model.predict(X))
    assert np.array_equal(found.cost_matrix_, COSTS)
    assert np.array_equal(found.class_ranks_, model.class_ranks_)
    assert found.classes_order == ORDER
    assert np.array_equal(clone(found).fit(X, y).predict(X), model.predict(X)) or kind == "tuner"


@ALL
def test_costs_can_change_after_the_fit(kind, rows):
    X, y = rows
    plain = KINDS[kind]().fit(X, y)
    found = plain.with_costs(COSTS)
    assert np.array_equal(found.predict(X), LABELS[least(plain.predict_proba(X), COSTS)])
    assert found.ensemble_ is plain.ensemble_
    assert not hasattr(plain, "cost_matrix_")
    assert plain.cost_matrix is None
    assert np.array_equal(found.with_costs(None).predict(X), plain.predict(X))


def test_costs_that_change_keep_the_order(rows):
    X, y = rows
    plain = KINDS["trees"](cost_matrix="equal").fit(
        X, pd.Categorical(y, categories=ORDER, ordered=True)
    )
    found = plain.with_costs("ordinal")
    assert np.array_equal(found.class_ranks_, plain.class_ranks_)
    assert found.cost_matrix_[0, 1] == 2.0
    other = plain.with_costs(None, classes_order=["a", "b", "c", "d"])
    assert other.cost_matrix_[0, 1] == 1.0


def test_validation_accuracy_is_that_of_the_decisions(rows):
    X, y = rows
    model = KINDS["trees"](cost_matrix=COSTS).fit(X, y, X_val=X[:90], y_val=y[:90])
    assert model.validation_score_ == pytest.approx(model.score(X[:90], y[:90]))
    plain = KINDS["trees"]().fit(X, y, X_val=X[:90], y_val=y[:90])
    assert model.validation_score_ != plain.validation_score_


def test_a_search_by_mean_cost(rows):
    X, y = rows
    scorer = make_scorer(
        mean_cost, greater_is_better=False, cost_matrix=COSTS, labels=["a", "b", "c", "d"]
    )
    model = KINDS["trees"](cost_matrix=COSTS)
    search = GridSearchCV(model, {"max_leaf_nodes": [2, 8]}, scoring=scorer, cv=2).fit(X, y)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert search.best_score_ < 0.0


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_an_order_changes_the_trees_alike_on_all_engines(loss, rows):
    X, y = rows
    plain = KINDS["trees"](loss=loss).fit(X, y)
    given = {"loss": loss, "classes_order": ORDER}
    native = KINDS["trees"](**given).fit(X, y)
    assert not np.array_equal(native.decision_function(X), plain.decision_function(X))
    reference = KINDS["trees"](**given, engine="reference").fit(X, y)
    assert np.array_equal(native.decision_function(X), reference.decision_function(X))
    assert native.probability_scale_ == reference.probability_scale_
    # Costs alone decide; they change no tree.
    costly = KINDS["trees"](**given, cost_matrix=COSTS).fit(X, y)
    assert np.array_equal(native.decision_function(X), costly.decision_function(X))


def test_the_direction_of_an_order_changes_no_tree(rows):
    X, y = rows
    up = KINDS["trees"](classes_order=ORDER).fit(X, y)
    down = KINDS["trees"](classes_order=ORDER[::-1]).fit(X, y)
    assert np.array_equal(up.decision_function(X), down.decision_function(X))


def test_the_tuner_trains_by_the_order(rows):
    """Its fits know the classes by numbers."""
    X, y = rows
    model = KINDS["tuner"](classes_order=["c", "x", "a", "d", "y", "b"])
    model.fit(X, y)
    assert model.class_ranks_.tolist() == [2, 5, 0, 3]
    assert model._order_of_codes() == [2, -2, 0, 3, -5, 1]


def test_an_order_helps_where_there_is_one():
    """Ten classes that are steps of a noisy line: the mean absolute error falls."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1600, 6))
    line = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(0, 0.7, 1600)
    y = np.searchsorted(np.quantile(line, np.linspace(0, 1, 11)[1:-1]), line)
    plain = MarginBoostClassifier(random_state=0).fit(X[:800], y[:800])
    ordered = MarginBoostClassifier(random_state=0, cost_matrix="ordinal").fit(X[:800], y[:800])

    def off(model):
        return np.abs(model.predict(X[800:]) - y[800:]).mean()

    assert off(ordered) < off(plain.with_costs("ordinal")) < off(plain)


def test_costs_and_other_class_frequencies_go_together(rows):
    X, y = rows
    model = KINDS["trees"](cost_matrix=COSTS).fit(X, y)
    rare = model.with_class_frequencies({"a": 0.7, "b": 0.1, "c": 0.1, "d": 0.1})
    expected = LABELS[least(rare.predict_proba(X), COSTS)]
    assert np.array_equal(rare.predict(X), expected)
    assert np.array_equal(rare.compile().predict(X), expected)
    assert (expected != model.predict(X)).any()
