"""The experiments of the paper, as code that anyone can run: `marginboost reproduce NAME`."""
