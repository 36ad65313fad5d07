"""One file a method: its weights, its weak classifier, its coefficients, its advance."""
