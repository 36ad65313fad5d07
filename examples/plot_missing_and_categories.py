"""
Missing values and categories
=============================

Data frames come with gaps and with words. Both go in as they are: the side on which missing values fall
is learned, split by split, and categories need no encoding.
"""

# %%
# Customers of a shop, made up: a town says nothing by its place in the alphabet, and an income is missing
# more often where it is low.

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from marginboost import MarginBoostClassifier, plot

rng = np.random.default_rng(0)
n = 2000
towns = np.array(["Aachen", "Bergen", "Cork", "Delft", "Evora", "Faro", "Graz", "Hull"])
town = rng.integers(0, 8, n)
income = rng.lognormal(10, 0.5, n)
likes = np.array([0, 2, 1, 2, 0, 1, 1, 0])[town]  # what is bought there
buys = np.where(rng.random(n) < 0.85, likes, (income > 25_000) + (income > 40_000))
missing = rng.random(n) < np.where(income < 20_000, 0.6, 0.1)
X = pd.DataFrame(
    {
        "town": towns[town],
        "income": np.where(missing, np.nan, income),
        "visits": rng.poisson(4, n),
    }
)
y = np.array(["tea", "coffee", "neither"])[buys]
print(X.head(4))

# %%
# Nothing is filled in, nothing is encoded.

model = MarginBoostClassifier(random_state=0).fit(X[:1500], y[:1500])
print(f"accuracy {model.score(X[1500:], y[1500:]):.3f}")

# %%
# New rows may have gaps where training rows had none, and towns that were never seen: those count as
# missing. Columns are found by their names, in any order; a frame that lacks one is refused.

new = pd.DataFrame({"town": ["Cork", "Zagreb"], "income": [np.nan, 31_000.0], "visits": [3, 1]})
print(model.predict(new), model.predict(new[["visits", "income", "town"]]))
try:
    model.predict(new[["income", "town"]])
except ValueError as error:
    print(str(error).splitlines()[0])

# %%
# Importances are those of the columns of the frame, however many splits each was used in.

figure, ax = plt.subplots(figsize=(6, 2.5), layout="constrained")
plot.importances(model, ax=ax)
plt.show()
