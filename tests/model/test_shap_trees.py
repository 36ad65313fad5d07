"""The trees that shap reads: they give the model's scores. tests/oracle/test_shap.py runs shap itself."""

import numpy as np
import pytest
from random_ensembles import random_ensemble, random_rows

from marginboost.data.encoding import Encoding
from marginboost.model.cover import leaf_cover
from marginboost.model.shap_trees import shap_trees

# Six ordered columns of three columns of X; the second, of two, has missing values.
ENCODING = Encoding(
    3,
    np.array([0, 0, 1, 1, 2, 2], dtype=np.int32),
    np.array([-np.inf, np.inf, -np.inf, np.inf, 0.25, 0.25]),
    (None,) * 3,
    (None,) * 6,
)


def covered(rng, n_rows=40, sizes=(6, 0, 15)):
    """Return an ensemble whose cover is that of random rows."""
    ensemble = random_ensemble(rng, list(sizes), kind="own")
    X = ENCODING.apply(random_rows(rng, n_rows, n_features=3))
    return ensemble.with_cover(leaf_cover(ensemble, X, np.ones(n_rows)))


def walk(tree, x):
    """Return the values of the leaf that a row reaches, as shap finds it."""
    node = 0
    while tree["children_left"][node] >= 0:
        value = x[tree["features"][node]]
        side = "left" if value <= tree["thresholds"][node] else "right"
        node = tree["children_" + ("default" if np.isnan(value) else side)][node]
    return tree["values"][node]


def test_scores():
    rng = np.random.default_rng(0)
    ensemble = covered(rng)
    X = random_rows(rng, 60, n_features=3)
    X[rng.integers(3, size=X.shape) == 0] = np.nan
    described = shap_trees(ensemble, ENCODING)
    scores = np.array([sum(walk(tree, x) for tree in described["trees"]) for x in X])
    assert np.allclose(scores, ensemble.decision_function(ENCODING.apply(X)), rtol=1e-14)


def test_weights_are_positive_and_their_ratios_are_those_of_the_rows():
    ensemble = covered(np.random.default_rng(1), n_rows=5)
    assert (ensemble.leaf_cover == 0).any()
    for j, tree in enumerate(shap_trees(ensemble, ENCODING)["trees"]):
        weight = tree["node_sample_weight"]
        assert (weight > 0).all()
        assert weight[0] == 1.0
        n_nodes = np.diff(ensemble.node_offsets)[j]
        cover = ensemble.leaf_cover[slice(*ensemble.leaf_offsets[j : j + 2])]
        reached = cover > 0
        assert np.allclose(weight[n_nodes:][reached], cover[reached] / cover.sum(), rtol=1e-14)
        assert (weight[n_nodes:][~reached] < 1e-29).all()


def test_a_node_without_rows_is_halved():
    ensemble = covered(np.random.default_rng(2))
    ensemble = ensemble.with_cover(np.zeros_like(ensemble.leaf_cover))
    tree = shap_trees(ensemble, ENCODING)["trees"][0]
    weight, inner = tree["node_sample_weight"], tree["children_left"] >= 0
    for side in ("children_left", "children_right"):
        assert (weight[tree[side][inner]] == weight[inner] / 2).all()


def test_what_cannot_be_described():
    rng = np.random.default_rng(3)
    with pytest.raises(ValueError, match="must have a leaf_cover"):
        shap_trees(random_ensemble(rng, [3]), ENCODING)
    text = Encoding(
        3,
        ENCODING.source,
        ENCODING.fill,
        (None, ("a", "b"), None),
        (None, None, np.arange(2.0), np.arange(2.0), None, None),
    )
    ensemble = covered(rng)
    with pytest.raises(
        ValueError, match=r"columns of categories: \[1\].*explain\(X\)\.to_shap\(\)"
    ):
        shap_trees(ensemble, text)
    unused = random_ensemble(rng, [0])
    assert len(shap_trees(unused.with_cover(np.ones(1)), text)["trees"]) == 1
