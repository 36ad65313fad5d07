"""Models that come back from their bytes."""

import numpy as np

from marginboost.data.encoding import Encoding
from marginboost.estimators.base import BoostedClassifier
from marginboost.estimators.saving import from_bytes, to_bytes
from marginboost.model.calibration_rows import CalibrationRows
from marginboost.model.ensemble import Ensemble


def again(model):
    return from_bytes(BoostedClassifier, to_bytes(model))


def assert_same_value(one, other, name):
    if isinstance(one, np.generic):
        one = one.item()
    assert type(one) is type(other), name
    if isinstance(one, Ensemble | Encoding | CalibrationRows):
        assert one.__slots__ == other.__slots__
        slots = [slot for slot in one.__slots__ if not slot.startswith("_")]
        for slot in slots:
            assert_same_value(getattr(one, slot), getattr(other, slot), f"{name}.{slot}")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for number, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_same_value(a, b, f"{name}[{number}]")
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype, name
        assert one.shape == other.shape, name
        assert one.flags.writeable == other.flags.writeable, name
        np.testing.assert_array_equal(one, other, err_msg=name)
    else:
        assert one == other or (one != one and other != other), name  # noqa: PLR0124
