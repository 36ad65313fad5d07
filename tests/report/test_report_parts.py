"""What the report says first, and what it says about columns, rankings and rounds."""

import os
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score, top_k_accuracy_score
from support import embedded, random_problem

from marginboost import MarginBoostClassifier, MCBoostClassifier, MultiBoostClassifier
from marginboost.evaluation.drift import column_shifts
from marginboost.evaluation.evaluate import evaluate
from marginboost.evaluation.stages import staged_errors
from marginboost.report import Report, write_report
from marginboost.report.concerns import concerns
from marginboost.report.facts import Facts
from marginboost.report.features import _shortened
from marginboost.report.verdict import verdict


class Elements(HTMLParser):
    """Collects elements with their attributes, and the cells of each table."""

    def __init__(self):
        super().__init__()
        self.found, self.tables, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append([])
        elif tag in ("td", "th") and self.tables:
            self.tables[-1][-1].append("")

    def handle_data(self, data):
        self.text.append(data)
        if self.tables and self.tables[-1] and self.tables[-1][-1]:
            self.tables[-1][-1][-1] += data

    def table(self, head):
        """Return the body of the table whose first head is this."""
        return next(table[1:] for table in self.tables if table[0][0] == head)

    def attributes(self, tag, key):
        return [attrs[key] for kind, attrs in self.found if kind == tag and key in attrs]


def read(report):
    elements = Elements()
    elements.feed(Path(report).read_text(encoding="utf-8"))
    return elements


def plain(sentences):
    return " ".join(re.sub("<[^>]*>", "", sentence) for sentence in sentences)


@pytest.fixture(scope="module")
def digits():
    X, y = embedded("digits")
    model = MarginBoostClassifier(12, random_state=0).fit(X[:800], y[:800])
    return model, X[800:], y[800:]


@pytest.fixture(scope="module")
def mixed():
    """Numbers with gaps and categories, and labels with a name."""
    rng = np.random.default_rng(0)
    n = 1400
    y = rng.integers(0, 3, n)
    size = np.where(rng.random(n) < 0.2, np.nan, np.round(rng.normal(y, 1.0), 2))
    colour = np.array(["red", "<green>", "blue"])[np.where(rng.random(n) < 0.5, 0, y)]
    frame = pd.DataFrame({"size": size, "colour": colour, "noise": rng.normal(0, 1, n)})
    labels = pd.Series(np.array(["Barolo", "Grignolino", "Barbera"])[y], name="cultivar")
    model = MarginBoostClassifier(20, random_state=0).fit(frame[:900], labels[:900])
    return model, frame, labels


def test_a_report_is_a_path(digits, tmp_path):
    path = tmp_path / "report.html"
    report = write_report(digits[0], path)
    assert isinstance(report, Report)
    assert isinstance(report, os.PathLike)
    assert os.fspath(report) == str(report) == str(path)
    with open(report, encoding="utf-8") as file:
        assert file.read() == report.html
    assert Path(shutil.copy(report, tmp_path / "copy.html")).read_bytes() == path.read_bytes()
    assert "report.html" in repr(report)


def test_scores_are_scikit_learns(digits):
    model, X, y = digits
    facts = Facts(model, evaluate(model, X, y))
    probabilities, predicted = model.predict_proba(X), model.predict(X)
    assert facts.macro_f1 == f1_score(y, predicted, average="macro")
    assert facts.k == 3
    assert facts.top_k == pytest.approx(top_k_accuracy_score(y, probabilities, k=3))
    auc, precision = facts.ranking
    for digit in range(10):
        assert auc[digit] == roc_auc_score(y == digit, probabilities[:, digit])
        assert precision[digit] == average_precision_score(y == digit, probabilities[:, digit])
    frequent = model.classes_[model.class_count_.argmax()]
    assert facts.baseline == np.mean(y == frequent)


def test_tables_hold_these_scores(digits, tmp_path):
    model, X, y = digits
    elements = read(write_report(model, tmp_path / "report.html", X, y))
    facts = Facts(model, evaluate(model, X, y))
    rows = elements.table("class")
    assert [row[0] for row in rows] == [str(digit) for digit in range(10)]
    assert [row[5] for row in rows] == [f"{value:.4f}" for value in facts.ranking[0]]
    assert [row[4] for row in rows] == [f"{100 * value:.1f}%" for value in facts.ranking[1]]
    text = " ".join(elements.text)
    for words in ("baseline accuracy", "macro F1", "top-3 accuracy", "Precision and recall by"):
        assert words in text


