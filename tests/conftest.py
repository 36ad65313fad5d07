import os
import signal

# Small matrices are no faster with more threads of BLAS, which wait for each other by spinning: SciPy's
# L-BFGS-B alone took eight times as much processor time. Set before NumPy is imported, here and by all
# processes that the tests start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Nor shall OpenMP's threads, of scikit-learn and LightGBM, wait by spinning.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# The processes of a cluster look at themselves all the time, even where they have nothing to do.
os.environ.setdefault("DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED", "False")
os.environ.setdefault("DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL", "1s")

import pytest
from cuda_on_host import share_folder
from hypothesis import HealthCheck, settings

from marginboost import _native

share_folder()  # of emulated kernels, with all processes of the tests

# A shell starts programs in its background with Ctrl-C ignored, and so would be those that we start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "marginboost",
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],  # a busy machine is no failure
)
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


@pytest.fixture(scope="session")
def client():
    """Return the client of a small cluster of real processes, which must all survive."""
    support = pytest.importorskip("cluster_support")  # takes seconds: not for every run
    with support.Processes() as processes, processes.connect(3, set_as_default=True) as client:
        yield client
