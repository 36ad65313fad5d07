"""The migration guide: its names exist on both sides, and what it says of other libraries holds."""

import inspect
import re
from importlib import import_module

import numpy as np
import pytest
from page_support import ROOT, blocks_of, is_there
from scipy import sparse

from marginboost import MarginBoostClassifier

ROW = re.compile(r"^\| (?P<theirs>[^|]+) \|(?P<ours>[^|]*)\|", re.MULTILINE)
PAGE = ROOT / "docs" / "migrating.md"
LIBRARIES = {
    "LightGBM": ("lightgbm", "LGBMClassifier"),
    "XGBoost": ("xgboost", "XGBClassifier"),
    "CatBoost": ("catboost", "CatBoostClassifier"),
    "HistGradientBoostingClassifier": ("sklearn.ensemble", "HistGradientBoostingClassifier"),
}
# Names of the libraries that signatures do not show: LightGBM passes parameters on to its core, and
# scikit-learn sets attributes in fit.
UNSEEN = {
    "LightGBM": {
        "max_bin",
        "device_type",
        "deterministic",
        "scale_pos_weight",
        "is_unbalance",
        "monotone_constraints",
        "interaction_constraints",
        "early_stopping_round",
        "early_stopping",
    },
    "HistGradientBoostingClassifier": {"train_score_", "validation_score_"},
}
# Names that every reader will look for.
ASKED_FOR = {
    "LightGBM": {
        "best_iteration_",
        "evals_result_",
        "eval_set",
        "eval_metric",
        "early_stopping",
        "pred_contrib",
        "pred_leaf",
        "num_iteration",
        "init_model",
        "raw_score",
        "importance_type",
        "subsample",
        "colsample_bytree",
        "class_weight",
        "scale_pos_weight",
        "categorical_feature",
        "monotone_constraints",
        "interaction_constraints",
    },
    "XGBoost": {
        "best_iteration",
        "evals_result",
        "eval_set",
        "eval_metric",
        "early_stopping_rounds",
        "apply",
        "iteration_range",
        "xgb_model",
        "output_margin",
        "importance_type",
        "subsample",
        "colsample_bytree",
        "colsample_bynode",
        "scale_pos_weight",
        "enable_categorical",
        "missing",
        "monotone_constraints",
        "interaction_constraints",
    },
    "CatBoost": {
        "best_iteration_",
        "evals_result_",
        "eval_set",
        "eval_metric",
        "early_stopping_rounds",
        "calc_leaf_indexes",
        "ntree_end",
        "init_model",
        "prediction_type",
        "get_feature_importance",
        "subsample",
        "rsm",
        "class_weights",
        "cat_features",
        "monotone_constraints",
    },
    "HistGradientBoostingClassifier": {
        "max_iter",
        "max_features",
        "early_stopping",
        "scoring",
        "class_weight",
        "categorical_features",
        "monotonic_cst",
        "interaction_cst",
        "warm_start",
        "n_iter_",
        "validation_score_",
    },
}


