"""`apply`: the leaves of every tree, for all classifiers and kinds of rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from every_method import EVERY_METHOD, MODELS
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from support import embedded

from marginboost import MarginBoostClassifier, MarginBoostClassifierCV

TREES = MarginBoostClassifier(6, random_state=0)


def scores_of(model, leaves):
    """Add up what the leaves add to the scores, tree after tree."""
    ensemble = model.ensemble_
    scores = np.zeros((len(leaves), ensemble.n_classes))
    for j, of_tree in enumerate(leaves.T):
        leaf = ensemble.leaf_offsets[j] + of_tree
        assert (leaf < ensemble.leaf_offsets[j + 1]).all()
        scores += ensemble.leaf_value[leaf, None] * ensemble.vectors[ensemble.leaf_vector[leaf]]
    return scores


@EVERY_METHOD
def test_the_leaves_give_the_scores(name):
    X, y = embedded("wine")
    model = clone(MODELS[name]).fit(X, y)
    leaves = model.apply(X)
    assert leaves.shape == (len(X), model.ensemble_.n_trees)
    assert leaves.dtype == np.int32
    assert (scores_of(model, leaves) == model.decision_function(X)).all()


def test_frames():
    X, y = embedded("wine")
    frame = pd.DataFrame(X[:, :4], columns=list("abcd"))
    frame["kind"] = pd.Categorical(np.where(y == 1, "red", "white"))
    frame.loc[::5, "b"] = np.nan
    model = clone(TREES).fit(frame, y)
    leaves = model.apply(frame)
    assert (scores_of(model, leaves) == model.decision_function(frame)).all()
    assert (model.apply(frame[[*list("dcba"), "kind"]]) == leaves).all()  # by name, in any order
    assert (model.apply(pl.from_pandas(frame)) == leaves).all()


def test_sparse_rows():
    X, y = embedded("digits")
    model = clone(TREES).fit(sparse.csr_matrix(X[:400]), y[:400])
    leaves = model.apply(X[400:500])
    assert (model.apply(sparse.csr_matrix(X[400:500])) == leaves).all()
    assert (model.apply(sparse.csc_array(X[400:500])) == leaves).all()
    assert (scores_of(model, leaves) == model.decision_function(X[400:500])).all()


def test_the_sum_of_several_fits():
    X, y = embedded("wine")
    model = MarginBoostClassifierCV(time_limit=1e-9, cv=2, random_state=0).fit(X, y)
    assert (scores_of(model, model.apply(X)) == model.decision_function(X)).all()


def test_dask_collections():
    array = pytest.importorskip("dask.array")
    frames = pytest.importorskip("dask.dataframe")
    X, y = embedded("wine")
    model = clone(TREES).fit(X, y)
    leaves = model.apply(X)
    found = model.apply(array.from_array(X, chunks=(50, 5)))
    assert found.shape == leaves.shape
    assert (found.compute() == leaves).all()
    frame = pd.DataFrame(X)
    frame.columns = [f"c{j}" for j in frame]
    named = clone(TREES).fit(frame, y)
    found = named.apply(frames.from_pandas(frame, npartitions=2)).compute()
    assert (found.to_numpy() == named.apply(frame)).all()


def test_not_fitted():
    with pytest.raises(NotFittedError):
        MarginBoostClassifier().apply([[1.0]])
