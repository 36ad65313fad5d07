"""The record of a growing tree, which the device writes and the host reads at the end."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.trees.growth import GrownTree

if TYPE_CHECKING:
    from marginboost.engine.gpu.device import Device

__all__ = ["BookHead", "State", "TreeBook"]


class State(IntEnum):
    """Numbers at the beginning of the record, as in `kernels/tree_book.cuh`."""

    N_NODES = 0
    N_LEAVES = 1
    N_DIVIDED = 2
    N_BATCHES = 3
    N_SLOTS = 7


_STATE_SIZE = 16
# Sections of int32, in halves of the number of nodes that there is room for.
_HEAD = (1, 2, 2, 2, 4)
_NODES = (2, 2, 2, 2, 2, 4, 8)
_PAIRS = (1,) * 12
_WORK = (2, 2)
_SECTIONS = (*_HEAD, *_NODES, *_PAIRS, *_WORK)
_SLOT = len(_HEAD) + 3
_CUT = len(_HEAD) + 6


class BookHead(NamedTuple):
    """The part of the record that the host reads.

    Attributes
    ----------
    state : int32 array
        Indexed by `State`.
    divided : int32 array
        Nodes in the order of their division.
    feature, bin, counts, gain : array
        Each node's best split (feature -1: none), and the rows that the search sees of it.
    """

    state: NDArray[np.int32]
    divided: NDArray[np.int32]
    feature: NDArray[np.int32]
    bin: NDArray[np.int32]
    counts: NDArray[np.int32]
    gain: NDArray[np.float64]

    def is_open(self, max_leaf_nodes: int) -> bool:
        """Return whether a node may still be divided."""
        wanted = self.feature >= 0
        wanted[self.divided] = False
        return bool(self.state[State.N_LEAVES] < max_leaf_nodes and wanted.any())

    def grown_tree(self) -> GrownTree:
        """Return the tree, with leaves numbered in the order of the nodes."""
        divided, n = self.divided, len(self.divided)
        is_leaf = np.ones(len(self.feature), dtype=bool)
        is_leaf[divided] = False
        number = np.cumsum(is_leaf, dtype=np.int32) - 1
        child = ~number
        child[divided] = np.arange(n, dtype=np.int32)
        return GrownTree(
            self.feature[divided],
            self.bin[divided],
            child[1::2].copy(),
            child[2::2].copy(),
            self.gain[divided],
            np.where(is_leaf, number, -1).astype(np.int32),
            self.counts[is_leaf].astype(np.int64),
        )


class TreeBook:
    """The nodes of a tree on the device.

    Parameters
    ----------
    device : Device
        Device of the record.
    cell : int
        Number of lanes that a search sees.

    Attributes
    ----------
    array : int32 device array
        All sections; their layout is known to the kernels.
    totals : int32 device array of nodes x cell
        The sums of the nodes that have been searched.
    capacity : int32
        Number of nodes that fit.
    """

    array: Any
    totals: Any

    def __init__(self, device: Device, cell: int) -> None:
        self._device, self._cell = device, cell
        self.capacity = np.int32(0)
        self.reserve(512)

    def reserve(self, n_nodes: int) -> bool:
        """Make room for a number of nodes; return whether the arrays are new."""
        if n_nodes <= self.capacity:
            return False
        capacity = max(2 * int(self.capacity), -(-n_nodes // 8) * 8)
        array = np.zeros(_STATE_SIZE + sum(_SECTIONS) * (capacity // 2), dtype=np.int32)
        totals = np.zeros((capacity, self._cell), dtype=np.int32)
        if self.capacity:
            old = self._device.fetch(self.array)
            array[:_STATE_SIZE] = old[:_STATE_SIZE]
            for section in range(len(_SECTIONS)):
                kept = old[_section(section, self.capacity)]
                array[_section(section, capacity)][: len(kept)] = kept
            totals[: self.capacity] = self._device.fetch(self.totals)
        self.array, self.totals = self._device.put(array), self._device.put(totals)
        self.capacity = np.int32(capacity)
        return True

    def forget_histograms(self) -> None:
        """Mark all histograms as not kept."""
        self.array[_section(_SLOT, self.capacity)] = -1

    @property
    def cuts(self) -> Any:
        """Feature, bin and first child of each divided node: four int32 each."""
        return self.array[_section(_CUT, self.capacity)]

    def head(self) -> BookHead:
        """Fetch the part that the host reads."""
        half = int(self.capacity) // 2
        head = self._device.fetch(self.array[: _STATE_SIZE + sum(_HEAD) * half])
        state = head[:_STATE_SIZE]
        n, n_divided = int(state[State.N_NODES]), int(state[State.N_DIVIDED])
        divided, feature, bin_, counts, gain = (
            head[_section(section, self.capacity)] for section in range(len(_HEAD))
        )
        return BookHead(
            state,
            divided[:n_divided],
            feature[:n],
            bin_[:n],
            counts[:n],
            gain.view(np.float64)[:n],
        )


def _section(number: int, capacity: int | np.int32) -> slice:
    half = int(capacity) // 2
    begin = _STATE_SIZE + sum(_SECTIONS[:number]) * half
    return slice(begin, begin + _SECTIONS[number] * half)
