"""What the docstrings of the classifiers share, written once."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T", bound=type)

SHARED = {
    "n_estimators": """\
    n_estimators : int, default=100
        Most rounds. The paper runs its comparisons to 1000.
""",
    "learning_rate": """\
    learning_rate : float, default=1.0
        Shrinkage: every vote is multiplied by it. Above 0, at most 1; 1 is the original method.
""",
    "common parameters": """\
    max_depth : int, default=1
        Depth of the weak classifiers; 1 for stumps, which is all that a GPU or a cluster can fit.
    max_bins : int or None, default=None
        None searches every threshold between two distinct values of a feature; a number at most so
        many bins of about equal counts.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the rows' weight in a leaf, from 0 to 0.5. Worth setting where weights differ
        widely: it keeps splits from fencing in rows that hardly count.
    <columns>
    <validation>
    validation_fraction : float, default=0.1
        Share of the rows of every class to hold out, where early stopping has no other validation rows.
        They are chosen by what is in them, so they are the same for any order and any machine.
    n_iter_no_change : int, default=50
        Rounds without an improvement to wait for.
    <stopping>
    <threads>
    <engine>
    <device>
""",
    "constraints": """\
    interaction_cst : {"pairwise", "no_interactions"}, list of lists of columns or None, default=None
        Which columns may interact: the columns that a tree splits on the way to a leaf must all be in one
        of these groups. Columns are numbers or names; those in no group form one more. "pairwise" stands
        for all groups of two columns, "no_interactions" for groups of one. None: all may interact.
    monotonic_cst : dict, array-like of int of shape (n_features,) or None, default=None
        Columns in which scores are monotone: -1, 0 or 1 for each column, or a dictionary of these by name
        or number. With two classes, 1 means that the score of the second one, and its probability, never
        falls as the column rises. With ordered classes it means so for the odds of every class against
        the one below it. Otherwise name two classes: {"income": {("good", "bad"): 1}} means that
        F_good - F_bad, and p_good / p_bad, never falls as the income rises. Missing values are not
        compared.
""",
    "tol": """\
    tol : float, default=1e-4
        By how much the validation loss must fall to count as an improvement.
""",
    "common attributes": """\
    <classes_>
    ensemble_ : Ensemble
        The weak classifiers and their votes, in flat arrays.
    n_iter_ : int
        Number of rounds kept; 1, without a split, where the model predicts the class frequencies.
    stop_reason_ : str
        "max_rounds"; "no_violated_constraint": no weak classifier is better than chance;
        "early_stopping"; "max_time"; "callback"; or "interrupted", by Ctrl-C.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in how far its splits move the scores of training rows.
    train_errors_ : ndarray of shape (n_rounds,)
        Training error after each round; a margin of zero counts as one, NaN where the
        method does not know it. With early stopping these arrays
        go on after the `n_iter_` rounds that were kept, to the last that was done.
    train_losses_ : ndarray of shape (n_rounds,)
        Mean training loss after each round: its own, NaN where it does not know it.
    <curves>
    <features>
""",
    "code_ and votes_": """\
    code_ : ndarray of shape (n_iter_, n_classes)
        The colouring of each round, -1 and +1.
    votes_ : ndarray of shape (n_iter_, 2)
        The votes of each round where its weak classifier says -1, and +1.
""",
    "costs": """\
    cost_matrix : array-like of shape (n_classes, n_classes), dict, str or None, default=None
        What predictions cost: a row per true class, a column per predicted class, in the order of
        `classes_`; or {true label: {predicted label: cost}}, where a mistake that is not there costs 1
        and a right answer 0; or "ordinal": the distance of the two classes in their order; or "equal".
        Costs are finite, 0 or more, and no mistake costs less than the right answer. `predict` then
        returns the class of least expected cost under the probabilities of `predict_proba`, the first
        of `classes_` among equals. Costs change neither scores nor probabilities. None: "ordinal" for
        ordered classes, else "equal": the most probable class.
    <order>
