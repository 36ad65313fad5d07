"""Shapley values against the sum over all coalitions, and sums against scores, to the bit."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_ensembles import N_FEATURES, random_ensemble, random_rows
from scipy import sparse

from marginboost import _native
from marginboost.data.encoding import Encoding
from marginboost.model.builder import EnsembleBuilder
from marginboost.model.cover import leaf_cover
from marginboost.model.explanation import explain

PLAIN = Encoding.plain(N_FEATURES)
# Six ordered columns of three columns of X.
SHARED = Encoding(
    3,
    np.array([0, 0, 1, 1, 1, 2], dtype=np.int32),
    np.array([-np.inf, np.inf, -np.inf, np.inf, 0.0, np.inf]),
    (None,) * 3,
    (None,) * 6,
)


def game(ensemble, cover, player, x, known):
    """Return the scores where only some players' values are known, by a walk of every tree."""
    scores = np.zeros(ensemble.n_classes)
    for j in range(ensemble.n_trees):
        first, first_leaf = ensemble.node_offsets[j], ensemble.leaf_offsets[j]

        def below(child, first=first, first_leaf=first_leaf):
            if child < 0:
                return cover[first_leaf + ~child]
            return below(ensemble.left[first + child]) + below(ensemble.right[first + child])

        def value(child, first=first, first_leaf=first_leaf, below=below):
            if child < 0:
                leaf = first_leaf + ~child
                return ensemble.leaf_value[leaf] * ensemble.vectors[ensemble.leaf_vector[leaf]]
            node = first + child
            left, right = ensemble.left[node], ensemble.right[node]
            if player[ensemble.feature[node]] in known:
                return value(
                    left if x[ensemble.feature[node]] <= ensemble.threshold[node] else right
                )
            both = below(left) + below(right)
            share = below(left) / both if both else 0.5
            return share * value(left) + (1 - share) * value(right)

        scores += value(0 if ensemble.node_offsets[j + 1] > first else ~0)
    return scores


def brute_force(ensemble, cover, player, n_players, x):
    values = {
        known: game(ensemble, cover, player, x, known)
        for size in range(n_players + 1)
        for known in combinations(range(n_players), size)
    }
    contributions = np.zeros((n_players, ensemble.n_classes))
    for p in range(n_players):
        for known, value in values.items():
            if p not in known:
                more = tuple(sorted((*known, p)))
                n = len(known)
                weight = factorial(n) * factorial(n_players - n - 1) / factorial(n_players)
                contributions[p] += weight * (values[more] - value)
    return contributions, values[()]


def explained(ensemble, encoding, X, **settings):
    scores = ensemble.decision_function(X)
    classes = np.tile(np.arange(ensemble.n_classes), (len(X), 1))
    return *explain(ensemble, encoding, X, classes, scores, **settings), scores


@pytest.mark.parametrize("kind", ["shared", "own", "mixed"])
@pytest.mark.parametrize("encoding", [PLAIN, SHARED], ids=["plain", "shared"])
def test_all_coalitions_agree(kind, encoding):
    rng = np.random.default_rng(len(kind))
    ensemble = random_ensemble(rng, [0, 1, 3, 7, 12], kind=kind)
    X = random_rows(rng, 4)
    cover = leaf_cover(ensemble, random_rows(rng, 50), np.ones(50))
    contributions, base, _ = explained(ensemble.with_cover(cover), encoding, X)
    for i, x in enumerate(X):
        expected, mean = brute_force(ensemble, cover, encoding.source, encoding.n_features, x)
        np.testing.assert_allclose(contributions[i], expected, atol=1e-13)
        np.testing.assert_allclose(base[i], mean, atol=1e-13)


def test_long_paths_are_exact():
    """A chain of splits on many players: more than patterns are kept for."""
    n = 30
    encoding = Encoding.plain(n)
    builder = EnsembleBuilder(n, 1)
    builder.add_vector([1.0])
    chain = type("Chain", (), {})()
    chain.feature, chain.threshold = list(range(n)), [0.5] * n
    chain.left = [*range(1, n), ~0]
    chain.right = [~(j + 1) for j in range(n)]
    chain.leaf_value = [1.0] + [0.0] * n
    builder.append(chain, 0)
    builder.end_round()
    ensemble = builder.build()
    # Half of what comes to each node goes on: the product of n players, each 1 or a half.
    cover = np.append(1.0, [2.0 ** (n - 1 - j) for j in range(n)])
    contributions, base, scores = explained(ensemble.with_cover(cover), encoding, np.zeros((2, n)))
    # All are alike, so each has an equal part of 1 - 2^-n.
    np.testing.assert_allclose(contributions[:, :, 0], (1 - 0.5**n) / n, rtol=1e-12)
    assert (base + contributions.sum(axis=1) == scores).all()


