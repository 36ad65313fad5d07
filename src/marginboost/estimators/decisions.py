"""Classifiers that decide by what mistakes cost."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from marginboost import _native
from marginboost.data.costs import (
    check_cost_matrix,
    check_order,
    order_of_labels,
    read_costs,
    read_ranks,
)
from marginboost.engine.threads import effective_threads
from marginboost.estimators.fitted import FittedClassifier, Floats

__all__ = ["CostSensitive"]


class CostSensitive(FittedClassifier):
    """A classifier whose `predict` names the class of least expected cost."""

    cost_matrix: Any
    classes_order: Any

    cost_matrix_: Floats
    class_ranks_: NDArray[np.int64]

    def _check_costs(self) -> None:
        """Check the parameters, as far as that can be done without the classes."""
        check_cost_matrix(self.cost_matrix)
        check_order(self.classes_order)

    def _set_costs(self, y: Any) -> None:
        """Read the parameters, or the order of an ordered target; follows `classes_`."""
        order = order_of_labels(y) if self.classes_order is None else self.classes_order
        if order is None and self.cost_matrix is None:
            for name in ("cost_matrix_", "class_ranks_"):  # of an earlier fit
                self.__dict__.pop(name, None)
            return
        ranks = read_ranks(order, self.classes_)
        self._decide_by(self.cost_matrix, ranks, () if order is None else list(order))

    def _decide_by(
        self, cost_matrix: Any, ranks: NDArray[np.int64] | None, others: Collection[Any] = ()
    ) -> None:
        costs, ranks = read_costs(cost_matrix, self.classes_, ranks, others)
        for name, value in (("cost_matrix_", costs), ("class_ranks_", ranks)):
            self.__dict__.pop(name, None)
            if value is not None:
                setattr(self, name, value)

    def _order_of_codes(self) -> list[int] | None:
        """Return the order of the classes by their numbers; negative ones for labels that y lacks."""
        if not hasattr(self, "class_ranks_"):
            return None
        order = [-1 - place for place in range(int(self.class_ranks_.max()) + 1)]
        for code, place in enumerate(self.class_ranks_.tolist()):
            order[place] = code
        return order

    def _decide(self, scores: Floats) -> NDArray[np.int64]:
        if not hasattr(self, "cost_matrix_"):
            return super()._decide(scores)
        n_threads = effective_threads(self.n_jobs)
        return _native.least_cost(self._probabilities(scores), self.cost_matrix_, n_threads)

    def with_costs(self, cost_matrix: Any, classes_order: Any = None) -> Self:
        """Return the same fitted model with other costs: nothing is fitted again.

        Costs decide only which class `predict` names, so they can change after the fit. The copy shares
        the trees of this model.

        Parameters
        ----------
        cost_matrix : array-like, dict, str or None
            As the parameter of that name; None for the most probable class, or for the distance between
            ordered classes.
        classes_order : list of labels or None, default=None
            As the parameter of that name. None for the order that the model knows, if it knows any.

        Returns
        -------
        classifier
            A copy.
        """
        check_is_fitted(self)
        model = copy(self)
        model.cost_matrix = cost_matrix
        if classes_order is not None:
            model.classes_order = classes_order
            model._set_costs(None)
        else:
            model._decide_by(cost_matrix, getattr(self, "class_ranks_", None))
        return model
