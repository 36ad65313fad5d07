"""Every operation of an engine for vector-leaf trees by itself: all engines alike, and as defined.

The definitions are written out here in float64; engines agree with each other to the bit.
"""

import numpy as np
import pytest
from scipy import sparse
from support import drawn_copies, make_tree_method, noisy_problem, random_problem, training_set

from marginboost.boosting.loop import boost
from marginboost.boosting.tree_weights import TreeWeights
from marginboost.data.row_view import RowView
from marginboost.engine import NativeTreeEngine, ReferenceTreeEngine
from marginboost.engine.trees.base import RowSample
from marginboost.engine.trees.slots import Slots
from marginboost.loss import LOSSES
from marginboost.model.builder import EnsembleBuilder

# Lanes of 8 and 16; where there are more classes than lanes, some share one, with signs.
SHAPES = pytest.mark.parametrize("k", [2, 6, 7, 14, 29, 60])
KINDS = pytest.mark.parametrize("kind", ["plain", "wide", "weights", "multiplicities", "sparse"])
LOSS = pytest.mark.parametrize("loss", LOSSES)
SMALLEST, LARGEST = 2.0**-60, 2.0**60


class Engines:
    """The reference and native engines on the same rows, and what they should hold."""

    def __init__(self, k, kind="plain", *, loss="exponential", n_rows=150, seed=0):
        self.rng = rng = np.random.default_rng(seed)
        n_rows = 300 if kind == "wide" else n_rows
        X, y = random_problem(n_rows, 5, k, n_values=None if kind == "wide" else 12, seed=seed)
        X[:, 3:] = np.rint(X[:, 3:])  # few bins, beside many
        if kind == "sparse":
            X[rng.random(X.shape) < 0.7] = 0.0
        weight = {
            "weights": rng.uniform(0.1, 3, n_rows), "multiplicities": rng.integers(1, 6, n_rows),
        }.get(kind)  # fmt: skip
        self.data = training_set(sparse.csr_array(X) if kind == "sparse" else X, y, weight=weight)
        order = np.argsort(y, kind="stable")
        self.bins = np.array(
            [np.searchsorted(t, X[order, f]) for f, t in enumerate(self.data.binned.thresholds)]
        )
        self.n_bins = [len(t) + 1 for t in self.data.binned.thresholds]
        self.y, self.k, self.loss = y[order], k, loss
        self.weight = np.ones(n_rows) if kind != "weights" else self.data.weight  # of mean 1
        self.copies = np.ones(n_rows, int) if kind != "multiplicities" else weight[order]
        self.slots = Slots(k)
        self.engines = [ReferenceTreeEngine(), NativeTreeEngine(), NativeTreeEngine(3)]
        for engine in self.engines:
            engine.load(self.data, LOSSES[loss], self.slots, RowView(seed))
        self.own = np.eye(k, dtype=bool)[self.y]
        self.e = np.where(self.own, SMALLEST, 1.0)
        self.leaf = np.zeros(n_rows, dtype=int)
        self.signs = np.ones(k)

    def ask(self, name, *arguments):
        """Ask all engines, and return what they all say."""
        answers = [getattr(engine, name)(*arguments) for engine in self.engines]
        for answer in answers[1:]:
            np.testing.assert_equal(answer, answers[0])
        return answers[0]

    def weights(self):
        e = np.where(self.own, 0.0, self.e)
        return e if self.loss == "exponential" else e / (1 + e)

    def losses(self):
        """Every row's."""
        e = np.where(self.own, 0.0, self.e)
        return (e if self.loss == "exponential" else np.log1p(e)).sum(axis=1)

    def direction(self):
        """Every row: its classes' lanes, mass and count."""
        u = self.weights() * self.weight[:, None]
        g = -u
        g[np.arange(len(u)), self.y] = u.sum(axis=1)
        lanes = np.zeros((len(u), self.slots.lanes))
        for r in range(self.k):
            lanes[:, r % (self.slots.lanes - 2)] += self.signs[r] * g[:, r]
        return lanes, u.sum(axis=1)

    def advance(self, n_leaves=1):
        """Move by random factors and check e, the direction, the count of errors and the loss."""
        up = np.exp(self.rng.normal(size=(n_leaves, self.k))).astype(np.float32)
        down = (1 / up).astype(np.float32)
        self.signs = np.ones(self.k)
        if self.slots.shares_lanes:
            self.signs = self.rng.choice([-1.0, 1.0], self.k)
        factor = up[self.leaf].astype(float) * down[self.leaf, self.y][:, None]
        self.e = np.where(self.own, self.e, self.e * factor)
        total = (self.weights().sum(axis=1) * self.weight * self.copies).sum()
        exponent, mass_exponent = (int(bits - np.frexp(total)[1]) for bits in (29, 28))
        signs = self.signs.astype(np.float32)
        wrong, loss = self.ask("advance", up, down, signs, exponent, mass_exponent)
        total_loss = (self.losses() * self.weight * self.copies).sum()
        assert loss * 2.0 ** -(mass_exponent + 20) == pytest.approx(total_loss, rel=1e-6)
        clear = (np.abs(np.where(self.own, 0, self.e) - 1) > 1e-5).all(axis=1)
        errors = (np.where(self.own, 0, self.e) >= 1).any(axis=1)
        assert abs(wrong - self.copies[errors].sum()) <= self.copies[~clear].sum()
        e, g = self.ask("state")
        np.testing.assert_allclose(e[~self.own], self.e[~self.own], rtol=1e-5)
        np.testing.assert_allclose(e[self.own], SMALLEST, rtol=1e-5)
        self.check_direction(g, exponent, mass_exponent)
        self.g = g.astype(np.int64)
        self.mass_unit = 2.0**-mass_exponent

    def check_direction(self, g, exponent, mass_exponent):
        lanes, mass = self.direction()
        mass_lane = self.slots.lanes - 2
        g = g / self.copies[:, None]
        unit = 2.0**exponent
        scale = np.abs(lanes).max() * unit
        found = np.delete(g, [mass_lane, mass_lane + 1], axis=1)
        expected = np.delete(lanes, [mass_lane, mass_lane + 1], axis=1) * unit
        np.testing.assert_allclose(found, expected, atol=2 + 1e-5 * scale)
        np.testing.assert_allclose(g[:, mass_lane], mass * 2.0**mass_exponent, rtol=1e-5, atol=1)
        np.testing.assert_array_equal(g[:, mass_lane + 1], 1)
        assert (g == np.rint(g)).all()

    def best_split(self, rows, features, least, smoothing):
        """Score every feature and bin; the first of the largest."""
        g = self.g // self.copies[:, None] * rows[:, None]
        lanes = np.ones(g.shape[1], dtype=bool)
        lanes[self.slots.lanes - 2 : self.slots.lanes] = False

        def score(part):
            sums = g[part].sum(axis=0)
            return (sums[lanes].astype(float) ** 2).sum() / (sums[self.slots.lanes - 2] + smoothing)

        def count(part):
            return g[part, self.slots.lanes - 1].sum()

        scores = {}
        for f in features:
            for b in range(self.n_bins[f] - 1):
                left = self.bins[f] <= b
                if min(count(left), count(~left)) >= least:
                    scores[f, b] = score(left) + score(~left)
        return scores, score(np.ones(len(rows), bool)), count(np.ones(len(rows), bool))

    def check_split(self, found, rows, features, least, smoothing):
        scores, here, count = self.best_split(rows, features, least, smoothing)
        assert found.n_rows == count
        if found.feature < 0:
            assert found == (-1, 0, count, 0.0)
            assert not scores or max(scores.values()) <= here * (1 + 1e-5)
            return
        best = max(scores.values())
        assert scores[found.feature, found.bin] >= best * (1 - 1e-5)
        clear = [place for place, score in scores.items() if score >= best * (1 - 1e-5)]
        if len(clear) == 1:
            assert (found.feature, found.bin) == clear[0]
        assert found.gain == pytest.approx(best - here, rel=1e-4, abs=1e-5 * here)


