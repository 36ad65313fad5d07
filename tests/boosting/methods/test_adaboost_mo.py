"""AdaBoost.MO: every column by itself, from the trees, in float64; and where it is refused."""

import subprocess
import sys

import numpy as np
import pytest
from formulas import AllStumps, tree_outputs, trees_of_round
from support import embedded, noisy_problem

from marginboost import AdaBoostMOClassifier


@pytest.mark.parametrize("k", [2, 3, 4, 6])
def test_the_code_is_exhaustive(k):
    X, y = noisy_problem(60, 3, k)
    code = AdaBoostMOClassifier(1).fit(X, y).code_
    assert code.shape == (2 ** (k - 1) - 1, k)
    assert set(code.ravel()) == {-1, 1}
    assert (code.min(axis=1) == -1).all()  # no column without a second colour
    words = {tuple(word) for word in code.tolist()}
    assert len(words) == len(code)
    assert not any(tuple(-np.array(word)) in words for word in words)


@pytest.mark.parametrize("rate", [1.0, 0.5])
@pytest.mark.parametrize(("k", "depth"), [(2, 1), (3, 1), (5, 1), (4, 2)])
def test_every_column_and_the_bound(k, depth, rate):
    X, y = noisy_problem(120, 4, k, seed=k)
    stumps = AllStumps(X)
    model = AdaBoostMOClassifier(15, learning_rate=rate, max_depth=depth).fit(X, y)
    code = model.code_.astype(float)  # columns x classes
    said = np.zeros((len(y), len(code)))  # what the columns say so far
    target = code[:, y].T
    labels = list(model.staged_predict(X))
    for t in range(model.n_iter_):
        D = np.exp(-target * said)
        trees = trees_of_round(model.ensemble_, t)
        assert [set(tree.leaf_vector) for tree in trees] == [{c} for c in range(len(code))]
        values = np.array([tree_outputs(tree, X) for tree in trees]).T
        np.testing.assert_array_equal(np.abs(values), model.votes_[t])
        edges = (D * target * np.sign(values)).sum(axis=0)
        if depth == 1:
            best = np.abs(stumps.outputs @ (D * target)).max(axis=0)
            np.testing.assert_allclose(edges, best, rtol=1e-6, atol=1e-7 * D.sum(axis=0).max())
        r = edges.sum() / D.sum()
        assert model.votes_[t] == pytest.approx(rate * 0.5 * np.log((1 + r) / (1 - r)), rel=1e-6)
        said += values
        now = np.exp(-target * said)
        assert now.sum() < D.sum()
        if rate == 1.0:
            assert now.sum() / D.sum() == pytest.approx(np.sqrt(1 - r**2), rel=1e-6)
        # A wrong row is no nearer to its own word than to another, on the 2^(k-2) columns where the
        # words differ; so exp(-code F) adds up to at least their number.
        assert np.mean(labels[t] != y) <= now.sum(axis=1).mean() / 2 ** (k - 2)
    F, scores = said @ code, model.decision_function(X)
    np.testing.assert_allclose(scores, F if k > 2 else F[:, 1] - F[:, 0], rtol=1e-9, atol=1e-9)


def test_ten_classes():
    X, y = embedded("digits")
    model = AdaBoostMOClassifier(3, max_bins=16).fit(X, y)
    assert model.code_.shape == (511, 10)
    assert model.ensemble_.n_trees == 3 * 511
    assert model.score(X, y) > 0.6


SCRIPT = """
import re
from pathlib import Path
import numpy as np
from marginboost import AdaBoostMOClassifier

def status(name):
    return int(re.search(name + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])

rng = np.random.default_rng(0)
X, y = rng.normal(size=(2600, 16)), np.arange(2600) % 26
AdaBoostMOClassifier(1).fit(X[:40], y[:40] % 2)
before = status("VmHWM")
try:
    AdaBoostMOClassifier().fit(X, y)
except ValueError as error:
    print(status("VmHWM") - before)
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_26_classes_are_refused_before_memory_is_taken():
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    grown, message = run.stdout.split("\n", 1)
    assert int(grown) < 20_000  # kB
    assert "33,554,431" in message
    assert "26 classes" in message
    assert "GiB" in message
    assert "AdaBoostECCClassifier" in message


def test_a_refusal_depends_on_the_memory_there_is(monkeypatch):
    X, y = noisy_problem(60, 3, 8)
    monkeypatch.setattr("marginboost.data.memory.available_bytes", lambda: 100_000)
    with pytest.raises(ValueError, match=r"8 classes has 127 codewords"):
        AdaBoostMOClassifier(5).fit(X, y)
    monkeypatch.setattr("marginboost.data.memory.available_bytes", lambda: 10_000_000)
    assert AdaBoostMOClassifier(5).fit(X, y).n_iter_ == 5
