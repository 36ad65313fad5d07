"""What engines are held to: whole fits, and every operation by itself."""

import numpy as np
from support import (
    assert_same_ensemble,
    assert_same_tree,
    boosted,
    make_method,
    make_tree_method,
    random_problem,
    row_weights,
    training_set,
)

from marginboost.data.leaf_weight import with_least_leaf_weight
from marginboost.engine import NativeStumpEngine, ReferenceStumpEngine
from marginboost.engine.stumps.base import Weighting
from marginboost.engine.stumps.criterion import Criterion
from marginboost.loss import ExponentialLoss

# --- whole fits -----------------------------------------------------------------------------------


class Result:
    """All that a fit leaves behind."""

    def __init__(self, engine, data, loss, *, depth=1, n_rounds=12):
        method = make_method(data, loss, engine=engine, depth=depth, nu=1e-9, eta=0.5)
        self.rounds, self.ensemble = boosted(method, n_rounds)
        self.e, self.g = engine.state()

    def assert_same(self, other, *, rows=slice(None)):
        assert_same_ensemble(self.ensemble, other.ensemble)
        for ours, theirs in zip(self.rounds, other.rounds, strict=True):
            assert ours.weak == theirs.weak
            assert ours.edge == theirs.edge
            assert ours.optimality_error == theirs.optimality_error
            assert ours.training_error == theirs.training_error
        np.testing.assert_array_equal(self.e, other.e[rows])
        np.testing.assert_array_equal(self.g, other.g[rows])


class TreeResult:
    """All that a fit of vector-leaf trees leaves behind."""

    def __init__(self, engine, data, loss, *, n_rounds=4, **settings):
        method = make_tree_method(data, loss, engine=engine, **settings)
        self.rounds, self.ensemble = boosted(method, n_rounds)
        self.e, self.g = engine.state()

    def assert_same(self, other, *, rows=slice(None)):
        for ours, theirs in zip(self.rounds, other.rounds, strict=True):
            assert_same_tree(ours.weak, theirs.weak)
            np.testing.assert_array_equal(ours.w, theirs.w)
            assert ours.edge == theirs.edge
            np.testing.assert_array_equal(ours.gains, theirs.gains)
            assert ours.training_error == theirs.training_error
            assert ours.training_loss == theirs.training_loss
        assert_same_ensemble(self.ensemble, other.ensemble)
        assert self.e.dtype == other.e.dtype == np.float32
        assert self.g.dtype == other.g.dtype == np.int32
        np.testing.assert_array_equal(self.e, other.e[rows])
        np.testing.assert_array_equal(self.g, other.g[rows])


def problem(n_classes=3, *, kind="plain", n_rows=None, n_features=5, n_values=40, seed=0):
    """Make rows of any kind: plain, wide (bins of two bytes), with weights, with multiplicities."""
    n_rows = 40 + 12 * n_classes if n_rows is None else n_rows
    if kind == "wide":
        n_values, n_rows = None, max(n_rows, 300)
    X, y = random_problem(n_rows, n_features, n_classes, n_values=n_values, seed=seed)
    rng = np.random.default_rng(seed + 1)
    weight = row_weights(kind, n_rows, rng)
    return X, y, weight


# --- operations -----------------------------------------------------------------------------------


class Pair:
    """Engines on the same rows, the reference first, and what they should hold."""

    def __init__(
        self,
        k,
        outputs,
        kind="plain",
        *,
        engines=None,
        n_rows=220,
        loss=None,
        seed=0,
        leaf_share=0.0,
    ):
        self.rng = rng = np.random.default_rng(seed)
        n_rows = 400 if kind == "wide" else n_rows
        X, y = random_problem(n_rows, 5, k, n_values=None if kind == "wide" else 20, seed=seed)
        weight = {
            "weights": rng.uniform(0.1, 3, n_rows), "multiplicities": rng.integers(1, 6, n_rows),
        }.get(kind)  # fmt: skip
        self.data = with_least_leaf_weight(training_set(X, y, weight=weight), leaf_share)
        self.bins, self.y, self.k = self.data.binned.bins, self.data.labels, k
        order = np.argsort(y, kind="stable")
        self.weight = np.ones(n_rows) if kind != "weights" else self.data.weight  # of mean 1
        self.copies = np.ones(n_rows) if kind != "multiplicities" else weight[order]
        if outputs == "eye":
            self.code = np.where(np.eye(k, dtype=bool), 1, -1).astype(np.int8)
        elif outputs is None:
            self.code = None
        else:
            self.code = rng.integers(-1, 2, (k, outputs)).astype(np.int8)
            self.code[rng.integers(k), :] = 1
        self.outputs = k if self.code is None else self.code.shape[1]
        self.loss = ExponentialLoss() if loss is None else loss
        engines = [NativeStumpEngine(), NativeStumpEngine(3, 50)] if engines is None else engines
        self.engines = [ReferenceStumpEngine(), *engines]
        for engine in self.engines:
            engine.load(self.data, Weighting(self.loss, self.code))
        own = np.eye(k, dtype=bool)[self.y]
        self.counted = ~own if self.code is None else self.code[self.y] != 0
        self.e = np.where(self.counted, 1.0, 2.0**-960)
        self.side = np.zeros(n_rows, dtype=int)

    def ask(self, name, *arguments):
        """Ask all engines, and return what they all say."""
        answers = [getattr(engine, name)(*arguments) for engine in self.engines]
        for answer in answers[1:]:
            np.testing.assert_equal(answer, answers[0])
        return answers[0]

    def exponent(self):
        """A scale at which |g| adds up to less than 2**31."""
        u = self.weights() * (self.weight * self.copies)[:, None]
        return int(29 - np.frexp(u.sum())[1])

    def weights(self):
        e = np.where(self.counted, self.e, 0.0)
        if self.loss.name == "softmax":
            return e / (1 + e.sum(axis=1))[:, None]
        return e if self.loss.name == "exponential" else e / (1 + e)

    def check_state(self, exponent):
        """Compare e, and g as whole numbers, with their definitions."""
        for engine in self.engines:
            e, g = engine.state()
            np.testing.assert_array_equal(e[self.counted], self.e[self.counted])
            unit = (self.weight * 2.0**exponent)[:, None]
            u = np.rint(self.weights() * unit) * self.copies[:, None]
            if self.code is None:
                expected = -u
                expected[np.arange(len(u)), self.y] = u.sum(axis=1)
            else:
                expected = u * self.code[self.y]
            if self.loss.name == "softmax":  # whose row sums have a prescribed order
                np.testing.assert_allclose(g, expected, atol=self.outputs * self.copies.max())
            else:
                np.testing.assert_array_equal(g, expected)
        self.g = self.engines[0].state()[1].astype(np.int64)

    def advance(self, next_search=None):
        """Move by random factors, by whichever operation fits the direction."""
        if self.code is None:
            up = np.exp(self.rng.normal(size=(2, self.k)))
            down = 1 / up
            factors = up[self.side] * down[self.side, self.y][:, None]
            arguments = ("advance", up, down)
        else:
            table = np.exp(self.rng.normal(size=(2, self.k, self.outputs)))
            factors = table[self.side, self.y]
            arguments = ("advance_table", table)
        self.e = np.where(self.counted, self.e * factors, self.e)
        exponent = self.exponent()
        wrong = self.ask(*arguments, exponent, next_search)
        assert wrong == self.copies[(np.where(self.counted, self.e, 0) >= 1).any(axis=1)].sum()
        self.check_state(exponent)

    def place(self):
        """Put the rows on the sides of a random tree of three nodes."""
        feature = self.rng.integers(0, 5, 3).tolist()
        bins = [int(self.rng.integers(0, self.data.binned.n_bins[f] - 1)) for f in feature]
        leaf_side = self.rng.permutation([0, 0, 1, 1]).tolist()
        self.ask("place_tree", feature, bins, [1, ~0, ~2], [2, ~1, ~3], leaf_side)
        above = [self.bins[f] > b for f, b in zip(feature, bins, strict=True)]
        leaf = np.where(above[0], 2 + above[2], above[1])
        self.side = np.array(leaf_side)[leaf]


