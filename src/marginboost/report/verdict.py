"""How good a model is, in a few sentences: the first thing a reader sees."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from marginboost.data.classes import UNSEEN
from marginboost.report.facts import Facts, Integers
from marginboost.report.html import Html, join, name, tag
from marginboost.report.summary import percent
from marginboost.report.svg import number

__all__ = ["verdict"]

_FEWEST_ROWS = 10
_NAMED = 3
_SURE = 0.9


def verdict(facts: Facts) -> list[Html]:
    """Say how good a model is against the simplest one, and where it errs.

    Parameters
    ----------
    facts : Facts
        About the model, with rows.

    Returns
    -------
    list of Html
        Sentences, the most important first.
    """
    return [
        *_costs(facts),
        _against_baseline(facts),
        *_classes(facts),
        *_confusions(facts),
        *_segments(facts),
        *_probabilities(facts),
    ]


def _label(facts: Facts, r: int) -> Html:
    return tag("b", name(facts.labels[r]))


def _costs(facts: Facts) -> Iterator[Html]:
    """Compare the mean cost with that of the best single answer."""
    found = facts.cost
    if found is None:
        return
    begin = f"By the model's costs, an answer costs {number(round(found.mean, 4))} on average"
    if found.constant is None:
        yield join([begin, "."])
        return
    always = join([begin, ". Always answering ", tag("b", name(str(found.label))),
                   f" would cost {number(round(found.constant, 4))}"])  # fmt: skip
    if found.mean >= found.constant:
        yield join([always, tag("b", ": the model is no better than that.")])
    else:
        yield join(
            [always, f": the model saves {percent(1 - found.mean / found.constant)} of that."]
        )


def _against_baseline(facts: Facts) -> Html:
    low, high = facts.accuracy_range
    where = "here" if facts.class_counts is None else "in training"
    begin = join([
        f"The model is right on {percent(facts.accuracy)} of {facts.n_rows:,} rows (with 95% confidence, "
        f"between {percent(low)} and {percent(high)}). Always answering ",
        _label(facts, facts.baseline_class),
        f", the most frequent class {where}, would be right on {percent(facts.baseline)}",
    ])  # fmt: skip
    if facts.cost is not None and low <= facts.baseline:
        return join(
            [begin, ". It answers so that mistakes cost little, not so that most are right."]
        )
    if facts.accuracy <= facts.baseline:
        return join([begin, tag("b", ": the model is no better than that.")])
    if low <= facts.baseline:
        return join([begin, ": on so few rows, the difference may be chance."])
    fewer = 1 - (1 - facts.accuracy) / (1 - facts.baseline)
    return join([begin, f". The model makes {percent(fewer)} fewer errors."])


def _classes(facts: Facts) -> Iterator[Html]:
    there = facts.class_rows > 0
    # A class with few rows says little, unless most have few.
    fewest = min(_FEWEST_ROWS, np.median(facts.class_rows[there])) if there.any() else 0
    errs = np.flatnonzero(there & (facts.class_rows >= fewest) & (facts.recall < 1))
    if not len(errs) or facts.n_classes < 2:
        return
    worst = errs[np.argsort(facts.recall[errs], kind="stable")]
    r = int(worst[0])
    others = facts.confusion[r].copy()
    others[r] = 0
    taken = int(others.argmax())
    parts = [
        "It is weakest on ", _label(facts, r), f": {percent(facts.recall[r])} of its "
        f"{facts.class_rows[r]:,} rows are right, and ", _of_others(others, taken), " taken for ",
        _label(facts, taken), ".",
    ]  # fmt: skip
    if len(worst) > 1:
        next_worst = [
            join([_label(facts, int(s)), f" ({percent(facts.recall[s])})"])
            for s in worst[1:_NAMED].tolist()
        ]
        begin = " Next comes " if len(next_worst) == 1 else " Next come "
        parts += [begin, join(next_worst, " and "), "."]
    yield join(parts)


def _of_others(others: Integers, taken: int) -> str:
    """Say how many of the wrong rows are taken for one class."""
    n, n_all = int(others[taken]), int(others.sum())
    if n_all == 1:
        return "the other is"
    if n == n_all:
        return f"all {n_all:,} others are"
    return f"{n:,} of the {n_all:,} others {'is' if n == 1 else 'are'}"


def _confusions(facts: Facts) -> Iterator[Html]:
    counts = facts.confusion.copy()
    np.fill_diagonal(counts, 0)
    n_errors, n_pairs = int(counts.sum()), int((counts > 0).sum())
    if n_errors < 10 or n_pairs < 5:
        return
    order = np.argsort(-counts, axis=None, kind="stable")[:_NAMED]
    pairs = [tuple(map(int, np.unravel_index(place, counts.shape))) for place in order]
    share = sum(int(counts[pair]) for pair in pairs) / n_errors
    listed = join(
        (join([_label(facts, r), " taken for ", _label(facts, c)]) for r, c in pairs), ", "
    )
    yield join([f"Of its {n_errors:,} confusions, {percent(share)} are of {_NAMED} kinds: ", listed,
                "."])  # fmt: skip


def _segments(facts: Facts) -> Iterator[Html]:
    found = [
        join([
            f"{percent(segment.accuracy)} of the {segment.n_rows:,} rows with ",
            tag("b", name(facts.names[segment.column])), f" {segment.condition[:60]}",
        ])
        for segment in facts.weak_segments
    ]  # fmt: skip
    if found:
        yield join(["It errs clearly more often at some values: it is right on ",
                    join(found, ", and on "), "."])  # fmt: skip


def _probabilities(facts: Facts) -> Iterator[Html]:
    rows = facts.rows
    if rows is None or facts.n_rows < 50:
        return
    sure = rows.probabilities.max(axis=1) >= _SURE
    if not sure.any():
        yield join([f"No prediction has a probability of {_SURE:.0%} or more."])
    else:
        right = float(facts.right[sure].mean())
        share = percent(float(sure.mean()))
        yield join([f"{share} of the predictions have a probability of {_SURE:.0%} or more; of these, "
                    f"{percent(right)} are right."])  # fmt: skip
    known = rows.y != UNSEEN
    if not np.isnan(facts.top_k) and known.any() and facts.accuracy < 1:
        yield join([f"The class is among the {facts.k} most probable ones for {percent(facts.top_k)} of "
                    "the rows."])  # fmt: skip
