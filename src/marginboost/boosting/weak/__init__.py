"""Weak classifiers h(x) in {-1, +1}: the records, and how they are found."""
