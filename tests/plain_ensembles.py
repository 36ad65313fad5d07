"""Small ensembles, and their scores by a walk in plain Python."""

from types import SimpleNamespace

import numpy as np


def walk(model, x, j):
    """The leaf of tree j, one step after the other."""
    first, last = model.node_offsets[j : j + 2]
    place = 0 if last > first else -1
    while place >= 0:
        node = first + place
        goes_left = float(x[model.feature[node]]) <= model.threshold[node]
        place = int(model.left[node] if goes_left else model.right[node])
    return model.leaf_offsets[j] - place - 1


def plain_scores(model, X, n_rounds=None):
    scores = np.zeros((len(X), model.n_classes))
    for j in range(model.round_offsets[model.n_rounds if n_rounds is None else n_rounds]):
        for i, x in enumerate(X):
            leaf = walk(model, x, j)
            scores[i] += model.leaf_value[leaf] * model.vectors[model.leaf_vector[leaf]]
    return scores


def stump(feature=0, threshold=0.5, below=-1.0, above=1.0):
    return SimpleNamespace(
        feature=[feature], threshold=[threshold], left=[~0], right=[~1], leaf_value=[below, above]
    )


def append(builder, weak, row):
    """A round of one tree with one vector."""
    builder.append(weak, builder.add_vector(row))
    builder.end_round()


def same_bits(a, b):
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    assert a.tobytes() == b.tobytes()


def sound_arrays():
    """A stump and a tree of two nodes in a round, a constant in another; two classes."""
    return {
        "vectors": np.array([[1.0, 0.0], [0.0, 2.0], [0.5, 0.0]]),
        "round_offsets": np.array([0, 2, 3], dtype=np.int64),
        "node_offsets": np.array([0, 1, 3, 3], dtype=np.int64),
        "feature": np.array([0, 1, 2], dtype=np.int32),
        "threshold": np.array([0.5, 1.5, 2.5]),
        "left": np.array([~0, 1, ~0], dtype=np.int32),
        "right": np.array([~1, ~2, ~1], dtype=np.int32),
        "leaf_offsets": np.array([0, 2, 5, 6], dtype=np.int64),
        "leaf_vector": np.array([0, 0, 1, 2, 0, 2], dtype=np.int32),
        "leaf_value": np.array([-1.0, 1.0, 0.25, -1.0, 3.0, 1.0]),
        "n_features": 3,
    }
