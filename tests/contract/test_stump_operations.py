"""Every operation of an engine by itself: both engines alike, and as its definition says.

Nothing here has a tolerance: sums are of whole numbers.
"""

import numpy as np
import pytest
from engine_contract import (
    Pair,
    best_by,
    check_bounds,
    check_moves_and_searches,
    check_projection,
    check_sums,
)
from support import training_set

from marginboost.engine import NativeStumpEngine, ReferenceStumpEngine
from marginboost.engine.stumps.base import Weighting
from marginboost.engine.stumps.criterion import Criterion
from marginboost.loss import LOSSES, ExponentialLoss, SoftmaxLoss

# Number of classes, and of the code's outputs: None for the margins' direction, "eye" for -1 and +1 by
# class as in AdaBoost.MH.
SHAPES = pytest.mark.parametrize(
    ("k", "outputs"),
    [(2, None), (3, None), (5, None), (9, None), (17, None), (3, 1), (3, 3), (4, 7), (5, 8), (4, 17),
     (6, 33), (3, "eye"), (9, "eye"), (17, "eye")],
)  # fmt: skip
KINDS = pytest.mark.parametrize("kind", ["plain", "wide", "weights", "multiplicities"])


@SHAPES
@KINDS
def test_moves_and_searches(k, outputs, kind):
    check_moves_and_searches(Pair(k, outputs, kind))


@SHAPES
def test_projection(k, outputs):
    check_projection(Pair(k, outputs))


@SHAPES
@KINDS
def test_sums(k, outputs, kind):
    check_sums(Pair(k, outputs, kind))


@pytest.mark.parametrize("loss", [*LOSSES.values(), SoftmaxLoss()], ids=lambda loss: loss.name)
@pytest.mark.parametrize("k", [2, 3, 8, 9, 17])
def test_losses(k, loss):
    check_moves_and_searches(Pair(k, None, "weights", loss=loss))


def test_exponentials_stay_within_their_bounds():
    for outputs in (None, 5):
        check_bounds(Pair(3, outputs))


def test_nothing_to_search():
    """No feature has two values."""
    data = training_set(np.zeros((8, 2)), np.arange(8) % 2)
    for engine in (ReferenceStumpEngine(), NativeStumpEngine()):
        engine.load(data, Weighting(ExponentialLoss()))
        engine.advance(np.ones((2, 2)), np.ones((2, 2)), 20)
        for criterion in Criterion:
            assert engine.best_stump(criterion) == (-1, 0, 0, 0)
        np.testing.assert_array_equal(engine.best_stumps(), [[-1, 0, 0]] * 2)
        assert engine.start_tree(0) == (-1, 0, 8, 0.0)
        engine.place_tree([], [], [], [], [1])
        np.testing.assert_array_equal(engine.edges(), engine.state()[1].sum(axis=0))


# --- what only the engines on the host do ---------------------------------------------------------


@SHAPES
@KINDS
def test_best_stump_of_each_output(k, outputs, kind):
    pair = Pair(k, outputs, kind)
    pair.advance()
    each = pair.ask("best_stumps")
    assert each.shape == (pair.outputs, 3)
    for c, row in enumerate(each):
        _, feature, bin_, edges = best_by(pair, pair.g[:, [c]], lambda edges: abs(edges[0]))
        assert row.tolist() == [feature, bin_, edges[0]]


@SHAPES
@KINDS
def test_outputs_and_replacement(k, outputs, kind):
    pair = Pair(k, outputs, kind)
    pair.advance()
    pair.place()
    before = pair.g
    for _ in range(3):
        output = int(pair.rng.integers(pair.outputs))
        table = np.exp(pair.rng.normal(size=(2, pair.k)))
        pair.ask("advance_output", output, table)
        moved = pair.e[:, output] * table[pair.side, pair.y]
        pair.e[:, output] = np.where(pair.counted[:, output], moved, pair.e[:, output])
    for engine in pair.engines:  # the direction stays until the next advance
        np.testing.assert_array_equal(engine.state()[1], before)
        np.testing.assert_array_equal(engine.state()[0][pair.counted], pair.e[pair.counted])
    pair.advance()
    e = np.exp(pair.rng.normal(size=pair.e.shape) * 3)
    e[~pair.counted] = 0.0
    pair.ask("set_exponentials", e)
    pair.e = np.where(pair.counted, e, 2.0**-960)
    pair.advance()


@pytest.mark.parametrize(("k", "outputs"), [(5, None), (4, 7), (17, "eye")])
@KINDS
@pytest.mark.parametrize("share", [0.0, 0.06])
def test_trees_of_signs(k, outputs, kind, share):
    pair = Pair(k, outputs, kind, leaf_share=share)
    pair.advance()
    output = next(c for c, g in enumerate(pair.g.T) if g.min() < 0 < g.max())
    check_tree_of_signs(pair, output, pair.g[:, output])
    signs = np.where(np.arange(pair.outputs) % 2, 1, -1).astype(np.int8)
    pair.ask("project", signs)
    check_tree_of_signs(pair, 0, pair.g @ signs)


