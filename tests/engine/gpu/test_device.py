"""Where there is no device, the reason is said in a sentence."""

import sys
from types import SimpleNamespace

import pytest

from marginboost.engine.gpu import device as device_module
from marginboost.engine.gpu.device import CudaDevice
from marginboost.engine.gpu.stumps.engine import GpuStumpEngine


@pytest.fixture
def fresh_device():
    """Forget the device of the process, before and after."""
    device_module._made_in.cache_clear()
    yield
    device_module._made_in.cache_clear()


@pytest.mark.usefixtures("fresh_device")
def test_without_cupy_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ImportError, match=r"needs CuPy.*marginboost\[gpu\].*cupy-cuda12x"):
        GpuStumpEngine()


@pytest.mark.usefixtures("fresh_device")
def test_a_forked_process_is_told(monkeypatch):
    monkeypatch.setattr(device_module, "CudaDevice", lambda: "a device")
    assert device_module.cuda_device() == "a device"
    monkeypatch.setattr(device_module.os, "getpid", lambda: -1)
    with pytest.raises(
        RuntimeError, match=r"forked from one which had used it\. Start the process by"
    ):
        device_module.cuda_device()


def fake_cupy(count):
    return SimpleNamespace(cuda=SimpleNamespace(runtime=SimpleNamespace(getDeviceCount=count)))


def test_without_a_driver_cuda_is_quoted(monkeypatch):
    def count():
        raise OSError("cudaErrorInsufficientDriver: CUDA driver version is insufficient")

    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(count))
    with pytest.raises(RuntimeError, match=r"driver that works.*InsufficientDriver.*nvidia-smi"):
        CudaDevice()


def test_without_a_device_that_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(lambda: 0))
    with pytest.raises(RuntimeError, match=r"finds none.*CUDA_VISIBLE_DEVICES"):
        CudaDevice()
