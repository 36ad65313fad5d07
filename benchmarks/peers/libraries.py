"""The libraries: how to create each, predict one row with it, and save it.

Ours: once with its defaults, which decide the number of rounds and much else, and once with as many
rounds as the peers. Peers: a number of rounds, learning rate 0.1, two threads; otherwise their
defaults. None prints anything.
"""

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

OURS = "marginboost"
FIXED = "marginboost-100"
THREADS = 2
PEER_ROUNDS = 100
RATE = 0.1

# Maps one row, a 1-D array, to its probabilities.
OneRow = Callable[[Any], Any]


@dataclass(frozen=True)
class Library:
    """What the benchmark needs to know about a library."""

    title: str
    module: str
    make: Callable[[int | None], Any]
    one_row: Callable[[Any], dict[str, OneRow]]
    save: Callable[[Any, Path], None]
    takes_sparse: bool = True

    def version(self) -> str:
        return str(import_module(self.module).__version__)

    def is_installed(self) -> bool:
        return find_spec(self.module) is not None


def _predict_proba(model) -> dict[str, OneRow]:
    return {"predict_proba": lambda row: model.predict_proba(row[None, :])}


def _pickle(model, path: Path) -> None:
    path.write_bytes(pickle.dumps(model, protocol=pickle.HIGHEST_PROTOCOL))


# --- marginboost ----------------------------------------------------------------------------------


def _make_ours(rounds):
    model = import_module(OURS).MarginBoostClassifier(n_jobs=THREADS, random_state=0)
    return model if rounds is None else model.set_params(n_estimators=rounds)


def _make_fixed(rounds):
    return _make_ours(rounds or PEER_ROUNDS)


def _one_row_of_ours(model):
    ways = _predict_proba(model)
    if hasattr(model, "compile"):
        ways["compile().predict_proba"] = model.compile().predict_proba
    return ways


def _save_ours(model, path):
    if hasattr(model, "save"):
        model.save(path)
    else:
        _pickle(model, path)


def fingerprint() -> str:
    """Return an identifier of this build of marginboost, so that no old result is reused."""
    folder = Path(import_module(OURS).__file__).parent
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".so", ".pyd"))
    return sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


# --- peers ----------------------------------------------------------------------------------------


def _make_lightgbm(rounds):
    kind = import_module("lightgbm").LGBMClassifier
    return kind(
        n_estimators=rounds or PEER_ROUNDS, learning_rate=RATE, n_jobs=THREADS, verbosity=-1
    )


def _one_row_of_lightgbm(model):
    booster = model.booster_
    return {"Booster.predict": lambda row: booster.predict(row[None, :], num_threads=1)}


def _make_xgboost(rounds, **settings):
    kind = import_module("xgboost").XGBClassifier
    return kind(
        n_estimators=rounds or PEER_ROUNDS,
        learning_rate=RATE,
        n_jobs=THREADS,
        verbosity=0,
        **settings,
    )


def _make_xgboost_vector(rounds):
    return _make_xgboost(rounds, multi_strategy="multi_output_tree")


def _one_row_of_xgboost(model):
    booster = model.get_booster().copy()
    booster.set_param({"nthread": 1})

    predict = booster.inplace_predict
    return {
        "Booster.inplace_predict": lambda row: predict(row[None, :]),
        # For a model fitted on CSR, entries that are not stored are missing.
        "Booster.inplace_predict, missing=0": lambda row: predict(row[None, :], missing=0.0),
    }


def _make_catboost(rounds):
    kind = import_module("catboost").CatBoostClassifier
    return kind(
        iterations=rounds or PEER_ROUNDS,
        learning_rate=RATE,
        thread_count=THREADS,
        verbose=False,
        allow_writing_files=False,
    )


def _one_row_of_catboost(model):
    return {"predict_proba": lambda row: model.predict_proba(row, thread_count=1)}


def _make_hgb(rounds):
    kind = import_module("sklearn.ensemble").HistGradientBoostingClassifier
    return kind(max_iter=rounds or PEER_ROUNDS, learning_rate=RATE)


def _one_row_of_hgb(model):
    threadpool_limits(1)  # for the rest of the process: two threads for one row are slower
    return _predict_proba(model)


LIBRARIES = {
    OURS: Library("marginboost", OURS, _make_ours, _one_row_of_ours, _save_ours),
    FIXED: Library(
        f"marginboost, {PEER_ROUNDS} rounds", OURS, _make_fixed, _one_row_of_ours, _save_ours
    ),
    "lightgbm": Library(
        "LightGBM",
        "lightgbm",
        _make_lightgbm,
        _one_row_of_lightgbm,
        lambda model, path: model.booster_.save_model(path),
    ),
    "xgboost": Library(
        "XGBoost",
        "xgboost",
        _make_xgboost,
        _one_row_of_xgboost,
        lambda model, path: model.save_model(path.with_suffix(".ubj")),
    ),
    "xgboost-vector": Library(
        "XGBoost vector-leaf",
        "xgboost",
        _make_xgboost_vector,
        _one_row_of_xgboost,
        lambda model, path: model.save_model(path.with_suffix(".ubj")),
    ),
    "catboost": Library(
        "CatBoost",
        "catboost",
        _make_catboost,
        _one_row_of_catboost,
        lambda model, path: model.save_model(str(path)),
    ),
    "sklearn-hgb": Library(
        "scikit-learn HGB", "sklearn", _make_hgb, _one_row_of_hgb, _pickle, takes_sparse=False
    ),
}
PEERS = tuple(name for name in LIBRARIES if name not in (OURS, FIXED))
