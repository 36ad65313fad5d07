"""How rows differ from the training rows, in the eyes of a model.

A model keeps no training rows, but how many of them (of a sample of at most 4,096) reached each leaf. So
for each split it is known which share of the training rows went left. The shares of other rows are
compared with these, split by split. If training rows had weights, other than counts, the shares are of
weights and nothing is compared: a class that counts more in training would look like drift.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.encoding import Encoding
from marginboost.engine.threads import effective_threads
from marginboost.model.cover import leaf_cover
from marginboost.model.ensemble import Ensemble

__all__ = ["FEWEST_ROWS", "Shift", "column_shifts"]

Floats = NDArray[np.float64]

FEWEST_ROWS = 50
_LARGE = 0.1
_DEVIATIONS = 6.0
_LARGEST = np.finfo(np.float64).max
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Shift:
    """The split of a column at which rows differ most from the training rows.

    Attributes
    ----------
    condition : str
        What holds for the rows on the one side, such as "at most 2.5".
    training, here : float
        Share of the training rows and of these rows for which it holds, among those that reach the split.
    whole : bool
        Whether all rows reach it: the split is the first of its tree.
    deviations : float
        The difference of the two shares, in standard deviations of what chance would give.
    """

    condition: str
    training: float
    here: float
    whole: bool
    deviations: float

    @property
    def size(self) -> float:
        """The difference of the two shares, never negative."""
        return abs(self.here - self.training)

    @property
    def is_clear(self) -> bool:
        """Whether the difference is large and no chance, given how many splits are compared."""
        return self.size >= _LARGE and abs(self.deviations) >= _DEVIATIONS


def column_shifts(model: Any, X: Any) -> list[Shift | None] | None:
    """Find the split of each column of X at which rows differ most from the training rows.

    Parameters
    ----------
    model : classifier
        Fitted.
    X : array or sparse matrix
        Rows as numbers, as `Encoding.apply` takes them.

    Returns
    -------
    list of Shift or None, one per column of X
        None for columns without a split that `FEWEST_ROWS` rows here and in training reach. None for all
        together where the model does not know its training rows, or was fitted with weights.
    """
    ensemble, encoding = model.ensemble_, model.encoding_
    if not _counts_rows(model):
        return None
    threads = effective_threads(model.n_jobs)
    reached = leaf_cover(ensemble, encoding.apply(X), np.ones(X.shape[0]), n_threads=threads)
    before, here = (_node_counts(ensemble, cover) for cover in (ensemble.leaf_cover, reached))
    n_before, n_here = before.sum(axis=1), here.sum(axis=1)
    usable = np.flatnonzero((n_before >= FEWEST_ROWS) & (n_here >= FEWEST_ROWS))
    p, q = before[usable, 0] / n_before[usable], here[usable, 0] / n_here[usable]
    pooled = (before[usable, 0] + here[usable, 0]) / (n_before[usable] + n_here[usable])
    variance = pooled * (1 - pooled) * (1 / n_before[usable] + 1 / n_here[usable])
    z = np.divide(q - p, np.sqrt(variance), out=np.zeros(len(p)), where=variance > 0)
    roots = np.zeros(len(ensemble.feature), dtype=bool)
    roots[ensemble.node_offsets[:-1][np.diff(ensemble.node_offsets) > 0]] = True
    # Preferred are clear differences, then first splits, which are the easiest to understand.
    clear = (np.abs(q - p) >= _LARGE) & (np.abs(z) >= _DEVIATIONS)
    order = np.lexsort((np.abs(z), roots[usable], clear)).tolist()
    columns = encoding.source[ensemble.feature[usable]]
    best = {int(columns[place]): place for place in order}  # the last one stays
    found: list[Shift | None] = [None] * encoding.n_features
    for column, place in best.items():
        node = int(usable[place])
        words, is_left = _condition(encoding, int(ensemble.feature[node]), ensemble.threshold[node])
        shares = (p[place], q[place]) if is_left else (1 - p[place], 1 - q[place])
        found[column] = Shift(
            words, float(shares[0]), float(shares[1]), bool(roots[node]), float(z[place])
        )
    return found


def _counts_rows(model: Any) -> bool:
    """Check whether the cover of the leaves counts training rows."""
    cover = model.ensemble_.leaf_cover
    if cover is None or getattr(model, "class_weight", None) is not None:
        return False
    return bool((cover == np.floor(cover)).all())


def _node_counts(ensemble: Ensemble, cover: Floats) -> Floats:
    """Return how many rows go left and right at each node."""
    counts = np.zeros((len(ensemble.feature), 2))
    first_nodes, first_leaves = ensemble.node_offsets.tolist(), ensemble.leaf_offsets.tolist()
    children = list(zip(ensemble.left.tolist(), ensemble.right.tolist(), strict=True))
    of_leaf = cover.tolist()
    for j in range(ensemble.n_trees):
        first, leaf = first_nodes[j], first_leaves[j]
        sums: dict[int, float] = {}
        # Children come after their parents.
        for node in range(first_nodes[j + 1] - 1, first - 1, -1):
            sides = [
                of_leaf[leaf + ~child] if child < 0 else sums[child] for child in children[node]
            ]
            counts[node] = sides
            sums[node - first] = sides[0] + sides[1]
    return counts


def _condition(encoding: Encoding, column: int, threshold: float) -> tuple[str, bool]:
    """Put a split into words; return them, and whether they describe the left side."""
    fill, positions = encoding.fill[column], encoding.positions[column]
    if positions is not None:
        names = encoding.categories[encoding.source[column]] or ()
        left = [str(names[place]) for place in np.flatnonzero(positions <= threshold)]
        right = [str(names[place]) for place in np.flatnonzero(positions > threshold)]
        is_left = 0 < len(left) <= len(right) or not right
        side = left if is_left else right
        more = f" or {len(side) - _NAMED:,} others" if len(side) > _NAMED else ""
        other = (fill <= threshold) == is_left
        return f"{', '.join(side[:_NAMED])}{more}{' or missing' if other else ''}", is_left
    if np.isinf(fill) and abs(threshold) >= _LARGEST:
        return "missing", bool(threshold < 0)
    at_most = f"at most {threshold:.4g}"
    if np.isinf(fill):
        at_most = f"missing or {at_most}" if fill < 0 else f"known and {at_most}"
    return at_most, True
