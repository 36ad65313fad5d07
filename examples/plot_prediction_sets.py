"""
Sets of classes with a stated coverage
======================================

Where one label would be a guess, ``predict_set`` names all classes that a row may belong to.
"""

# %%
# Three classes in the plane that overlap. Half of the rows are for testing.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_blobs
from sklearn.model_selection import train_test_split

from marginboost import MarginBoostClassifier
from marginboost.evaluation.sets import set_coverage, set_sizes

X, y = make_blobs(4000, centers=[(0, 0), (3, 0), (1.5, 2.5)], cluster_std=1.1, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
model = MarginBoostClassifier(random_state=0).fit(X_train, y_train)

# %%
# The thresholds come from rows that the fit held out for calibration: no others are needed. The
# share of test rows whose set holds their class is about what was asked for.

for coverage in (0.9, 0.95, 0.99):
    sets = model.predict_set(X_test, coverage)
    found, _ = set_coverage(sets, y_test)
    print(f"asked for {coverage:.0%}: found {found:.1%}, mean size {set_sizes(sets).mean():.2f}")

# %%
# One class where the case is clear, two on the borders, three in the middle.

grid = np.stack(np.meshgrid(np.linspace(-4, 7, 200), np.linspace(-4, 6, 200)), axis=-1)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
for coverage, ax in zip((0.9, 0.99), axes, strict=True):
    sizes = set_sizes(model.predict_set(grid.reshape(-1, 2), coverage)).reshape(200, 200)
    shown = ax.contourf(
        grid[..., 0], grid[..., 1], sizes, levels=[0.5, 1.5, 2.5, 3.5], cmap="Blues"
    )
    ax.scatter(*X_test[:500].T, c=y_test[:500], s=6, cmap="tab10")
    ax.set_title(f"coverage {coverage}: classes in a set", loc="left")
figure.colorbar(shown, ax=axes, ticks=[1, 2, 3])
plt.show()
