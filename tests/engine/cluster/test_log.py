"""A shard that follows what is left of a log ends where one does that has followed all of it."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support import random_problem, training_set

from marginboost.data.row_view import RowView
from marginboost.engine import ReferenceStumpEngine, ReferenceTreeEngine
from marginboost.engine.cluster.log import CommandLog
from marginboost.engine.cluster.shard_state import ShardState
from marginboost.engine.stumps.base import Weighting
from marginboost.engine.trees.base import RowSample
from marginboost.engine.trees.growth import GrownTree
from marginboost.engine.trees.slots import Slots
from marginboost.loss import LOSSES

DATA = training_set(*random_problem(40, 3, 3, n_values=6))


def tables(*shape):
    """Factors that multiply exactly."""
    return st.integers(0, 99).map(
        lambda seed: np.random.default_rng(seed).choice([0.5, 1.0, 1.25, 2.0], shape)
    )


FEATURES = st.integers(0, 2)
BINS = st.integers(0, 4)
STEPS = st.one_of(
    st.tuples(tables(2, 3), tables(2, 3)).map(lambda f: [("advance", (*f, 10))]),
    tables(2, 3, 3).map(lambda table: [("advance_table", (table, 10))]),
    st.lists(st.sampled_from([-1, 1]), min_size=3, max_size=3).map(
        lambda signs: [("project", (np.array(signs, dtype=np.int8),))]
    ),
    st.tuples(FEATURES, BINS, st.booleans()).map(lambda args: [("place_stump", args)]),
    st.tuples(FEATURES, BINS).map(
        lambda at: [("place_tree", ([at[0]], [at[1]], [~0], [~1], [1, 0]))]
    ),
)
START = [("advance", (np.ones((2, 3)), np.ones((2, 3)), 10))]


def shard_state():
    return ShardState(0, DATA, 1)


def make_stump_engine(n_threads):
    return ReferenceStumpEngine()


def make_tree_engine(n_threads):
    return ReferenceTreeEngine()


@settings(max_examples=300)
@given(st.lists(STEPS, max_size=14))
def test_replay_is_the_whole_story(steps):
    log, faithful = CommandLog(), shard_state()
    log.append("load", (make_stump_engine, Weighting(LOSSES["exponential"])))
    for name, args in [command for step in [START, *steps] for command in step]:
        log.append(name, args)
        start = faithful.position
        faithful.replay(start, log.since(start, [0]))  # as soon as it is noted
    late = shard_state()
    late.replay(0, log.since(0, [0]))
    assert late.position == faithful.position == len(log)
    for name in ("_e", "_side", "_g", "_searched"):
        np.testing.assert_array_equal(
            getattr(faithful.engine, name), getattr(late.engine, name), err_msg=name
        )


def grown(bins, at_once):
    """A tree that is grown to the end, one node after the other; or divided at once, as one was."""
    splits = [([2 * number], [number % 3], [bin_]) for number, bin_ in enumerate(bins)]
    leaf_of_node = np.full(2 * len(bins) + 1, -1, dtype=np.int32)
    leaves = [*range(1, 2 * len(bins), 2), 2 * len(bins)]
    leaf_of_node[leaves] = np.arange(len(leaves))
    begin = ("begin_tree", (np.arange(3, dtype=np.int32), RowSample()))
    moves = [("move_rows", args) for args in splits]
    if at_once:
        features = [number % 3 for number in range(len(bins))]
        left = [~number for number in range(len(bins))]
        right = [*range(1, len(bins)), ~len(bins)]
        counts = [0] * len(leaves)
        tree = GrownTree(*map(np.array, (features, bins, left, right, bins, leaf_of_node, counts)))
        begin, moves = ("divide_rows", (tree, *begin[1])), []
    return [begin, *moves, ("finish_tree", (leaf_of_node, 10))], len(leaves)


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.lists(BINS, min_size=1, max_size=3), *[st.booleans()] * 3), max_size=8)
)
def test_replay_of_trees(steps):
    """Trees that are used, trees that are finished in vain, and trees that are not finished."""
    log, faithful = CommandLog(), shard_state()
    one = np.ones((1, 3), dtype=np.float32)
    log.append("load", (make_tree_engine, LOSSES["exponential"], Slots(3), RowView()))
    log.append("advance", (one, one, one[0], 10, 10))
    faithful.replay(0, log.since(0, [0]))
    for bins, at_once, finished, used in steps:
        commands, n_leaves = grown(bins, at_once)
        if not finished:
            commands.pop()
        elif used:
            up = np.linspace(0.5, 2.0, 3 * n_leaves, dtype=np.float32).reshape(-1, 3)
            commands.append(("advance", (up, 1 / up, one[0], 10, 10)))
        for name, args in commands:
            log.append(name, args)
            start = faithful.position
            faithful.replay(start, log.since(start, [0]))  # as soon as it is noted
    late = shard_state()
    late.replay(0, log.since(0, [0]))
    for name in ("_e", "_leaf", "_g"):
        np.testing.assert_array_equal(
            getattr(faithful.engine, name), getattr(late.engine, name), err_msg=name
        )


def test_what_is_replaced_is_forgotten():
    log = CommandLog()
    one = np.ones((2, 3))
    log.append("load", ())
    for _ in range(5):
        log.append("place_stump", (0, 1, True))  # in vain
        log.append("project", (np.ones(3, dtype=np.int8),))
        log.append("begin_tree", ())
        log.append("move_rows", ([0], [0], [1]))
        log.append("finish_tree", ([-1, 0, 1], 10))
        log.append("advance", (one, one, 10))
    left = [command.name for command in log.since(0, [0]) if command is not None]
    assert len(log) == 31
    tree = ["begin_tree", "move_rows", "finish_tree", "advance"]
    assert left == ["load", *(5 * tree)]


def test_the_ways_to_grow_a_tree_leave_the_same_rows():
    states = []
    for at_once in (True, False):
        state = shard_state()
        log = CommandLog()
        log.append("load", (make_tree_engine, LOSSES["exponential"], Slots(3), RowView()))
        one = np.ones((1, 3), dtype=np.float32)
        log.append("advance", (one, one, one[0], 10, 10))
        for name, args in grown([2, 3, 1], at_once)[0]:
            log.append(name, args)
        state.replay(0, log.since(0, [0]))
        states.append((state.engine._leaf, *state.result))
    assert len(np.unique(states[0][0])) == 4
    for ours, theirs in zip(*states, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_arrays_are_copied_and_shards_get_their_own():
    log = CommandLog()
    up = np.ones((2, 3))
    log.append("advance", (up, up, 10))
    up[:] = 7.0
    log.append("shift_copies", ({0: "rows of 0", 1: "rows of 1"},), by_shard=True)
    advance, shift = log.since(0, [1])
    assert (advance.args[0] == 1.0).all()
    assert shift.args == ({1: "rows of 1"},)
