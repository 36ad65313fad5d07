"""`interaction_cst` and `monotonic_cst`: what they promise, and what they refuse."""

import itertools
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingClassifier
from support import assert_same_ensemble, embedded, noisy_problem

import marginboost
from marginboost import MarginBoostClassifier, MarginBoostClassifierCV
from marginboost.boosting.monotone import MonotoneSteps
from marginboost.data.encoding import Encoding
from marginboost.engine.trees.interactions import Interactions
from marginboost.estimators.constraints import Constraints, read_interactions, read_monotonic


def scores(model, X):
    """All scores, also of two classes."""
    return model.ensemble_.decision_function(model._checked(X))


def every_value(model, column):
    """Return numbers of a column of X that lie in all cells that the trees tell apart."""
    ensemble = model.ensemble_
    of_column = model.encoding_.source[ensemble.feature] == column
    cuts = np.unique(ensemble.threshold[of_column])
    cuts = cuts[np.abs(cuts) < 1e300]  # others tell missing values from all numbers
    if not len(cuts):
        return np.zeros(1)
    return np.unique(np.concatenate([cuts, np.nextafter(cuts, np.inf), [cuts[-1] + 1.0]]))


def along(model, X, column):
    """Yield X with every value of a column in turn, ascending."""
    for value in every_value(model, column):
        moved = np.array(X, dtype=np.float64)
        moved[:, column] = value
        yield moved


def check_monotone(model, X, column, a, b, sign):
    """Assert that F_a - F_b, and p_a / p_b but for rounding, never move against a sign; else return."""
    differences, ratios = [], []
    for moved in along(model, X, column):
        F = scores(model, moved)
        differences.append(F[:, a] - F[:, b])
        p = np.log(np.maximum(model.predict_proba(moved), 1e-300))
        ratios.append(p[:, a] - p[:, b])
    steps = sign * np.diff(np.stack(differences), axis=0)
    assert (steps >= 0.0).all()
    assert (sign * np.diff(np.stack(ratios), axis=0) >= -1e-9).all()
    return bool(steps.any())


def paths_of(model):
    """Return the columns of X on every path from a root to a leaf."""
    ensemble, source = model.ensemble_, model.encoding_.source
    found = set()
    for first, last in itertools.pairwise(ensemble.node_offsets.tolist()):
        above = {0: frozenset()}
        for node in range(last - first):
            path = above[node] | {int(source[ensemble.feature[first + node]])}
            for child in (ensemble.left[first + node], ensemble.right[first + node]):
                above[int(child)] = path
                found.add(path)
    return found


# --- monotone: never violated ---------------------------------------------------------------------


@st.composite
def fits(draw):
    """Draw rows, constraints and settings."""
    k = draw(st.integers(2, 5))
    d = draw(st.integers(1, 4))
    n = draw(st.integers(30, 150))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d))
    if draw(st.booleans()):
        X = np.rint(2 * X)
    y = (X @ rng.normal(size=(d, k)) + rng.normal(size=(n, k))).argmax(axis=1)
    y[:k] = np.arange(k)
    if draw(st.booleans()):
        X[rng.random(X.shape) < 0.15] = np.nan
    wanted = {}
    for column in range(d):
        pairs = draw(
            st.dictionaries(
                st.sampled_from(list(itertools.combinations(range(k), 2))),
                st.sampled_from([-1, 1]),
                max_size=4,
            )
        )
        wanted[column] = pairs
    parameters = {
        "n_estimators": draw(st.sampled_from([1, 3, 10])),
        "loss": draw(st.sampled_from(["exponential", "logistic"])),
        "learning_rate": draw(st.sampled_from([0.1, 1.0])),
        "max_leaf_nodes": draw(st.sampled_from([2, 5, 20])),
        "max_features": draw(st.sampled_from([0.5, 1.0])),
        "min_samples_leaf": draw(st.sampled_from([1, 5])),
        "l2_regularization": draw(st.sampled_from([0.0, 1.0])),
        "calibrate": draw(st.booleans()),
    }
    return X, y, wanted, parameters


@settings(max_examples=50)
@given(fits())
def test_differences_are_never_against_their_sign(fit):
    X, y, wanted, parameters = fit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MarginBoostClassifier(random_state=0, monotonic_cst=wanted, **parameters).fit(X, y)
    for column, pairs in wanted.items():
        for (a, b), sign in pairs.items():
            check_monotone(model, X[:20], column, a, b, sign)


@pytest.mark.parametrize("sign", [1, -1])
def test_two_classes_by_trials(sign):
    """A blend of several fits is as monotone as each of them."""
    X, y = embedded("breast_cancer")
    X, kept = X[:, :6], {0: sign, 3: sign}
    model = MarginBoostClassifier(monotonic_cst=kept, random_state=0).fit(X, y)
    free = MarginBoostClassifier(random_state=0).fit(X, y)
    moves = [check_monotone(model, X[::20], column, 1, 0, sign) for column in kept]
    if sign < 0:  # large nuclei are malignant, class 0: otherwise nothing may be left to learn
        assert any(moves)
    F = [scores(free, moved)[:, 1] for moved in along(free, X[::20], 0)]
    steps = np.diff(np.stack(F), axis=0)
    assert (steps < 0).any()
    assert (steps > 0).any()  # the constraint has something to do


