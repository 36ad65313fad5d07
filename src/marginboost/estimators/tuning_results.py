"""What a tuner has tried, and what it chose, in plain types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from marginboost.estimators.fold_model import FoldFit
    from marginboost.estimators.halving import Halving
    from marginboost.estimators.portfolio import TunedSettings
    from marginboost.estimators.tuned_sum import TunedSum

__all__ = ["described_choice", "tuning_results"]

Fits = Mapping[tuple[int, int], "FoldFit"]

# Parameters that a part of a choice has beside those of every choice.
_SHOWN = (
    "loss",
    "learning_rate",
    "max_leaf_nodes",
    "max_features",
    "subsample",
    "min_samples_leaf",
    "l2_regularization",
    "max_bins",
)


def tuning_results(
    settings: Sequence[TunedSettings], search: Halving, fits: Fits
) -> dict[str, Any]:
    """Return a dict of arrays, an entry per setting, as scikit-learn's searches have it.

    Parameters
    ----------
    settings : sequence of TunedSettings
        What was to be tried.
    search : Halving
        Its losses and times.
    fits : dict from (setting, fold) to FoldFit
        The fits that were done.
    """
    n_settings, n_folds = search.losses.shape
    shape = n_settings, n_folds
    errors, rounds = np.full(shape, np.nan), np.zeros(shape, dtype=np.int64)
    for place, fit in fits.items():
        errors[place], rounds[place] = fit.error, fit.best_round
    done = search.is_done.sum(axis=1)
    found: dict[str, Any] = {
        "params": [one.parameters for one in settings],
        "name": np.array([one.name for one in settings], dtype=object),
        "n_folds": done,
    }
    for name in _SHOWN:
        found[f"param_{name}"] = np.array([getattr(one, name) for one in settings], dtype=object)
    for word, table in (("loss", search.losses), ("error", errors)):
        for fold in range(n_folds):
            found[f"split{fold}_test_{word}"] = table[:, fold].copy()
        found[f"mean_test_{word}"] = _mean(table)
        found[f"std_test_{word}"] = _mean((table - _mean(table)[:, None]) ** 2) ** 0.5
    for fold in range(n_folds):
        found[f"split{fold}_n_estimators"] = rounds[:, fold].copy()
    found["mean_fit_time"] = _mean(search.seconds)
    found["rank_test_loss"] = _ranks(found["mean_test_loss"], done)
    return found


def _mean(table: Any) -> Any:
    """Return the mean of each row over the numbers in it; NaN where there are none."""
    known = ~np.isnan(table)
    counts = known.sum(axis=1)
    return np.where(counts, np.where(known, table, 0.0).sum(axis=1) / np.maximum(counts, 1), np.nan)


def _ranks(losses: Any, done: Any) -> Any:
    """Rank settings: those on more folds first, then by loss; those that were not tried last."""
    order = np.lexsort((np.nan_to_num(losses, nan=np.inf), -done))
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks


def described_choice(settings: Sequence[TunedSettings], chosen: TunedSum) -> dict[str, Any]:
    """Return the settings that the model is the sum of, the largest share first.

    Parameters
    ----------
    settings : sequence of TunedSettings
        All settings.
    chosen : TunedSum
        What was chosen.
    """
    parts = []
    for part in chosen.parts:
        one = settings[part.setting]
        parts.append(
            {
                "share": part.share,
                "fits": len(part.models),
                "fits_of_all_rows": part.n_whole,
                "n_estimators": part.n_rounds,
                "name": one.name,
                **{name: getattr(one, name) for name in _SHOWN},
            }
        )
    error, loss = chosen.score
    return {"held_out_error": error, "held_out_loss": loss, "parts": parts}
