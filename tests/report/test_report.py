"""The report's numbers against scikit-learn's, and its text against hostile names."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.metrics import accuracy_score, log_loss, precision_score, recall_score
from support import embedded, random_problem

from marginboost import (
    AdaBoostMHClassifier,
    MarginBoostClassifier,
    MCBoostClassifier,
    SAMMEClassifier,
)
from marginboost.data.encoding import Encoding
from marginboost.evaluation.evaluate import evaluate
from marginboost.report import write_report
from marginboost.report.concerns import concerns
from marginboost.report.facts import Facts
from marginboost.report.html import Html, tag
from marginboost.report.quality import confusion_sentences
from marginboost.report.summary import duration, percent
from marginboost.report.svg import Chart, _ticks

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "a\x00b&amp;", "]]>"]
VOID = {"meta", "input", "br"}


class Reader(HTMLParser):
    """Collects text and elements; fails where elements are not closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.kinds, self.words, self.attributes = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.kinds.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)


def read(path):
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    assert not reader.open
    return reader


def split_wine():
    frame = load_wine(as_frame=True)
    y = np.array(["Barolo", "Grignolino", "Barbera"])[frame.target]
    kept = np.arange(len(y)) % 2 == 0
    return frame.data[kept], y[kept], frame.data[~kept], y[~kept]


def text_of(model, folder, *rows, **settings):
    path = folder / "report.html"
    write_report(model, path, *rows, **settings)
    return " ".join(read(path).words)


@pytest.mark.parametrize("model", [MCBoostClassifier(40), MarginBoostClassifier(8, random_state=0)])
def test_numbers_are_scikit_learns(model, tmp_path):
    X, y, X_test, y_test = split_wine()
    model = model.fit(X, y)
    facts = Facts(model, evaluate(model, X_test, y_test))
    found = model.predict(X_test)
    labels = model.classes_
    assert facts.accuracy == accuracy_score(y_test, found)
    assert facts.log_loss == pytest.approx(log_loss(y_test, model.predict_proba(X_test)))
    per_class = {"labels": labels, "average": None}
    np.testing.assert_allclose(facts.precision, precision_score(y_test, found, **per_class))
    np.testing.assert_allclose(facts.recall, recall_score(y_test, found, **per_class))
    text = text_of(model, tmp_path, X_test, y_test, title="Wines & more")
    for word in (
        "Wines & more",
        f"{100 * facts.accuracy:.1f}%",
        f"{facts.log_loss:.4g}",
        "proline",
    ):
        assert word in text
    for label in labels:
        assert label in text
    if (found != y_test).any():
        assert "predicted as" in text
        assert "Row " in text


def test_rows_that_the_model_has_not_seen(tmp_path):
    X, y, X_test, y_test = split_wine()
    model = MarginBoostClassifier(5, random_state=0).fit(X, y)
    warning = "these figures are too good"
    assert warning in text_of(model, tmp_path, X_test, y_test)
    text = text_of(model, tmp_path, X_test, y_test, held_out=True)
    assert warning not in text
    assert "89 rows that the model was not fitted to." in text


def test_class_frequencies_at_work(tmp_path):
    X, y, X_test, y_test = split_wine()
    model = MarginBoostClassifier(5, random_state=0).fit(X, y)
    assert "at work" not in text_of(model, tmp_path, X_test, y_test)
    other = model.with_class_frequencies({"Barolo": 0.8, "Barbera": 0.1, "Grignolino": 0.1})
    text = text_of(other, tmp_path, X_test, y_test)
    assert "Class frequencies at work" in text
    assert f"Barolo 80.0% (in training {np.mean(y == 'Barolo'):.1%})" in text


def test_model_alone(tmp_path):
    X, y, *_ = split_wine()
    text = text_of(MCBoostClassifier(20).fit(X, y), tmp_path)
    assert "What was fitted" in text
    assert "Learning curve" in text
    assert "What the features do" in text
    assert "accuracy" not in text
    for model in (SAMMEClassifier(5), AdaBoostMHClassifier(5), MarginBoostClassifier(3)):
        assert "Importance" in text_of(model.fit(X, y), tmp_path)


