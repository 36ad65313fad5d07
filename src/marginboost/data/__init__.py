"""From the user's X and y to the binned, class-ordered rows that engines load."""
