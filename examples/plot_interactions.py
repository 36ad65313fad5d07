"""
Columns that must not interact
==============================

With ``interaction_cst`` a model can be asked to keep the effects of columns apart. Without any
interactions the score of every class is a sum of one function per column.
"""

# %%
# Three cultivars of wine: with all interactions, with pairs of columns, and with none.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score

from marginboost import MarginBoostClassifier

X, y = load_wine(return_X_y=True, as_frame=True)
X = X[["alcohol", "color_intensity", "hue", "malic_acid"]]
for groups in (None, "pairwise", "no_interactions"):
    model = MarginBoostClassifier(40, interaction_cst=groups, random_state=0)
    print(f"{groups}: accuracy {cross_val_score(model, X, y, cv=3).mean():.3f}")

# %%
# How the score of the first cultivar changes with the color intensity, for 30 wines. Without
# interactions all lines are parallel: the effect of one column does not depend on the others.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
values = np.linspace(X["color_intensity"].min(), X["color_intensity"].max(), 100)
for groups, ax in zip([None, "no_interactions"], axes, strict=True):
    model = MarginBoostClassifier(40, interaction_cst=groups, random_state=0).fit(X, y)
    for place in range(0, len(X), 6):
        rows = X.iloc[[place] * len(values)].assign(color_intensity=values)
        score = model.decision_function(rows)[:, 0]
        ax.plot(values, score - score.mean(), color="tab:blue", alpha=0.4)
    ax.set_title(f"interaction_cst={groups!r}", loc="left")
    ax.set_xlabel("color intensity")
axes[0].set_ylabel("score of the first cultivar, centred")
plt.show()
