"""Plots are tested by what is drawn: lines, bars and words."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_wine
from sklearn.metrics import accuracy_score, confusion_matrix
from support import random_problem

from marginboost import MarginBoostClassifier, MCBoostClassifier, SAMMEClassifier, plot
from marginboost.data.classes import UNSEEN, class_numbers
from marginboost.data.encoding import Encoding
from marginboost.evaluation.rounds import round_sizes

WINE = load_wine(as_frame=True)
X, Y = WINE.data, np.array(["a", "b", "c"])[WINE.target]
FIT, REST = np.arange(len(Y)) % 3 > 0, np.arange(len(Y)) % 3 == 0


@pytest.fixture(scope="module")
def stumps():
    return MCBoostClassifier(60).fit(X[FIT], Y[FIT])


@pytest.fixture(scope="module")
def trees():
    return MarginBoostClassifier(10, random_state=0).fit(X[FIT], Y[FIT])


@pytest.fixture(autouse=True)
def no_figures_left():
    """Close what other tests' pyplot has made its own."""
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")


@pytest.fixture
def ax():
    return Figure().subplots()


def words(ax):
    texts = [
        *ax.texts,
        *ax.get_xticklabels(),
        *ax.get_yticklabels(),
        ax.xaxis.label,
        ax.yaxis.label,
    ]
    found = [text.get_text() for text in texts]
    return " ".join([*found, ax.get_title(loc="left"), ax.get_title()])


def drawn(ax):
    """Draw it all, warnings included."""
    ax.figure.canvas.draw()
    return ax


def test_every_picture_takes_axes_or_makes_them(stumps):
    explanation = stumps.explain(X[REST])
    rows = X[REST], Y[REST]
    calls = {
        "calibration": (stumps, *rows),
        "coefficients": (stumps,),
        "confusion": (stumps, *rows),
        "contributions": (explanation, 2),
        "importances": (stumps,),
        "learning_curves": (stumps,),
        "margins": (stumps, *rows),
        "paths": (stumps,),
        "shapes": (stumps, 0),
    }
    assert sorted(calls) == sorted(plot.__all__)
    for name, arguments in calls.items():
        given = Figure().subplots()
        assert getattr(plot, name)(*arguments, ax=given) is given
        new = drawn(getattr(plot, name)(*arguments))
        assert new.get_title(loc="left")


FIT_IRIS = """
import sys, threading
from sklearn.datasets import load_iris
from marginboost import MCBoostClassifier, plot
assert not any(name.startswith("matplotlib") for name in sys.modules)
model = MCBoostClassifier(5).fit(*load_iris(return_X_y=True))
"""
IN_SCRIPTS = {
    "without pyplot": """
        plot.importances(model).figure.savefig("picture.png")
        assert "matplotlib.pyplot" not in sys.modules
    """,
    "with pyplot": """
        import matplotlib.pyplot as plt
        ax = plot.importances(model)
        assert [plt.figure(number) for number in plt.get_fignums()] == [ax.figure]
        shown = []
        plt.show = lambda: shown.extend(plt.get_fignums())
        plt.show()
        assert shown == [1]
    """,
    "with ax": """
        import matplotlib.pyplot as plt
        figure, ax = plt.subplots()
        assert plot.importances(model, ax=ax) is ax
        assert plt.get_fignums() == [1]
    """,
    "in a server's thread": """
        import matplotlib.pyplot as plt
        thread = threading.Thread(target=lambda: plot.importances(model))
        thread.start()
        thread.join()
        assert plt.get_fignums() == []
    """,
    "in Python's shell": """
        sys.ps1 = ">>> "
        plot.importances(model)
        assert sys.modules["matplotlib.pyplot"].get_fignums() == [1]
    """,
}


@pytest.mark.parametrize("case", IN_SCRIPTS)
def test_pyplot_gets_figures_where_somebody_looks(case, tmp_path):
    """No display is needed for any of these, and no figure stays where nobody looks."""
    code = FIT_IRIS + textwrap.dedent(IN_SCRIPTS[case])
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path, env=environment)


def test_learning_curves(stumps, ax):
    line = plot.learning_curves(stumps, ax=ax).lines[0]
    assert (line.get_ydata() == stumps.train_errors_).all()
    with pytest.raises(ValueError, match="measure must be"):
        plot.learning_curves(stumps, measure="luck")


def test_each_loss_has_an_axis_of_its_own(ax):
    """The training loss is of margins, the validation loss of probabilities."""
    model = MCBoostClassifier(5).fit(X[~REST], Y[~REST], X_val=X[REST], y_val=Y[REST])
    plot.learning_curves(model, measure="loss", ax=ax)
    left, right = ax.figure.axes
    assert (left.lines[0].get_ydata() == model.train_losses_).all()
    assert (right.lines[0].get_ydata() == model.validation_losses_).all()
    assert len(left.lines) == len(right.lines) == 1
    assert (left.get_ylabel(), right.get_ylabel()) == ("training loss", "validation log loss")
    assert len(left.get_legend().get_texts()) == 2


def test_errors_share_an_axis(ax):
    model = MCBoostClassifier(5).fit(X[~REST], Y[~REST], X_val=X[REST], y_val=Y[REST])
    plot.learning_curves(model, ax=ax)
    assert ax.figure.axes == [ax]
    assert len(ax.lines) == 2


def test_learning_curves_mark_the_rounds_that_are_kept(ax):
    model = MCBoostClassifier(5).fit(X, Y)
    model.validation_errors_ = np.linspace(0.5, 0.1, 9)  # as after early stopping
    plot.learning_curves(model, ax=ax)
    assert "kept: 5 rounds" in words(ax)
    assert len(ax.lines[1].get_ydata()) == 9


