"""Stumps on a cluster."""
