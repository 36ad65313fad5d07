"""Train on handwritten digits, compare with scikit-learn, and draw the learning curves.

Run it with ``make demo``. It takes less than a minute, needs no download, and writes
``out/demo/learning_curves.png``.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

from marginboost import MarginBoostClassifier, MCBoostClassifier

ROUNDS = 500
PICTURE = Path(__file__).parents[1] / "out" / "demo" / "learning_curves.png"


@dataclass(frozen=True)
class Contestant:
    """A classifier with its name, its description and its colour."""

    name: str
    learners: str
    color: str
    model: ClassifierMixin


@dataclass(frozen=True)
class Result:
    """The result of one classifier: its fit time and its test error after each round."""

    contestant: Contestant
    seconds: float
    errors: np.ndarray


def contestants() -> list[Contestant]:
    """Return the classifiers to compare, in the order of the table."""
    return [
        Contestant(
            "MarginBoost",
            "100 trees",
            "#2e7d32",
            MarginBoostClassifier(100, random_state=0, verbose=1),
        ),
        Contestant(
            "MCBoost, exponential loss",
            f"{ROUNDS} stumps",
            "#0b5fa5",
            MCBoostClassifier(n_estimators=ROUNDS, verbose=1),
        ),
        Contestant(
            "MCBoost, logistic loss",
            f"{ROUNDS} stumps",
            "#c8553d",
            MCBoostClassifier(n_estimators=ROUNDS, loss="logistic", verbose=1),
        ),
        Contestant(
            "scikit-learn AdaBoost",
            f"{ROUNDS} stumps",
            "#7d7d7d",
            AdaBoostClassifier(n_estimators=ROUNDS, random_state=0),
        ),
        Contestant(
            "scikit-learn HistGradientBoosting",
            "100 x 10 trees",
            "#2f2f2f",
            HistGradientBoostingClassifier(max_iter=100, random_state=0),
        ),
    ]


def compete(contestant: Contestant, data: Sequence[np.ndarray]) -> Result:
    """Fit one contestant and measure its test error after each round."""
    X_train, X_test, y_train, y_test = data
    print(f"Fitting {contestant.name} ({contestant.learners}) ...", flush=True)
    start = time.perf_counter()
    contestant.model.fit(X_train, y_train)
    seconds = time.perf_counter() - start
    errors = [np.mean(labels != y_test) for labels in contestant.model.staged_predict(X_test)]
    return Result(contestant, seconds, np.asarray(errors))


def table(results: Sequence[Result]) -> str:
    """Format the results in aligned columns."""
    rows = [("", "weak learners", "test error", "fit")] + [
        (
            result.contestant.name,
            result.contestant.learners,
            f"{100 * result.errors[-1]:.1f} %",
            f"{result.seconds:.2f} s",
        )
        for result in results
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        f"  {row[0]:<{widths[0]}}"
        + "".join(f"   {cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        for row in rows
    )


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """Move label heights apart until neighbours are at least ``gap`` away, keeping their order."""
    order = np.argsort(heights, kind="stable")
    moved = np.asarray(heights, dtype=float)
    for _ in range(100):
        for low, high in pairwise(order):
            overlap = gap - (moved[high] - moved[low])
            if overlap > 0:
                moved[low] -= overlap / 2
                moved[high] += overlap / 2
    return moved.tolist()


def draw(results: Sequence[Result], subtitle: str, path: Path) -> None:
    """Draw test error by round, each line labelled at its end."""
    import matplotlib as mpl  # noqa: PLC0415  only the picture needs it

    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(figsize=(10, 6), dpi=160)
    figure.subplots_adjust(left=0.075, right=0.70, top=0.84, bottom=0.11)
    for result in results:
        rounds = np.arange(1, len(result.errors) + 1)
        color, last = result.contestant.color, 100 * result.errors[-1]
        axes.plot(rounds, 100 * result.errors, color=color, linewidth=1.8)
        axes.plot(rounds[-1], last, "o", color=color, markersize=6)
        axes.plot([rounds[-1], 2 * ROUNDS], [last, last], ":", color=color, linewidth=1.4)

    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(1, ROUNDS * 1.08)
    ticks = [1, 2, 5, 10, 20, 50, 100]
    axes.set_yticks(ticks, [f"{tick} %" for tick in ticks])
    axes.set_xticks([1, 10, 100, ROUNDS], ["1", "10", "100", f"{ROUNDS}"])
    axes.minorticks_off()
    axes.set_ylim(1, 100)
    axes.set_xlabel("Boosting round", fontsize=12)
    axes.tick_params(labelsize=11, length=0)
    axes.grid(color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color("#9a9a9a")

    ends = [np.log10(max(1.0, 100 * result.errors[-1])) / 2 for result in results]
    for result, height in zip(results, spread(ends, gap=0.11), strict=True):
        axes.text(
            1.03,
            height,
            f"{result.contestant.name}\n{result.contestant.learners}, "
            f"{100 * result.errors[-1]:.1f} % wrong",
            transform=axes.transAxes,
            color=result.contestant.color,
            fontsize=11,
            linespacing=1.3,
            va="center",
        )
    figure.text(0.02, 0.945, "Test error on handwritten digits", fontsize=17, weight="bold")
    figure.text(0.02, 0.897, subtitle, fontsize=11.5, color="#555555")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    plt.close(figure)


def main() -> None:
    """Run the whole demo."""
    X, y = load_digits(return_X_y=True)
    data = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
    about = (
        f"{len(data[0]):,} training and {len(data[1]):,} test images "
        f"of {X.shape[1]} pixels, {len(np.unique(y))} classes"
    )
    print(f"scikit-learn's digits: {about}\n")
    results = [compete(contestant, data) for contestant in contestants()]
    print(f"\n{table(results)}\n")
    try:
        draw(results, about, PICTURE)
    except ModuleNotFoundError as error:
        raise SystemExit(
            f"The plot needs matplotlib ({error}): pip install 'marginboost[plot]'"
        ) from error
    print(f"Learning curves: {PICTURE}")


if __name__ == "__main__":
    main()