def test_margins(trees, ax):
    plot.margins(trees, X[REST], Y[REST], ax=ax)
    values = ax.lines[-1].get_xdata()
    assert len(values) == REST.sum()
    assert values.min() >= -1
    assert values.max() <= 1
    wrong = 1 - accuracy_score(Y[REST], trees.predict(X[REST]))
    assert f"wrong: {wrong:.1%}" in words(ax)


def test_confusion(stumps, ax):
    plot.confusion(stumps, X[REST], Y[REST], ax=ax)
    counts = confusion_matrix(Y[REST], stumps.predict(X[REST]))
    shown = sorted(int(text.get_text()) for text in ax.texts)
    assert shown == sorted(counts[counts > 0].tolist())
    shares = counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(ax.images[0].get_array(), shares)


def test_confusion_of_many_classes_has_no_numbers(ax):
    rows, y = random_problem(400, 4, 40)
    model = SAMMEClassifier(5).fit(rows, y)
    plot.confusion(model, rows, y, ax=ax)
    assert not ax.texts
    assert len(ax.get_xticks()) == 20


def test_coefficients_are_w(stumps, trees, ax):
    plot.coefficients(stumps, ax=ax)
    assert (ax.images[0].get_array() == stumps.coef_.T).all()
    # By brute force: the mean size of what the tree of a round adds.
    sizes = round_sizes(trees.ensemble_)
    ensemble, rows = trees.ensemble_, X[FIT].to_numpy()
    for j in (0, 5):
        leaves = ensemble.tree_outputs(rows, j)
        added = ensemble.leaf_value[leaves, None] * ensemble.vectors[ensemble.leaf_vector[leaves]]
        np.testing.assert_allclose(sizes[j], np.abs(added).mean(axis=0))


def test_paths_end_at_the_sums_of_coefficients(stumps, ax):
    plot.paths(stumps, "b", ax=ax)
    ends = sum(line.get_ydata()[-1] for line in ax.lines)
    np.testing.assert_allclose(ends, stumps.coef_[:, 1].sum())
    np.testing.assert_allclose(ax.lines[0].get_xdata()[-1], stumps.coef_.sum())
    assert len(ax.lines) < 60  # some weak classifiers come again
    with pytest.raises(ValueError, match="label must be a class"):
        plot.paths(stumps, "no such")
    with pytest.raises(ValueError, match="got SAMMEClassifier"):
        plot.paths(SAMMEClassifier(3).fit(X, Y))


def test_calibration(trees, ax):
    plot.calibration(trees, X[REST], Y[REST], n_bins=3, ax=ax)
    sure = trees.predict_proba(X[REST]).max(axis=1)
    right = trees.predict(X[REST]) == Y[REST]
    parts = np.array_split(np.argsort(sure, kind="stable"), 3)
    points = ax.lines[-1].get_xydata()
    np.testing.assert_allclose(points, [(sure[p].mean(), right[p].mean()) for p in parts])


def test_importances_and_names(stumps, ax):
    plot.importances(stumps, n=4, ax=ax)
    lengths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(lengths, np.sort(stumps.feature_importances_)[::-1][:4])
    assert X.columns[stumps.feature_importances_.argmax()] in words(ax)


def test_contributions_lead_to_the_score(stumps, ax):
    explanation = stumps.explain(X[REST])
    plot.contributions(explanation, 1, "c", n=3, ax=ax)
    bars = ax.patches
    np.testing.assert_allclose(sum(bar.get_width() for bar in bars),
                               explanation.scores[1, 2] - explanation.base[1, 2])  # fmt: skip
    assert "others" in words(ax)
    assert "Class c, row 1" in words(ax)
    with pytest.raises(TypeError, match=r"what model.explain\(X\) returns; got MCBoostClassifier"):
        plot.contributions(stumps)


def test_shapes(stumps, ax):
    plot.shapes(stumps, "proline", ["a", "c"], ax=ax)
    shape = stumps.feature_shapes()[list(X.columns).index("proline")]
    assert (ax.patches[0].get_data().values == shape.values[:, 0]).all()
    for feature, sentence in [("no such", "column of X"), (99, "0 to 12")]:
        with pytest.raises(ValueError, match=sentence):
            plot.shapes(stumps, feature)
    with pytest.raises(ValueError, match="classes must be classes of the model"):
        plot.shapes(stumps, 0, ["z"])


def test_shapes_of_categories_and_missing_values(ax):
    rows, y = random_problem(200, 3, 3, n_values=3, seed=1)
    model = MCBoostClassifier(20).fit(rows, y)
    model.encoding_ = Encoding(
        2,
        np.array([0, 1, 1], dtype=np.int32),
        np.array([5.0, -np.inf, np.inf]),
        (("red", "<green>", "blue"), None),
        (np.array([0.0, 1.0, 2.0]), None, None),
    )
    drawn(plot.shapes(model, 0, ax=ax))
    assert "<green>" in words(ax)
    other = drawn(plot.shapes(model, 1))
    assert "missing" in words(other)


def test_unseen_labels_are_told_from_the_others(stumps):
    y = np.where(np.arange(REST.sum()) < 2, "zebra", Y[REST])
    assert (class_numbers(stumps.classes_, y)[:2] == UNSEEN).all()
    drawn(plot.confusion(stumps, X[REST], y))
    drawn(plot.margins(stumps, X[REST], y))
    with pytest.raises(ValueError, match="same number of rows"):
        plot.margins(stumps, X[REST], y[:3])
    with pytest.raises(ValueError, match="one dimension"):
        plot.margins(stumps, X[REST], y[:, None])


def test_without_matplotlib_the_extra_is_named(stumps, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'marginboost\[plot\]'"):
        plot.importances(stumps)
