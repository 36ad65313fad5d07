"""Engines on a CUDA device. CuPy is imported only when one is made."""