def histograms(pair, g):
    return [
        np.array([g[pair.bins[f] == b].sum(axis=0) for b in range(n)])
        for f, n in enumerate(pair.data.binned.n_bins)
    ]


def best_by(pair, g, score):
    """First of the largest scores over features and bins."""
    best = None
    for f, hist in enumerate(histograms(pair, g)):
        for b, edges in enumerate((g.sum(axis=0) - 2 * np.cumsum(hist, axis=0))[:-1]):
            if best is None or score(edges) > best[0]:
                best = (score(edges), f, b, edges)
    return best


def check_searches(pair, g):
    size, feature, bin_, edges = best_by(pair, g, lambda edges: np.abs(edges).max())
    edge = size if size in edges else -size
    output = int(np.flatnonzero(edges == edge)[0])
    assert pair.ask("best_stump") == (feature, bin_, output, edge)
    assert pair.ask("best_stump", Criterion.LARGEST) == (feature, bin_, output, edge)
    for criterion, score in (
        (Criterion.SUM, lambda edges: np.abs(edges).sum()),
        (Criterion.SQUARES, lambda edges: ((edges >> 6) ** 2).sum()),
    ):
        size, feature, bin_, _ = best_by(pair, g, score)
        assert pair.ask("best_stump", criterion) == (feature, bin_, 0, size)
    found = pair.ask("histograms")
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, np.concatenate(histograms(pair, g)))


def check_moves_and_searches(pair):
    for _ in range(3):
        pair.advance()
        check_searches(pair, pair.g)
        pair.place()
        np.testing.assert_array_equal(pair.ask("edges"), (2 * pair.side - 1) @ pair.g)


def check_projection(pair):
    pair.advance()
    for _ in range(3):
        signs = pair.rng.integers(-1, 2, pair.outputs).astype(np.int8)
        pair.ask("project", signs)
        projected = (pair.g @ signs)[:, None]
        check_searches(pair, projected)
        pair.place()
        # What is projected is searched; the direction stays.
        np.testing.assert_array_equal(pair.ask("edges"), (2 * pair.side - 1) @ pair.g)
    pair.advance()
    check_searches(pair, pair.g)  # an advance ends it


def check_sums(pair):
    pair.advance()
    pair.place()
    exponent = pair.exponent() + 18
    sums = pair.ask("sums", exponent)
    u = np.rint(pair.weights() * (pair.weight * 2.0**exponent)[:, None]) * pair.copies[:, None]
    expected = np.zeros((2, pair.k, pair.outputs))
    np.add.at(expected, (pair.side, pair.y), u)
    np.testing.assert_array_equal(sums * 2.0**exponent, expected)


def check_bounds(pair):
    """The exponentials stay within them."""
    huge = np.full((2, 3, pair.outputs), 2.0**400)
    for factor in (huge, 1 / huge):
        for _ in range(4):
            if pair.code is None:
                pair.ask("advance", factor[:, 0], np.ones((2, 3)), -500)
            else:
                pair.ask("advance_table", factor, -500)
            states = [engine.state() for engine in pair.engines]
            for e, g in states[1:]:
                np.testing.assert_array_equal(e[pair.counted], states[0][0][pair.counted])
                np.testing.assert_array_equal(g, states[0][1])
            assert states[0][0].min() >= 2.0**-960
            assert states[0][0].max() <= 2.0**500