@SHAPES
@KINDS
@LOSS
def test_moves(k, kind, loss):
    engines = Engines(k, kind, loss=loss)
    engines.advance()
    engines.ask("start_tree", np.arange(5, dtype=np.int32), RowSample(), 1, 1.0)
    engines.ask("split", [0], [1], [engines.n_bins[1] // 2], [False])
    engines.ask("finish_tree", np.array([-1, 1, 0], dtype=np.int32), 10)
    engines.leaf = np.where(engines.bins[1] <= engines.n_bins[1] // 2, 1, 0)
    engines.advance(2)
    engines.ask("state")


@SHAPES
@KINDS
@pytest.mark.parametrize("least", [1, 20])
@pytest.mark.parametrize("sampled", [False, True])
def test_searches(k, kind, least, sampled):
    engines = Engines(k, kind)
    engines.advance()
    sample = RowSample(17, int(0.6 * 2**64)) if sampled else RowSample()
    searched = drawn_copies(engines.data, 0, sample)
    assert (searched == engines.copies).all() != sampled
    smoothing = 0.5 / engines.mass_unit
    features = np.array([0, 1, 3, 4], dtype=np.int32)
    root = engines.ask("start_tree", features, sample, least, smoothing)
    engines.check_split(root, searched, features, least, smoothing)
    if root.feature < 0:
        return
    # A node of no search, then a batch in any order, on a feature that is not searched.
    below = engines.bins[root.feature] <= root.bin
    left, right = engines.ask("split", [0], [root.feature], [root.bin], [True])
    engines.check_split(left, searched * below, features, least, smoothing)
    engines.check_split(right, searched * ~below, features, least, smoothing)
    middle = engines.n_bins[2] // 2
    found = engines.ask("split", [2, 1], [2, 2], [middle, middle - 1], [True, False])
    low, lower = engines.bins[2] <= middle, engines.bins[2] <= middle - 1
    parts = [~below & low, ~below & ~low, below & lower, below & ~lower]
    for split, part in zip(found[:2], parts[:2], strict=True):
        engines.check_split(split, searched * part, features, least, smoothing)
    for split, part in zip(found[2:], parts[2:], strict=True):
        assert split == (-1, 0, searched[part].sum(), 0.0)
    engines.ask("finish_tree", np.array([-1, -1, -1, 0, 1, 2, 3], dtype=np.int32), 10)
    engines.leaf = np.select(parts, range(4))
    engines.advance(4)  # all rows are moved, those of no search too


@SHAPES
@KINDS
@LOSS
def test_sums_of_leaves(k, kind, loss):
    engines = Engines(k, kind, loss=loss)
    engines.advance()
    engines.ask("start_tree", np.arange(5, dtype=np.int32), RowSample(), 1, 1.0)
    engines.ask("split", [0], [4], [engines.n_bins[4] // 2], [True])
    u = engines.weights() * (engines.weight * engines.copies)[:, None]
    exponent = int(29 - np.frexp(u.sum())[1])
    own, against = engines.ask("finish_tree", np.array([-1, 0, 1], dtype=np.int32), exponent)
    leaf = np.where(engines.bins[4] <= engines.n_bins[4] // 2, 0, 1)
    expected = np.zeros((2, 2, k))
    np.add.at(expected[0], (leaf, engines.y), u.sum(axis=1))
    np.add.at(expected[1], leaf, u)
    unit, rows = 2.0**-exponent, engines.copies.sum()
    np.testing.assert_allclose(own * unit, expected[0], rtol=1e-5, atol=rows * unit)
    np.testing.assert_allclose(against * unit, expected[1], rtol=1e-5, atol=rows * unit)
    assert (own == np.rint(own)).all()
    assert (against == np.rint(against)).all()


@pytest.mark.parametrize("k", [2, 3, 20])
def test_ties_go_to_the_first_feature_and_bin(k):
    """Equal columns, and empty bins between: every split of a kind scores the same to the bit."""
    y = np.repeat(np.arange(k), 12)
    column = np.where(y == 0, 0.0, 9.0)
    filler = np.tile(np.arange(12.0), k)  # says nothing of the class
    X = np.column_stack([filler, column, column, column])
    data = training_set(X, y)
    for engine in (ReferenceTreeEngine(), NativeTreeEngine(), NativeTreeEngine(4)):
        engine.load(data, LOSSES["exponential"], Slots(k), RowView())
        one = np.ones((1, k), dtype=np.float32)
        engine.advance(one, one, one[0], 10, 10)
        assert engine.start_tree(np.arange(4, dtype=np.int32), RowSample(), 1, 1.0)[:2] == (1, 0)
        assert engine.start_tree(np.array([0, 2, 3], dtype=np.int32), RowSample(), 1, 1.0)[:2] == (
            2,
            0,
        )
        # Node 1 is class 0 alone, whose split gains nothing; bins that a node lacks come after.
        engine.start_tree(np.arange(4, dtype=np.int32), RowSample(), 1, 1.0)
        left, right = engine.split([0], [0], [5], [True])
        assert left[:2] == right[:2] == (1, 0)


def test_empty_bins_of_a_node_are_ties():
    """Below 5 the classes are told apart anywhere between 1 and 4: the first bin of them."""
    X = np.array([0, 1, 4, 5, 2, 3] * 6, dtype=float)[:, None]
    other = np.array([0, 0, 0, 0, 1, 1] * 6, dtype=float)
    y = np.array([0, 0, 1, 1, 0, 1] * 6)
    data = training_set(np.column_stack([X, other]), y)
    for engine in (ReferenceTreeEngine(), NativeTreeEngine()):
        engine.load(data, LOSSES["exponential"], Slots(2), RowView())
        one = np.ones((1, 2), dtype=np.float32)
        engine.advance(one, one, one[0], 10, 10)
        engine.start_tree(np.array([0], dtype=np.int32), RowSample(), 1, 1.0)
        left, right = engine.split([0], [1], [0], [True])
        assert left[:2] == (0, 1)  # 1, 2 and 3 would do
        assert right[:2] == (0, 2)


def test_exponentials_stay_within_their_bounds():
    engines = Engines(3, 1)
    huge = np.full((1, 3), 2.0**30, dtype=np.float32)
    one = np.ones((1, 3), dtype=np.float32)
    for up, bound in ((huge, LARGEST), (1 / huge, SMALLEST)):
        for _ in range(5):
            engines.ask("advance", up, one, one[0], -50, -50)
            engines.ask("state")
        e = engines.ask("state")[0]
        assert (e[~engines.own] == bound).all()
        assert np.isfinite(e).all()


# --- no sum is ever too large ---------------------------------------------------------------------


def separable(n_rows, k):
    y = np.arange(n_rows) % k
    return y[:, None] + np.random.default_rng(0).uniform(-0.3, 0.3, (n_rows, 3)), y


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_losses_are_of_the_rows_that_a_fit_sees(loss):
    """At the start each has the loss of margins of zero, whatever its weight; others count nothing."""
    X, y = random_problem(400, 3, 4)
    data = training_set(X, y, weight=np.random.default_rng(0).uniform(0.1, 3, 400))
    view = RowView(5, np.full(4, 2**63, dtype=np.uint64))
    engine = NativeTreeEngine()
    weights = TreeWeights(engine, data, LOSSES[loss], Slots(4), view, 1.0)
    weights.start(np.ones(4, dtype=np.float32))
    assert 100 < len(engine.held_out().labels) < 300
    expected = 3.0 if loss == "exponential" else 3.0 * np.log(2.0)
    assert weights.mean_loss == pytest.approx(expected, rel=1e-6)


class Watched(TreeWeights):
    """Weights that check the direction's sums after every step."""

    def _advance(self, *step, **planned):
        error = super()._advance(*step, **planned)
        _, g = self._engine.state()
        sums = np.abs(g.astype(np.int64)).sum(axis=0)  # larger than any sum over some rows
        assert sums.max() < 2**31
        return error

    def leaf_sums(self, tree):
        own, against = super().leaf_sums(tree)
        assert (own >= 0).all()  # a sum that wraps around is negative half of the time,
        assert (against >= 0).all()
        # and both are sums of the same weights, but for a row's rounding and its own class.
        rounding = 2.0**-self._sum_exponent * self._data.n_counted * self._data.n_classes
        assert against.sum() == pytest.approx(own.sum(), rel=1e-3, abs=rounding)
        return own, against


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["separable", "noise", "tiny", "huge", "extreme", "integers"])
@pytest.mark.parametrize(("k", "pseudo_count"), [(2, 1.0), (5, 1e-3), (17, 1.0), (3, 0.0)])
def test_sums_never_overflow(loss, kind, k, pseudo_count):
    n = 240
    X, y = noisy_problem(n, 3, k) if kind == "noise" else separable(n, k)
    rng = np.random.default_rng(0)
    weight = {
        "tiny": rng.uniform(1e-9, 2e-9, n),
        "huge": rng.uniform(1e9, 2e9, n),
        "extreme": 10.0 ** rng.uniform(-9, 9, n),
        "integers": rng.integers(1, 60_000, n),
    }.get(kind)
    data = training_set(X, y, weight=weight, max_bins=64)
    if kind == "tiny":
        pseudo_count *= 1e-9
    method = make_tree_method(data, loss, eta=1.0, pseudo_count=pseudo_count, max_leaf_nodes=k + 3)
    old = method._weights
    method._weights = Watched(
        old._engine, method._data, LOSSES[loss], old._slots, old._view, old._pseudo_count
    )
    builder = EnsembleBuilder(3, k)
    rounds = []
    reason = boost(method, 300, builder, rounds.append)
    assert rounds
    assert len(rounds) == 300 or kind != "noise" or method._weights.is_spent
    assert reason in ("max_rounds", "no_violated_constraint")
    F = builder.build().decision_function(X)
    assert np.isfinite(F).all()
    if kind not in ("noise", "extreme"):
        np.testing.assert_array_equal(F.argmax(axis=1), y)
