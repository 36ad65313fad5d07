"""Ensembles of random trees, for tests of what is done with any ensemble."""

from types import SimpleNamespace

import numpy as np

from marginboost.model.builder import EnsembleBuilder

N_FEATURES = 6


def random_tree(rng, n_nodes, n_features=N_FEATURES):
    """A tree of `n_nodes` internal nodes: each new node takes the place of a leaf."""
    left, right = [None] * n_nodes, [None] * n_nodes
    open_ends = []
    for node in range(n_nodes):
        if node:
            parent, side = open_ends.pop(rng.integers(len(open_ends)))
            side[parent] = node
        open_ends += [(node, left), (node, right)]
    for leaf, (parent, side) in enumerate(open_ends):
        side[parent] = ~leaf
    return SimpleNamespace(
        feature=rng.integers(n_features, size=n_nodes).tolist(),
        threshold=(rng.integers(-8, 8, size=n_nodes) / 4).tolist(),  # ties with the values of X
        left=left,
        right=right,
        leaf_value=rng.choice([-1.0, 1.0], size=n_nodes + 1).tolist(),
    )


def shared(rng, builder, n_leaves):
    """A vector of its own for the tree, leaves of -1 and +1."""
    return builder.add_vector(rng.exponential(size=builder._n_classes)), None


def named(rng, builder, n_leaves):
    """Every leaf names a class; the vectors are the rows of the identity matrix."""
    n_classes = builder._n_classes
    if not builder._n_vectors:
        for row in np.eye(n_classes):
            builder.add_vector(row)
    return rng.integers(n_classes, size=n_leaves).tolist(), [rng.exponential()] * n_leaves


def coded(rng, builder, n_leaves):
    """One of a few vectors of -1, 0 and +1 for the tree, leaves of both signs."""
    if builder._n_vectors < 5:
        builder.add_vector(rng.integers(-1, 2, size=builder._n_classes))
    values = rng.choice([-1, 1], size=n_leaves) * rng.exponential()
    return int(rng.integers(builder._n_vectors)), values.tolist()


def own(rng, builder, n_leaves):
    """A vector a leaf."""
    rows = rng.normal(size=(n_leaves, builder._n_classes))
    return [builder.add_vector(row) for row in rows], [1.0] * n_leaves


def mixed(rng, builder, n_leaves):
    """Any of the vectors so far, some with zeros at their ends, times any value."""
    n_classes = builder._n_classes
    row = rng.normal(size=n_classes)
    row[: rng.integers(n_classes + 1)] = 0.0
    row[n_classes - rng.integers(n_classes + 1) :] = -0.0
    last = builder.add_vector(row)
    return rng.integers(last + 1, size=n_leaves), rng.normal(size=n_leaves)


KINDS = {kind.__name__: kind for kind in (shared, named, coded, own, mixed)}


def random_ensemble(rng, sizes, n_classes=3, *, kind="shared", round_size=1):
    """Trees of `sizes` internal nodes, `round_size` a round; the last round may have fewer."""
    builder = EnsembleBuilder(N_FEATURES, n_classes)
    for j, n_nodes in enumerate(sizes, start=1):
        tree = random_tree(rng, n_nodes)
        builder.append(tree, *KINDS[kind](rng, builder, n_nodes + 1))
        if j % round_size == 0 or j == len(sizes):
            builder.end_round()
    return builder.build()


def random_rows(rng, n, dtype=np.float64, n_features=N_FEATURES):
    return (rng.integers(-10, 10, size=(n, n_features)) / 4).astype(dtype)
