"""How rows with equal features agree, and so whether copies of a row are observations of their own.

Copies of a row may be observations of their own, which happen to have equal features. Or one observation
was written down more than once: rows were repeated to balance classes, or an integer weight means
importance. Then a copy that is held out while others are learned would make every fit look good, so all
copies of a row must be held out or none.

Nothing marks such rows. But independent observations of equal features differ in class now and then, and
most distinct rows occur once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.data.storage import HOST, Storage

__all__ = ["Agreement", "agreement"]

# Copies of a class are held out together if more than this share of its distinct rows has copies. Where
# rows happen to be equal, most occur once. A bootstrap sample has .42, and doubled rows have 1.
LEAST_REPEATED = 1 / 3

# And if rows of equal features differ in class at most so often, as a part of what they would by chance:
# what was written down again has the same class again. Where the share above is only just exceeded, half
# of what it is exceeded by.
MOST_DIFFERING = 0.1


class Agreement(NamedTuple):
    """How rows with equal features agree; a row's content is its features and its class.

    Attributes
    ----------
    n_alike : int
        Rows whose features equal those of another row, of any class, each as often as it counts.
    n_differing : int
        How many of them do not have the most frequent class of their features.
    n_contents : int64 array of n_classes
        Different contents of each class.
    n_repeated : int64 array of n_classes
        Those of more than one copy.
    """

    n_alike: int
    n_differing: int
    n_contents: NDArray[np.int64]
    n_repeated: NDArray[np.int64]

    def plus(self, other: Agreement) -> Agreement:
        """Add the numbers of other rows, which have other features."""
        return Agreement(
            self.n_alike + other.n_alike,
            self.n_differing + other.n_differing,
            self.n_contents + other.n_contents,
            self.n_repeated + other.n_repeated,
        )

    def independent(self, class_counts: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return whether copies are observations of their own, per class; given all rows per class."""
        by_chance = 1.0 - class_counts.max() / class_counts.sum()
        # None differs by chance where there is one class alone.
        differing = self.n_differing / max(self.n_alike * by_chance, 1.0)
        repeated = self.n_repeated / np.maximum(self.n_contents, 1)
        most = np.minimum(MOST_DIFFERING, (repeated - LEAST_REPEATED) / 2)
        return np.asarray(differing > most)


def agreement(
    features: Any, labels: Any, times: Any | None, n_classes: int, storage: Storage = HOST
) -> Agreement:
    """Compare the classes of rows with equal features.

    Parameters
    ----------
    features : uint64 array of n_rows
        Equal if the bins are equal.
    labels : integer array of n_rows
        Class number of each row, ascending.
    times : integer array of n_rows or None
        How often each row counts; None: once.
    n_classes : int
        Number of classes.
    storage : Storage
        Where the arrays are stored.
    """
    xp, fetch = storage.xp, storage.fetch
    if not len(features):
        none = np.zeros(n_classes, dtype=np.int64)
        return Agreement(0, 0, none, none)
    order = xp.argsort(features, kind="stable")
    features, labels = features[order], labels[order]
    first = xp.ones(1, dtype=bool)
    is_new = xp.concatenate([first, features[1:] != features[:-1]])
    begins = xp.flatnonzero(is_new | xp.concatenate([first, labels[1:] != labels[:-1]]))
    ends = xp.arange(len(order) + 1)
    if times is not None:
        ends = xp.concatenate(
            [xp.zeros(1, dtype=np.int64), xp.cumsum(times[order], dtype=np.int64)]
        )
    # From here on there is one number per content, and few of those where there are many copies.
    copies = np.diff(np.append(fetch(ends[begins]), int(ends[-1])))
    starts = np.flatnonzero(fetch(is_new[begins]))
    total, most = np.add.reduceat(copies, starts), np.maximum.reduceat(copies, starts)
    alike = total > 1
    of_content = fetch(labels[begins])
    return Agreement(
        int(total[alike].sum()),
        int((total - most)[alike].sum()),
        np.bincount(of_content, minlength=n_classes),
        np.bincount(of_content[copies > 1], minlength=n_classes),
    )
