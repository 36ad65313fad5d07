"""How a round is shown."""

import numpy as np

from marginboost.boosting.round import Round


def test_a_round_shows_what_is_known():
    finished = Round(7, np.zeros((30, 9)), 0.25, 0.0, 0.125, np.zeros(29), training_loss=0.5)
    assert repr(finished) == (
        "Round(number=7, edge=0.25, optimality_error=0, training_error=0.125, training_loss=0.5)"
    )
    shown = finished._repr_html_()
    for words in ("Round 7", "training error</th><td>12.50 %", "splits</th><td>29"):
        assert words in shown
    assert "validation" not in shown
    assert "nan" not in shown
