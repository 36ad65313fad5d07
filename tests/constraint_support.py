"""What constraints promise: checks of fitted models."""

import itertools

import numpy as np


def scores(model, X):
    """All scores, also of two classes."""
    return model.ensemble_.decision_function(model._checked(X))


def every_value(model, column):
    """Return numbers of a column of X that lie in all cells that the trees tell apart."""
    ensemble = model.ensemble_
    of_column = model.encoding_.source[ensemble.feature] == column
    cuts = np.unique(ensemble.threshold[of_column])
    cuts = cuts[np.abs(cuts) < 1e300]  # others tell missing values from all numbers
    if not len(cuts):
        return np.zeros(1)
    beyond = [-np.inf, cuts[-1] + 1.0, np.inf]
    return np.unique(np.concatenate([cuts, np.nextafter(cuts, np.inf), beyond]))


def along(model, X, column):
    """Yield X with every value of a column in turn, ascending."""
    for value in every_value(model, column):
        moved = np.array(X, dtype=np.float64)
        moved[:, column] = value
        yield moved


def check_monotone(model, X, column, a, b, sign):
    """Assert that F_a - F_b, and p_a / p_b but for rounding, never move against a sign; else return."""
    differences, ratios = [], []
    for moved in along(model, X, column):
        F = scores(model, moved)
        differences.append(F[:, a] - F[:, b])
        p = np.log(np.maximum(model.predict_proba(moved), 1e-300))
        ratios.append(p[:, a] - p[:, b])
    steps = sign * np.diff(np.stack(differences), axis=0)
    assert (steps >= 0.0).all()
    assert (sign * np.diff(np.stack(ratios), axis=0) >= -1e-9).all()
    return bool(steps.any())


def paths_of(model):
    """Return the columns of X on every path from a root to a leaf."""
    ensemble, source = model.ensemble_, model.encoding_.source
    found = set()
    for first, last in itertools.pairwise(ensemble.node_offsets.tolist()):
        above = {0: frozenset()}
        for node in range(last - first):
            path = above[node] | {int(source[ensemble.feature[first + node]])}
            for child in (ensemble.left[first + node], ensemble.right[first + node]):
                above[int(child)] = path
                found.add(path)
    return found
