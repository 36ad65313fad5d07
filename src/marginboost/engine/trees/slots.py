"""The positions of the classes in the direction that a search of vector-leaf trees sees."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

MOST_FOLDS = 4


@dataclass(frozen=True, slots=True)
class Slots:
    """Tiles of lanes, each with classes in all lanes but two.

    A search sees `folds` tiles: tile t of the classes is added to tile ``t % folds``. If there are more
    classes than lanes, some classes share a lane. The last two lanes of the first tile hold a
    row's mass and its count; they are empty in the others.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    most_folds : int
        Most tiles that a search sees.

    Attributes
    ----------
    lanes : int
        Lanes of a tile.
    tiles : int
        Tiles that hold all classes.
    folds : int
        Tiles that a search sees.
    shares_lanes : bool
        Whether some classes share a lane.
    """

    n_classes: int
    most_folds: int = MOST_FOLDS
    lanes: int = field(init=False)
    tiles: int = field(init=False)
    folds: int = field(init=False)
    shares_lanes: bool = field(init=False)

    def __post_init__(self) -> None:
        lanes = 8 if self.n_classes <= 7 else 16
        tiles = -(-self.n_classes // (lanes - 2))
        folds = min(tiles, self.most_folds)
        object.__setattr__(self, "lanes", lanes)
        object.__setattr__(self, "tiles", tiles)
        object.__setattr__(self, "folds", folds)
        object.__setattr__(self, "shares_lanes", tiles > folds)

    def folded(self) -> NDArray[np.int64]:
        """Return the lane of each class, counted through all tiles that a search sees."""
        tile, lane = np.divmod(np.arange(self.n_classes), self.lanes - 2)
        return tile % self.folds * self.lanes + lane
