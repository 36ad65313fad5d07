"""Square blocks over an image, in several sizes, each size half overlapping."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Block(NamedTuple):
    """A square of pixels: its side, and the row and column of its first pixel."""

    size: int
    row: int
    column: int


def pyramid(shape: tuple[int, int], sizes: Iterable[int]) -> list[Block]:
    """Return the blocks of all levels: level by level, grid by grid, row by row.

    A level has three grids of touching blocks: one centred on the image, one shifted right by half
    a block (rounded up) and one shifted down by as much. None is shifted both ways. This gives 28 x
    28 pixels 133 blocks of 4, 40 of 7 and 8 of 14 pixels: 181 in all, and with 12
    orientations 2,172 numbers, the paper's count. (With the fourth grid they would be 227.)
    """
    height, width = shape
    blocks = []
    for size in sizes:
        top, left = (height % size) // 2, (width % size) // 2
        half = (size + 1) // 2
        for row, column in ((top, left), (top, left + half), (top + half, left)):
            blocks += [
                Block(size, r, c)
                for r in range(row, height - size + 1, size)
                for c in range(column, width - size + 1, size)
            ]
    return blocks


def membership(shape: tuple[int, int], blocks: Sequence[Block]) -> NDArray[np.float32]:
    """Which pixel is in which block: a matrix of 0 and 1, pixels x blocks."""
    inside = np.zeros((*shape, len(blocks)), dtype=np.float32)
    for number, (size, row, column) in enumerate(blocks):
        inside[row : row + size, column : column + size, number] = 1.0
    return inside.reshape(-1, len(blocks))
