"""Vector-leaf trees: the operations on the rows that their boosting needs."""