def test_several_parts_of_a_blend():
    X, y = noisy_problem(900, 4, 3, seed=1)
    wanted = {0: {(0, 1): 1, (1, 2): 1, (0, 2): 1}, 1: {(2, 1): -1}, 2: {(0, 2): -1}}
    model = MarginBoostClassifier(monotonic_cst=wanted, random_state=0).fit(X, y)
    assert len(model.chosen_["parts"]) > 1
    moved = [
        check_monotone(model, X[:60], column, a, b, sign)
        for column, pairs in wanted.items()
        for (a, b), sign in pairs.items()
    ]
    assert any(moved)


def test_a_constraint_against_the_data_flattens_the_column():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] + 0.3 * rng.normal(size=400) > 0).astype(int)
    right = MarginBoostClassifier(30, monotonic_cst=[1, 0], random_state=0).fit(X, y)
    assert right.score(X, y) > 0.9
    assert check_monotone(right, X[:30], 0, 1, 0, 1)
    wrong = MarginBoostClassifier(30, monotonic_cst=[-1, 0], random_state=0).fit(X, y)
    check_monotone(wrong, X[:30], 0, 1, 0, -1)
    assert wrong.score(X, y) < 0.75


def test_ordered_classes_are_ordered_pairs():
    """+1 means that the odds of a class against the one below it never fall."""
    classes = np.array(["high", "low", "middle"])
    ranks = np.array([2, 0, 1])
    rules = read_monotonic([1, 0], 2, classes, ranks=ranks)
    by_name = read_monotonic({0: {("middle", "low"): 1, ("high", "middle"): 1}}, 2, classes)
    assert sorted(rules) == sorted(by_name)
    two = read_monotonic([1], 1, np.array(["a", "b"]), ranks=np.array([1, 0]))
    assert two == read_monotonic({0: {("a", "b"): 1}}, 1, np.array(["a", "b"]))


def test_ordered_classes_never_fall():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 3))
    y = np.digitize(X[:, 0] + X[:, 1] + rng.normal(size=500), [-1.0, 0.0, 1.0])
    pairs = {(r + 1, r): 1 for r in range(3)}
    model = MarginBoostClassifier(40, monotonic_cst={0: pairs}, random_state=0).fit(X, y)
    at_least = []
    for moved in along(model, X[:40], 0):
        p = model.predict_proba(moved)
        at_least.append(p[:, ::-1].cumsum(axis=1)[:, :-1])  # of this class or a higher one
    assert (np.diff(np.stack(at_least), axis=0) >= -1e-9).all()


def test_missing_values_and_categories_beside_monotone_columns():
    rng = np.random.default_rng(0)
    n = 400
    income = rng.normal(size=n)
    town = rng.choice(["x", "y", "z"], n)
    y = np.where(income + (town == "x") + rng.normal(size=n) > 0, "good", "bad")
    income[rng.random(n) < 0.2] = np.nan
    X = pl.DataFrame({"town": town, "income": income})
    model = MarginBoostClassifier(20, monotonic_cst={"income": 1}, random_state=0).fit(X, y)
    assert (model.encoding_.source == 1).sum() == 2
    values = np.sort(income[np.isfinite(income)])
    for name in ("x", "y", "z", "new"):
        rows = pl.DataFrame({"town": [name] * len(values), "income": values})
        assert (np.diff(model.decision_function(rows)) >= 0.0).all()
    with pytest.raises(ValueError, match="categories have no order"):
        model.set_params(monotonic_cst={"town": 1}).fit(X, y)


def test_steps_of_a_tree_with_pairs_in_a_cycle():
    """Bounds that only a vector of all classes can keep to."""
    pairs = [(1, 0), (2, 1), (0, 2), (3, 0)]
    signs = np.array([[1, 1, 1, -1], [0, -1, 1, 0], [1, 0, 0, 1]], dtype=np.int8)
    steps = MonotoneSteps(pairs, signs)
    X, y = noisy_problem(300, 3, 4, seed=5)
    wanted = {
        column: {pair: int(sign) for pair, sign in zip(pairs, of_column, strict=True) if sign}
        for column, of_column in enumerate(signs)
    }
    model = MarginBoostClassifier(
        5, monotonic_cst=wanted, learning_rate=1.0, max_features=1.0, random_state=0
    ).fit(X, y)
    for column, of_column in wanted.items():
        for (a, b), sign in of_column.items():
            check_monotone(model, X[:50], column, a, b, sign)
    # A cycle of three differences that may only rise: all of them are constant.
    F = np.stack([scores(model, moved) for moved in along(model, X[:50], 0)])
    assert (np.ptp(F[:, :, 1] - F[:, :, 0], axis=0) == 0.0).all()
    ensemble = model.ensemble_
    tree = type("Tree", (), {})()
    nodes, leaves = slice(*ensemble.node_offsets[:2]), slice(*ensemble.leaf_offsets[:2])
    for name in ("feature", "left", "right"):
        setattr(tree, name, getattr(ensemble, name)[nodes].tolist())
    vectors = ensemble.vectors[ensemble.leaf_vector[leaves]]
    assert steps.hold(tree, vectors)
    assert not steps.hold(tree, np.random.default_rng(0).normal(size=vectors.shape))


def test_a_tree_of_one_leaf_has_steps():
    tree = type("Tree", (), {"feature": np.zeros(0, dtype=np.int32), "left": [], "right": []})()
    steps = MonotoneSteps([(1, 0)], np.ones((1, 1), dtype=np.int8))
    found = steps.steps(tree, np.ones((1, 2)), np.ones((1, 2)), lambda own, against: own * 0.5)
    np.testing.assert_array_equal(found, [[0.5, 0.5]])


# --- interactions ---------------------------------------------------------------------------------


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
    from scipy import sparse

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
