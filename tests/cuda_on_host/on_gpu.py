"""Arrays that lie on a GPU, as far as an emulated one is a GPU."""

import numpy as np


class OnGpu:
    """An array that says it lies on a GPU."""

    __cuda_array_interface__ = property(lambda self: self._values.__array_interface__)

    def __init__(self, values):
        self._values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self._values if dtype is None else self._values.astype(dtype)

    def get(self):
        return self._values
