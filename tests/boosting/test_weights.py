"""Fixed point: the direction always fits in int32, and sums are exact."""

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support import BOTH_LOSSES, make_method, rounds_of, training_set

from marginboost.boosting.weights import MarginWeights
from marginboost.coefficients import balance
from marginboost.engine import NativeStumpEngine, ReferenceStumpEngine
from marginboost.engine.stumps.base import Weighting
from marginboost.loss import LOSSES


@st.composite
def histories(draw):
    """A weighted data set, and stumps with steps to take on it."""
    k = draw(st.integers(2, 6))
    m = draw(st.integers(max(3, k), 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = np.concatenate([np.arange(k), rng.integers(0, k, m - k)])
    X = rng.integers(0, 3, (m, 3)).astype(float)
    X[:3] = np.arange(3)[:, None]  # every feature has all three values
    if draw(st.booleans()):  # a stump that is right on most of the weight
        X[:, 0] = np.where(rng.random(m) < 0.8, y % 3, X[:, 0])
    kind = draw(st.sampled_from(["none", "spread", "two sizes", "repeated"]))
    weight = {
        "none": None,
        "spread": 10.0 ** rng.uniform(-12, 12, m),
        "two sizes": np.where(rng.random(m) < 0.2, 1.0, 10.0 ** -draw(st.integers(0, 24))),
        "repeated": rng.integers(1, 1000, m),
    }[kind]
    steps = draw(
        st.lists(
            st.tuples(
                st.integers(0, 2),  # feature
                st.integers(0, 1),  # bin
                st.booleans(),  # sign
                st.sampled_from(["solve", "half", 0.0, 0.01, 1.0, 8.0, 17.0]),
            ),
            min_size=1,
            max_size=5,
        )
    )
    return training_set(X, y, weight=weight, n_classes=k), steps, rng


def sums_of(weights, loss, k):
    """Sum the weights; the logistic loss's bounds need the curvatures, too."""
    return weights.sums() if loss == "exponential" else weights.sums_at(np.zeros(k))[0]


def step_of(size, weights, loss, rng, k):
    sums = sums_of(weights, loss, k)
    if isinstance(size, str):  # the solver's own step, the largest that boosting takes
        w = balance(sums, nu=1e-9, floor=weights.unit).w
        return w if size == "solve" else 0.5 * w
    return size * rng.random(k)


def exact_direction(engine, data, exponent, loss):
    """Round the weights of the pairs to whole units and sum them up, with Python's own numbers."""
    e, _ = engine.state()
    u = e if loss == "exponential" else e / (1 + e)
    weight = np.ones(data.n_rows) if data.weight is None else data.weight
    copies = np.ones(data.n_rows, dtype=int) if data.multiplicity is None else data.multiplicity
    unit = weight * 2.0**exponent
    rows = []
    for i, label in enumerate(data.labels):
        pairs = [round(float(pair)) * int(copies[i]) for pair in u[i] * unit[i]]
        pairs[label] = 0
        g = [-p for p in pairs]
        g[label] = sum(pairs)
        rows.append(g)
    return rows


# Seeds do not shrink to anything.
FOUND_QUICKLY = settings(phases=[Phase.explicit, Phase.reuse, Phase.generate])
ENGINES = pytest.mark.parametrize("engine_of", [ReferenceStumpEngine, NativeStumpEngine])


def loaded(engine, data, loss):
    engine.load(data, Weighting(LOSSES[loss]))
    weights = MarginWeights(engine, data, LOSSES[loss])
    weights.start()
    return weights


@ENGINES
@BOTH_LOSSES
@FOUND_QUICKLY
@given(history=histories())
def test_direction_fits_in_int32_and_is_exact(engine_of, loss, history):
    data, steps, rng = history
    engine = engine_of()
    weights = loaded(engine, data, loss)
    for feature, bin_, sign, size in steps:
        engine.place_stump(feature, bin_, sign)
        weights.advance(step_of(size, weights, loss, rng, data.n_classes))
        exact = exact_direction(engine, data, weights._direction_exponent, loss)
        assert max(sum(map(abs, column)) for column in zip(*exact, strict=True)) < 2**31
        np.testing.assert_array_equal(engine.state()[1], exact)


@ENGINES
@BOTH_LOSSES
@FOUND_QUICKLY
@given(history=histories())
def test_sums_are_exact(engine_of, loss, history):
    data, steps, rng = history
    k = data.n_classes
    engine = engine_of()
    weights = loaded(engine, data, loss)
    for feature, bin_, sign, size in steps:
        engine.place_stump(feature, bin_, sign)
        side = (data.binned.bins[feature] > bin_) == sign
        sums = sums_of(weights, loss, k)
        exact = np.zeros((2, k, k), dtype=object)
        direction = exact_direction(engine, data, weights._sum_exponent, loss)
        for s, label, pairs in zip(side.astype(int), data.labels, direction, strict=True):
            exact[s, label] -= np.where(np.arange(k) == label, 0, np.array(pairs, dtype=object))
        assert exact.sum() < 2**51
        np.testing.assert_array_equal(sums / weights.unit, exact.astype(float))
        weights.advance(step_of(size, weights, loss, rng, k))


@pytest.mark.parametrize("n_light", [10, 1000])
def test_light_rows_that_a_step_makes_heavy_do_not_overflow(n_light):
    """Rows too light for the sums to see, on the wrong side of a stump right on all the others.

    The step is then as large as the unit of the sums allows, and the light rows grow by as much.
    """
    X = np.repeat([0.0, 1.0, 1.0], [10, 10, n_light])[:, None]
    y = np.repeat([0, 1, 0], [10, 10, n_light])
    weight = np.repeat([1.0, 1.0, 3e-16], [10, 10, n_light])
    data = training_set(X, y, weight=weight)
    results = []
    for engine in (ReferenceStumpEngine(), NativeStumpEngine()):
        directions = []

        def monitor(_, engine=engine, directions=directions):
            directions.append(engine.state()[1].astype(np.int64))

        rounds = rounds_of(make_method(data, "exponential", engine=engine), 4, monitor)
        assert max(np.abs(g).sum(axis=0).max() for g in directions) < 2**31
        results.append([(r.weak, r.w.tolist(), r.edge) for r in rounds])
    assert results[0] == results[1]


@BOTH_LOSSES
def test_first_weights_use_the_bits_they_have(loss):
    rng = np.random.default_rng(0)
    for m in (3, 100, 10_000):
        X, y = rng.integers(0, 5, (m, 2)), np.arange(m) % 3
        engine = ReferenceStumpEngine()
        data = training_set(X, y, weight=rng.uniform(0.1, 10, m))
        loaded(engine, data, loss)
        assert 2**28 < np.abs(engine.state()[1]).sum(axis=0).max() < 2**31


@BOTH_LOSSES
def test_edge_is_in_the_units_of_the_paper(loss):
    """At margins zero: sum of g h, with u = 1 / (m k) for the exponential loss and 1/2 else."""
    X = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 0.0])[:, None]
    y = np.array([0, 0, 1, 1, 2, 2])
    (first,) = rounds_of(make_method(training_set(X, y), loss), 1)
    u = 1 / 18 if loss == "exponential" else 0.5
    h = np.where(X[:, 0] > 0.5, 1, -1)
    g = np.where(y[:, None] == np.arange(3), 2 * u, -u)
    assert first.edge == pytest.approx(np.abs(h @ g).max(), rel=1e-8)
