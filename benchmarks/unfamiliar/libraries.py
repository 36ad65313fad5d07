"""The libraries at their defaults: how each is made, and how it takes categories.

Nothing is tuned. The number of threads is given, and a seed where there is one.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module, metadata
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.peers.libraries import OURS, fingerprint

__all__ = ["LIBRARIES", "OURS", "PEERS", "Library", "fingerprint", "variant"]

HGB_LEVELS = 255  # more levels than these HGB refuses
Frame = pd.DataFrame


@dataclass(frozen=True)
class Library:
    """What the benchmark needs to know about a library.

    `make` takes threads and settings; `take` maps a frame to what the library accepts; `named`
    is the keyword of `fit` that lists categorical columns, if it needs one.
    """

    name: str
    title: str
    packages: tuple[str, ...]
    make: Callable[[int, dict[str, Any]], Any]
    take: Callable[[Frame], Frame]
    named: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)

    def fit(self, X: Frame, y: np.ndarray, threads: int) -> Any:
        model = self.make(threads, self.settings)
        extra = {self.named: _categorical(X)} if self.named else {}
        return model.fit(self.take(X), y, **extra)

    def predict_proba(self, model: Any, X: Frame) -> np.ndarray:
        return np.asarray(model.predict_proba(self.take(X)), dtype=np.float64)

    def versions(self) -> dict[str, str]:
        return {name: _version(name) for name in self.packages}


def _version(name):
    for candidate in (name, f"{name}-cpu"):
        try:
            return metadata.version(candidate)
        except metadata.PackageNotFoundError:
            continue
    return str(import_module(name).__version__)


# --- how categories are passed --------------------------------------------------------------------


def _categorical(X):
    return [c for c in X if isinstance(X[c].dtype, pd.CategoricalDtype)]


def _as_they_are(X):
    return X


def _as_codes(X, only=None):
    """Return ordinal codes instead of categories, and NaN where one is missing."""
    X = X.copy()
    for column in _categorical(X) if only is None else only:
        codes = X[column].cat.codes.astype(np.float64)
        X[column] = codes.where(codes >= 0)
    return X


def _as_text(X):
    X = X.copy()
    for column in _categorical(X):
        X[column] = X[column].astype(object).fillna("(missing)").astype(str)
    return X


def _many_levels_as_codes(X):
    many = [c for c in _categorical(X) if len(X[c].cat.categories) > HGB_LEVELS]
    return _as_codes(X, many) if many else X


# --- how models are made --------------------------------------------------------------------------


def _ours(threads, settings):
    settings = dict(settings)
    kind = getattr(import_module(OURS), settings.pop("class", "MarginBoostClassifier"))
    return kind(**{"n_jobs": threads, "random_state": 0} | settings)


def _lightgbm(threads, settings):
    return import_module("lightgbm").LGBMClassifier(
        n_jobs=threads, random_state=0, verbosity=-1, **settings
    )


def _xgboost(threads, settings):
    return import_module("xgboost").XGBClassifier(
        n_jobs=threads, random_state=0, verbosity=0, enable_categorical=True, **settings
    )


def _catboost(threads, settings):
    return import_module("catboost").CatBoostClassifier(
        thread_count=threads, random_seed=0, verbose=False, allow_writing_files=False, **settings
    )


def _hgb(threads, settings):  # its threads are those of OpenMP, limited by the environment
    return import_module("sklearn.ensemble").HistGradientBoostingClassifier(
        random_state=0, **settings
    )


def _extra_trees(threads, settings):
    return import_module("sklearn.ensemble").ExtraTreesClassifier(
        n_jobs=threads, random_state=0, **settings
    )


def _chimeraboost(threads, settings):
    return import_module("chimeraboost").ChimeraBoostClassifier(
        thread_count=threads, random_state=0, **settings
    )


_XGBOOST, _CATBOOST, _SKLEARN = ("xgboost",), ("catboost",), ("scikit-learn",)
_RATE = {"learning_rate": 0.1}
_VECTOR = {**_RATE, "multi_strategy": "multi_output_tree"}  # takes no categories
_CHIMERA = ("chimeraboost", "numba")
_ALL = (  # quick ones first
    Library(OURS, OURS, (OURS,), _ours, _as_they_are),
    Library("lightgbm", "LightGBM", ("lightgbm",), _lightgbm, _as_they_are),
    Library("xgboost", "XGBoost", _XGBOOST, _xgboost, _as_they_are),
    Library("xgboost-0.1", "XGBoost, rate 0.1", _XGBOOST, _xgboost, _as_they_are, settings=_RATE),
    Library("hgb", "HGB", _SKLEARN, _hgb, _many_levels_as_codes),
    Library(
        "extra-trees",
        "ExtraTrees (500)",
        _SKLEARN,
        _extra_trees,
        _as_codes,
        settings={"n_estimators": 500},
    ),
    Library(
        "chimeraboost", "ChimeraBoost", _CHIMERA, _chimeraboost, _as_they_are, named="cat_features"
    ),
    Library(
        "catboost-100",
        "CatBoost, 100 rounds",
        _CATBOOST,
        _catboost,
        _as_text,
        named="cat_features",
        settings={"iterations": 100},
    ),
    Library(
        "xgboost-vector",
        "XGBoost, vector leaves, rate 0.1",
        _XGBOOST,
        _xgboost,
        _as_codes,
        settings=_VECTOR,
    ),
    Library("catboost", "CatBoost", _CATBOOST, _catboost, _as_text, named="cat_features"),
)
LIBRARIES = {library.name: library for library in _ALL}
PEERS = tuple(name for name in LIBRARIES if name != OURS)

# The best static setting that was found on other data, for comparison.
VARIANTS: dict[str, dict[str, Any]] = {
    "static": {
        "loss": "logistic",
        "n_estimators": 300,
        "learning_rate": 0.05,
        "max_bins": 255,
        "max_leaf_nodes": 31,
        "max_features": 1.0,
    }
}


def variant(text: str) -> Library:
    """Return our library with settings: a known NAME, or NAME=JSON with parameters.

    "class" among the parameters names another class of the package.
    """
    name, _, given = text.partition("=")
    if given:
        settings = json.loads(given)
        if not isinstance(settings, dict):
            raise ValueError(f"The settings of {name} must be a JSON object; found {given}.")
    elif name in VARIANTS:
        settings = VARIANTS[name]
    else:
        raise ValueError(
            f"A variant must be one of {', '.join(VARIANTS)}, or NAME=JSON; found {text}."
        )
    return Library(
        f"{OURS}-{name}", f"{OURS}, {name}", (OURS,), _ours, _as_they_are, settings=settings
    )
