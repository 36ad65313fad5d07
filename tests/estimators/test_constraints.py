"""`interaction_cst`; and both constraints with the rest of a classifier, and what they refuse."""

import itertools

import numpy as np
import polars as pl
import pytest
from constraint_support import check_monotone, every_value, paths_of, scores
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from support import assert_same_ensemble, embedded, noisy_problem

import marginboost
from marginboost import MarginBoostClassifier, MarginBoostClassifierCV
from marginboost.data.encoding import Encoding
from marginboost.engine.trees.interactions import Interactions
from marginboost.estimators.constraints import Constraints, read_interactions


@pytest.mark.parametrize(
    "groups",
    ["pairwise", "no_interactions", [[0, 1]], [{0, 1}, (1, 2, 3)], [[0], [0, 1, 2, 3, 4]], []],
)
def test_groups_are_those_of_scikit_learn(groups):
    X, y = noisy_problem(300, 5, 3)
    theirs = HistGradientBoostingClassifier(interaction_cst=groups, max_iter=5).fit(X, y)
    theirs = theirs._check_interaction_cst(5)
    ours = Constraints(read_interactions(groups, 5), []).interactions(Encoding.plain(5))
    for size in range(4):
        for path in map(frozenset, itertools.combinations(range(5), size)):
            allowed = set().union(*[group for group in theirs if path <= group])
            if path and not allowed:
                continue  # no tree has such a path
            assert set(np.flatnonzero(ours.allowed(path)).tolist()) == allowed
    model = MarginBoostClassifier(8, interaction_cst=groups, random_state=0).fit(X, y)
    found = paths_of(model)
    assert all(any(path <= group for group in theirs) for path in found)
    if max(map(len, theirs)) > 1:
        assert max(map(len, found)) > 1


def test_scores_without_interactions_are_sums_over_columns():
    """Explanations by finite differences: no column's effect depends on another column."""
    X, y = embedded("wine")
    X = X[:, :5]
    alone = MarginBoostClassifier(interaction_cst="no_interactions", random_state=0).fit(X, y)
    groups = [["a", "b"], ["c", "d", "e"]]
    frame = pl.DataFrame(dict(zip("abcde", X.T, strict=True)))
    apart = MarginBoostClassifier(interaction_cst=groups, random_state=0).fit(frame, y)
    free = MarginBoostClassifier(random_state=0).fit(X, y)
    rows = X[::9]

    def mixed(model, i, j, columns):
        """The largest mixed difference of two columns, over all pairs of rows."""
        score = (
            (lambda Z: scores(model, Z))
            if columns is None
            else (lambda Z: scores(model, pl.DataFrame(dict(zip(columns, Z.T, strict=True)))))
        )
        largest = 0.0
        for other in rows[:8]:
            both, first, second = rows.copy(), rows.copy(), rows.copy()
            first[:, i] = both[:, i] = other[i]
            second[:, j] = both[:, j] = other[j]
            mixed = score(both) - score(first) - score(second) + score(rows)
            largest = max(largest, np.abs(mixed).max())
        return largest

    pairs = list(itertools.combinations(range(5), 2))
    assert all(mixed(alone, i, j, None) == 0.0 for i, j in pairs)
    assert max(mixed(free, i, j, None) for i, j in pairs) > 0.1
    within = {(0, 1), (2, 3), (2, 4), (3, 4)}
    found = {(i, j): mixed(apart, i, j, "abcde") for i, j in pairs}
    assert all(found[pair] == 0.0 for pair in pairs if pair not in within)
    assert max(found[pair] for pair in within) > 0.01


def test_the_orders_of_a_category_are_one_column():
    """Its ordered columns are one column of X, so they may be split below each other."""
    rng = np.random.default_rng(0)
    n = 600
    town = rng.choice(list("abcdefgh"), n)
    size = rng.normal(size=n)
    y = (np.array([ord(name) % 4 for name in town]) + (size > 0)) % 4
    X = pl.DataFrame({"town": town, "size": size})
    model = MarginBoostClassifier(30, interaction_cst="no_interactions", random_state=0).fit(X, y)
    assert (model.encoding_.source == 0).sum() > 1
    assert all(len(path) == 1 for path in paths_of(model))
    assert max(np.diff(model.ensemble_.node_offsets)) > 1


def test_sparse_rows_keep_to_groups():
    X, y = noisy_problem(300, 6, 3)
    X[np.random.default_rng(0).random(X.shape) < 0.7] = 0.0
    model = MarginBoostClassifier(10, interaction_cst="pairwise", random_state=0)
    model.fit(sparse.csr_array(X), y)
    assert max(map(len, paths_of(model))) == 2


def test_many_masks_are_forgotten():
    found = Interactions(np.arange(30), 30)
    for pair in itertools.product(range(30), repeat=3):
        assert found.allowed(frozenset(pair)).all()
    assert len(found._masks) <= 4096


# --- with the rest --------------------------------------------------------------------------------


CONSTRAINED = {
    "interaction_cst": [{0, 1}, (1, 2)],
    "monotonic_cst": {0: {("b", "a"): 1}, 2: {("a", "c"): -1}},
}


def labelled(n_rows=240):
    X, y = noisy_problem(n_rows, 4, 3, seed=2)
    return X, np.array(["a", "b", "c"])[y]


def check_constrained(model, X):
    assert all(path <= {0, 1} or path <= {1, 2} or path <= {3} for path in paths_of(model))
    check_monotone(model, X[:30], 0, 1, 0, 1)
    check_monotone(model, X[:30], 2, 0, 2, -1)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"n_estimators": 10},
        {"early_stopping": True},
        {"n_estimators": 10, "calibrate": False},
        {"engine": "reference", "n_estimators": 5},
    ],
)
def test_every_way_to_train(more):
    X, y = labelled()
    model = MarginBoostClassifier(random_state=0, **CONSTRAINED, **more).fit(X, y)
    check_constrained(model, X)


