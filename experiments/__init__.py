"""The experiments of the paper, as code that anyone can run: `python -m experiments NAME`."""
