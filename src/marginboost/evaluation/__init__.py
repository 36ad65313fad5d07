"""What a fitted model predicts for labelled rows, and how good that is: for plots and the report."""
