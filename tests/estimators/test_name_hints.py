"""Names from other libraries: errors say what they are called here."""

import inspect
import pickle

import pytest
from every_method import EVERY_METHOD, MODELS
from sklearn.base import clone

from marginboost import MarginBoostClassifier, MarginBoostClassifierCV, MCBoostClassifier
from marginboost.estimators.name_hints import NameHints

X, Y = [[0.0], [1.0]], [0, 1]


def test_constructor():
    expected = "num_leaves is LightGBM's name; here it is max_leaf_nodes"
    with pytest.raises(TypeError, match=expected):
        MarginBoostClassifier(num_leaves=31)
    with pytest.raises(TypeError, match=r"num_leaves is .*; MCBoostClassifier has no counterpart"):
        MCBoostClassifier(num_leaves=31)
    with pytest.raises(TypeError, match="eta is XGBoost's, LightGBM's and CatBoost's name"):
        MarginBoostClassifier(eta=0.1)
    with pytest.raises(TypeError, match="X_val is an argument of fit"):
        MarginBoostClassifier(X_val=X)


def test_set_params():
    model = MarginBoostClassifier(7)
    with pytest.raises(
        ValueError, match="num_leaves is LightGBM's name; here it is max_leaf_nodes"
    ):
        model.set_params(num_leaves=31, n_estimators=9)
    assert model.n_estimators == 7
    assert model.set_params(n_estimators=9, max_leaf_nodes=31) is model
    assert (model.n_estimators, model.max_leaf_nodes) == (9, 31)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("eval_set", "as X_val and y_val"),
        (
            "early_stopping_rounds",
            "n_iter_no_change of the classifier, together with early_stopping",
        ),
        ("init_model", "warm_start=True"),
        ("cat_features", "here it is categorical_features"),
        ("verbose", r"a parameter of the classifier: MarginBoostClassifier\(verbose=...\)"),
    ],
)
def test_fit(name, expected):
    with pytest.raises(TypeError, match=rf"MarginBoostClassifier.fit has no .*{expected}"):
        MarginBoostClassifier(2).fit(X, Y, **{name: None})
    with pytest.raises(TypeError, match="MarginBoostClassifierCV has no counterpart"):
        MarginBoostClassifierCV().fit(X, Y, eval_set=[(X, Y)])


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_predict(method):
    with pytest.raises(TypeError, match="raw_score is LightGBM's name; here decision_function"):
        getattr(MarginBoostClassifier(), method)(X, raw_score=True)
    with pytest.raises(TypeError, match=r"pred_leaf is .*; here apply returns the leaves"):
        getattr(MarginBoostClassifier(), method)(X, pred_leaf=True)


def test_a_name_that_nobody_has():
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        MarginBoostClassifier(nonsense=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        MarginBoostClassifier().fit(X, Y, nonsense=1)
    with pytest.raises(ValueError, match="Invalid parameter 'nonsense'"):
        MarginBoostClassifier().set_params(nonsense=1)


@EVERY_METHOD
def test_signatures_stay(name):
    kind = type(MODELS[name])
    written = inspect.unwrap(kind.__init__)
    assert written is not kind.__init__
    assert inspect.signature(kind.__init__) == inspect.signature(written)
    assert set(inspect.signature(kind).parameters) == set(MODELS[name].get_params())
    same = pickle.loads(pickle.dumps(clone(MODELS[name])))
    assert same.get_params() == MODELS[name].get_params()


def test_subclasses_may_use_such_names():
    class Renamed(MarginBoostClassifier):
        def __init__(self, num_leaves=31):
            super().__init__(4, max_leaf_nodes=num_leaves)
            self.num_leaves = num_leaves

    class Open(NameHints):
        def __init__(self, **others):
            self.others = others

    assert Renamed(num_leaves=8).max_leaf_nodes == 8
    assert Open(num_leaves=8).others == {"num_leaves": 8}
