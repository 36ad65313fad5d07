"""
Why this class?
===============

Every score is a sum over features: Shapley values, exact for trees of any depth.
"""

# %%
# Wines of three cultivars, by their chemistry.

from matplotlib import pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from marginboost import MarginBoostClassifier, plot

X, y = load_wine(return_X_y=True, as_frame=True)
y = y.map({0: "Barolo", 1: "Grignolino", 2: "Barbera"})
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=1, stratify=y)
model = MarginBoostClassifier(random_state=0).fit(X_train, y_train)

# %%
# With many classes, few are of interest: ``top=1`` explains only the class with the highest score,
# which saves time and memory.

explanation = model.explain(X_test, top=1)
print(explanation)
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
plot.contributions(explanation, 0, ax=ax)
plt.show()

# %%
# Base and contributions add up to the score, to the bit: they are rounded to a grid on which sums
# are exact.

full = model.explain(X_test)
print((full.base + full.contributions.sum(axis=1) == full.scores).all())
