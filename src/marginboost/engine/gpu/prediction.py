"""Predictions for rows on a device, which stay there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.gpu.device_matrix import DeviceMatrix
from marginboost.engine.gpu.forest import Forest
from marginboost.model.link import Softmax

if TYPE_CHECKING:
    from marginboost.data.encoding import Encoding
    from marginboost.engine.gpu.device import Device
    from marginboost.model.ensemble import Ensemble
    from marginboost.model.link import Link

__all__ = ["DevicePrediction"]

_THREADS = 128
_BLOCKS_A_PROCESSOR = 32

# Scores that are kept at a time, if only labels are wanted.
_SCORES_AT_ONCE = 1 << 25


class DevicePrediction:
    """What an ensemble predicts for rows on a device, with the bits that the host computes.

    Parameters
    ----------
    device : Device
        Device of the rows.
    ensemble : Ensemble
        The trees.
    encoding : Encoding
        The encoding of the rows, without categories.
    X : device array of shape (n, n_features)
        Real numbers, NaN if missing.
    """

    def __init__(self, device: Device, ensemble: Ensemble, encoding: Encoding, X: Any) -> None:
        self._device = device
        self._n_rows, self._n_classes = int(X.shape[0]), ensemble.n_classes
        self._forest = Forest(device, ensemble, encoding, DeviceMatrix(device, X))

    def decision_function(self) -> Any:
        """Return F; with two classes the score of the second less that of the first."""
        scores = self._forest.scores()
        if self._n_classes != 2:
            return scores
        out = self._device.xp.empty(self._n_rows, dtype=np.float64)
        self._launch("differences", 8, self._n_rows, scores, np.int64(self._n_rows), out)
        return out

    def probabilities(self, link: Link) -> Any:
        """Return the probabilities that a link makes of the scores."""
        return self._linked(self._forest.scores(), link)

    def labels(
        self, classes: NDArray[Any], link: Link, costs: NDArray[np.float64] | None = None
    ) -> Any:
        """Return the label of each row: that of the largest score, or of the least expected cost.

        Parameters
        ----------
        classes : array of n_classes
            The labels.
        link : Link
            Makes probabilities of the scores, for the costs.
        costs : float64 array of n_classes x n_classes, optional
            Cost of naming the class of the column where that of the row is true.

        Returns
        -------
        array of n
            On the device if the labels are numbers, otherwise on the host.
        """
        there = classes.dtype.kind in "biuf" and classes.dtype.itemsize in (1, 2, 4, 8)
        table = classes if there else np.arange(len(classes))
        words = np.ascontiguousarray(table).view(f"u{table.dtype.itemsize}")
        on_device = self._device.put(words)
        of_costs = None if costs is None else self._device.put(np.ascontiguousarray(costs).ravel())
        out = self._device.xp.empty(self._n_rows, dtype=words.dtype)
        step = max(1, _SCORES_AT_ONCE // self._n_classes)
        for first in range(0, self._n_rows, step):
            n = min(step, self._n_rows - first)
            scores = self._forest.scores(first, n)
            sizes = (np.int64(n), np.int32(self._n_classes))
            here = out[first : first + n]
            bytes_ = words.dtype.itemsize
            if of_costs is None:
                self._launch("best_labels", bytes_, n, scores, *sizes, on_device, here)
            else:
                given = (self._linked(scores, link), *sizes, of_costs, on_device, here)
                self._launch("cheapest_labels", bytes_, n, *given)
        out = out.view(table.dtype)
        return out if there else classes[self._device.fetch(out)]

    def _linked(self, scores: Any, link: Link) -> Any:
        """Turn scores into probabilities, in place."""
        is_softmax = isinstance(link, Softmax)
        factor = link.factor if is_softmax else 1.0
        n = len(scores)
        self._launch(
            "to_probabilities",
            8,
            n,
            scores,
            np.int64(n),
            np.int32(self._n_classes),
            np.int32(is_softmax or self._n_classes == 2),
            np.float64(factor),
        )
        return scores

    def _launch(self, name: str, label_bytes: int, n_rows: int, *arguments: Any) -> None:
        device = self._device
        blocks = min(-(-n_rows // _THREADS), _BLOCKS_A_PROCESSOR * device.n_processors)
        kernel = device.kernel("row_classes", name, LABEL_BYTES=label_bytes)
        kernel(max(1, blocks), _THREADS, *arguments)
