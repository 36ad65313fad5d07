import pytest
from hypothesis import settings

from marginboost import _native

settings.register_profile("marginboost", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("marginboost")


@pytest.fixture
def kernels():
    """Choose kernels by name, skip where the CPU lacks them; the best ones are back afterwards."""

    def choose(name):
        try:
            _native.use_kernels(name)
        except ValueError as missing:
            pytest.skip(str(missing))

    yield choose
    _native.use_kernels("auto")
