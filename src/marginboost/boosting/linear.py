"""A linear candidate: softmax regression on the columns, written as trees of one column each.

A straight line needs fewer rows than many small steps do. Where rows are few, a linear model is often
right where boosted trees are not, and the sum of both is better than either. It is fitted to the bins of
the rows: a bin counts as the number in its middle, and each category counts for itself. So it is a sum of
functions of one column, which trees with a leaf per bin can hold: the model stays an ordinary ensemble.

It is fitted on the host. The rows come in an order that all engines share, and sums are taken in that
order, so the coefficients are the same wherever the rows are stored.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost import _native
from marginboost.boosting.calibration import (
    best_step,
    held_out_share,
    mean_log_loss,
    scale_of,
)
from marginboost.boosting.fits import Fit
from marginboost.boosting.loop import MAX_ROUNDS
from marginboost.boosting.model_fit import Boosted
from marginboost.boosting.round import Round
from marginboost.boosting.run import Candidate
from marginboost.boosting.trial import HeldOutScores, n_trials, share_of_errors
from marginboost.boosting.validation import Validation
from marginboost.coefficients.grid import on_grid
from marginboost.data.copies import merged
from marginboost.data.linear_columns import LinearColumns, bins_of
from marginboost.data.row_view import RowView
from marginboost.data.sampled_rows import SampledRows
from marginboost.data.sparse_input import is_sparse
from marginboost.model.bin_tree import BinTree
from marginboost.model.builder import EnsembleBuilder

if TYPE_CHECKING:
    from marginboost.boosting.run import LinearCandidate, Run
    from marginboost.data.rows import Rows

__all__ = ["fit_linear", "suits_linear"]

Floats = NDArray[np.float64]

# With more rows, trees find by themselves what is straight.
MOST_ROWS = 8_000
# Products of a value other than 0 and a class that a pass over the rows may take.
MOST_PRODUCTS = 2_000_000
# Values of all columns, and coefficients, that are held in memory.
MOST_VALUES, MOST_COEFFICIENTS = 8_000_000, 100_000
# Penalties to choose from, each a start for the next.
PENALTIES = (30.0, 3.0, 0.3)
# A nearer optimum costs time and gains nothing.
TOLERANCE, MOST_ITERATIONS = 1e-3, 100


def suits_linear(data: Rows) -> bool:
    """Whether the rows are few enough for a linear candidate."""
    return (
        data.n_counted <= MOST_ROWS
        and data.n_counted * data.binned.n_features * data.n_classes <= MOST_PRODUCTS
    )


class Regression(NamedTuple):
    """A linear model, by features and bins.

    Attributes
    ----------
    thresholds : sequence of float64 arrays
        Of each feature.
    columns : LinearColumns
        What bins count as.
    coefficients : float64 array of (columns + 1) x classes
        The last row is the constant.
    optimality_error : float
        Of the coefficients.
    """

    thresholds: Sequence[Floats]
    columns: LinearColumns
    coefficients: Floats
    optimality_error: float

    def scores(self, bins: NDArray[np.intp]) -> Floats:
        """Return the scores of rows, given their bins."""
        return _native.regression_scores(self.columns.values(bins), self.coefficients)

    def vectors(self) -> Iterator[tuple[int, Floats]]:
        """Yield each feature that has columns, and the scores that its bins add."""
        begin, zeros = 0, np.zeros(self.coefficients.shape[1])
        for feature, table in enumerate(self.columns.tables):
            own = self.coefficients[begin : begin + table.shape[1]]
            if len(own):
                yield feature, on_grid(_native.regression_scores(table, np.vstack([own, zeros])))
            begin += len(own)

    def builder(self) -> EnsembleBuilder:
        """Write the model as one round of trees; the constant is in the leaves of the first."""
        builder = EnsembleBuilder(len(self.thresholds), self.coefficients.shape[1])
        constant = on_grid(self.coefficients[-1])
        for feature, vectors in self.vectors():
            first = builder.add_vectors(vectors + constant)
            tree = BinTree.of(feature, self.thresholds[feature])
            builder.append(tree, np.arange(first, first + len(vectors), dtype=np.int32))
            constant = np.zeros_like(constant)
        builder.end_round()
        return builder

    def gains(self, bins: NDArray[np.intp], weight: Floats, fall: float) -> Floats:
        """Divide the fall of the loss among the splits.

        A feature's part is that of its variance in the scores; its splits have equal parts.
        """
        moves, sizes = [], []
        for feature, vectors in self.vectors():
            mass = np.bincount(bins[:, feature], weights=weight, minlength=len(vectors))[:, None]
            # Sums that are rounded once do not depend on how the processor adds.
            means = [math.fsum(column) / math.fsum(weight) for column in (mass * vectors).T]
            moves.append(math.fsum((mass * (vectors - means) ** 2).ravel()))
            sizes.append(len(vectors) - 1)
        total = math.fsum(moves)
        parts = np.array(moves) / np.array(sizes) * (fall / total if total > 0.0 else 0.0)
        return np.repeat(parts, sizes)


def fit_linear(run: Run, candidate: LinearCandidate, first: Fit | None) -> Fit | None:
    """Try the linear candidate on held-out rows, and fit it to all rows.

    None if it has no columns, or too many. On clean data the few errors matter more than how sure the
    model is: None too if it makes more of them than the first candidate.

    Parameters
    ----------
    run : Run
        The rows, and what the user asks for.
    candidate : LinearCandidate
        Says which features order categories.
    first : Fit or None
        The first other candidate's fit, if there is one: as many trials are made as it has had.
    """
    data, seed = run.data, run.algorithm.seed
    whole = data.sample_rows(_all_rows(seed, data.n_classes))
    if run.rows is None:
        validation = None
        share = held_out_share(data.n_counted, data.n_classes)
        times = n_trials(data.n_counted) if first is None else first.n_trials
        trials = [_try(data, candidate, seed + number, share) for number in range(times)]
        if None in trials:
            return None
        by_penalty = [_joined(scores) for scores in zip(*filter(None, trials), strict=True)]
        n_rows = share * data.n_counted * times
    else:
        path = _fit_path(whole, data, candidate)
        if path is None:
            return None
        validation = Validation(run.rows, data.n_classes, run.options.n_threads)
        by_penalty = [
            HeldOutScores(*validation.logs_after(model.builder().build())) for model in path
        ]
        n_rows = validation.n_known
    if not len(by_penalty[0].labels):
        return None
    best = int(np.argmin([_loss(scores, n_rows) for scores in by_penalty]))
    if first is not None and _errs_more(by_penalty[best], first):
        return None
    path = _fit_path(whole, data, candidate, best + 1)
    if path is None:
        return None
    method = None if first is None else first.boosted.method
    builder, finished = path[best].builder(), _round(run, path[best], whole)
    if validation is not None:
        score = validation.replace(builder.build())
        finished = finished._replace(validation_error=score.error, validation_loss=score.loss)
    boosted = Boosted(builder, method, [finished], MAX_ROUNDS, validation)
    alone = Candidate(candidate.settings, _make_no_method, 1)
    return Fit(alone, boosted, by_penalty[best], 1, n_rows, penalty=PENALTIES[best])


def _errs_more(scores: HeldOutScores, first: Fit) -> bool:
    """Whether the data are clean, and the first candidate makes fewer errors."""
    return first.is_clean and first.scores is not None and scores.error > first.scores.error


def _make_no_method(*_: Any) -> Any:
    raise NotImplementedError("A linear model has no rounds to repeat.")


def _all_rows(seed: int, n_classes: int) -> RowView:
    """Return a view whose held-out rows are all rows."""
    return RowView(seed, np.full(n_classes, np.uint64(2**64 - 1), dtype=np.uint64))


def _fit_path(
    rows: SampledRows, data: Rows, candidate: LinearCandidate, n_penalties: int | None = None
) -> list[Regression] | None:
    """Fit with each penalty, or the first so many; None if there are no columns, or too many."""
    thresholds = data.binned.thresholds
    bins, weight = bins_of(_dense(rows.X), thresholds), rows.row_weight()
    # The mean weight of a row is 1: penalties are of that scale.
    weight *= int(rows.copies.sum()) / math.fsum(weight)
    columns = LinearColumns.of(thresholds, bins, weight, _codes(candidate, data))
    if len(bins) * columns.n_columns > MOST_VALUES:
        return None
    values = columns.values(bins)
    if not columns.n_columns or _is_too_large(values, data.n_classes):
        return None
    coefficients = np.zeros((values.shape[1] + 1, data.n_classes))
    path = []
    for penalty in PENALTIES[:n_penalties]:
        coefficients, error, _ = _native.fit_regression(
            values, rows.labels, weight, coefficients, penalty, TOLERANCE, MOST_ITERATIONS
        )
        path.append(Regression(thresholds, columns, coefficients, error))
    return path


def _codes(candidate: LinearCandidate, data: Rows) -> list[int | None]:
    """Return the column of categories of each feature; None if its positions count as numbers.

    Those of many categories do: a coefficient for each would be more than their few rows can tell.
    """
    codes, orders = list(candidate.codes), data.orders
    if orders is not None:
        for column, of_fold in zip(orders.columns, orders.of_fold, strict=True):
            if of_fold is not None:
                codes[column] = None
    return codes


def _is_too_large(values: Floats, n_classes: int) -> bool:
    products = int(np.count_nonzero(values)) * n_classes
    return products > MOST_PRODUCTS or values.shape[1] * n_classes > MOST_COEFFICIENTS


def _try(
    data: Rows, candidate: LinearCandidate, seed: int, share: float
) -> list[HeldOutScores] | None:
    """Fit without some rows, and score those with each penalty."""
    view = RowView(seed, data.hash_bounds(seed, share))
    data = data.relearned(view)
    held_out = data.sample_rows(view)
    path = _fit_path(
        _without(data.sample_rows(_all_rows(seed, data.n_classes)), held_out), data, candidate
    )
    if path is None:
        return None
    bins = bins_of(_dense(held_out.X), data.binned.thresholds)
    return [_scored(model.scores(bins), held_out) for model in path]


def _without(rows: SampledRows, gone: SampledRows) -> SampledRows:
    """Return the copies of rows that are not among others."""
    labels, weight, hashes = (
        np.concatenate([getattr(some, name) for some in (rows, gone)])
        for name in ("labels", "weight", "hashes")
    )
    copies = np.concatenate([rows.copies, -gone.copies])
    places, copies = merged(labels, hashes, weight, copies)
    places, copies = places[copies > 0], copies[copies > 0]
    X = np.concatenate([_dense(rows.X), _dense(gone.X)])
    return SampledRows(X[places], labels[places], weight[places], copies, hashes[places])


def _dense(X: Any) -> Floats:
    dense: Floats = X.toarray() if is_sparse(X) else X
    return dense


def _scored(scores: Floats, rows: SampledRows) -> HeldOutScores:
    own = scores[np.arange(len(scores)), rows.labels]
    return HeldOutScores(scores - own[:, None], rows.labels, rows.row_weight(), rows.copies)


def _joined(trials: Sequence[HeldOutScores]) -> HeldOutScores:
    return HeldOutScores(*(np.concatenate(arrays) for arrays in zip(*trials, strict=True)))


def _loss(scores: HeldOutScores, n_rows: float) -> float:
    """Return the log loss at the best scale."""
    step = best_step(scores.logs, scores.weight, n_rows)
    return mean_log_loss(scores.logs * scale_of(step), scores.weight)


def _round(run: Run, model: Regression, rows: SampledRows) -> Round:
    """Describe the fit as one round."""
    bins, weight = bins_of(_dense(rows.X), model.thresholds), rows.row_weight()
    found = _scored(model.scores(bins), rows)
    loss = mean_log_loss(found.logs, weight)
    return Round(
        1,
        model.coefficients[-1],
        math.nan,
        model.optimality_error,
        share_of_errors(found.logs, found.labels, weight),
        model.gains(bins, weight, max(_prior_loss(run.data) - loss, 0.0)),
        loss,
        seconds=time.perf_counter() - run.began,
    )


def _prior_loss(data: Rows) -> float:
    """Return the mean log loss of the class frequencies."""
    shares = data.class_mass / data.class_mass.sum()
    shares = shares[shares > 0.0]
    return -math.fsum(shares * _native.log(shares))
