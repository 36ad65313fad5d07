"""
Classes with an order
=====================

Grades are more than names: good is closer to fair than to poor. An order lets the model know.
"""

# %%
# Five grades of a product, from three measurements and one that says nothing.

import numpy as np
from matplotlib import pyplot as plt

from marginboost import MarginBoostClassifier, mean_cost

rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 4))
quality = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(0, 0.7, 3000)
grades = ["poor", "fair", "good", "very good", "excellent"]
y = np.array(grades)[np.digitize(quality, [-1.2, -0.4, 0.4, 1.2])]

# %%
# With `classes_order`, a mistake costs the number of grades that it is off. A pandas `Categorical` with
# an order, or a polars `Enum`, as y does the same.

ordered = MarginBoostClassifier(classes_order=grades, random_state=0).fit(X[:1500], y[:1500])
plain = MarginBoostClassifier(random_state=0).fit(X[:1500], y[:1500])

# %%
# Fewer predictions are far off. The share of exact ones hardly changes.

place = {grade: number for number, grade in enumerate(grades)}
true = np.array([place[grade] for grade in y[1500:]])
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for model, words, shift in ((plain, "no order", -0.2), (ordered, "an order", 0.2)):
    found = model.predict(X[1500:])
    off = np.abs(np.array([place[grade] for grade in found]) - true)
    mean = mean_cost(y[1500:], found, "ordinal", classes_order=grades)
    ax.bar(np.arange(5) + shift, np.bincount(off, minlength=5), 0.4, label=f"{words}: {mean:.3f}")
ax.set(xlabel="grades off", ylabel="rows", yscale="log")
ax.legend(title="mean absolute error")
plt.show()
