"""
Handwritten digits
==================

Ten classes, 64 pixels, and one tree per round for all of them. Which digits are confused, and how
certain is the model?
"""

# %%
# A fit with the defaults. Labels may be numbers or text; features need no scaling.

from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from marginboost import MarginBoostClassifier, plot

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
model = MarginBoostClassifier(random_state=0).fit(X_train, y_train)
print(f"{100 * model.score(X_test, y_test):.1f} % of {len(y_test)} digits are classified correctly")

# %%
# Each row of the confusion matrix is a digit, each column a prediction.

figure, ax = plt.subplots(figsize=(6, 5.5), layout="constrained")
plot.confusion(model, X_test, y_test, ax=ax)
plt.show()

# %%
# The margin of an image is the score of its digit less the best score of another. Boosting
# continues to widen margins when all training images are classified correctly.

figure, ax = plt.subplots(layout="constrained")
plot.margins(model, X_test, y_test, ax=ax)
plt.show()
