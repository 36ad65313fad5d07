"""Engines on a cluster of real processes give the bits of an engine that has all the rows."""

import numpy as np
import pytest
from cluster_support import assert_same_rounds, cut, ensemble_of, set_of_parts
from scipy import sparse
from support import (
    BOTH_LOSSES,
    assert_same_ensemble,
    assert_same_rows,
    assert_same_sample,
    make_method,
    make_tree_method,
    noisy_problem,
    random_problem,
    row_weights,
    training_set,
)

from marginboost import (
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    AdaBoostSIPClassifier,
    GradBoostClassifier,
    JointBoostClassifier,
)
from marginboost.boosting.loop import boost
from marginboost.boosting.resume import Earlier, resume
from marginboost.data.encoding import Encoding
from marginboost.data.row_view import RowView
from marginboost.engine import (
    NativeStumpEngine,
    NativeTreeEngine,
    ReferenceStumpEngine,
    ReferenceTreeEngine,
)
from marginboost.engine.cluster import (
    ClusterStumpEngine,
    ClusterTreeEngine,
    hash_ranges,
    search,
)
from marginboost.engine.cluster.session import Session
from marginboost.engine.cluster.stumps.stump_search import StumpSearch
from marginboost.engine.cluster.trees import engine as tree_engine
from marginboost.engine.stumps.criterion import Criterion
from marginboost.model.builder import EnsembleBuilder

pytestmark = pytest.mark.filterwarnings("ignore:Sending large graph:UserWarning")
CUTS = pytest.mark.parametrize("cuts", [1, 2, 3, 5, "by class", "one empty"])


@pytest.fixture(autouse=True)
def _owners_scan(monkeypatch):
    """Have workers exchange their sums, few as they are here."""
    monkeypatch.setattr(search, "CLIENT_BYTES", 0)
    monkeypatch.setattr(tree_engine, "SHARED_BYTES", 0)


def problem(n_classes=4, *, kind="plain", n_rows=200, n_features=5):
    X, y = noisy_problem(n_rows, n_features, n_classes, n_values=30)
    rng = np.random.default_rng(1)
    weight = {
        "weights": rng.uniform(0, 3, n_rows),
        "multiplicities": rng.integers(1, 6, n_rows),
    }.get(kind)
    return training_set(X, y, weight=weight)


def same_fit(client, whole, parts, make, engines, n_rounds=6):
    """Fit by the native engine on all rows and by the cluster on parts, and compare."""
    data = set_of_parts(client, parts, whole)
    alone, cluster = engines
    ours = ensemble_of(make(alone, whole), whole, n_rounds)
    theirs = ensemble_of(make(cluster, data), data, n_rounds)
    assert ours[1]
    assert_same_ensemble(ours[0], theirs[0])
    assert_same_rounds(ours[1], theirs[1])
    assert ours[2] == theirs[2]
    cluster.close()
    data.close()


@CUTS
@BOTH_LOSSES
def test_mcboost(client, cuts, loss):
    whole = problem(kind="plain" if loss == "logistic" else "weights")

    def make(engine, data):
        return make_method(data, loss, engine=engine, nu=1e-9, eta=0.5)

    same_fit(client, whole, cut(whole, cuts), make, (NativeStumpEngine(), ClusterStumpEngine()))


@pytest.mark.parametrize("cuts", [2, "by class", "one empty"])
def test_sums_that_the_client_adds_up(client, monkeypatch, cuts):
    monkeypatch.setattr(search, "CLIENT_BYTES", 1 << 18)
    bounds, messages = [], Session._messages

    def recorded(self, *args):
        made = messages(self, *args)
        bounds.extend(message.bounds for message in made.values())
        return made

    monkeypatch.setattr(Session, "_messages", recorded)
    whole = problem(kind="weights")

    def make(engine, data):
        return make_method(data, "exponential", engine=engine)

    engines = NativeStumpEngine(), ClusterStumpEngine()
    same_fit(client, whole, cut(whole, cuts), make, engines, n_rounds=4)
    assert bounds
    assert not any(bounds)  # no worker was told to scan


METHODS = {
    "mh": AdaBoostMHClassifier(),
    "ecc": AdaBoostECCClassifier(random_state=0),
    "sip": AdaBoostSIPClassifier(),
    "gradboost": GradBoostClassifier(),
    "jointboost": JointBoostClassifier(),
}


