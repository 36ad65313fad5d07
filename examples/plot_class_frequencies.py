"""
Other class frequencies at work
===============================

Trained on rows that were collected in equal numbers, used where one class is rare.
"""

# %%
# A training set with as many rows of each class, and test rows as they come: one in fifty is ill.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss

from marginboost import MarginBoostClassifier, plot

X, y = make_classification(20000, 8, n_informative=5, class_sep=0.6, random_state=0)
y = np.array(["ill", "well"])[y]
ill, well = np.flatnonzero(y == "ill"), np.flatnonzero(y == "well")
train = np.concatenate([ill[:1000], well[:1000]])
test = np.concatenate([ill[1000:1150], well[1000:8350]])
model = MarginBoostClassifier(random_state=0).fit(X[train], y[train])

# %%
# The model believes that half of all rows are ill. A copy that is told better has probabilities that
# are right: for calibrated probabilities, Bayes' rule is exact.

told = model.with_class_frequencies({"ill": 0.02, "well": 0.98})
figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
for name, one, ax in zip(("as in training", "told better"), (model, told), axes, strict=True):
    loss = log_loss(y[test], one.predict_proba(X[test]))
    share = np.mean(one.predict(X[test]) == "ill")
    plot.calibration(one, X[test], y[test], ax=ax)
    ax.set_title(f"{name}: log loss {loss:.3f}, {share:.1%} called ill", loc="left")
plt.show()
