"""
A model that can be drawn
=========================

A model of stumps is a sum of functions of single features. They can be drawn completely: the plots
are the model.
"""

# %%
# The paper's method on iris.

from matplotlib import pyplot as plt
from sklearn.datasets import load_iris

from marginboost import MCBoostClassifier, plot

X, y = load_iris(return_X_y=True, as_frame=True)
y = y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
model = MCBoostClassifier(200, learning_rate=0.2, loss="logistic").fit(X, y)
print(f"{model.score(X, y):.3f} of the training rows are classified correctly")

# %%
# What each measurement adds to the score of each species.

figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
for name, ax in zip(X.columns, axes.flat, strict=True):
    plot.shapes(model, name, ax=ax)
plt.show()
