"""
Mistakes that cost more than others
===================================

A screening test should rather alarm a healthy person than miss an ill one. Costs say how much rather.
"""

# %%
# Three findings: most people are healthy, some should be seen again, few are ill. The measurements say
# something about it, but not everything.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.model_selection import train_test_split

from marginboost import MarginBoostClassifier, mean_cost, plot

rng = np.random.default_rng(0)
severity = rng.choice(3, 3000, p=[0.8, 0.15, 0.05])
X = rng.normal(size=(3000, 5)) + 1.4 * severity[:, None] * rng.uniform(0.3, 1.0, 5)
y = np.array(["healthy", "see again", "ill"])[severity]
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)

# %%
# A dictionary names what differs from a cost of 1.

costs = {"ill": {"healthy": 50, "see again": 10}, "see again": {"healthy": 5}}
model = MarginBoostClassifier(cost_matrix=costs, random_state=0).fit(X_train, y_train)

# %%
# Costs change decisions, neither trees nor probabilities. So the same model can also return the most
# probable class, or decide by other costs, without another fit.

plain = model.with_costs(None)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
for one, words, ax in zip([plain, model], ["most probable", "least cost"], axes, strict=True):
    cost = mean_cost(y_test, one.predict(X_test), costs, labels=one.classes_)
    plot.confusion(one, X_test, y_test, ax=ax)
    accuracy = one.score(X_test, y_test)
    ax.set_title(f"{words}: mean cost {cost:.2f}, accuracy {accuracy:.2f}", loc="left")
plt.show()
