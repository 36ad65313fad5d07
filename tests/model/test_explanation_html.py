"""Explanations as a notebook shows them."""

import re

import numpy as np
import pandas as pd
from support import embedded

from marginboost import MCBoostClassifier

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "petal length", "b&amp;"]


def test_the_first_rows_are_shown_and_add_up():
    X, y = embedded("iris")
    explanation = MCBoostClassifier(20).fit(X, y).explain(X[:5])
    shown = explanation._repr_html_()
    assert "5 rows, 4 features, 3 classes per row" in shown
    assert "The first 3 of 5 rows are shown." in shown
    tables = re.findall("<table.*?</table>", shown, re.DOTALL)
    assert len(tables) == 3
    for row, table in enumerate(tables):
        amounts = [
            float(text.replace("\N{MINUS SIGN}", "-"))
            for text in re.findall(r">([+\N{MINUS SIGN}][0-9.e+-]+)</td>", table)
        ]
        place = explanation.scores[row].argmax()
        added = explanation.scores[row, place] - explanation.base[row, place]
        np.testing.assert_allclose(sum(amounts), added, rtol=0.02)


def test_features_beyond_the_first_share_a_line():
    X, y = embedded("digits")
    explanation = MCBoostClassifier(60).fit(X[:300], y[:300]).explain(X[:1], top=1)
    shown = explanation._repr_html_()
    n_used = int((explanation.contributions[0, :, 0] != 0).sum())
    assert n_used > 9
    assert f"{n_used - 8} others" in shown
    assert shown.count("<tr>") == 9
    assert "1 row, 64 features, 1 class per row" in shown


def test_hostile_names_stay_text():
    X, y = embedded("iris")
    frame = pd.DataFrame(X, columns=HOSTILE)
    labels = np.array(["<b>", "&", '"'])[y]
    shown = MCBoostClassifier(20).fit(frame, labels).explain(frame[:3])._repr_html_()
    assert "<script" not in shown
    assert "<img" not in shown
    assert "<b><bdi>&lt;b&gt;</bdi></b>" in shown