@pytest.mark.parametrize("name", METHODS)
def test_other_methods(client, name):
    whole = problem(kind="multiplicities")
    engines = NativeStumpEngine(), ClusterStumpEngine()
    METHODS[name]._draw_seed(anew=True)
    same_fit(client, whole, cut(whole, 3), METHODS[name]._make_method, engines, n_rounds=4)


@CUTS
@BOTH_LOSSES
def test_vector_trees(client, monkeypatch, cuts, loss):
    if loss == "logistic":  # each worker has the sums of all features
        monkeypatch.setattr(tree_engine, "SHARED_BYTES", 1 << 30)
    whole = problem(kind="weights")

    def make(engine, data):
        return make_tree_method(data, loss, engine=engine, max_leaf_nodes=9)

    engines = NativeTreeEngine(), ClusterTreeEngine()
    same_fit(client, whole, cut(whole, cuts), make, engines, n_rounds=3)


@pytest.mark.parametrize(
    "settings",
    [
        {"subsample": 0.6, "max_features": 0.5},
        {"max_depth": 2, "min_samples_leaf": 7},
        {"n_classes": 29},
        {"kind": "multiplicities", "held_out": True},
    ],
)
def test_settings_of_vector_trees(client, settings):
    settings = dict(settings)
    whole = problem(settings.pop("n_classes", 4), kind=settings.pop("kind", "plain"), n_rows=400)
    if settings.pop("held_out", False):
        settings["held_out"] = whole.hash_bounds(0, 0.2)

    def make(engine, data):
        return make_tree_method(data, "logistic", engine=engine, max_leaf_nodes=9, **settings)

    engines = NativeTreeEngine(), ClusterTreeEngine()
    same_fit(client, whole, cut(whole, 3), make, engines, n_rounds=3)


def test_sparse_rows(client):
    X, y = random_problem(200, 12, 3, n_values=6)
    X[np.random.default_rng(0).random(X.shape) < 0.7] = 0
    whole = training_set(sparse.csr_array(X), y)

    def make(engine, data):
        return make_tree_method(data, "exponential", engine=engine)

    engines = NativeTreeEngine(), ClusterTreeEngine()
    same_fit(client, whole, cut(whole, 3), make, engines)


def test_any_engine_on_the_shards(client):
    whole = problem()

    def make(engine, data):
        return make_method(data, "logistic", engine=engine)

    def make_vector(engine, data):
        return make_tree_method(data, "logistic", engine=engine)

    engines = NativeStumpEngine(), ClusterStumpEngine(lambda n_threads: ReferenceStumpEngine())
    same_fit(client, whole, cut(whole, 3), make, engines, n_rounds=3)
    engines = NativeTreeEngine(), ClusterTreeEngine(lambda n_threads: ReferenceTreeEngine())
    same_fit(client, whole, cut(whole, 3), make_vector, engines, n_rounds=3)


# --- the parts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plain", "weights", "multiplicities"])
def test_what_a_client_knows_of_the_rows(client, kind):
    whole = problem(kind=kind, n_rows=500)
    data = set_of_parts(client, cut(whole, "blocks"), whole)
    for name in ("n_classes", "n_rows", "n_counted", "class_counts", "class_mass"):
        np.testing.assert_array_equal(getattr(data, name), getattr(whole, name))
    assert data.largest_weight == whole.largest_weight
    bounds = whole.hash_bounds(3, 0.2)
    np.testing.assert_array_equal(data.hash_bounds(3, 0.2), bounds)
    view = RowView(3, bounds)
    np.testing.assert_array_equal(data.class_mass_seen(view), whole.class_mass_seen(view))


@CUTS
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_that_are_brought_to_the_client(client, cuts, form):
    X, y = noisy_problem(300, 5, 4, n_values=7)
    weight = np.random.default_rng(0).uniform(0.5, 2, 300)
    whole = training_set(form(np.where(X > 0.2, X, 0.0)), y, weight=weight)
    data = set_of_parts(client, cut(whole, cuts), whole)
    for share in (0.0, 0.01, 0.3):
        view = RowView(3, whole.hash_bounds(3, share))
        sample = data.sample_rows(view)
        assert sparse.issparse(sample.X) == (form is not np.asarray)
        assert_same_sample(sample, whole.sample_rows(view))
    assert len(sample.labels)
    rest = data.without(view)
    del data
    assert_same_rows(rest, whole.without(view))
    rest.close()


