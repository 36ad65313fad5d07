"""Stumps on a GPU."""
