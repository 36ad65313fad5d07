"""A CUDA device that is emulated on the host: the kernels themselves, without a GPU."""

from cuda_on_host.device import HostDevice, host_device, named_device, share_folder

__all__ = ["HostDevice", "host_device", "named_device", "share_folder"]
