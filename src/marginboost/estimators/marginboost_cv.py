"""The tuner: the settings of the flagship, chosen by cross-validation within a time limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from marginboost.boosting.interrupts import Interrupts
from marginboost.boosting.loop import INTERRUPTED, MAX_TIME
from marginboost.boosting.monotone import exact_factors
from marginboost.boosting.progress import make_lines
from marginboost.boosting.trained import with_cover
from marginboost.data.user_warning import warn_user
from marginboost.engine.threads import effective_threads
from marginboost.estimators.choices import ClassWeight, Device, Engine
from marginboost.estimators.constraints import check_constraints
from marginboost.estimators.decisions import CostSensitive
from marginboost.estimators.docstrings import with_shared_docs
from marginboost.estimators.fitted import Floats
from marginboost.estimators.fold_model import FoldFit, JointModel, join_models
from marginboost.estimators.folds import check_folds, make_folds
from marginboost.estimators.halving import Halving
from marginboost.estimators.portfolio import SLOWER, TunedSettings, portfolio
from marginboost.estimators.prediction_sets import PredictionSets
from marginboost.estimators.settings import (
    check_machine,
    check_real,
    store_parameters,
)
from marginboost.estimators.time_limit import TimeLimit
from marginboost.estimators.tuned_sum import TunedSum
from marginboost.estimators.tuning_fits import MOST_SEED, TuningFits
from marginboost.estimators.tuning_results import described_choice, tuning_results
from marginboost.estimators.tuning_rows import TuningRows, read_rows
from marginboost.model.importances import feature_importances
from marginboost.model.link import Link, Softmax

__all__ = ["MarginBoostClassifierCV"]

# Why a search ended that has tried everything.
COMPLETED = "completed"

# The rest of the time is for putting the model together.
SEARCH_SHARE = 0.95
# A single fit ends after this share of a fold's part of the time, so that large data get fewer rounds
# instead of a few fits; but not before so many seconds.
FIT_SHARE, LEAST_TIME = 0.6, 5.0

# So many of the best settings are tried again, with smaller steps or other draws.
MOST_REFINED = 6
# So many fits of all rows join the fits of the folds of each setting that has a share.
WHOLE_FITS = 4


@with_shared_docs
class MarginBoostClassifierCV(CostSensitive, PredictionSets):
    """`MarginBoostClassifier` with settings that are chosen by cross-validation.

    A portfolio of settings is tried by successive halving: all of them on one fold, the better half on
    two more, the best few on all. Where there is time for all settings on all folds, the best few are
    tried again with smaller steps, and then with other random draws. The models of the best settings,
    those of all folds, are added up, with the shares of least log loss on the rows that each has not
    seen. In the time that is left, models that learn from all rows join them. The sum is one model, which
    predicts, compiles, saves, explains and exports like any other.

    Parameters
    ----------
    time_limit : float, default=60.0
        Seconds for the search. No fit is begun that would probably end too late; but one setting is
        always fitted on all folds, however long that takes. What is chosen may depend on how fast the
        machine is.
    cv : int, splitter or iterable, default=5
        A number of folds, stratified by class and shuffled by `random_state`. Groups are kept together
        where `fit` gets any, and so are repeated rows that are no observations of their own. Or a
        splitter of scikit-learn; or pairs of row numbers, to learn from and to score. A saved model
        keeps only a number.
    <costs>
    <constraints>
    <columns>
    <threads>
    random_state : int, RandomState instance or None, default=None
        Shuffles the rows, and draws what the fits draw.
    <engine>
    <device>

    Attributes
    ----------
    <classes_>
    <costs_>
    ensemble_ : Ensemble
        The trees and the vectors of their leaves, in flat arrays.
    n_iter_ : int
        Number of rounds of all fits together.
    stop_reason_ : str
        "completed": all settings were tried on all folds, and those of the model were fitted to all rows;
        "max_time"; or "interrupted", by Ctrl-C.
    probability_scale_ : float
        The s in softmax(s * F).
    <frequencies>
    seed_ : int
        What the random draws came from.
    oof_error_, oof_loss_ : float
        Error and log loss of the model on rows that were not learned from: each row is scored by the fits
        without its fold, with shares and a calibration from the other folds. Only the number of rounds of
        a setting is chosen on all folds together. NaN after a Ctrl-C before two folds were
        done.
    chosen_ : dict
        As in `MarginBoostClassifier`: "parts" has the settings that the model is made from, the largest
        share first: how many "fits" each has, how many of them learn from all rows, and the median of
        their rounds; "held_out_error" and "held_out_loss" are `oof_error_` and `oof_loss_`.
    cv_results_ : dict
        What was tried, an entry per setting, as in scikit-learn's searches: "params",
        "n_folds" that were done, "split0_test_loss", "mean_test_loss", "mean_test_error",
        "mean_fit_time", "rank_test_loss" and so on. NaN where a fit was not done. It is not saved.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in how far its splits move the scores of training rows.
    <features>

    Examples
    --------
    >>> from marginboost import MarginBoostClassifierCV
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MarginBoostClassifierCV(time_limit=0.5, random_state=0).fit(X, y)
    >>> model.oof_error_ < 0.1
    True
    """

    _sparse_formats = ("csr", "csc")

    chosen_: dict[str, Any]
    cv_results_: dict[str, Any]
    class_count_: Floats
    n_iter_: int
    oof_error_: float
    oof_loss_: float
    probability_scale_: float
    seed_: int
    stop_reason_: str

    categorical_features: Any
    class_weight: ClassWeight
    cv: Any
    device: Device
    engine: Engine
    interaction_cst: Any
    monotonic_cst: Any
    random_state: Any
    time_limit: float
    verbose: int

    def __init__(
        self,
        time_limit: float = 60.0,
        *,
        cv: Any = 5,
        interaction_cst: Any = None,
        monotonic_cst: Any = None,
        cost_matrix: Any = None,
        classes_order: Sequence[Any] | None = None,
        class_weight: ClassWeight = None,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        engine: Engine = "native",
        device: Device = "cpu",
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _link(self, n_classes: int) -> Link:
        return Softmax(self.probability_scale_)

    def _check_parameters(self) -> None:
        check_real("time_limit", self.time_limit, 0.0, low_included=False)
        check_folds(self.cv)
        self._check_costs()
        check_constraints(self.interaction_cst, self.monotonic_cst)
        check_machine(self)

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose settings, and fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As for `MarginBoostClassifier`, in memory.
        y : array-like of shape (n_samples,)
            Class labels of any kind.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, zero or more.
        groups : array-like of shape (n_samples,), optional
            Groups of rows that belong together, patients for example: a row is not scored by a fit that
            has learned from its group.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._check_parameters()
        limit = TimeLimit(SEARCH_SHARE * self.time_limit)
        before = dict(vars(self))
        with Interrupts() as interrupts:
            try:
                self.seed_ = int(check_random_state(self.random_state).randint(MOST_SEED))
                rows = read_rows(self, X, y, sample_weight)
                self.classes_ = rows.classes
                self._set_costs(y)
                folds = make_folds(
                    self.cv,
                    rows.matrix,
                    rows.codes,
                    rows.classes,
                    groups=groups,
                    counts=rows.weight > 0,
                    seed=self.seed_,
                )
                n_rows = min(len(fold.train) for fold in folds)
                settings = list(portfolio(n_rows, rows.columns.matrix.shape[1]))
                search = Halving(len(settings), len(folds), limit)
                fitter = TuningFits(self, rows, folds)
                show = _lines(limit, self.time_limit) if self.verbose else _silence
                fits, interrupted = self._search(fitter, settings, search, interrupts, show)
                interrupts.deferred = True
                chosen = TunedSum.of(*search.usable(), fits, rows.frequencies)
                if not interrupted:
                    with interrupts.allowed():
                        interrupted = self._learn_all(
                            fitter, settings, search, chosen, interrupts, show
                        )
                self._set_fitted(rows, settings, search, fits, chosen)
                if interrupted:
                    self.stop_reason_ = INTERRUPTED
                    warn_user(
                        f"Interrupted: the model is the best of the {len(fits)} fits that were "
                        "finished."
                    )
            except BaseException:
                self.__dict__ = before  # a fit that fails leaves the model that was there, whole
                raise
        return self

    def _search(
        self,
        fitter: TuningFits,
        settings: list[TunedSettings],
        search: Halving,
        interrupts: Interrupts,
        show: Callable[[str], None],
    ) -> tuple[dict[tuple[int, int], FoldFit], bool]:
        """Fit settings on folds; return the fits, and whether a Ctrl-C ended it."""
        fits: dict[tuple[int, int], FoldFit] = {}
        limit, n_folds = search.limit, fitter.n_folds
        longest = max(FIT_SHARE * self.time_limit / n_folds, LEAST_TIME)
        try:
            for setting, fold in _places(search, settings):
                began = limit.elapsed
                fit = fitter.without(fold, settings[setting], setting, longest)
                if fit is None or interrupts.heard:
                    break
                fits[setting, fold] = fit
                search.record(setting, fold, fit.loss, limit.elapsed - began)
                show(
                    f"{settings[setting].name}, fold {fold + 1}/{n_folds}: loss {fit.loss:.4f}, error "
                    f"{100 * fit.error:.2f} %, {fit.best_round} rounds"
                )
            else:
                return fits, False
        except KeyboardInterrupt:
            pass
        if not fits:
            raise KeyboardInterrupt
        return fits, True

    def _learn_all(
        self,
        fitter: TuningFits,
        settings: list[TunedSettings],
        search: Halving,
        chosen: TunedSum,
        interrupts: Interrupts,
        show: Callable[[str], None],
    ) -> bool:
        """Add fits of all rows to what was chosen, in time; return whether a Ctrl-C ended it."""
        limit = search.limit
        try:
            for part in [] if chosen.is_constant else chosen.parts:
                one, seconds = settings[part.setting], search.seconds_of(part.setting)
                if limit.elapsed + WHOLE_FITS * fitter.growth * seconds > limit.seconds:
                    continue
                found = fitter.of_all(one, part.setting, part.n_rounds, WHOLE_FITS)
                if found is None or interrupts.heard:
                    return True
                part.add(found)
                show(f"{one.name}: {WHOLE_FITS} fits of all rows")
        except KeyboardInterrupt:
            return True
        return False

    def _set_fitted(
        self,
        rows: TuningRows,
        settings: list[TunedSettings],
        search: Halving,
        fits: dict[tuple[int, int], FoldFit],
        chosen: TunedSum,
    ) -> None:
        """Add up what was chosen, and set the fitted attributes."""
        if chosen.is_constant:
            warn_user(
                "On the rows that were held out, no setting adds anything to the class frequencies: the "
                "model predicts those for every row. Train on more rows."
            )
        self.oof_error_, self.oof_loss_ = chosen.score
        factors = chosen.factors
        if self.monotonic_cst is not None:
            factors = exact_factors(np.array(factors), bits=16).tolist()
        names, calibration = rows.columns.categories, chosen.blend.calibration
        joint = join_models(chosen.models, factors, names, calibration, rows.frequencies)
        self.chosen_ = described_choice(settings, chosen)
        self.cv_results_ = tuning_results(settings, search, fits)
        is_whole = chosen.is_constant or all(part.n_whole for part in chosen.parts)
        self.stop_reason_ = COMPLETED if search.is_done.all() and is_whole else MAX_TIME
        self.class_count_ = rows.class_counts
        self._set_calibration(rows.frequencies, chosen.held_out)
        self._set_model(rows, joint)

    def _set_model(self, rows: TuningRows, joint: JointModel) -> None:
        """Set the model, with covers and importances."""
        self.encoding_, ensemble, self.probability_scale_ = joint
        self.n_iter_ = ensemble.n_rounds
        n_threads = effective_threads(self.n_jobs)
        draw = partial(rows.sample, encoding=self.encoding_, seed=self.seed_)
        self.ensemble_, X, weight = with_cover(ensemble, draw, n_threads)
        self.feature_importances_ = feature_importances(
            self.ensemble_, self.encoding_, X, weight, n_threads=n_threads
        )


def _places(search: Halving, settings: list[TunedSettings]) -> Iterator[tuple[int, int]]:
    """Yield setting and fold of each fit; where all are done, the best settings again, refined."""
    yield from search
    for refine, cost in ((TunedSettings.slower, SLOWER), (TunedSettings.again, 1)):
        if not search.is_done.all():
            return
        best = [one for one in search.best(MOST_REFINED) if not settings[one].is_linear]
        settings += [refine(settings[one]) for one in best]
        yield from search.add([cost * search.seconds_of(one) for one in best])


def _lines(limit: TimeLimit, time_limit: float) -> Callable[[str], None]:
    """Return what prints a line of progress with the time."""
    show = make_lines()

    def line(what: str) -> None:
        if show is not None:
            show(f"{what}; {limit.elapsed:.1f} of {time_limit:g} s")

    return line


def _silence(what: str) -> None:
    """Print nothing."""
