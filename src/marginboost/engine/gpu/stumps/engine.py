"""The engine for stumps on a CUDA device: the same sums, with the same bits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost.engine.gpu.bin_columns import BinColumns
from marginboost.engine.gpu.device import Device, cuda_device
from marginboost.engine.gpu.row_chunks import row_chunks
from marginboost.engine.gpu.stumps.stump_search import StumpSearch
from marginboost.engine.loss_numbers import LOSS_NUMBERS
from marginboost.engine.stumps.base import SMALLEST_EXPONENTIAL
from marginboost.engine.stumps.criterion import Criterion

if TYPE_CHECKING:
    from marginboost.data.training_set import TrainingSet
    from marginboost.engine.stumps.base import Floats, Integers, Weighting

_SOFTMAX = 2

# Bits beside the loss's number, as in kernels/rows.cu.
_MOVES, _TABLE, _WEIGHTED, _COPIED, _CODED, _CURVED = (4 << i for i in range(6))

_BLOCK = 256
_CHUNK = 4 * _BLOCK  # rows of one class that a block sums, as in kernels/rows.cu


class GpuStumpEngine:
    """See `StumpEngine`.

    Parameters
    ----------
    device : Device, optional
        The device; by default the CUDA device.

    Notes
    -----
    A stump's sides are never stored: kernels that need them look at the feature's bins. The
    `next_search` of an advance is launched with it, and both results come back in one transfer.
    """

    name = "cuda"

    # Pairs: one is filled while the other is made zero for the next time.
    _sums: list[Any]
    _first_sums: list[Any]
    _edges: list[Any]
    _answers: list[Any]
    _stumps: list[Any]
    _stump: Any
    _sides: tuple[Any, ...]
    _found: tuple[int, tuple[int, int, int, int]] | None  # the criterion, and the stump

    def __init__(self, device: Device | None = None) -> None:
        self._device = cuda_device() if device is None else device

    def load(self, data: TrainingSet, weighting: Weighting) -> None:
        """Take the rows."""
        device, xp = self._device, self._device.xp
        columns = self._columns = BinColumns(device, data)
        self._n_rows, stride = columns.n_rows, columns.stride
        k = self._n_classes = data.n_classes
        code = weighting.code
        n = self._n_outputs = k if code is None else int(code.shape[1])
        self._project_search = StumpSearch(columns, 1)
        self._project_search.find_common_bins()
        search = self._search = self._project_search if n == 1 else StumpSearch(columns, n)

        labels = np.zeros(stride, dtype=np.int32)
        labels[: self._n_rows] = data.labels
        self._labels = device.put(labels)
        self._weight = xp.ones(1) if data.weight is None else xp.asarray(data.weight)
        counted_once = data.multiplicity is None
        self._copies = xp.ones(1, dtype=np.int32) if counted_once else xp.asarray(data.multiplicity)
        self._code = device.put(np.zeros(1, dtype=np.int8) if code is None else code)
        self._flags = (
            LOSS_NUMBERS[weighting.loss.name]
            | (0 if data.weight is None else _WEIGHTED)
            | (0 if counted_once else _COPIED)
            | (0 if code is None else _CODED)
        )
        self._e = self._first_exponentials(data, code)
        self._g = xp.zeros((search.tiles, stride, search.lanes), dtype=np.int32)
        self._side = xp.zeros(stride, dtype=np.uint8)
        self._use_side_array()
        self._make_room(data.class_offsets)
        self._bind_kernels()
        self._see(search, self._g)

    def advance(
        self, up: Floats, down: Floats, exponent: int, next_search: int | None = None
    ) -> int:
        """Move the margins, then form the new direction."""
        return self._advance(self._put_step(up, down), 0, exponent, next_search)

    def advance_table(self, table: Floats, exponent: int, next_search: int | None = None) -> int:
        """Do the same with a factor for every side, class and output."""
        self._check_shape("table", table, (2, self._n_classes, self._n_outputs))
        return self._advance(self._device.put(table), _TABLE, exponent, next_search)

    def project(self, signs: NDArray[np.int8]) -> None:
        """Let searches see the direction's outputs times `signs`."""
        self._check_shape("signs", signs, (self._n_outputs,))
        projected = self._device.xp.zeros(self._columns.stride, dtype=np.int32)
        self._rows_kernel("project")(
            self._grid, _BLOCK, self._g, *self._row_counts, np.int32(self._n_outputs),
            self._device.put(signs.astype(np.int8)), projected,
        )  # fmt: skip
        self._see(self._project_search, projected)

    def best_stump(self, criterion: int = Criterion.LARGEST) -> tuple[int, int, int, int]:
        """Find the best stump over features, bins and outputs."""
        if self._found is not None and self._found[0] == criterion:
            return self._found[1]
        self._seen_search.best(self._seen, criterion, self._stump)
        feature, bin_, output, edge = self._device.fetch(self._stump).tolist()
        return feature, bin_, output, edge

    def place_stump(self, feature: int, bin_: int, above_is_one: bool) -> None:
        """Put rows above the bin on side 1 (or 0), the others on the other side."""
        self._check_feature(feature)
        columns = self._columns
        self._sides = (
            columns.bytes,
            np.int64(feature * columns.stride * columns.width),
            np.int32(columns.width),
            np.int32(bin_),
            np.int32(above_is_one),
        )

    def place_tree(
        self,
        feature: list[int],
        bin_: list[int],
        left: list[int],
        right: list[int],
        leaf_side: list[int],
    ) -> None:
        """Put rows on the sides of a tree's leaves."""
        tree = self._device.put(np.array([*feature, *bin_, *left, *right, *leaf_side], np.int32))
        self._rows_kernel("place_tree")(
            self._grid, _BLOCK, self._columns.bytes, np.int32(self._columns.width),
            *self._row_counts, np.int32(len(feature)), tree, self._side,
        )  # fmt: skip
        self._use_side_array()

    def edges(self) -> Integers:
        """Sum g * h for every output."""
        self._edges = self._edges[::-1]
        self._rows_kernel("edges")(
            (min(self._grid, 4 * self._device.n_processors), self._search.tiles), _BLOCK, self._g,
            *self._row_counts, np.int32(self._n_outputs), *self._sides, *self._edges,
        )  # fmt: skip
        return self._device.fetch(self._edges[0])

    def sums(self, exponent: int) -> Floats:
        """Sum the weights by side, class of the row, and output."""
        self._sum(self._none, 0, exponent)
        return self._scaled(self._first_sums[0], exponent)

    def sums_and_curvature(self, exponent: int, up: Floats, down: Floats) -> tuple[Floats, Floats]:
        """Sum u and u (1 - u) at the margins that `up` and `down` would move to."""
        self._sum(self._put_step(up, down), _MOVES | _CURVED, exponent)
        sums, curvature = self._scaled(self._sums[0], exponent)
        return sums, curvature

    def histograms(self) -> NDArray[np.int32]:
        """Sum what searches see by feature and bin."""
        return self._seen_search.histograms(self._seen)

    def state(self) -> tuple[Floats, NDArray[np.int32]]:
        """Return copies of e and the fixed-point direction, for inspection."""
        e = self._device.fetch(self._e)[:, : self._n_rows].T
        g = self._device.fetch(self._g).transpose(1, 0, 2).reshape(self._columns.stride, -1)
        return (
            np.ascontiguousarray(e),
            np.ascontiguousarray(g[: self._n_rows, : self._n_outputs]),
        )

    # --- what load prepares -----------------------------------------------------------------------

    def _first_exponentials(self, data: TrainingSet, code: NDArray[np.int8] | None) -> Any:
        xp = self._device.xp
        weighted = ~np.eye(data.n_classes, dtype=bool) if code is None else code != 0
        first = self._device.put(np.where(weighted, 1.0, SMALLEST_EXPONENTIAL))
        e = xp.zeros((self._n_outputs, self._columns.stride))
        offsets = data.class_offsets.tolist()
        for label in range(data.n_classes):
            e[:, offsets[label] : offsets[label + 1]] = first[label][:, None]
        return e

    def _make_room(self, class_offsets: Integers) -> None:
        """Allocate the small arrays of sums, and their helpers."""
        xp, k, n = self._device.xp, self._n_classes, self._n_outputs
        self._sums = [xp.zeros((2, 2, k, n), dtype=np.int64) for _ in range(2)]
        self._first_sums = [sums[0] for sums in self._sums]
        self._edges = [xp.zeros(n, dtype=np.int64) for _ in range(2)]
        self._answers = [xp.zeros(5, dtype=np.int64) for _ in range(2)]  # rows wrong, and a stump
        self._stumps = [answer[1:] for answer in self._answers]
        self._stump = self._stumps[0]
        self._step = np.empty((2, 2, n))
        self._step_there = xp.zeros((2, 2, n))
        self._none = xp.zeros(1)
        softmax = self._flags & 3 == _SOFTMAX
        self._whole = xp.zeros(self._columns.stride) if softmax else self._none
        begins, labels = row_chunks(class_offsets, _CHUNK)
        self._chunks = (self._device.put(begins), self._device.put(labels))
        self._n_chunks = len(labels)

    def _bind_kernels(self) -> None:
        """Look up once what every launch needs."""
        self._grid = max(1, -(-self._columns.stride // _BLOCK))
        self._advance_kernel = self._rows_kernel("advance")
        self._sums_kernel = self._rows_kernel("sums")
        self._row_counts = (np.int64(self._n_rows), np.int64(self._columns.stride))
        counts = (np.int32(self._n_classes), np.int32(self._n_outputs))
        self._advance_arguments = (
            self._e, self._g, self._labels, self._weight, self._copies, self._code,
            *self._row_counts, *counts,
        )  # fmt: skip
        self._sums_arguments = (
            self._e, self._weight, self._copies, self._whole, *self._chunks, self._row_counts[1],
            *counts,
        )  # fmt: skip

    def _rows_kernel(self, name: str) -> Any:
        return self._device.kernel("rows", name, LANES=self._search.lanes)

    # --- parts of the operations ------------------------------------------------------------------

    def _advance(self, factors: Any, flags: int, exponent: int, next_search: int | None) -> int:
        self._see(self._search, self._g)
        self._answers = self._answers[::-1]
        self._stumps = self._stumps[::-1]
        self._stump = self._stumps[0]
        self._advance_kernel(
            self._grid, _BLOCK, *self._advance_arguments, np.int32(self._flags | flags), factors,
            np.float64(math.ldexp(1.0, exponent)), *self._sides, *self._answers,
        )  # fmt: skip
        if next_search is not None:
            self._search.best(self._g, next_search, self._stump)
        wrong, feature, bin_, output, edge = self._device.fetch(self._answers[0]).tolist()
        if next_search is not None:
            self._found = (int(next_search), (feature, bin_, output, edge))
        return int(wrong)

    def _see(self, search: StumpSearch, g: Any) -> None:
        """Set what searches see, and drop earlier results."""
        self._seen_search, self._seen = search, g
        self._found = None

    def _put_step(self, up: Floats, down: Floats) -> Any:
        self._check_shape("up", up, (2, self._n_outputs))
        self._check_shape("down", down, (2, self._n_classes))
        self._step[0], self._step[1] = up, down
        self._device.write(self._step_there, self._step)
        return self._step_there

    def _sum(self, factors: Any, flags: int, exponent: int) -> None:
        flags |= self._flags
        if flags & 3 == _SOFTMAX:
            self._rows_kernel("row_sums")(
                self._grid, _BLOCK, self._e, self._labels, *self._row_counts,
                np.int32(self._n_classes), np.int32(self._n_outputs), np.int32(flags), factors,
                *self._sides, self._whole,
            )  # fmt: skip
        self._sums = self._sums[::-1]
        self._first_sums = self._first_sums[::-1]
        self._sums_kernel(
            (self._n_chunks, self._n_outputs), _BLOCK, *self._sums_arguments, np.int32(flags),
            factors, np.float64(math.ldexp(1.0, exponent)), *self._sides, *self._sums,
        )  # fmt: skip

    def _scaled(self, sums: Any, exponent: int) -> Floats:
        # Whole numbers below 2**53: turning them into doubles rounds nothing.
        scaled: Floats = self._device.fetch(sums) * math.ldexp(1.0, -exponent)
        return scaled

    def _use_side_array(self) -> None:
        self._sides = (self._side, np.int64(0), np.int32(0), np.int32(0), np.int32(0))

    def _check_shape(self, name: str, array: NDArray[Any], shape: tuple[int, ...]) -> None:
        if array.shape != shape:
            raise ValueError(f"{name} must have the shape {shape}, got {array.shape}.")

    def _check_feature(self, feature: int) -> None:
        if not 0 <= feature < self._columns.n_features:
            raise ValueError(
                f"feature must be from 0 to {self._columns.n_features - 1}, got {feature}."
            )
