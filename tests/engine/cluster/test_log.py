"""A shard that follows what is left of a log ends where one does that has followed all of it."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support import random_problem, training_set

from marginboost.engine import ReferenceStumpEngine
from marginboost.engine.cluster.log import CommandLog
from marginboost.engine.cluster.shard_state import ShardState
from marginboost.engine.stumps.base import Weighting
from marginboost.loss import LOSSES

DATA = training_set(*random_problem(40, 3, 3, n_values=6))


def tables(*shape):
    """Factors that multiply exactly."""
    return st.integers(0, 99).map(
        lambda seed: np.random.default_rng(seed).choice([0.5, 1.0, 1.25, 2.0], shape)
    )


def tree(column, splits, value):
    """A tree that is grown to the end: its nodes are divided level after level, then are leaves."""
    commands = [("start_tree", (column,))]
    for feature, bin_ in splits[:-1]:
        commands.append(("move_rows", ([feature], [bin_], [0], [0])))
    feature, bin_ = splits[-1]
    commands.append(("move_rows", ([feature], [bin_], [~0], [~1])))
    return [*commands, ("finish_tree", ([value, 1 - value],))]


FEATURES = st.integers(0, 2)
BINS = st.integers(0, 4)
STEPS = st.one_of(
    st.tuples(tables(2, 3), tables(2, 3)).map(lambda f: [("advance", (*f, 10))]),
    tables(2, 3, 3).map(lambda table: [("advance_table", (table, 10))]),
    st.tuples(FEATURES, tables(2, 3)).map(lambda args: [("advance_column", args)]),
    tables(40, 3).map(lambda e: [("set_exponentials", (e,))]),
    st.lists(st.sampled_from([-1, 1]), min_size=3, max_size=3).map(
        lambda signs: [("project", (np.array(signs, dtype=np.int8),))]
    ),
    st.tuples(FEATURES, BINS, st.booleans()).map(lambda args: [("place_stump", args)]),
    st.tuples(FEATURES, BINS).map(
        lambda at: [("place_tree", ([at[0]], [at[1]], [~0], [~1], [1, 0]))]
    ),
    st.builds(
        tree,
        st.just(0),
        st.lists(st.tuples(FEATURES, BINS), min_size=1, max_size=3),
        st.integers(0, 1),
    ),
    st.just([("start_tree", (0,))]),
)
START = [("advance", (np.ones((2, 3)), np.ones((2, 3)), 10))]


def shard_state():
    return ShardState(0, DATA, 1)


def make_stump_engine(n_threads):
    return ReferenceStumpEngine()


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


def test_what_is_replaced_is_forgotten():
    log = CommandLog()
    one = np.ones((2, 3))
    log.append("load", ())
    for _ in range(5):
        log.append("place_stump", (0, 1, True))  # in vain
        log.append("start_tree", (0,))
        log.append("move_rows", ([0], [1], [~0], [~1]))
        log.append("finish_tree", ([0, 1],))
        log.append("set_exponentials", ({0: np.ones((40, 3))},), by_shard=True)
        log.append("advance", (one, one, 10))
    left = [command.name for command in log.since(0, [0]) if command is not None]
    assert len(log) == 31
    assert left == [
        "load", "advance", "start_tree", "move_rows", "finish_tree", "set_exponentials", "advance",
    ]  # fmt: skip


def test_arrays_are_copied_and_shards_get_their_own():
    log = CommandLog()
    up = np.ones((2, 3))
    log.append("advance", (up, up, 10))
    up[:] = 7.0
    log.append("set_exponentials", ({0: "rows of 0", 1: "rows of 1"},), by_shard=True)
    advance, replaced = log.since(0, [1])
    assert (advance.args[0] == 1.0).all()
    assert replaced.args == ({1: "rows of 1"},)
