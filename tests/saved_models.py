"""Small models of all kinds, for the tests of files: fitted in a moment, with files of a few kB.

Run as a program, it writes the files that are kept for ever: once a format, before its first release.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

import marginboost
from marginboost.data.encoding import Encoding

NAMES = ["size", "colour", "weight <kg>", "code"]
KEPT = Path(__file__).parent / "model" / "kept"


def iris(n_rows=150):
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(X))[:n_rows]
    return X[rows], y[rows]


def mixed_rows(n_rows=300):
    """Columns of numbers with missing values, of text and of numbers as categories; and three classes.

    Categories are given by their places, as an encoding takes them.
    """
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n_rows)
    X = np.column_stack([
        rng.normal(size=n_rows) + y,
        rng.integers(0, 4, n_rows),
        rng.normal(size=n_rows),
        (rng.integers(0, 2, n_rows) + y) % 3,
    ]).astype(np.float64)  # fmt: skip
    X[(rng.random(n_rows) < 0.5) & (y == 1), 0] = np.nan
    X[rng.random(n_rows) < 0.1, 1] = np.nan
    X[rng.random(n_rows) < 0.1, 3] = np.nan
    return X, y


def mixed_encoding():
    """Two ordered columns of numbers with missing values on either side; two of text; and so on."""
    return Encoding(
        4,
        np.array([0, 0, 1, 1, 2, 3], dtype=np.int32),
        np.array([-np.inf, np.inf, -np.inf, 0.5, np.inf, np.inf]),
        (None, ("red", "green", "", "bl\u00fcu \U0001f600"), None, (1.0, -2.5, 1e300)),
        (None, None, np.array([0.1, 3.0, 1.0, 2.0]), np.array([4.0, 0.0, 1.0, 1.0]), None,
         np.array([1.0, 0.0, 2.0])),
    )  # fmt: skip


def fit_encoded(model, X, y, encoding, names=None):
    """Fit on the ordered columns of an encoding, and make it the model's."""
    model.fit(np.clip(encoding.apply(X), -1e6, 1e6), y)
    model.encoding_ = encoding
    model.n_features_in_ = encoding.n_features
    model.feature_importances_ = np.bincount(
        encoding.source, weights=np.resize(model.feature_importances_, encoding.n_ordered)
    )
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


def scores_of(model, X):
    """F by the model's own parts, for rows in which categories are places."""
    return model.ensemble_.decision_function(model.encoding_.apply(X))


def _mixed():
    model = marginboost.MarginBoostClassifier(6, max_leaf_nodes=5, max_features=1.0, random_state=3)
    X, y = mixed_rows()
    return fit_encoded(model, X, np.array(["a", "b", "c"])[y], mixed_encoding(), NAMES), X


def frame_of(X, categories):
    """Return rows in which categories are places as a frame in which they are themselves."""
    columns = {}
    for number, (name, of_column) in enumerate(zip(NAMES, categories, strict=True)):
        values = X[:, number]
        if of_column is None:
            columns[name] = values
        else:
            columns[name] = [None if np.isnan(v) else of_column[int(v)] for v in values]
    return pd.DataFrame(columns)


def places_in(frame, encoding):
    """Return a frame's rows with categories as their places, NaN where they have none."""
    X = np.empty(frame.shape)
    for number, (name, of_column) in enumerate(zip(frame, encoding.categories, strict=True)):
        if of_column is None:
            X[:, number] = frame[name]
        else:
            place = {category: n for n, category in enumerate(of_column)}
            X[:, number] = [place.get(value, np.nan) for value in frame[name]]
    return X


def _frame():
    X, y = mixed_rows()
    frame = frame_of(X, mixed_encoding().categories)
    model = marginboost.MarginBoostClassifier(
        6,
        max_leaf_nodes=5,
        max_features=1.0,
        random_state=3,
        categorical_features=["colour", "code"],
    )
    model.fit(frame, np.array(["a", "b", "c"])[y])
    return model, places_in(frame, model.encoding_)


def _plain(model, X, y):
    return model.fit(X, y), X


def _cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:200, :6], y[:200].astype(bool)


def _wine():
    X, y = load_wine(return_X_y=True)
    return X, np.array(["Barolo", "Grignolino", "Barbera"], dtype=object)[y]


MODELS = {
    "vector_leaves": lambda: _plain(
        marginboost.MarginBoostClassifier(5, max_leaf_nodes=6, random_state=0), *iris()
    ),
    "stumps": lambda: _plain(marginboost.MCBoostClassifier(12, learning_rate=0.25), *_wine()),
    "trees": lambda: _plain(
        marginboost.MCBoostClassifier(4, loss="logistic", max_depth=3, class_weight={False: 0.5}),
        *_cancer(),
    ),
    "path": lambda: _plain(marginboost.MultiBoostClassifier(4, keep_path=True), *iris()),
    "samme": lambda: _plain(marginboost.SAMMEClassifier(5), iris()[0], iris()[1] * 2.0),
    "mh": lambda: _plain(marginboost.AdaBoostMHClassifier(5), iris()[0], iris()[1].astype("u2")),
    "ecc": lambda: _plain(marginboost.AdaBoostECCClassifier(5, random_state=0), *iris()),
    "sip": lambda: _plain(
        marginboost.AdaBoostSIPClassifier(5), iris()[0], np.array(["x", "yy", "zzz"])[iris()[1]]
    ),
    "mo": lambda: _plain(marginboost.AdaBoostMOClassifier(3, max_depth=2), *iris()),
    "gradboost": lambda: _plain(marginboost.GradBoostClassifier(5), *iris()),
    "jointboost": lambda: _plain(marginboost.JointBoostClassifier(4), *iris()),
    "mixed": _mixed,
    "frame": _frame,
    "costs": lambda: _plain(
        marginboost.MarginBoostClassifier(
            4,
            max_leaf_nodes=4,
            random_state=0,
            cost_matrix={"Barbera": {"Barolo": 9}, "Barolo": {"Barbera": 2.5, "Grignolino": 0}},
            classes_order=["Grignolino", "Barbera", "Barolo"],
        ),
        *_wine(),
    ),
}
# Models that need a later format of files than the first.
FORMATS = {"costs": 2}


def write_kept(number):
    """Write the files of a format."""
    KEPT.mkdir(exist_ok=True)
    for name, make in MODELS.items():
        if FORMATS.get(name, 1) != number:
            continue
        model, X = make()
        model.save(KEPT / f"format_{number}_{name}.safetensors")
        X = X[:40]
        scores = scores_of(model, X)
        np.savez_compressed(
            KEPT / f"format_{number}_{name}.npz",
            X=X,
            scores=scores,
            probabilities=model._probabilities(scores),
            decided=model._decide(scores),
        )


if __name__ == "__main__":
    write_kept(int(sys.argv[1]))
