"""
Coefficient paths
=================

With small steps, stage-wise boosting follows the path of the l1-constrained optimum, as in the paper's
Figure 1.
"""

# %%
# ``max_step`` is the paper's kappa: no coefficient of a round is larger.

from matplotlib import pyplot as plt
from sklearn.datasets import load_iris

from marginboost import MCBoostClassifier, plot

X, y = load_iris(return_X_y=True)
model = MCBoostClassifier(400, max_step=0.02, learning_rate=1.0).fit(X, y)

# %%
# Rounds that choose the same weak classifier add to the same line.

figure, ax = plt.subplots(layout="constrained")
plot.paths(model, ax=ax)
plt.show()

# %%
# Without a bound the first rounds contribute most. This is the matrix W of such a fit, round by round.

model = MCBoostClassifier(60).fit(X, y)
figure, ax = plt.subplots(layout="constrained")
plot.coefficients(model, ax=ax)
plt.show()
