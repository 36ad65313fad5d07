"""The scikit-learn surface: thin, one file a family."""
