"""A CUDA device that is emulated on the host: the kernels themselves, without a GPU."""

from cuda_on_host.device import HostDevice, host_device, named_device, share_folder
from cuda_on_host.on_gpu import OnGpu

__all__ = ["HostDevice", "OnGpu", "host_device", "named_device", "share_folder"]
