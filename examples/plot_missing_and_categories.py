"""
Missing values and categories
=============================

Data frames contain missing values and text. Both are used as they are: each split learns the side
of missing values, and categories need no encoding.
"""

# %%
# Synthetic customers of a shop: the alphabetical order of towns means nothing, and low incomes are
# missing more often.

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
# No imputation and no encoding.

model = MarginBoostClassifier(random_state=0).fit(X[:1500], y[:1500])
print(f"accuracy {model.score(X[1500:], y[1500:]):.3f}")

# %%
# New rows may have missing values where training rows had none, and towns that were never seen:
# those count as missing. Columns are matched by name, in any order; a missing column is an error.

new = pd.DataFrame({"town": ["Cork", "Zagreb"], "income": [np.nan, 31_000.0], "visits": [3, 1]})
print(model.predict(new), model.predict(new[["visits", "income", "town"]]))
try:
    model.predict(new[["income", "town"]])
except ValueError as error:
    print(str(error).splitlines()[0])

# %%
# Importances are those of the columns of the frame.

figure, ax = plt.subplots(figsize=(6, 2.5), layout="constrained")
plot.importances(model, ax=ax)
plt.show()
