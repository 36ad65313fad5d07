"""Vector-leaf trees on a cluster."""
