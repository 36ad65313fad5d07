"""Kernels: compiled once for all threads, those of a fit at the same time, and with a word about it."""

import logging
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from cuda_on_host import OnGpu, named_device
from support import assert_same_model, noisy_problem

from marginboost import MarginBoostClassifier, MCBoostClassifier
from marginboost.backends import choose
from marginboost.engine.gpu.device import CudaDevice, Device


class CountingDevice(Device):
    """Compiles nothing, slowly enough that threads meet."""

    def __init__(self):
        super().__init__()
        self.compiled = []
        self.go_on = threading.Event()

    def _compile(self, file, source, constants):
        self.compiled.append((file, dict(constants)))
        assert self.go_on.wait(60)
        if "FAILS" in constants:
            raise RuntimeError("no such kernel")
        return lambda name: (file, name)

    fetch = put = write = free_bytes = None


CountingDevice.__abstractmethods__ = frozenset()


def test_threads_share_what_one_of_them_compiles():
    device = CountingDevice()
    with ThreadPoolExecutor(4) as threads:
        found = [threads.submit(device.kernel, "row_bins", "gather_features") for _ in range(4)]
        device.go_on.set()
        assert {one.result() for one in found} == {("row_bins", "gather_features")}
    assert device.compiled == [("row_bins", {})]


def test_what_is_compiled_ahead_is_waited_for():
    device = CountingDevice()
    device.compile_ahead("row_bins", BIN_BYTES=1)  # returns before it is compiled
    device.compile_ahead("row_bins", BIN_BYTES=1)
    threading.Timer(0.01, device.go_on.set).start()
    assert device.kernel("row_bins", "gather_features", BIN_BYTES=1)
    assert device.compiled == [("row_bins", {"BIN_BYTES": 1})]


def test_a_failure_ahead_reaches_who_needs_the_kernel():
    device = CountingDevice()
    device.go_on.set()
    device.compile_ahead("row_bins", FAILS=1)
    with pytest.raises(RuntimeError, match="no such kernel"):
        device.kernel("row_bins", "gather_features", FAILS=1)


@pytest.mark.parametrize("name", ["emulated", "cuda"])
@pytest.mark.parametrize(("k", "loss"), [(3, "exponential"), (9, "logistic")])
def test_all_that_a_fit_of_trees_needs_is_compiled_ahead(monkeypatch, name, k, loss):
    device = named_device(name)
    ahead, used = set(), set()
    plain_ahead, plain_kernel = type(device).compile_ahead, type(device).kernel

    def compile_ahead(self, file, **constants):
        ahead.add((file, tuple(sorted(constants.items()))))
        plain_ahead(self, file, **constants)

    def kernel(self, file, name, **constants):
        used.add((file, tuple(sorted(constants.items()))))
        return plain_kernel(self, file, name, **constants)

    monkeypatch.setattr(type(device), "compile_ahead", compile_ahead)
    monkeypatch.setattr(type(device), "kernel", kernel)
    monkeypatch.setattr(choose, "cuda_device", lambda: device)
    put = OnGpu if name == "emulated" else device.xp.asarray
    X, y = noisy_problem(200, 4, k)
    model = MarginBoostClassifier(2, loss=loss, random_state=0, device="cuda")
    model.fit(put(X.astype(np.float32)), put(y))
    assert ahead == used


@pytest.mark.parametrize("name", ["emulated", "cuda"])
def test_two_threads_fit_on_one_device_at_once(monkeypatch, name):
    device = named_device(name)
    monkeypatch.setattr(choose, "cuda_device", lambda: device)
    put = OnGpu if name == "emulated" else device.xp.asarray
    problems = [noisy_problem(200, 4, k, seed=k) for k in (3, 5)]
    models = [MarginBoostClassifier(4, random_state=0), MCBoostClassifier(5)]
    together = threading.Barrier(2)

    def fit(model, X, y):
        together.wait(60)
        for _ in range(2):
            model.fit(put(X), put(y))
        return model

    for model in models:
        alone = [type(model)(**model.get_params()).fit(X, y) for X, y in problems]
        there = [type(model)(**(model.get_params() | {"device": "cuda"})) for _ in problems]
        with ThreadPoolExecutor(2) as threads:
            started = [
                threads.submit(fit, one, X, y) for one, (X, y) in zip(there, problems, strict=True)
            ]
            for one, expected in zip(started, alone, strict=True):
                assert_same_model(one.result(), expected)


class FakeCupy(SimpleNamespace):
    """As much of CuPy as compiling needs."""

    __version__ = "1"

    def __init__(self):
        runtime = SimpleNamespace(
            getDeviceCount=lambda: 1,
            getDevice=lambda: 0,
            deviceGetAttribute=lambda *_: 100_000,
            runtimeGetVersion=lambda: 13000,
        )
        super().__init__(
            cuda=SimpleNamespace(runtime=runtime, Device=FakeCupyDevice),
            RawModule=lambda **_: SimpleNamespace(compile=lambda: None),
        )


class FakeCupyDevice:
    compute_capability = "90"

    def __init__(self, number):
        assert number == 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def test_the_user_is_told_once_and_not_where_a_cache_has_it(monkeypatch, tmp_path, caplog):
    monkeypatch.setitem(sys.modules, "cupy", FakeCupy())
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path))
    said = "Compiling GPU kernels; later fits read them from a cache."
    with caplog.at_level(logging.INFO, logger="marginboost"):
        device = CudaDevice()
        for source in ("one", "two"):
            device._compile("file", source, {})
        assert [record.message for record in caplog.records] == [said]
        caplog.clear()
        again = CudaDevice()  # another process, say
        again._compile("file", "two", {})
        assert not caplog.records
        again._compile("file", "three", {})
        assert [record.message for record in caplog.records] == [said]
    assert len(list(tmp_path.iterdir())) == 3
