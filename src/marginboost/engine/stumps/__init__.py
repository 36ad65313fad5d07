"""Stumps, and trees with -1/+1 leaves: the operations on the rows that their boosting needs."""
