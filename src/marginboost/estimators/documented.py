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
        Depth of the weak classifiers; 1 for stumps.
    max_bins : int or None, default=None
        None searches every threshold between two distinct values of a feature; a number at most so
        many bins of about equal counts.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the rows' weight in a leaf, from 0 to 0.5. Worth setting where weights differ
        widely: it keeps splits from fencing in rows that hardly count.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the classes' rows, as in scikit-learn.
    n_jobs : int or None, default=None
        Threads. None for every CPU that this process may use. The model does not depend on it.
    engine : {"native", "reference"}, default="native"
        Where the sums are made. The model does not depend on it.
    device : {"cpu", "cuda"}, default="cpu"
        Where the rows lie and the sums are made: "cuda" needs an NVIDIA GPU and the extra `gpu`. The
        model does not depend on it.
    verbose : int, default=0
        1 shows the progress of the fit.
""",
    "common attributes": """\
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    ensemble_ : Ensemble
        The weak classifiers and their votes, in flat arrays.
    n_iter_ : int
        Number of rounds done.
    stop_reason_ : str
        "max_rounds", "no_violated_constraint" (no weak classifier is better than chance) or
        "interrupted".
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in the votes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had names.
""",
    "train_errors_": """\
    train_errors_ : ndarray of shape (n_iter_,)
        Training error after each round; a margin of zero counts as an error.
""",
    "code_ and votes_": """\
    code_ : ndarray of shape (n_iter_, n_classes)
        The colouring of each round, -1 and +1.
    votes_ : ndarray of shape (n_iter_, 2)
        The votes of each round where its weak classifier says -1, and +1.
""",
}


def documented(cls: T) -> T:
    """Put the shared texts where the class's docstring names them, each `<name>` on its own line."""
    if cls.__doc__ is not None:  # Python may be told to drop docstrings
        for name, text in SHARED.items():
            cls.__doc__ = cls.__doc__.replace(f"    <{name}>\n", text)
    return cls
