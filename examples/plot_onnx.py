"""
ONNX
====

A model for other programs and languages. Needs the extra ``onnx``, and onnxruntime to run it.
"""

# %%
# Fit data with missing values.

import numpy as np
import onnxruntime
from sklearn.datasets import load_digits

from marginboost import MarginBoostClassifier

X, y = load_digits(return_X_y=True)
X = X.astype(np.float32)
X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
model = MarginBoostClassifier(random_state=0).fit(X[:1200], y[:1200])

# %%
# The graph takes the same rows, including missing values, and returns labels and probabilities.

graph = model.to_onnx()
session = onnxruntime.InferenceSession(graph.SerializeToString())
label, probabilities = session.run(["label", "probabilities"], {"X": X[1200:]})
print("labels agree:", (label == model.predict(X[1200:])).all())
difference = np.abs(probabilities - model.predict_proba(X[1200:])).max()
print(f"largest difference of a probability: {difference:.0e}")
