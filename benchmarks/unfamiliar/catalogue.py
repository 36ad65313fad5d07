"""All sets by group, and how each is read.

study: defaults may be chosen on them. fourteen: those of benchmarks/peers, on which the defaults of
0.1 were chosen; its two sets of texts are left out, because half of the libraries take no sparse
matrix. fresh: nothing was chosen on them. bundled: for the tests.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris

from benchmarks import data
from benchmarks.unfamiliar.fresh import FRESH

GROUPS = ("study", "fresh", "fourteen")
STUDY = (
    *("balance_scale", "car", "column3C", "dermatology", "ecoli", "flags", "heart_c"),
    *("hypothyroid", "primary_tumor", "solar_flare2", "waveform", "bridges_version1"),
    *("contraceptive", "led7digit", "tae", "splice", "soybean", "zoo", "abalone_rings", "avila"),
    *("cardiotocography10", "connect_4", "diabetes130", "krkopt", "thyroid0387"),
    *("wine_quality_white", "yeast", "student_dropout", "mfeat_zernike", "sleep", "fars"),
    "clinc150_bow",
)
FOURTEEN = (
    *("vehicle", "vowel", "segment", "dna", "pendigits", "satimage", "usps", "letter"),
    *("leaves100", "covtype", "mnist", "isolet"),
)
BUNDLED = ("iris",)


def of_group(group: str) -> tuple[str, ...]:
    return {"study": STUDY, "fresh": tuple(FRESH), "fourteen": FOURTEEN, "bundled": BUNDLED}[group]


def group_of(name: str) -> str:
    for group in (*GROUPS, "bundled"):
        if name in of_group(group):
            return group
    known = ", ".join(name for group in GROUPS for name in of_group(group))
    raise ValueError(f"A set must be one of {known}; found {name}.")


def read(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Return the columns, text among them, and the classes."""
    group = group_of(name)
    if group == "fresh":
        return FRESH[name].read()
    if group == "study":
        return _read_study(name)
    if group == "bundled":
        X, y = load_iris(return_X_y=True)
        return pd.DataFrame(X), pd.Series(y)
    X, y, _ = data.read(name)
    return pd.DataFrame(X.reshape(len(X), -1).astype(np.float32)), pd.Series(y)


def _read_study(name):
    folder = Path(os.environ.get("MARGINBOOST_DATA", "")) / "study"
    if (folder / f"{name}.npz").is_file():
        with np.load(folder / f"{name}.npz") as file:
            return pd.DataFrame(file["X"].astype(np.float32)), pd.Series(file["y"])
    path = folder / f"{name}.csv.gz"
    if not path.is_file():
        raise FileNotFoundError(f"MARGINBOOST_DATA must name a folder with study/{path.name}.")
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""], low_memory=False)
    return frame.drop(columns=["target", "split"], errors="ignore"), frame["target"]