def test_leaves_that_no_row_reaches():
    rng = np.random.default_rng(5)
    ensemble = random_ensemble(rng, [3, 7], kind="own")
    cover = leaf_cover(ensemble, random_rows(rng, 2), np.ones(2))
    assert (cover == 0).sum() > 4
    X = random_rows(rng, 20)
    contributions, _, _ = explained(ensemble.with_cover(cover), PLAIN, X)
    for i, x in enumerate(X):
        expected, _ = brute_force(ensemble, cover, PLAIN.source, N_FEATURES, x)
        np.testing.assert_allclose(contributions[i], expected, atol=1e-13)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["shared", "own", "mixed", "named"]))
def test_sums_are_scores_to_the_bit(seed, kind):
    rng = np.random.default_rng(seed)
    ensemble = random_ensemble(rng, rng.integers(0, 8, size=rng.integers(1, 12)), kind=kind)
    if rng.random() < 0.3:  # scores of any size
        builder = EnsembleBuilder.of(ensemble)
        builder.replace_vectors(ensemble.vectors * 2.0 ** rng.integers(-400, 400))
        ensemble = builder.build()
    X = random_rows(rng, 10)
    cover = leaf_cover(ensemble, random_rows(rng, 30), rng.exponential(size=30))
    contributions, base, scores = explained(ensemble.with_cover(cover), PLAIN, X)
    sums = base + contributions.sum(axis=1)
    for _ in range(3):
        order = rng.permutation(N_FEATURES)
        assert (base + contributions[:, order].sum(axis=1) == sums).all()
        assert (base + contributions[:, order].cumsum(axis=1)[:, -1] == sums).all()
    provable = np.abs(scores) >= np.abs(base)
    assert (sums == scores)[provable].all()
    assert (np.abs(sums - scores) <= np.spacing(np.abs(base))).all()


def test_classes_threads_and_layouts_do_not_matter():
    rng = np.random.default_rng(1)
    ensemble = random_ensemble(rng, [7] * 20, n_classes=5, kind="own")
    X = random_rows(rng, 150)
    weight = rng.exponential(size=150)
    cover = leaf_cover(ensemble, X, weight)
    assert (leaf_cover(ensemble, sparse.csr_array(X), weight, n_threads=3) == cover).all()
    ensemble = ensemble.with_cover(cover)
    contributions, base, scores = explained(ensemble, PLAIN, X)
    other, _, _ = explained(ensemble, PLAIN, X, n_threads=4)
    assert (other == contributions).all()
    top = np.argsort(-scores, axis=1)[:, :2]
    asked = np.take_along_axis(scores, top, axis=1)
    some, its_base = explain(ensemble, PLAIN, np.asfortranarray(X), top, asked, n_threads=2)
    assert (some == np.take_along_axis(contributions, top[:, None], axis=2)).all()
    assert (its_base == np.take_along_axis(base, top, axis=1)).all()
    thin, _ = explain(ensemble, PLAIN, sparse.csr_array(X), top, asked)
    assert (thin == some).all()


def test_cover_is_counted_by_leaf():
    rng = np.random.default_rng(2)
    ensemble = random_ensemble(rng, [0, 1, 7, 5], kind="own")
    X, weight = random_rows(rng, 40), rng.integers(1, 5, size=40).astype(float)
    cover = leaf_cover(ensemble, X, weight, n_threads=2)
    leaves = np.concatenate([ensemble.tree_outputs(X, j) for j in range(ensemble.n_trees)])
    assert (cover == np.bincount(leaves, np.tile(weight, 4), minlength=len(cover))).all()


def test_wrong_covers_are_refused():
    rng = np.random.default_rng(3)
    ensemble = random_ensemble(rng, [3], kind="own")
    n = len(ensemble.leaf_value)
    X = random_rows(rng, 2)
    with pytest.raises(ValueError, match="must have a leaf_cover"):
        explained(ensemble, PLAIN, X)
    for cover, sentence in [
        (np.ones(n + 1), "one entry per leaf"),
        (np.full(n, -1.0), "not negative"),
        (np.full(n, np.nan), "not negative"),
        (np.ones(n, dtype=np.float32), "float64"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            ensemble.with_cover(cover)
    for wrong in (
        {"player": np.full(N_FEATURES, 9, dtype=np.int32)},
        {"leaf_cover": np.ones(n + 1)},
    ):
        arrays = {
            name: getattr(ensemble, name)
            for name in ("vectors", "round_offsets", "node_offsets", "feature", "threshold", "left",
                         "right", "leaf_offsets", "leaf_vector", "leaf_value", "n_features")
        }  # fmt: skip
        arguments = {"leaf_cover": np.ones(n), "player": PLAIN.source, **wrong}
        with pytest.raises(ValueError, match="must"):
            _native.Explainer(**arrays, **arguments, n_players=N_FEATURES)
