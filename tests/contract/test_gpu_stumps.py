"""The engine on a CUDA device, real or emulated: the reference's bits, with no tolerance."""

import numpy as np
import pytest
from cuda_on_host import HostDevice, host_device, named_device
from engine_contract import (
    Pair,
    Result,
    check_bounds,
    check_moves_and_searches,
    check_projection,
    check_sums,
    problem,
)
from sklearn.base import clone
from support import assert_same_model, noisy_problem, random_problem, training_set

from marginboost import (
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    AdaBoostSIPClassifier,
    GradBoostClassifier,
    JointBoostClassifier,
    MCBoostClassifier,
)
from marginboost.backends.host import Host
from marginboost.data.grouping import class_masses
from marginboost.data.training_set import TrainingSet
from marginboost.engine import ReferenceStumpEngine
from marginboost.engine.gpu.stumps.engine import GpuStumpEngine
from marginboost.engine.gpu.stumps.stump_search import StumpSearch
from marginboost.engine.stumps.base import Weighting
from marginboost.engine.stumps.criterion import Criterion
from marginboost.loss import LOSSES, ExponentialLoss, LogisticLoss, SoftmaxLoss

KINDS = ("plain", "wide", "weights", "multiplicities")


@pytest.fixture(params=["emulated", "cuda"])
def device(request):
    return named_device(request.param)


def pair_on(device, *shape, **settings):
    return Pair(*shape, engines=[GpuStumpEngine(device)], **settings)


# --- whole fits -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_classes", "kind", "loss"),
    [
        (2, "plain", "exponential"), (2, "weights", "logistic"), (3, "wide", "logistic"),
        (3, "extreme weights", "exponential"), (5, "multiplicities", "exponential"),
        (5, "plain", "logistic"), (8, "weights", "exponential"), (9, "multiplicities", "logistic"),
        (9, "wide", "exponential"), (17, "extreme weights", "logistic"), (40, "plain", "exponential"),
    ],
)  # fmt: skip
def test_fits_are_the_reference(device, n_classes, kind, loss):
    X, y, weight = problem(n_classes, kind=kind)
    data = training_set(X, y, weight=weight)
    n_rounds = 6 if n_classes < 8 else 3
    reference = Result(ReferenceStumpEngine(), data, loss, n_rounds=n_rounds)
    assert len(reference.rounds) == n_rounds
    reference.assert_same(Result(GpuStumpEngine(device), data, loss, n_rounds=n_rounds))


