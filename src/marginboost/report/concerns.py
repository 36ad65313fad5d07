"""What to check before using a model, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from marginboost.evaluation.drift import Shift
from marginboost.report.facts import Facts
from marginboost.report.html import Html, join, name, tag
from marginboost.report.summary import percent

__all__ = ["concerns"]

_FEW_ROWS = 20
# Boosting often gets all training rows right, so a small gap means little.
_LARGE_GAP = 0.1
_LARGE_SHARE = 0.5
_POOR_CALIBRATION = 0.05
_ENOUGH_ROWS = 200


def concerns(facts: Facts) -> list[Html]:
    """List what may be wrong with a model or its data.

    Parameters
    ----------
    facts : Facts
        About the model.

    Returns
    -------
    list of Html
        Sentences; empty if nothing was found.
    """
    return [
        *_of_fit(facts),
        *_of_classes(facts),
        *_of_features(facts),
        *_of_rows(facts),
        *_of_drift(facts),
    ]


def _of_fit(facts: Facts) -> Iterator[Html]:
    model = facts.model
    if model.stop_reason_ == "interrupted":
        yield join([f"The fit was interrupted after {model.n_iter_:,} rounds."])
    if not facts.by_importance:
        yield join(["No tree splits anything: every row gets the same scores."])
    curve = facts.curve("validation_losses_")
    if curve is None:
        curve = facts.curve("validation_errors_")
    if curve is not None and len(curve) >= 20 and model.stop_reason_ == "max_rounds":
        last = len(curve) // 10
        if np.nanmin(curve[-last:]) < 0.995 * np.nanmin(curve[:-last]):
            yield join(
                ["The validation curve is still falling at the last round: more rounds would help."]
            )


def _of_classes(facts: Facts) -> Iterator[Html]:
    counts, where = facts.class_counts, "in training"
    if counts is None and facts.rows is not None:
        counts, where = facts.class_rows.astype(np.float64), "here"
    if counts is None:
        return
    rare = np.flatnonzero(counts < _FEW_ROWS)
    if len(rare):
        rare = rare[np.argsort(counts[rare], kind="stable")]
        listed = join(
            (join([name(facts.labels[r]), f" ({counts[r]:,.0f})"]) for r in rare[:5].tolist()), ", "
        )
        more = f" and {len(rare) - 5:,} more" if len(rare) > 5 else ""
        many = "classes have" if len(rare) > 1 else "class has"
        yield join([f"{len(rare):,} {many} fewer than {_FEW_ROWS} rows {where}: ", listed, more,
                    ". Figures about them are uncertain."])  # fmt: skip


def _of_features(facts: Facts) -> Iterator[Html]:
    if not facts.by_importance or len(facts.names) < 2:
        return
    first = facts.by_importance[0]
    share = float(facts.importances[first])
    good = facts.rows is None or facts.accuracy > 0.9
    if share > _LARGE_SHARE and good:
        yield join(["One feature, ", tag("b", name(facts.names[first])),
                    f", has {percent(share)} of the importance. Check that its value is known before the "
                    "class is; otherwise it gives the class away."])  # fmt: skip


def _of_rows(facts: Facts) -> Iterator[Html]:
    if facts.rows is None:
        return
    if facts.n_unseen:
        yield join([f"{facts.n_unseen:,} rows have a label that was not seen in training; they count "
                    "as errors."])  # fmt: skip
    trained = facts.train_error
    if trained is not None and facts.n_rows >= 50:
        gap = 1 - facts.accuracy - trained
        if gap > max(_LARGE_GAP, 2 * (facts.accuracy_range[1] - facts.accuracy)):
            yield join([f"{percent(1 - facts.accuracy)} of these rows are wrong, but only "
                        f"{percent(trained)} of the training rows: the model overfits. "
                        "Fewer leaves, a smaller learning rate or more rows may help."])  # fmt: skip
    if facts.n_rows >= _ENOUGH_ROWS and facts.reliability.error > _POOR_CALIBRATION:
        yield join([f"Probabilities are off by {percent(facts.reliability.error)} on average: do not "
                    "rely on them."])  # fmt: skip
    never = np.flatnonzero((facts.confusion.sum(axis=0) == 0) & (facts.class_rows > 0))
    if len(never):
        listed = join((name(facts.labels[r]) for r in never[:5].tolist()), ", ")
        more = f" and {len(never) - 5:,} more" if len(never) > 5 else ""
        yield join(["Never predicted here, although there are such rows: ", listed, more, "."])
    absent = int((facts.class_rows == 0).sum())
    if absent:
        word = "class has" if absent == 1 else "classes have"
        yield join(
            [f"{absent:,} {word} no rows here; how well the model predicts such rows is unknown."]
        )


def _of_drift(facts: Facts) -> Iterator[Html]:
    """Compare the rows with the training rows."""
    if facts.rows is None:
        return
    clear = [j for j in facts.by_importance if (of := _shift(facts, j)) is not None and of.is_clear]
    if clear:
        listed = join((tag("b", name(facts.names[j])) for j in clear[:5]), ", ")
        more = f" and {len(clear) - 5:,} more" if len(clear) > 5 else ""
        many = "columns differ" if len(clear) > 1 else "column differs"
        yield join([f"{len(clear):,} {many} clearly from the training rows: ", listed, more,
                    ". See the table of columns."])  # fmt: skip
    gaps = facts.newly_missing
    if gaps:
        listed = join(
            (
                join([tag("b", name(facts.names[j])), f" ({percent(facts.missing[j])})"])
                for j in gaps[:5]
            ),
            ", ",
        )
        more = f" and {len(gaps) - 5:,} more" if len(gaps) > 5 else ""
        yield join(["Missing here, but never in training: ", listed, more,
                    ". The model takes the median of the training rows instead."])  # fmt: skip
    if facts.class_counts is None or facts.n_rows < _ENOUGH_ROWS:
        return
    before = facts.class_counts / facts.class_counts.sum()
    here = facts.class_rows / max(1, facts.class_rows.sum())
    r = int(np.abs(here - before).argmax())
    if abs(here[r] - before[r]) > _LARGE_GAP:
        shares = [percent(float(share[r])) for share in (here, before)]
        yield join(["The classes are mixed differently: ", tag("b", name(facts.labels[r])),
                    f" is {shares[0]} of these rows, but {shares[1]} of the training rows. Probabilities "
                    "assume the mix of the training rows."])  # fmt: skip


def _shift(facts: Facts, j: int) -> Shift | None:
    return None if facts.shifts is None else facts.shifts[j]
