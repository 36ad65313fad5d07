"""A cluster whose workers each have a GPU, here an emulated one: still the same bits."""

import pytest
from cluster_support import assert_same_rounds, cut, ensemble_of
from cuda_on_host import named_device
from support import (
    BOTH_LOSSES,
    assert_same_ensemble,
    make_method,
    make_tree_method,
    noisy_problem,
    training_set,
)

from marginboost.engine import NativeStumpEngine, NativeTreeEngine
from marginboost.engine.cluster import ClusterStumpEngine, ClusterTrainingSet, ClusterTreeEngine
from marginboost.engine.gpu.stumps.engine import GpuStumpEngine
from marginboost.engine.gpu.trees.engine import GpuTreeEngine

pytestmark = pytest.mark.filterwarnings("ignore:Sending large graph:UserWarning")


def emulated(_):
    return GpuStumpEngine(named_device("emulated"))


def emulated_trees(_):
    return GpuTreeEngine(named_device("emulated"))


def same_fit(client, make, alone, one_gpu, cluster):
    whole = training_set(*noisy_problem(150, 4, 3, n_values=20))
    data = ClusterTrainingSet.from_parts(client, cut(whole, "by class"), whole)
    ours = ensemble_of(make(alone, whole), whole, 3)
    # One GPU first: it compiles the kernels, which the workers then find.
    for engine, rows in ((one_gpu, whole), (cluster, data)):
        theirs = ensemble_of(make(engine, rows), rows, 3)
        assert_same_ensemble(ours[0], theirs[0])
        assert_same_rounds(ours[1], theirs[1])
    cluster.close()
    data.close()


@BOTH_LOSSES
def test_stumps(client, loss):
    def make(engine, rows):
        return make_method(rows, loss, engine=engine, eta=0.5)

    same_fit(client, make, NativeStumpEngine(), emulated(1), ClusterStumpEngine(emulated))


@BOTH_LOSSES
def test_vector_leaf_trees(client, loss):
    def make(engine, rows):
        return make_tree_method(rows, loss, engine=engine, subsample=0.6)

    cluster = ClusterTreeEngine(emulated_trees)
    same_fit(client, make, NativeTreeEngine(), emulated_trees(1), cluster)