def test_parameters_that_were_changed(tmp_path):
    X, y = embedded("iris")
    text = text_of(MCBoostClassifier(7, max_bins=9).fit(X, y), tmp_path)
    assert "n_estimators=7" in text
    assert "max_bins=9" in text
    assert "learning_rate" not in text


def test_hostile_names_stay_text(tmp_path):
    X, y = embedded("iris")
    labels = np.array([*HOSTILE[:2], HOSTILE[3]])[y]
    frame = pd.DataFrame(X, columns=HOSTILE)
    model = MCBoostClassifier(5).fit(frame, labels)
    path = tmp_path / "report.html"
    write_report(model, path, frame, labels, title=HOSTILE[0])
    reader = read(path)
    assert reader.kinds.count("script") == 1
    assert "img" not in reader.kinds
    assert not [name for name, _ in reader.attributes if name.startswith("on") or name == "style"]
    text = path.read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "\x00" not in text


def test_nothing_is_asked_of_the_network(tmp_path):
    X, y = embedded("iris")
    path = tmp_path / "report.html"
    write_report(MCBoostClassifier(5).fit(X, y), path, X, y)
    text = path.read_text(encoding="utf-8")
    assert not re.findall(r"https?:|//[a-z]|@import|url\(", text)
    assert "default-src &#x27;none&#x27;" in text
    assert {"link", "img", "iframe", "object"}.isdisjoint(read(path).kinds)


def test_many_classes_and_features_are_cut(tmp_path):
    X, y = random_problem(900, 1200, 120, seed=1)
    model = MarginBoostClassifier(5, random_state=0, calibrate=False).fit(X, y)
    text = text_of(model, tmp_path, X[:400], y[:400])
    assert "The 60 classes with the lowest recall, of 120." in text
    assert "the first 20 are listed" in text
    assert "grid of all pairs is left out" in text
    assert "fewer than 20 rows in training" in text
    assert (tmp_path / "report.html").stat().st_size < 500_000
    stumps = SAMMEClassifier(40, max_bins=16).fit(X[:, :9], y)
    assert "6 of 120: the most affected ones" in text_of(stumps, tmp_path)


def test_sparse_rows(tmp_path):
    X, y = embedded("digits")
    model = MarginBoostClassifier(5, random_state=0).fit(sparse.csr_array(X[:400]), y[:400])
    assert "accuracy" in text_of(model, tmp_path, sparse.csr_array(X[400:600]), y[400:600])


def test_categories_and_missing_values(tmp_path):
    X, y = random_problem(200, 3, 3, n_values=3, seed=1)
    model = MCBoostClassifier(20).fit(X, y)
    model.encoding_ = Encoding(
        2,
        np.array([0, 1, 1], dtype=np.int32),
        np.array([5.0, -np.inf, np.inf]),
        (("red", "<green>", "blue"), None),
        (np.array([0.0, 1.0, 2.0]), None, None),
    )
    model.feature_importances_ = np.array([0.7, 0.3])
    text = text_of(model, tmp_path)
    assert "<green>" in text
    assert "missing" in text
    assert "2, 1 categorical, 1 with missing values" in text


