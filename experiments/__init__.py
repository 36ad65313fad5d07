"""The experiments of the paper, as a program: `python -m experiments NAME`."""
