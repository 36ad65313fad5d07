"""Columns of many categories: shares without the own fold, against orders of frequent categories.

    python benchmarks/many_categories.py OUT.json

Made-up rows: a category that has a taste, four numbers that matter too, and chance. For several tastes
and numbers of rows per category, of categories and of classes: error and log loss on other rows, with
shares everywhere and with orders everywhere, whatever `category_shares.least_rows_of_many` would choose.
"""

import argparse
import json
import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.append(str(Path(__file__).parent))
from report import machine

from marginboost import MarginBoostClassifier
from marginboost.data import column_facts

ROWS_PER_CATEGORY = (5, 10, 20, 40)  # on average
SHAPES = ((120, 4), (300, 8))  # categories and classes
# Standard deviations of what a category adds to the score of a class, and to the worth of a number.
TASTES = ((0.3, 0.0), (1.0, 0.0), (3.0, 0.0), (1.0, 1.5), (3.0, 1.5))
REPEATS = 3
WAYS = ("shares", "orders")


def made_up(
    n_rows: int, n_categories: int, n_classes: int, spread: float, own_worth: float, seed: int
):
    """Return numbers and a category, and classes."""
    rng = np.random.default_rng(seed)
    frequency = rng.exponential(size=n_categories)
    category = rng.choice(n_categories, n_rows, p=frequency / frequency.sum())
    taste = spread * rng.normal(size=(n_categories, n_classes))
    numbers = rng.normal(size=(n_rows, 4))
    # What a number is worth differs between categories too.
    by_number = rng.normal(size=(4, n_classes))
    own = own_worth * rng.normal(size=(n_categories, 4, n_classes))
    worth = np.einsum("ni,nik->nk", numbers, by_number + own[category])
    scores = taste[category] + worth + rng.gumbel(size=(n_rows, n_classes))
    frame = pd.DataFrame(numbers, columns=list("abcd"))
    frame["category"] = pd.Categorical([f"c{number}" for number in category])
    return frame, scores.argmax(axis=1)


def measure(
    way: str, per_category: int, shape: tuple[int, int], taste: tuple[float, float], seed: int
) -> tuple[float, float]:
    """Return the error and the log loss on as many other rows as a quarter of those learned from."""
    column_facts.least_rows_of_many = lambda counts: 1 if way == "shares" else None
    n_train = per_category * shape[0]
    frame, y = made_up(n_train + n_train // 4, *shape, *taste, seed)
    train = np.arange(len(y)) < n_train
    model = MarginBoostClassifier(random_state=0, n_jobs=1).fit(frame[train], y[train])
    shares = model.predict_proba(frame[~train])
    own = shares[np.arange(len(shares)), np.searchsorted(model.classes_, y[~train])]
    error = (model.predict(frame[~train]) != y[~train]).mean()
    return float(error), float(-np.log(np.clip(own, 1e-15, None)).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found: list[dict] = []
    head = {"machine": machine()}
    for taste, per_category, shape in product(TASTES, ROWS_PER_CATEGORY, SHAPES):
        of_way = {
            way: [measure(way, per_category, shape, taste, seed) for seed in range(REPEATS)]
            for way in WAYS
        }
        given = {"taste": taste, "rows_per_category": per_category}
        found.append(given | {"categories": shape[0], "classes": shape[1]} | of_way)
        ratio = np.mean(of_way["shares"], axis=0) / np.mean(of_way["orders"], axis=0)
        print(*taste, per_category, *shape, "shares over orders", ratio.round(3), flush=True)
        options.out.write_text(json.dumps({**head, "found": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
