"""Vector-leaf trees: what their boosting asks of the rows."""
