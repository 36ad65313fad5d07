"""
Early stopping
==============

How many rounds are enough? Validation rows show it during the fit.
"""

# %%
# ``early_stopping=True`` holds back a tenth of the training rows for validation. They are chosen by
# their content, so the choice does not depend on the order of the rows, and a repeated row is never
# on both sides.

from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from marginboost import MarginBoostClassifier, plot

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
model = MarginBoostClassifier(1000, early_stopping=True, random_state=0).fit(X_train, y_train)
print(model.stop_reason_, "with", model.n_iter_, "of 1000 rounds kept")
print(f"accuracy: {model.validation_score_:.3f} validation, {model.score(X_test, y_test):.3f} test")

# %%
# The curves of the whole fit are kept.

figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
plot.learning_curves(model, ax=axes[0])
plot.learning_curves(model, measure="loss", ax=axes[1])
plt.show()

# %%
# Pass a validation set of your own to ``fit``. ``max_time`` stops a fit that would take too long,
# and a callback sees every round and can also end the fit.


def shout(finished):
    """Print every tenth round."""
    if finished.number % 10 == 0:
        print(f"round {finished.number}: {finished.validation_error:.3f} of validation rows wrong")
    return finished.number == 40  # True ends the fit


model = MarginBoostClassifier(1000, max_time=60, callbacks=[shout], random_state=0)
model.fit(X_train, y_train, X_val=X_test, y_val=y_test)
print(model.stop_reason_)
