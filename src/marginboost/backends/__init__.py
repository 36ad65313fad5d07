"""Where the rows of a fit are prepared, and which engines serve them."""
