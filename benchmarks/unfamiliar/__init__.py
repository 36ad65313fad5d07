"""Accuracy on many small and medium sets at library defaults: `python -m benchmarks.unfamiliar`."""