@pytest.mark.parametrize("cuts", [2, "by class"])
def test_fits_of_the_rows_that_are_left(client, cuts):
    whole = problem(kind="weights")
    data = set_of_parts(client, cut(whole, cuts), whole)
    view = RowView(3, whole.hash_bounds(3, 0.3))
    for make, engines in (
        (make_method, (NativeStumpEngine(), ClusterStumpEngine())),
        (make_tree_method, (NativeTreeEngine(), ClusterTreeEngine())),
    ):
        found = [
            ensemble_of(make(rows.without(view), "exponential", engine=engine), rows, 4)
            for rows, engine in zip((whole, data), engines, strict=True)
        ]
        assert_same_ensemble(found[0][0], found[1][0])
        assert_same_rounds(found[0][1], found[1][1])
    data.close()


@pytest.mark.parametrize("cuts", [2, 5, "by class", "one empty"])
@pytest.mark.parametrize("kind", ["plain", "weights", "multiplicities"])
@pytest.mark.parametrize("most_hashes", [1 << 22, 7])
def test_copies_in_several_shards(client, monkeypatch, cuts, kind, most_hashes):
    monkeypatch.setattr(hash_ranges, "MOST_HASHES", most_hashes)
    X, y = noisy_problem(300, 2, 3, n_values=3)
    weight = row_weights(kind, 300, np.random.default_rng(1))
    whole = training_set(X, y, weight=None if weight is None else np.round(weight, 1))
    data = set_of_parts(client, cut(whole, cuts), whole)
    bounds = whole.hash_bounds(3, 0.2)
    np.testing.assert_array_equal(data.hash_bounds(3, 0.2), bounds)
    view = RowView(3, bounds)
    np.testing.assert_array_equal(data.class_mass_seen(view), whole.class_mass_seen(view))
    assert_same_sample(data.sample_rows(view), whole.sample_rows(view))
    rest, left = data.without(view), whole.without(view)
    assert rest.n_counted == left.n_counted
    np.testing.assert_array_equal(rest.class_mass, left.class_mass)
    other = RowView(4, left.hash_bounds(4, 0.3))
    np.testing.assert_array_equal(rest.hash_bounds(4, 0.3), other.hash_bounds)
    assert_same_sample(rest.sample_rows(other), left.sample_rows(other))
    rest.close()


def test_rows_without_copies_cost_no_messages_later(client):
    whole = training_set(*noisy_problem(200, 3, 3))
    data = set_of_parts(client, cut(whole, 2), whole)
    data.hash_bounds(3, 0.2)
    session = data.open_session(3)
    assert session.length == 0  # nothing to send to the shards
    session.close()
    data.close()


def test_rows_that_are_held_out(client):
    whole = problem(kind="weights")
    data = set_of_parts(client, cut(whole, 3), whole)
    held_out = whole.hash_bounds(0, 0.3)
    found = []
    for engine, rows in ((NativeTreeEngine(), whole), (ClusterTreeEngine(), data)):
        method = make_tree_method(rows, "exponential", engine=engine, held_out=held_out)
        ensemble_of(method, rows, 3)
        found.append(engine.held_out().in_order())
    for ours, theirs in zip(*found, strict=True):
        assert len(ours)
        np.testing.assert_array_equal(ours, theirs)


def test_splits_that_no_search_has_found(client):
    """As `split` allows: any feature and bin, and any nodes that are to be searched or not."""
    whole = problem()
    data = set_of_parts(client, cut(whole, 2), whole)
    found = []
    for engine, rows in ((NativeTreeEngine(), whole), (ClusterTreeEngine(), data)):
        method = make_tree_method(rows, "exponential", engine=engine)
        method.start()
        features = np.arange(5, dtype=np.int32)
        first = engine.start_tree(features, method._draws.next_round().sample, 2, 1.0)
        found.append(
            [
                first,
                *engine.split([0], [(first.feature + 1) % 5], [4], [True]),
                *engine.split([1, 2], [0, 3], [5, 6], [False, True]),
                *engine.split([5], [1], [7], [True]),
            ]
        )
    assert found[0] == found[1]


