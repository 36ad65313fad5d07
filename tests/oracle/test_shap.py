"""Explanations against the package shap, and in its plots."""

import numpy as np
import pandas as pd
import pytest
from support import embedded

from marginboost import MarginBoostClassifier, MCBoostClassifier

shap = pytest.importorskip("shap", reason="needs the package shap")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

MODELS = [
    MarginBoostClassifier(8, min_samples_leaf=1, random_state=0),
    MCBoostClassifier(20),
    MCBoostClassifier(5, max_depth=3),
]


@pytest.mark.parametrize("name", ["wine", "breast_cancer"])
@pytest.mark.parametrize("model", MODELS)
def test_tree_explainer(model, name):
    X, y = embedded(name)
    X = np.array(X, dtype=np.float64)
    X[::7, 2] = np.nan
    model.fit(X[20:], y[20:])
    rows = np.concatenate([X[:30], np.full((1, X.shape[1]), np.nan)])
    explainer, ours = shap.TreeExplainer(model.to_shap()), model.explain(rows)
    assert np.allclose(explainer.shap_values(rows), ours.contributions, atol=1e-10)
    assert np.allclose(explainer.expected_value, ours.base[0], atol=1e-10)


def test_explanation():
    X, y = embedded("wine")
    model = MODELS[0].fit(X, y)
    ours = model.explain(X[:9])
    theirs = ours.to_shap()
    assert (theirs.values == ours.contributions).all()
    assert (theirs.base_values == ours.base).all()
    assert (theirs.data == X[:9]).all()
    assert theirs.output_names == ["0", "1", "2"]
    assert (theirs[:, :, "1"].values == ours.contributions[:, :, 1]).all()
    one = model.explain(X[:9], top=1).to_shap()
    assert one.values.shape == (9, X.shape[1])
    assert one.base_values.shape == (9,)
    assert model.explain(X[::20], top=2).to_shap().output_names == ["rank 1", "rank 2"]


def test_categories_and_plots():
    plt = pytest.importorskip("matplotlib.pyplot")
    X, y = embedded("wine")
    frame = pd.DataFrame(X[:, :3], columns=["first", "second", "third"])
    frame["colour"] = pd.Categorical(np.where(y == 1, "red", np.where(y == 2, "pink", "white")))
    model = MODELS[0].fit(frame, y)
    theirs = model.explain(frame[:30]).to_shap()
    assert theirs.feature_names == ["first", "second", "third", "colour"]
    assert theirs[0, :, "1"].display_data[3] == "white"
    plt.switch_backend("Agg")
    shap.plots.waterfall(theirs[0, :, "1"], show=False)
    assert any("white" in label.get_text() for label in plt.gca().get_yticklabels())
    plt.close("all")