def check_tree_of_signs(pair, output, g):
    check_tree(pair, output, (g < 0).astype(int), np.abs(g), np.zeros(len(g), dtype=int))


@KINDS
@pytest.mark.parametrize("share", [0.0, 0.06])
def test_trees_of_classes(kind, share):
    pair = Pair(4, 1, kind, leaf_share=share)
    pair.advance()
    check_tree(pair, -1, pair.y, np.abs(pair.g[:, 0]), pair.y)


def check_tree(pair, output, label, mass, right):
    """Divide nodes by their best splits and by others, some with no search; then end the tree."""
    n = len(label)
    node = np.zeros(n, dtype=int)
    root = pair.ask("start_tree", output)
    check_split(pair, node == 0, root, label, mass)
    assert root.feature >= 0
    first = pair.ask("split", [0], [root.feature], [root.bin], [True])
    node = 1 + (pair.bins[root.feature] > root.bin)
    for number, found in enumerate(first, start=1):
        check_split(pair, node == number, found, label, mass)
    # Another split than the best one, of the second node before the first.
    second = pair.ask("split", [2, 1], [3, 1], [4, 2], [False, True])
    node = np.where(node == 2, 3 + (pair.bins[3] > 4), 5 + (pair.bins[1] > 2))
    for number, found in enumerate(second, start=3):
        if number < 5:
            assert found == (-1, 0, pair.copies[node == number].sum(), 0.0)
        else:
            check_split(pair, node == number, found, label, mass)
    masses = pair.ask("finish_tree", np.array([-1, -1, -1, 1, 0, 3, 2], dtype=np.int32))
    leaf = np.array([1, 0, 3, 2])[node - 3]
    expected = np.zeros((4, label.max() + 1 if output < 0 else 2), dtype=np.int64)
    np.add.at(expected, (leaf, label), mass)
    np.testing.assert_array_equal(masses, expected)
    side = expected.argmax(axis=1)[leaf] == right
    np.testing.assert_array_equal(pair.ask("edges"), (2 * side - 1) @ pair.g)


def check_split(pair, here, found, label, mass):
    """Compare a node and its split with all splits of the node."""
    assert found.n_rows == pair.copies[here].sum()

    def purity(rows):
        masses = [float(mass[rows & (label == one)].sum()) for one in range(label.max() + 1)]
        return sum(m * m for m in masses) / sum(masses) if sum(masses) else None

    rule, scores = pair.data.leaf_weight, {}
    for f, n_bins in enumerate(pair.data.binned.n_bins):
        for b in range(n_bins - 1):
            sides = [here & (pair.bins[f] <= b), here & (pair.bins[f] > b)]
            if rule is not None and min(rule.rows[side].sum() for side in sides) < rule.least:
                continue
            purities = [purity(side) for side in sides]
            if None not in purities:
                scores[f, b] = sum(purities)
    if not scores or len(np.unique(label[here & (mass > 0)])) < 2:
        assert found[:2] == (-1, 0)
        assert found.gain == 0.0
        return
    best = max(scores.values())
    assert scores[found.feature, found.bin] == pytest.approx(best, rel=1e-12)
    assert found.gain == pytest.approx(max(0.0, best - purity(here)), abs=1e-9 * best)


def test_what_does_not_fit_is_named():
    engine = Pair(3, None).engines[1]
    engine.advance(np.ones((2, 3)), np.ones((2, 3)), 10)
    for name, arguments, words in [
        ("finish_tree", (np.zeros(1, dtype=np.int32),), "no tree is growing"),
        ("start_tree", (3,), "output is out of range"),
        ("advance_output", (3, np.ones((2, 3))), "output is out of range"),
        ("set_exponentials", (np.ones((3, 3)),), "the shape \\(rows, outputs\\)"),
    ]:
        with pytest.raises(ValueError, match=words):
            getattr(engine, name)(*arguments)
    engine.start_tree(0)
    for arguments, words in [
        (([1], [0], [1], [True]), "each named once"),
        (([0, 0], [0, 0], [1, 1], [True, True]), "each named once"),
        (([0], [5], [1], [True]), "below n_features"),
        (([0], [0], [1], []), "same length"),
    ]:
        with pytest.raises(ValueError, match=words):
            engine.split(*arguments)
    engine.split([0], [0], [3], [False])  # what was refused has changed nothing
    for leaves in ([0, 1, 2], [-1, 0], [-1, 0, 3]):
        with pytest.raises(ValueError, match="leaf_of_node"):
            engine.finish_tree(np.array(leaves, dtype=np.int32))
    assert engine.finish_tree(np.array([-1, 0, 1], dtype=np.int32)).shape == (2, 2)
