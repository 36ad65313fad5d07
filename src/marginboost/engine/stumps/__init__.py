"""Stumps, and trees with -1/+1 leaves: what their boosting asks of the rows."""
