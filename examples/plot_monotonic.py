"""
Predictions that only rise with a column
========================================

Where it is known that a larger value must never count against a class, ``monotonic_cst`` makes sure
of it, however noisy the data are.
"""

# %%
# Loans with noisy outcomes. A higher income never makes a loan worse; of the three outcomes, only
# "repaid" and "default" are compared, so "late" is free to be most frequent in between.

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from marginboost import MarginBoostClassifier

rng = np.random.default_rng(0)
n = 600
X = pd.DataFrame({"income": rng.uniform(10, 90, n), "age": rng.uniform(18, 80, n)})
quality = (X["income"] - 50) / 20 + (X["age"] - 50) / 60 + 1.5 * rng.normal(size=n)
y = np.array(["default", "late", "repaid"])[np.digitize(quality, [-0.7, 0.7])]

# %%
# The logarithm of p(repaid) / p(default) by income, for people of three ages: as the data have it,
# and with the constraint.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
incomes = np.linspace(5, 95, 300)
for rule, ax in zip([None, {"income": {("repaid", "default"): 1}}], axes, strict=True):
    model = MarginBoostClassifier(60, monotonic_cst=rule, random_state=0).fit(X, y)
    for age in (25, 45, 65):
        p = model.predict_proba(pd.DataFrame({"income": incomes, "age": age}))
        ax.plot(incomes, np.log(p[:, 2] / p[:, 0]), label=f"age {age}")
    ax.set_title("no constraint" if rule is None else "repaid against default: never falls")
    ax.set_xlabel("income")
axes[0].set_ylabel("log of p(repaid) / p(default)")
axes[0].legend()
plt.show()