def test_unseen_labels_count_as_wrong_in_every_score(digits):
    model, X, y = digits
    strange = np.where(np.arange(len(y)) < len(y) // 2, 77, y)
    facts = Facts(model, evaluate(model, X, strange))
    known = strange != 77
    top = top_k_accuracy_score(y[known], model.predict_proba(X[known]), k=3, labels=range(10))
    assert facts.top_k == pytest.approx(top * known.mean())
    nothing = Facts(model, evaluate(model, X, np.full(len(y), 77)))
    assert nothing.top_k == nothing.baseline == 0
    assert np.isnan(nothing.macro_f1)
    assert "no better than that" in plain(verdict(nothing))


def test_the_verdict_names_baseline_and_errors(digits):
    model, X, y = digits
    facts = Facts(model, evaluate(model, X, y))
    told = plain(verdict(facts))
    assert told.startswith(f"The model is right on {100 * facts.accuracy:.1f}% of {len(y)} rows")
    assert f"would be right on {100 * facts.baseline:.1f}%" in told
    fewer = 1 - (1 - facts.accuracy) / (1 - facts.baseline)
    assert f"makes {100 * fewer:.1f}% fewer errors" in told
    assert f"It is weakest on {facts.recall.argmin()}:" in told
    sure = model.predict_proba(X).max(axis=1) >= 0.9
    assert f"{100 * sure.mean():.1f}% of the predictions have a probability of 90% or more" in told


def test_values_at_which_the_model_errs_are_told():
    """Where the first column is missing, or the second is "fog", nothing is known about the class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    gone, fog = rng.random(2000) < 0.15, rng.random(2000) < 0.15
    seen = np.where(fog, rng.integers(0, 2, 2000), y)
    frame = pd.DataFrame({
        "size": np.where(gone, np.nan, rng.normal(3 * seen, 1)),
        "weather": np.where(fog, "fog", np.array(["sun", "rain"])[rng.integers(0, 2, 2000)]),
        "noise": rng.normal(size=2000),
    })  # fmt: skip
    model = MarginBoostClassifier(20, random_state=0).fit(frame[:1200], y[:1200])
    rows, labels = frame[1200:], y[1200:]
    facts = Facts(model, evaluate(model, rows, labels))
    right = model.predict(rows) == labels
    found = {(facts.names[one.column], one.condition): one for one in facts.weak_segments}
    assert set(found) == {("size", "missing"), ("weather", "fog")}
    for (column, _), segment in found.items():
        where = rows[column].isna() if column == "size" else rows[column] == "fog"
        assert segment.n_rows == where.sum()
        assert segment.accuracy == right[where].mean()
    told = plain(verdict(facts))
    assert f"{100 * right[rows['size'].isna()].mean():.1f}% of the" in told
    assert "rows with size missing" in told
    assert "rows with weather fog" in told


def test_no_value_is_named_where_errors_are_spread_evenly():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5))
    y = rng.integers(0, 3, 1500)
    model = MarginBoostClassifier(10, random_state=0, calibrate=False).fit(X[:700], y[:700])
    assert Facts(model, evaluate(model, X[700:], y[700:])).weak_segments == []


def test_a_useless_model_is_said_to_be_useless():
    rng = np.random.default_rng(3)
    noise, y = rng.normal(size=(400, 3)), (rng.random(400) < 0.2).astype(int)
    model = MarginBoostClassifier(30, min_samples_leaf=1, calibrate=False, random_state=0)
    model.fit(noise[:200], y[:200])
    told = plain(verdict(Facts(model, evaluate(model, noise[200:], y[200:]))))
    assert "the model is no better than that" in told
    few = plain(verdict(Facts(model, evaluate(model, noise[:5], 1 - model.predict(noise[:5])))))
    assert "The model is right on 0% of 5 rows" in few


def test_the_verdict_comes_first(digits, tmp_path):
    model, X, y = digits
    text = write_report(model, tmp_path / "report.html", X, y).html
    places = [
        text.index(part) for part in ("<h1", 'class="answer"', 'class="tiles"', "<nav", "<h2")
    ]
    assert places[0] < places[1] < places[2] < places[3]
    assert re.search(r"\d{1,2} [A-Z][a-z]+ 20\d\d, \d\d:\d\d", text)


def test_contents_name_every_section(mixed, tmp_path):
    model, frame, labels = mixed
    elements = read(write_report(model, tmp_path / "report.html", frame[900:], labels[900:]))
    links = [link.removeprefix("#") for link in elements.attributes("a", "href")]
    assert links == elements.attributes("section", "id")
    assert {"columns", "features", "how-good-it-is"} <= set(links)


def test_the_title_is_the_name_of_the_labels(mixed, tmp_path):
    model, frame, labels = mixed
    report = write_report(model, tmp_path / "report.html", frame[900:], labels[900:])
    assert "<title>cultivar, predicted by MarginBoostClassifier</title>" in report.html
    report = write_report(model, tmp_path / "report.html", frame[900:], labels[900:].to_numpy())
    assert "<title>MarginBoostClassifier</title>" in report.html


def test_categories_are_drawn(mixed, tmp_path):
    model, frame, labels = mixed
    elements = read(write_report(model, tmp_path / "report.html", frame[900:], labels[900:]))
    drawn = [
        label for label in elements.attributes("svg", "aria-label") if "adds to class" in label
    ]
    assert len(drawn) == 3
    assert any(label.startswith("What colour adds") for label in drawn)
    assert any(label.startswith("What size adds") for label in drawn)
    assert {"red", "blue", "<green>"} <= set(elements.text)


def test_many_categories_are_cut(tmp_path):
    rng = np.random.default_rng(1)
    town = rng.integers(0, 30, 900)
    y = (town + rng.integers(0, 6, 900)) // 12
    frame = pd.DataFrame({"town": [f"town {number}" for number in town], "x": rng.normal(size=900)})
    model = MarginBoostClassifier(15, random_state=0).fit(frame, y)
    text = write_report(model, tmp_path / "report.html", frame, y).html
    assert re.search(r"town \(8 of \d+ categories\)", text)


def test_columns_are_summarised(mixed, tmp_path):
    model, frame, labels = mixed
    rows = frame[900:]
    lines = {
        line[0]: line
        for line in read(write_report(model, tmp_path / "r.html", rows, labels[900:])).table(
            "column"
        )
    }
    assert set(lines) == {"size", "colour", "noise"}
    assert lines["size"][1] == f"{100 * rows['size'].isna().mean():.1f}%"
    assert f"median {rows['size'].median():.4g}" in lines["size"][2]
    share = (rows["colour"] == "red").mean()
    assert f"red {100 * share:.1f}%" in lines["colour"][2]


def test_shares_of_training_rows_are_those_that_the_model_knows(mixed):
    """The first splits of stumps compare all rows: their shares can be counted."""
    _, frame, labels = mixed
    numbers = frame[["size", "noise"]].fillna(0.0).to_numpy()
    model = MCBoostClassifier(30).fit(numbers[:900], labels[:900])
    for j, shift in enumerate(column_shifts(model, numbers[900:])):
        if shift is None:
            continue
        assert shift.whole
        threshold = float(shift.condition.removeprefix("at most "))
        for share, part in ((shift.training, numbers[:900]), (shift.here, numbers[900:])):
            assert share == pytest.approx((part[:, j] <= threshold + 1e-4).mean(), abs=0.01)


def test_drift_is_found_and_only_where_it_is(mixed, tmp_path):
    model, frame, labels = mixed
    same = evaluate(model, frame[900:], labels[900:])
    assert not any(shift is not None and shift.is_clear for shift in column_shifts(model, same.X))
    assert "differ clearly" not in plain(concerns(Facts(model, same)))
    moved = frame[900:].assign(size=frame["size"] + 1.5)
    facts = Facts(model, evaluate(model, moved, labels[900:]))
    clear = [name for name, shift in zip(frame, facts.shifts, strict=True) if shift.is_clear]
    assert clear == ["size"]
    assert "1 column differs clearly from the training rows: size" in plain(concerns(facts))
    report = write_report(model, tmp_path / "report.html", moved, labels[900:])
    assert report.html.count('class="drifted"') == 1


def test_with_few_rows_the_report_says_why_nothing_is_compared(mixed, tmp_path):
    model, frame, labels = mixed
    texts = [
        write_report(model, tmp_path / "report.html", frame[900:end], labels[900:end]).html
        for end in (940, len(frame))
    ]
    assert [text.count("reached by 50 rows here and 50 in training") for text in texts] == [1, 0]


@pytest.mark.parametrize("weighted", ["class_weight", "sample_weight"])
def test_weights_are_no_drift(weighted, tmp_path):
    """A class that counts more in training has a larger share of the weight that reaches a leaf."""
    rng = np.random.default_rng(0)
    y = (rng.random(1500) < 0.1).astype(int)
    X = np.column_stack([rng.normal(2 * y, 1), rng.normal(size=1500)])
    model, settings = MarginBoostClassifier(10, random_state=0), {}
    if weighted == "class_weight":
        model.set_params(class_weight="balanced")
    else:
        settings["sample_weight"] = np.where(y[:1000] == 1, 4.75, 0.5)
    model.fit(X[:1000], y[:1000], **settings)
    assert column_shifts(model, X[1000:]) is None
    text = write_report(model, tmp_path / "report.html", X[1000:], y[1000:]).html
    assert "nothing is compared" in text


def test_gaps_and_categories_drift_too(mixed):
    model, frame, _ = mixed
    rows = frame[900:].assign(size=np.nan, colour="blue")
    numbers = evaluate(model, rows, np.full(len(rows), "Barolo")).X
    size, colour, _ = column_shifts(model, numbers)
    assert size.is_clear
    assert re.search("missing|known and", size.condition)
    assert colour.is_clear
    assert re.search("blue|red|<green>", colour.condition)


def test_gaps_that_training_did_not_have_are_told(digits):
    model, X, y = digits
    first = int(np.argmax(model.feature_importances_))
    gaps = X.copy()
    gaps[: len(X) // 4, first] = np.nan
    facts = Facts(model, evaluate(model, gaps, y))
    assert facts.newly_missing == [first]
    share = 100 * np.isnan(gaps[:, first]).mean()
    assert f"never in training: x{first} ({share:.1f}%)" in plain(concerns(facts))
    assert Facts(model, evaluate(model, X, y)).newly_missing == []


def test_another_mix_of_classes_is_told(digits):
    model, X, y = digits
    kept = (y == 3) | (np.arange(len(y)) % 4 == 0)
    told = plain(concerns(Facts(model, evaluate(model, X[kept], y[kept]))))
    assert "The classes are mixed differently: 3 is" in told


def test_errors_after_some_rounds(digits, tmp_path):
    model, X, y = digits
    stages, errors = staged_errors(model, X, y, 5)
    every = [np.mean(predicted != y) for predicted in model.staged_predict(X)]
    assert (stages[0], stages[-1], len(stages)) == (1, 12, 5)
    assert errors.tolist() == [every[number - 1] for number in stages]
    text = write_report(model, tmp_path / "report.html", X, y).html
    assert f"these rows: {100 * every[-1]:.1f}% at the end" in text
    X, y = embedded("iris")
    totally_corrective = MultiBoostClassifier(4).fit(X, y)
    assert staged_errors(totally_corrective, X, y) is None
    assert "these rows:" not in write_report(totally_corrective, tmp_path / "r.html", X, y).html


def test_a_sum_of_fits_has_no_training_curve(mixed, tmp_path):
    """The training errors of its fits are not its own."""
    _, frame, labels = mixed
    model = MarginBoostClassifier(random_state=0).fit(frame[:900], labels[:900])
    facts = Facts(model, evaluate(model, frame[900:], labels[900:]))
    assert facts.is_sum
    assert facts.train_error is None
    text = write_report(model, tmp_path / "report.html", frame[900:], labels[900:]).html
    assert re.findall("(these|training) rows: [0-9.]+% at the end", text) == ["these"]
    assert "sum of several fits" in text


def test_200_classes_and_1000_columns_stay_readable(tmp_path):
    X, y = random_problem(1200, 1000, 200, seed=1)
    model = MarginBoostClassifier(4, random_state=0, calibrate=False).fit(X, y)
    report = write_report(model, tmp_path / "report.html", X[:600], y[:600])
    elements = read(report)
    assert len(elements.table("class")) == len(elements.table("column")) == 60
    text = " ".join(elements.text)
    assert "The 60 classes with the lowest recall, of 200." in text
    assert "The 60 most important columns of 1,000 are listed." in text
    assert len(report.html) < 500_000


@pytest.mark.parametrize("n", [1, 3, 8, 10, 25, 400])
def test_names_below_a_chart_have_room_and_differ(n):
    names = [f"a long name of town {number}" for number in range(n)]
    short = [word for word in _shortened(names) if word]
    assert 1 <= len(short) <= 10
    assert sum(map(len, short)) <= 48
    if n <= 10:
        assert len(set(short)) == n