@pytest.mark.parametrize("criterion", list(Criterion))
def test_ties_are_broken_by_the_first_feature(client, criterion):
    X, y = random_problem(60, 1, 3, n_values=5)
    whole = training_set(np.repeat(X, 7, axis=1), y)
    data = set_of_parts(client, cut(whole, 3), whole)
    engine = ClusterStumpEngine()
    make_method(data, "exponential", engine=engine).start()
    assert engine.best_stump(criterion)[0] == 0


def test_two_messages_a_round(client):
    whole = problem()
    data = set_of_parts(client, cut(whole, 2), whole)
    engine = ClusterStumpEngine()
    steps = []
    method = make_method(data, "exponential", engine=engine, eta=0.5)
    ensemble_of(method, data, 6, lambda finished: steps.append(engine._session._step))
    assert np.diff(steps).tolist() == [2, 2, 2, 2, 2]


@pytest.mark.parametrize(
    ("ahead", "at_once", "messages"),
    [(True, True, [0, 0, 1, 0]), (True, False, [1] * 4), (False, False, [2] * 4)],
)
def test_messages_of_trees(client, monkeypatch, ahead, at_once, messages):
    """One for several rounds, or for a tree; and one to advance, if none is known to follow."""
    monkeypatch.setattr("marginboost.engine.cluster.trees.engine.MOST_ROUNDS", 3)
    whole = problem()
    data = set_of_parts(client, cut(whole, 2), whole)
    engine = ClusterTreeEngine()
    steps = []
    method = make_tree_method(data, "exponential", engine=engine, max_features=0.5)
    if not at_once:
        method._most_ahead = 0  # as with constraints, which the client keeps to

    def record(finished):
        steps.append(engine._session._step)

    found = ensemble_of(method, data, 5, record, ahead=ahead)
    assert np.diff(steps).tolist() == messages
    theirs = make_tree_method(whole, "exponential", max_features=0.5)
    assert_same_rounds(found[1], ensemble_of(theirs, whole, 5)[1])


def test_replayed_rounds_search_nothing(client, monkeypatch):
    """A method that is led through earlier rounds announces no search."""
    whole = problem()
    ensemble, rounds, *_ = ensemble_of(make_method(whole, "exponential", eta=0.5), whole, 4)
    gains = np.concatenate([finished.gains for finished in rounds])
    data = set_of_parts(client, cut(whole, 2), whole)
    method = make_method(data, "exponential", engine=ClusterStumpEngine(), eta=0.5)
    searches = []
    join = StumpSearch.join
    monkeypatch.setattr(
        StumpSearch, "join", lambda self, *args: searches.append(self) or join(self, *args)
    )
    builder = EnsembleBuilder(whole.binned.n_features, whole.n_classes)
    thresholds = whole.binned.thresholds
    classes = np.arange(whole.n_classes)
    earlier = Earlier(ensemble, classes, Encoding.plain(6), gains, np.zeros(4), None)
    before_new_rounds = []

    def past():
        for finished, _ in resume(method, builder, earlier, thresholds):
            yield finished
        before_new_rounds.append(len(searches))

    boost(method, 6, builder, lambda finished: None, past())
    assert before_new_rounds == [0]
    assert len(searches) == 3  # of rounds 5 and 6, and the one after


def test_an_engine_can_be_loaded_again(client):
    """What was found in one fit must not come up in the next."""
    engine = ClusterStumpEngine()
    for seed in (0, 1):
        X, y = noisy_problem(150, 4, 3, n_values=20, seed=seed)
        whole = training_set(X, y)
        data = set_of_parts(client, cut(whole, 2), whole)
        method = make_method(data, "exponential", engine=engine, eta=0.5)
        ours = ensemble_of(method, data, 3)
        theirs = ensemble_of(make_method(whole, "exponential", eta=0.5), whole, 3)
        assert_same_rounds(ours[1], theirs[1])


@BOTH_LOSSES
def test_pairs_of_ordered_classes(client, loss):
    whole = problem(9, n_rows=300)
    ranks = np.random.default_rng(0).permutation(9)

    def make(engine, data):
        return make_tree_method(data, loss, engine=engine, ranks=ranks)

    engines = NativeTreeEngine(), ClusterTreeEngine()
    same_fit(client, whole, cut(whole, 3), make, engines, n_rounds=3)