@pytest.mark.parametrize(
    "model",
    [
        MCBoostClassifier(6, min_weight_fraction_leaf=0.05),
        AdaBoostMHClassifier(5),
        AdaBoostECCClassifier(5, random_state=0),
        AdaBoostSIPClassifier(5),
        GradBoostClassifier(5),
        JointBoostClassifier(3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_method_runs_on_it(device, model, monkeypatch):
    X, y = noisy_problem(120, 4, 4, n_values=30)
    expected = clone(model).set_params(engine="reference").fit(X, y)
    monkeypatch.setattr(Host, "make_stump_engine", lambda self: GpuStumpEngine(device))
    assert_same_model(clone(model).fit(X, y), expected)


# --- operations -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "outputs", "kind"),
    [
        *((k, outputs, kind) for k, outputs in ((5, None), (4, 7)) for kind in KINDS),
        (2, None, "wide"), (2, None, "weights"), (3, 1, "plain"), (3, 1, "multiplicities"),
        (9, "eye", "weights"), (17, None, "multiplicities"), (6, 33, "weights"), (3, 17, "wide"),
    ],
)  # fmt: skip
def test_operations(device, k, outputs, kind):
    check_moves_and_searches(pair_on(device, k, outputs, kind))
    check_sums(pair_on(device, k, outputs, kind))


@pytest.mark.parametrize(("k", "outputs"), [(3, None), (17, None), (4, 7), (3, 1)])
def test_projection(device, k, outputs):
    check_projection(pair_on(device, k, outputs))


@pytest.mark.parametrize("loss", [*LOSSES.values(), SoftmaxLoss()], ids=lambda loss: loss.name)
@pytest.mark.parametrize("k", [3, 17])
def test_losses(device, k, loss):
    pair = pair_on(device, k, None, "weights", loss=loss)
    check_moves_and_searches(pair)
    pair.ask("sums", pair.exponent() + 18)
    up = np.exp(pair.rng.normal(size=(2, k)))
    pair.ask("sums_and_curvature", pair.exponent() + 10, up, 1 / up)
    pair.ask("sums", pair.exponent() + 18)  # a trial moves nothing


def test_exponentials_stay_within_their_bounds(device):
    for outputs in (None, 5):
        check_bounds(pair_on(device, 3, outputs))


@pytest.mark.parametrize("outputs", [None, 4])
def test_the_next_search_is_launched_with_an_advance(device, outputs):
    """Whatever search comes next, its result is that of the reference, announced or not."""
    pair = pair_on(device, 4, outputs)
    for announced, asked in [(None, [0]), (0, [0]), (0, [1]), (1, []), (2, [2, 0]), (1, [0, 1])]:
        pair.advance(announced)
        for criterion in asked:
            pair.ask("best_stump", Criterion(criterion))
        pair.ask("project", np.array([1, -1, 0, 1], dtype=np.int8))
        pair.ask("best_stump", Criterion.LARGEST)
        pair.place()


def test_an_announced_search_is_not_repeated(device, monkeypatch):
    pair = pair_on(device, 4, None)
    searches = []
    search = StumpSearch.best
    monkeypatch.setattr(
        StumpSearch, "best", lambda self, *args: searches.append(args[1]) or search(self, *args)
    )
    pair.advance(Criterion.SUM)
    pair.ask("best_stump", Criterion.SUM)
    assert searches == [Criterion.SUM]
    pair.ask("best_stump", Criterion.LARGEST)
    pair.advance()
    assert searches == [Criterion.SUM, Criterion.LARGEST]


def test_nothing_to_search(device):
    engine = GpuStumpEngine(device)
    engine.load(training_set(np.zeros((8, 2)), np.arange(8) % 2), Weighting(ExponentialLoss()))
    engine.advance(np.ones((2, 2)), np.ones((2, 2)), 20)
    for criterion in Criterion:
        assert engine.best_stump(criterion) == (-1, 0, 0, 0)
    engine.place_tree([], [], [], [], [1])
    np.testing.assert_array_equal(engine.edges(), engine.state()[1].sum(axis=0))


# --- how the work is divided ----------------------------------------------------------------------


def loaded(engine, data, weighting, seed=0):
    """Load and move by random factors, the same for all engines."""
    engine.load(data, weighting)
    rng = np.random.default_rng(seed)
    outputs = data.n_classes if weighting.code is None else weighting.code.shape[1]
    table = np.exp(rng.normal(size=(2, data.n_classes, outputs)))
    engine.advance_table(table, 12)
    return engine


def assert_same_searches(ours, theirs):
    for criterion in Criterion:
        assert ours.best_stump(criterion) == theirs.best_stump(criterion)
    np.testing.assert_array_equal(ours.histograms(), theirs.histograms())


def mixed_rows(n_rows=2600, n_classes=5):
    """Features of few bins, of many, and of one, mostly or always the same."""
    rng = np.random.default_rng(2)
    X, y = random_problem(n_rows, 9, n_classes, n_values=200)
    X[:, 1] = rng.random(n_rows) < 0.02
    X[:, 3] = np.where(rng.random(n_rows) < 0.9, 7, X[:, 3])
    X[:, 4] = 1.0
    X[:, 6] = rng.integers(0, 2, n_rows)
    X[:, 8] = rng.normal(size=n_rows)
    return training_set(X, y)


@pytest.mark.parametrize(
    "shared_bytes", [4200, 6000, 20_000, 227 << 10]
)  # no feature fits, some do, few together, all
@pytest.mark.parametrize("n_processors", [1, 40])
def test_any_division_gives_the_same(shared_bytes, n_processors):
    host_device()  # skips where there is no compiler
    data = mixed_rows()
    engine = GpuStumpEngine(HostDevice(n_processors, shared_bytes))
    for weighting in (
        Weighting(LogisticLoss()),
        Weighting(ExponentialLoss(), np.array([[1], [-1], [1], [0], [-1]], dtype=np.int8)),
    ):
        reference = loaded(ReferenceStumpEngine(), data, weighting)
        loaded(engine, data, weighting)
        assert_same_searches(engine, reference)


# --- parts of the rows ----------------------------------------------------------------------------


def part_of(data, rows):
    """Cut rows out of a training set."""
    counts = np.bincount(data.labels[rows], minlength=data.n_classes)
    offsets = np.concatenate(([0], np.cumsum(counts)))
    binned = type(data.binned)(
        np.ascontiguousarray(data.binned.bins[:, rows]), data.binned.thresholds
    )
    weight = None if data.weight is None else data.weight[rows]
    return TrainingSet(binned, offsets, weight, None, class_masses(offsets, weight, None))


def test_parts_add_up(device):
    X, y, weight = problem(4, kind="weights", n_rows=260)
    data = training_set(X, y, weight=weight)
    order = np.random.default_rng(0).permutation(data.n_rows)
    # One of a few rows, one of a single class, one of none.
    parts = [order[:7], order[7:180], order[180:], order[:0]]
    parts = [np.sort(rows) for rows in parts]
    first = data.labels[parts[2]] == 1
    parts = [*parts[:2], parts[2][first], parts[2][~first], parts[3]]
    whole = loaded(ReferenceStumpEngine(), data, Weighting(LogisticLoss()))
    engines = [
        loaded(GpuStumpEngine(device), part_of(data, rows), Weighting(LogisticLoss()))
        for rows in parts
    ]

    def added(name, *arguments):
        return sum(getattr(engine, name)(*arguments) for engine in engines)

    np.testing.assert_array_equal(added("histograms"), whole.histograms())
    np.testing.assert_array_equal(added("edges"), whole.edges())
    np.testing.assert_array_equal(added("sums", 30), whole.sums(30))


# --- mistakes -------------------------------------------------------------------------------------


def test_what_does_not_fit_is_named():
    engine = GpuStumpEngine(host_device())
    X, y, _ = problem(3)
    engine.load(training_set(X, y), Weighting(ExponentialLoss()))
    with pytest.raises(ValueError, match=r"up must have the shape \(2, 3\), got \(2, 4\)"):
        engine.advance(np.ones((2, 4)), np.ones((2, 3)), 10)
    with pytest.raises(ValueError, match="feature must be from 0 to 4, got 5"):
        engine.place_stump(5, 0, True)
