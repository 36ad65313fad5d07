"""The settings that the tuner tries."""

from __future__ import annotations

from typing import Any, NamedTuple

from marginboost.boosting.linear import MOST_ROWS
from marginboost.estimators.candidates import (
    CHOSEN_BINS,
    LINEAR,
    candidate_settings,
    linear_settings,
)

__all__ = ["SLOWER", "TunedSettings", "portfolio"]

# Most rounds at a learning rate of 0.1; a smaller rate gets more of them.
ROUNDS, ROUNDS_OF_SMALL_TREES = 600, 1000
PATIENCE = 20
MOST_LEAVES = 511
LARGE = 8_000
# By how much the learning rate of the best settings is divided where all were tried and time is left.
SLOWER = 3


class TunedSettings(NamedTuple):
    """Settings of a fit, by the names of the parameters.

    Attributes
    ----------
    name : str
        A word for people.
    n_estimators : int
        Most rounds; held-out rows end a fit earlier.
    patience : int
        Rounds without an improvement to wait for, at least.
    loss, learning_rate, max_leaf_nodes, max_features, subsample, min_samples_leaf, l2_regularization, \
max_bins
        As the parameters of that name.
    """

    name: str
    n_estimators: int
    patience: int
    loss: str
    learning_rate: float
    max_leaf_nodes: int
    max_features: float
    subsample: float
    min_samples_leaf: int = 5
    l2_regularization: float = 1.0
    max_bins: int = CHOSEN_BINS

    @property
    def is_linear(self) -> bool:
        """Whether it is the linear model, which has no other settings."""
        return self.name == LINEAR

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of a classifier."""
        found = self._asdict()
        del found["name"], found["patience"]
        return found

    def slower(self) -> TunedSettings:
        """Return the same settings with smaller steps, and more of them."""
        return self._replace(
            name=f"{self.name}, slower",
            n_estimators=SLOWER * self.n_estimators,
            patience=SLOWER * self.patience,
            learning_rate=self.learning_rate / SLOWER,
        )

    def again(self) -> TunedSettings:
        """Return the same settings, for fits that draw anew."""
        return self._replace(name=f"{self.name}, again")


def portfolio(n_rows: int, n_columns: int) -> list[TunedSettings]:
    """Return the settings for so many rows and columns of X, in the order in which they are tried.

    The first three or four are those that `MarginBoostClassifier` chooses from. With many rows there may
    not be time for all, so large trees come next.
    """
    defaults = [
        candidate_settings(name, n_rows, {}, n_columns) for name in ("margin", "large", "small")
    ]
    leaves, few = defaults[0].max_leaf_nodes, defaults[2].max_leaf_nodes
    many = min(2 * leaves, MOST_LEAVES)

    def made(
        name: str, loss: str, rate: float, size: int, features: float, rows: float, **more: Any
    ) -> TunedSettings:
        rounds = ROUNDS if size >= leaves else ROUNDS_OF_SMALL_TREES
        slow = 0.1 / rate
        limits = round(rounds * slow), round(PATIENCE * slow)
        return TunedSettings(name, *limits, loss, rate, size, features, rows, **more)

    margin, logistic = "exponential", "logistic"
    found = [
        *(made(*one) for one in defaults),
        made(
            "all features", margin, 0.1, leaves, 1.0, 0.8, min_samples_leaf=1, l2_regularization=0.1
        ),
        made("few leaves", logistic, 0.1, 4, 0.5, 0.5, min_samples_leaf=10),
        made("few features", logistic, 0.1, leaves, 0.25, 0.5),
        made("many leaves", margin, 0.1, many, 0.5, 0.8, min_samples_leaf=2),
        made("smooth", logistic, 0.1, few, 0.5, 0.8, min_samples_leaf=20, l2_regularization=20.0),
        made("coarse", margin, 0.1, leaves, 0.5, 0.5, max_bins=32),
        made("all of all", logistic, 0.1, leaves, 1.0, 1.0, l2_regularization=5.0),
        made("small margin", margin, 0.1, few, 0.5, 0.5),
        made("slow", margin, 0.05, leaves, 0.3, 0.8),
        made(
            "large and sharp",
            logistic,
            0.1,
            many,
            0.75,
            0.8,
            min_samples_leaf=1,
            l2_regularization=0.1,
        ),
        made("coarse and small", logistic, 0.05, few, 0.25, 0.5, max_bins=32),
        made("slow and large", logistic, 0.05, leaves, 0.5, 0.5),
        made("stumps", logistic, 0.1, 2, 0.5, 0.5),
    ]
    if n_rows <= MOST_ROWS:
        name, loss, rate, size, features, rows = linear_settings()
        found.insert(3, TunedSettings(name, 1, 1, loss, rate, size, features, rows))
    if n_rows >= LARGE:
        found[3:] = sorted(found[3:], key=lambda one: -one.max_leaf_nodes)
    return found