""",
    "order": """\
    classes_order : list of labels or None, default=None
        The order of the classes, the lowest first: every class of y, and maybe more. The trees of
        `MarginBoostClassifier` then learn most from pairs of classes that are far apart. None: the order
        of an ordered categorical y (pandas' `Categorical`, polars' `Enum`), else none.
""",
    "costs_": """\
    cost_matrix_ : ndarray of shape (n_classes, n_classes)
        What predictions cost, by true and predicted class; only where mistakes do not all cost the same.
    class_ranks_ : ndarray of shape (n_classes,)
        The place of each of `classes_` in their order, from 0; only where they have an order.
""",
    "columns": """\
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the classes' rows, as in scikit-learn. Rows of a class of factor 0 do
        not count; the class stays in `classes_`.
    categorical_features : "from_dtype", None or list, default="from_dtype"
        Which columns hold categories: by default those of a data frame whose type says so, text among
        them; else names or numbers of columns, or a truth value for each.
""",
    "validation": """\
    early_stopping : bool, default=False
        Whether to end the fit when the validation loss has not improved for `n_iter_no_change` rounds,
        and to keep the rounds up to its least. Validation rows are those of `fit(..., X_val, y_val)`;
        without any, `validation_fraction` of the rows is not learned from.
""",
    "stopping": """\
    max_time : float or None, default=None
        Seconds after which the fit ends, with the round in which they pass. None for no limit.
    warm_start : bool, default=False
        Whether `fit` goes on from the fitted model, up to `n_estimators` rounds, on the same rows: the
        model is that of one long fit.
    callbacks : list of callables or None, default=None
        Each is called after every round with its record, a `marginboost.boosting.record.Round`: what is
        known of errors, losses and time. One that returns True ends the fit.
""",
    "threads": """\
    n_jobs : int or None, default=None
        Threads. None for every CPU that this process may use. The model does not depend on it.
""",
    "engine": """\
    engine : {"native", "reference"}, default="native"
        Where the sums are made. The model does not depend on it.
""",
    "device": """\
    device : {"cpu", "cuda"}, default="cpu"
        Where the rows lie and the sums are made: "cuda" needs an NVIDIA GPU and the extra `gpu`. The
        model does not depend on it.
    verbose : int, default=0
        1 shows the progress of the fit: a bar in a terminal and in a notebook, elsewhere lines of text.
""",
    "classes_": """\
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Training rows of each class, each as often as it counts.
""",
    "frequencies": """\
    training_frequencies_ : ndarray of shape (n_classes,)
        Share of each class in the weight of the training rows: what probabilities refer to.
    class_frequencies_ : ndarray of shape (n_classes,)
        The same; or what `with_class_frequencies` was given.
    calibration_rows_ : CalibrationRows
        Probabilities of rows that were not learned from, for `predict_set`. Missing where there are none.
""",
    "curves": """\
    validation_errors_, validation_losses_ : ndarray of shape (n_rounds,)
        Of the validation rows after each round: the share of errors, and the log loss of softmax(s * F)
        at the s that suits them best. Empty where there are no such rows.
    validation_score_ : float
        Accuracy of the model on the validation rows; NaN where there are none.
    fit_seconds_ : ndarray of shape (n_rounds,)
        Seconds from the beginning of the fit to the end of each round.
    split_gains_ : ndarray of shape (n_splits,)
        By how much the training loss fell with each split; those of a round add up to what it lowered
        the loss by. Where the method does not know its loss, in a unit of each round's own.
""",
    "features": """\
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had names.
    encoding_ : Encoding
        How the columns of X became the ordered columns that the trees split: what missing values and
        categories are to them.
""",
}


def with_shared_docs(cls: T) -> T:
    """Put the shared texts where the class's docstring names them, each `<name>` on its own line.

    A text may name others that come after it.
    """
    if cls.__doc__ is not None:  # Python may be told to drop docstrings
        for name, text in SHARED.items():
            cls.__doc__ = cls.__doc__.replace(f"    <{name}>\n", text)
    return cls
