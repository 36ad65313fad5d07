"""What the classifiers share whose weak classifiers say -1 or +1, or name a class."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from marginboost.backends.host import Backend
from marginboost.backends.requirements import Requirements
from marginboost.boosting.loop import Method
from marginboost.boosting.round import Round
from marginboost.boosting.train import Algorithm
from marginboost.boosting.weak.base import WeakLearner
from marginboost.boosting.weak.stump import StumpLearner
from marginboost.boosting.weak.tree import TreeLearner
from marginboost.data.memory import fit_bytes
from marginboost.data.rows import Rows
from marginboost.estimators.base import BoostedClassifier
from marginboost.estimators.choices import ClassWeight, Device, Engine
from marginboost.estimators.settings import check_integer, check_real, store_parameters


class WeakLearnerClassifier(BoostedClassifier):
    """A classifier that boosts stumps, or trees of a given depth."""

    max_depth: int
    min_weight_fraction_leaf: float

    _host_only = False  # whether stumps, too, need an engine on the host

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        learning_rate: float = 1.0,
        max_depth: int = 1,
        max_bins: int | None = None,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: ClassWeight = None,
        categorical_features: Any = "from_dtype",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
        tol: float = 1e-4,
        max_time: float | None = None,
        warm_start: bool = False,
        callbacks: Sequence[Callable[[Round], object]] | None = None,
        n_jobs: int | None = None,
        engine: Engine = "native",
        device: Device = "cpu",
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("max_depth", self.max_depth, 1)
        check_integer("max_bins", self.max_bins, 2, 65535, none_is="one bin per distinct value")
        check_real("min_weight_fraction_leaf", self.min_weight_fraction_leaf, 0.0, 0.5)

    @abstractmethod
    def _make_method(self, engine: Any, data: Any) -> Method:
        """Make the method that finds the rounds.

        The engine is a `StumpEngine`; on the host it is a `HostStumpEngine`, and data a `TrainingSet`.
        """

    def _algorithm(self, backend: Backend, n_classes: int) -> Algorithm:
        return Algorithm(
            lambda n_threads: backend.make_stump_engine(),
            lambda engine, data, bounds, stream: self._make_method(engine, data),
            lambda scale: self._link(n_classes),
        )

    def _requirements(self, X_val: Any = None) -> Requirements:
        host_only = None
        if self._host_only:
            host_only = type(self).__name__
        elif self.max_depth > 1:
            host_only = f"{type(self).__name__} with max_depth={self.max_depth}"
        return replace(super()._requirements(X_val), host_only=host_only)

    def _learner(self, data: Rows) -> WeakLearner:
        """Make the learner of weak classifiers with -1/+1 leaves."""
        thresholds = data.binned.thresholds
        if self.max_depth == 1:
            return StumpLearner(thresholds)
        return TreeLearner(thresholds, self.max_depth)

    def _n_outputs(self, n_classes: int) -> int:
        """Return the number of weights that the method keeps for a row."""
        return n_classes

    def _needed_bytes(self, X: Any, n_classes: int) -> int:
        wide = self.max_bins is None or self.max_bins > 256
        n_outputs = self._n_outputs(n_classes)
        n_rows, n_features = X.shape
        trees = self.max_depth > 1
        return fit_bytes(n_rows, n_features, n_classes, n_outputs, wide=wide, trees=trees)
