"""Vector-leaf trees on a GPU."""