def test_engines_agree():
    X, y = labelled()
    ours, theirs = (
        MarginBoostClassifier(8, random_state=0, engine=engine, **CONSTRAINED).fit(X, y)
        for engine in ("native", "reference")
    )
    assert_same_ensemble(ours.ensemble_, theirs.ensemble_)
    assert ours.probability_scale_ == theirs.probability_scale_


def test_warm_start_goes_on_and_checks_what_was_there():
    X, y = labelled()
    whole = MarginBoostClassifier(12, random_state=0, warm_start=True, **CONSTRAINED).fit(X, y)
    parts = MarginBoostClassifier(6, random_state=0, warm_start=True, **CONSTRAINED).fit(X, y)
    parts.set_params(n_estimators=12).fit(X, y)
    assert_same_ensemble(whole.ensemble_, parts.ensemble_)
    for name, value in CONSTRAINED.items():
        free = MarginBoostClassifier(4, random_state=0, warm_start=True).fit(X, y)
        free.set_params(n_estimators=6, **{name: value})
        with pytest.raises(ValueError, match=f"{name} must hold for the rounds"):
            free.fit(X, y)


def test_a_file_keeps_constraints(tmp_path):
    X, y = labelled()
    model = MarginBoostClassifier(4, random_state=0, **CONSTRAINED).fit(X, y)
    model.save(tmp_path / "model")
    loaded = marginboost.load(tmp_path / "model")
    assert loaded.get_params() == model.get_params()
    loaded.fit(X, y)
    assert_same_ensemble(loaded.ensemble_, model.ensemble_)
    array = MarginBoostClassifier(2, monotonic_cst=np.array([1, 0, 0, -1]), random_state=0)
    array.fit(X, y == "a").save(tmp_path / "array")
    assert marginboost.load(tmp_path / "array").monotonic_cst == [1, 0, 0, -1]


def test_the_tuner_passes_constraints_on():
    X, y = labelled()
    frame = pl.DataFrame(dict(zip("pqrs", X.T, strict=True)))
    named = {
        "interaction_cst": [["p", "q"], ["q", "r"]],
        "monotonic_cst": {"p": {("b", "a"): 1}, "r": {("a", "c"): -1}},
    }
    model = MarginBoostClassifierCV(time_limit=1.0, cv=2, random_state=0, **named).fit(frame, y)
    assert all(path <= {0, 1} or path <= {1, 2} or path <= {3} for path in paths_of(model))
    for column, a, b, sign in ((0, 1, 0, 1), (2, 0, 2, -1)):
        F = []
        for value in every_value(model, column):
            moved = X[:30].copy()
            moved[:, column] = value
            F.append(scores(model, pl.DataFrame(dict(zip("pqrs", moved.T, strict=True)))))
        F = np.stack(F)
        assert (sign * np.diff(F[:, :, a] - F[:, :, b], axis=0) >= 0.0).all()


def test_no_constraint_is_no_constraint():
    X, y = labelled()
    free = MarginBoostClassifier(5, random_state=0).fit(X, y)
    none = {"interaction_cst": [range(4)], "monotonic_cst": [0, 0, 0, 0]}
    same = MarginBoostClassifier(5, random_state=0, **none).fit(X, y)
    assert_same_ensemble(free.ensemble_, same.ensemble_)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"interaction_cst": "all"}, 'must be "pairwise", "no_interactions", None, or'),
        ({"interaction_cst": [0, 1]}, "list of lists, tuples or sets of columns"),
        ({"interaction_cst": ["ab"]}, "list of lists, tuples or sets of columns"),
        ({"interaction_cst": {0: [1]}}, "list of lists, tuples or sets of columns"),
        ({"interaction_cst": [[0, 4]]}, "numbers from 0 to 3; got 4"),
        ({"interaction_cst": [[True]]}, "numbers from 0 to 3; got True"),
        ({"interaction_cst": [["p"]]}, "where X has no names; got 'p'"),
        ({"monotonic_cst": 1}, "a dictionary by column, or a list"),
        ({"monotonic_cst": [1, 0]}, "each of the 4 columns; got 2"),
        ({"monotonic_cst": [2, 0, 0, 0]}, "-1, 0 or 1, or pairs .* got 2 for column 0"),
        ({"monotonic_cst": [True, 0, 0, 0]}, "got True for column 0"),
        ({"monotonic_cst": {"p": 1}}, "where X has no names; got 'p'"),
        ({"monotonic_cst": [1, 0, 0, 0]}, "name two classes where there are more than two"),
        ({"monotonic_cst": {0: {("a",): 1}}}, "pairs of two different labels"),
        ({"monotonic_cst": {0: {("a", "a"): 1}}}, "pairs of two different labels"),
        ({"monotonic_cst": {0: {("a", "z"): 1}}}, "got 'z', which is none"),
        ({"monotonic_cst": {0: {("a", "b"): 1, ("b", "a"): 1}}}, "both to rise and to fall"),
    ],
)
def test_refused(parameters, message):
    X, y = labelled(60)
    with pytest.raises(ValueError, match=message):
        MarginBoostClassifier(2, random_state=0, **parameters).fit(X, y)


def test_names_that_are_none():
    X, y = labelled(60)
    frame = pl.DataFrame(dict(zip("pqrs", X.T, strict=True)))
    for parameters in ({"interaction_cst": [["p", "x"]]}, {"monotonic_cst": {"x": 1}}):
        with pytest.raises(ValueError, match="name columns of X; got 'x', which is none"):
            MarginBoostClassifier(2, **parameters).fit(frame, y)
