"""
Probabilities that can be believed
==================================

Boosting makes a model overconfident. ``MarginBoostClassifier`` calibrates its probabilities on rows
that it was not fitted to.
"""

# %%
# Digits with a tenth of the labels wrong, so that no model can always be right.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from marginboost import MarginBoostClassifier, plot

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
y = np.where(rng.random(len(y)) < 0.1, rng.integers(0, 10, len(y)), y)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

# %%
# On the diagonal, of the rows that are given a probability of 0.8, eight in ten are right.

figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
for calibrate, ax in zip([False, True], axes, strict=True):
    model = MarginBoostClassifier(calibrate=calibrate, random_state=0).fit(X_train, y_train)
    loss = log_loss(y_test, model.predict_proba(X_test))
    plot.calibration(model, X_test, y_test, ax=ax)
    ax.set_title(f"calibrate={calibrate}: log loss {loss:.2f}", loc="left")
plt.show()