def test_frames_with_gaps_and_categories(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    size = np.where(rng.random(300) < 0.2, np.nan, np.round(rng.normal(y, 1.0), 1))
    colour = np.array(["red", "<green>", "blue"])[np.where(rng.random(300) < 0.3, 0, y)]
    frame = pd.DataFrame({"size": size, "colour": colour})
    for model in (MCBoostClassifier(30, max_bins=32), MarginBoostClassifier(10, random_state=0)):
        model.fit(frame[:200], y[:200], X_val=frame[200:], y_val=y[200:])
        text = text_of(model, tmp_path, frame[200:], y[200:])
        assert "2, 1 categorical, 1 with missing values" in text
        assert re.search("colour += (<green>|red|blue)", text)
        assert re.search("size += (missing|[0-9])", text)
        assert "validation rows" in text
        assert "Validation accuracy" in text
        assert "Fitted in" in text


def concerns_of(model, *rows):
    facts = Facts(model, evaluate(model, *rows) if rows else None)
    return " ".join(concerns(facts))


def test_concerns_are_told():
    rng = np.random.default_rng(0)
    noise, y = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    fitted = MarginBoostClassifier(30, min_samples_leaf=1, calibrate=False, random_state=0)
    told = concerns_of(fitted.fit(noise[:200], y[:200]), noise[200:], y[200:])
    assert "the model overfits" in told
    assert "Probabilities are off by" in told
    leak = np.column_stack([noise, y])
    told = concerns_of(MCBoostClassifier(5).fit(leak, y), leak, y)
    assert "gives the class away" in told
    assert "x3" in told
    rare = np.where(np.arange(400) < 3, 2, y)
    told = concerns_of(MCBoostClassifier(3).fit(leak, rare))
    assert "1 class has fewer than 20 rows in training" in told
    told = concerns_of(MCBoostClassifier(3).fit(leak, y), leak, np.where(np.arange(400) < 3, 7, y))
    assert "3 rows have a label that was not seen in training" in told
    model = MCBoostClassifier(3).fit(leak, y)
    model.stop_reason_ = "interrupted"
    assert "interrupted after" in concerns_of(model)
    model = MCBoostClassifier(40).fit(noise, y)
    model.validation_losses_ = np.linspace(1, 0.5, 40)
    assert "more rounds would help" in concerns_of(model)
    assert "no rows here" in concerns_of(model, noise[y == 0], y[y == 0])


def test_a_good_model_raises_no_concern():
    X, y = embedded("digits")
    model = MarginBoostClassifier(60, random_state=0).fit(X[:1200], y[:1200])
    assert concerns_of(model, X[1200:], y[1200:]) == ""


def test_worst_confusions_come_first():
    X, y = embedded("digits")
    model = MarginBoostClassifier(4, random_state=0).fit(X[:400], y[:400])
    facts = Facts(model, evaluate(model, X[400:], y[400:]))
    shares = facts.confusion / facts.class_rows[:, None]
    np.fill_diagonal(shares, 0)
    r, c = np.unravel_index(shares.argmax(), shares.shape)
    first = re.sub("<[^>]*>", "", confusion_sentences(facts)[0])
    assert first.startswith(f"{r} is predicted as {c} in {percent(shares[r, c])} of its rows")


def test_rows_and_labels_come_together(tmp_path):
    X, y = embedded("iris")
    model = MCBoostClassifier(2).fit(X, y)
    with pytest.raises(ValueError, match="given together"):
        write_report(model, tmp_path / "report.html", X)


def test_a_model_of_nothing_has_a_report(tmp_path):
    X, y = np.zeros((40, 2)), np.arange(40) % 2
    with pytest.warns(UserWarning, match="No split is possible"):
        model = MCBoostClassifier(3).fit(X, y)
    assert "No tree splits anything" in text_of(model, tmp_path, X, y)
    assert "No feature is used" in text_of(model, tmp_path, X, np.full(40, 7))


# --- parts ----------------------------------------------------------------------------------------


def test_elements_escape_what_is_not_html():
    assert tag("p", "<b>", Html("<i></i>"), title='"') == '<p title="&quot;">&lt;b&gt;<i></i></p>'
    assert tag("p", "a\x00\ud800") == "<p>a\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}</p>"
    assert tag("input", disabled=True, class_="a", id=None) == '<input disabled class="a">'


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.5, "50.0%"), (0.999, "99.90%"), (1.0, "100%"), (0.0, "0%"), (1e-6, "under 0.01%"),
     (1 - 1e-6, "over 99.99%"), (np.nan, "\N{EN DASH}")],
)  # fmt: skip
def test_shares_in_words(share, text):
    assert percent(share) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0123, "12 ms"), (3.21, "3.2 s"), (125, "2 min 5 s"), (7500, "2 h 5 min")],
)
def test_durations_in_words(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize("ends", [(0, 1), (-3.7, 12), (1e-9, 2e-9), (1e300, 3e300), (5, 5.001)])
def test_ticks_are_round_and_lie_inside(ends):
    ticks = _ticks(*ends)
    assert 2 <= len(ticks) <= 11
    room = 1e-6 * (ends[1] - ends[0])
    assert ends[0] - room <= ticks[0] < ticks[-1] <= ends[1] + room


def test_charts_of_one_value():
    chart = Chart((3, 3), (0, 0), ("x", "y"), "One value")
    chart.line([3, 3], [0, 0], "s0")
    assert "nan" not in chart.html()