def section(title):
    """Return the text of a section of the page."""
    return PAGE.read_text("utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]


def names_in(library):
    """Return (their names, ours) of a section's tables."""
    rows = list(ROW.finditer(section(f"From {library}")))
    assert len(rows) > 20
    found = []
    for column, heads in ("theirs", {"scikit", library}), ("ours", {"marginboost"}):
        found.append(set(re.findall(r"`(\w+)", "".join(row[column] for row in rows))) - heads)
    return found


@pytest.mark.parametrize("library", LIBRARIES)
def test_our_names(library):
    known = set(MarginBoostClassifier().get_params()) | set(dir(MarginBoostClassifier))
    known |= set(inspect.signature(MarginBoostClassifier.fit).parameters)
    known |= set(MarginBoostClassifier.__doc__.replace(",", " ").split())  # fitted attributes
    assert names_in(library)[1] <= known


@pytest.mark.parametrize("library", LIBRARIES)
def test_their_names(library):
    theirs = names_in(library)[0]
    assert theirs >= ASKED_FOR[library]
    module, name = LIBRARIES[library]
    pytest.importorskip(module)
    kind = getattr(import_module(module), name)
    known = set(dir(kind)) | set(kind().get_params()) | UNSEEN.get(library, set())
    for method in (kind.__init__, kind.fit, kind.predict, kind.predict_proba):
        known |= set(inspect.signature(method).parameters)
    assert theirs <= known


@pytest.mark.parametrize("library", ["LightGBM", "XGBoost", "CatBoost"])
def test_the_scripts_run_only_where_the_library_is(library, monkeypatch):
    module, name = LIBRARIES[library]
    monkeypatch.setattr("page_support.is_there", lambda module, least: True)
    assert any(f"{name}(" in block.code for block in blocks_of(PAGE))
    monkeypatch.setattr("page_support.is_there", lambda module, least: False)
    assert not any(module in block.code for block in blocks_of(PAGE))


def test_is_there():
    assert is_there("numpy", None)
    assert is_there("numpy", "1.20")
    assert not is_there("numpy", "1000")
    assert not is_there("no_such_module", None)


def defaults(column):
    """Return a column of the table of defaults, by the names of its rows."""
    lines = [
        line.strip("| ").split(" | ")
        for line in section("Defaults side by side").splitlines()
        if line.startswith("| ")
    ]
    place = [head.strip("| ") for head in lines[0]].index(column) + 1
    return {line[0]: line[place] for line in lines[1:]}


def test_defaults_of_lightgbm():
    lightgbm = pytest.importorskip("lightgbm")
    stated, real = defaults("LightGBM"), lightgbm.LGBMClassifier().get_params()
    assert stated["rounds"] == str(real["n_estimators"])
    assert stated["learning rate"] == str(real["learning_rate"])
    assert stated["size of a tree"] == f"{real['num_leaves']} leaves"
    assert stated["least rows per leaf"] == str(real["min_child_samples"])
    assert stated["L2 regularisation"] == f"{real['reg_lambda']:g}"
    assert (stated["rows per tree"], real["subsample_freq"]) == ("all", 0)
    assert (stated["features per tree"], real["colsample_bytree"]) == ("all", 1.0)


def test_defaults_of_scikit_learn():
    module, name = LIBRARIES["HistGradientBoostingClassifier"]
    stated, real = defaults("scikit-learn"), getattr(import_module(module), name)().get_params()
    assert stated["rounds"] == str(real["max_iter"])
    assert stated["learning rate"] == str(real["learning_rate"])
    assert stated["size of a tree"] == f"{real['max_leaf_nodes']} leaves"
    assert stated["least rows per leaf"] == str(real["min_samples_leaf"])
    assert stated["L2 regularisation"] == f"{real['l2_regularization']:g}"
    assert stated["bins"] == str(real["max_bins"])


def rows_with_zeros():
    """Return two problems: in one zeros are the smallest values, in the other the largest."""
    ones = np.random.default_rng(0).integers(2, size=(200, 2)).astype(np.float64)
    return [(ones, ones[:, 0].astype(int)), (-ones, ones[:, 0].astype(int))]


@pytest.mark.parametrize(
    ("library", "settings"),
    [
        ("LightGBM", {"verbosity": -1, "n_jobs": 1}),
        ("XGBoost", {"n_jobs": 1}),
        (
            "CatBoost",
            {"iterations": 5, "verbose": 0, "allow_writing_files": False, "thread_count": 1},
        ),
    ],
)
def test_zeros_that_a_sparse_matrix_does_not_store(library, settings):
    module, name = LIBRARIES[library]
    pytest.importorskip(module)
    same = []
    for X, y in rows_with_zeros():
        model = getattr(import_module(module), name)(**settings)
        model.fit(X, y)
        same.append((model.predict(sparse.csr_matrix(X)).ravel() == model.predict(X).ravel()).all())
    stated = defaults(library)["a zero that a sparse matrix does not store"]
    assert stated == ("zero" if all(same) else "**missing**")
    ours = [MarginBoostClassifier(5, random_state=0).fit(X, y) for X, y in rows_with_zeros()]
    for model, (X, _) in zip(ours, rows_with_zeros(), strict=True):
        assert (model.predict(sparse.csr_matrix(X)) == model.predict(X)).all()
