"""Algorithm 1 of the paper, and what goes with a round of it."""
