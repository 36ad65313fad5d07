"""The names that parameters have in other libraries, and what they are here."""

from __future__ import annotations

import re
from collections.abc import Collection

__all__ = ["FOREIGN_NAMES", "hint"]

_L, _X, _C, _H = "LightGBM", "XGBoost", "CatBoost", "HistGradientBoostingClassifier"

_NONE = "leave it out, there is no counterpart here"
_STOPPING = "here it is n_iter_no_change of the classifier, together with early_stopping=True"
_VALIDATION = "here fit takes one validation set, as X_val and y_val"
_METRIC = "leave it out; here a fit with X_val records the errors and the log losses of every round"
_STAGES = "here staged_predict, staged_predict_proba and staged_decision_function yield every round"
_RESUME = "here warm_start=True makes fit resume the fitted model, on the same rows"
_MARGIN = "here decision_function returns the scores"
_LEAVES = "here apply returns the leaves"
_SHAPLEY = "here explain returns Shapley values"
_ROWS = "here min_samples_leaf limits the number of rows of a leaf"
_COLUMNS = "here max_features is drawn once per tree"
_LOSS = 'here loss is "exponential" or "logistic", for any number of classes'
_IMPORTANCE = "here feature_importances_ has one kind: how far splits move the scores"
_PRIOR = "leave it out; here a fit takes no starting scores"
_DRAW = "here subsample is a share of the rows, drawn anew for every tree"
_LABELS = "leave it out; here labels may be of any kind"

# Names in these sentences that not every classifier has.
_NOT_EVERYWHERE = frozenset(
    [
        "X_val",
        "early_stopping",
        "loss",
        "max_features",
        "min_samples_leaf",
        "sample_weight_val",
        "subsample",
        "warm_start",
    ]
)

# Each name with the libraries that have it, and either the name of the parameter here or a sentence.
FOREIGN_NAMES: dict[str, tuple[tuple[str, ...], str]] = {
    # rounds and steps
    "iterations": ((_C,), "n_estimators"),
    "num_iterations": ((_L,), "n_estimators"),
    "num_boost_round": ((_X, _L, _C), "n_estimators"),
    "num_trees": ((_L, _C), "n_estimators"),
    "max_iter": ((_H,), "n_estimators"),
    "eta": ((_X, _L, _C), "learning_rate"),
    "shrinkage_rate": ((_L,), "learning_rate"),
    "objective": ((_X, _L, _C), _LOSS),
    "loss_function": ((_C,), _LOSS),
    "booster": ((_X,), _NONE),
    "boosting_type": ((_L, _C), _NONE),
    "tree_method": ((_X,), _NONE),
    "multi_strategy": ((_X,), "here every tree is for all classes"),
    "num_class": ((_X, _L), _LABELS),
    "classes_count": ((_C,), _LABELS),
    "use_label_encoder": ((_X,), _LABELS),
    "base_score": ((_X,), _PRIOR),
    "boost_from_average": ((_L, _C), _PRIOR),
    "base_margin": ((_X,), _PRIOR),
    "init_score": ((_L,), _PRIOR),
    "baseline": ((_C,), _PRIOR),
    # trees
    "num_leaves": ((_L,), "max_leaf_nodes"),
    "max_leaves": ((_X, _C), "max_leaf_nodes"),
    "depth": ((_C,), "max_depth"),
    "grow_policy": ((_X, _C), "here trees grow best first, as with lossguide"),
    "min_child_samples": ((_L, _C), "min_samples_leaf"),
    "min_data_in_leaf": ((_L, _C), "min_samples_leaf"),
    "min_child_weight": ((_X, _L), _ROWS),
    "gamma": ((_X,), _NONE),
    "min_split_gain": ((_L,), _NONE),
    "max_delta_step": ((_X, _L), _NONE),
    "reg_alpha": ((_X, _L), _NONE),
    "reg_lambda": ((_X, _L, _C), "l2_regularization"),
    "lambda_l2": ((_L,), "l2_regularization"),
    "l2_leaf_reg": ((_C,), "l2_regularization"),
    "max_bin": ((_X, _L, _C), "max_bins"),
    "border_count": ((_C,), "max_bins"),
    "monotone_constraints": ((_X, _L, _C), "monotonic_cst"),
    "interaction_constraints": ((_X, _L), "interaction_cst"),
    # rows and columns that a tree sees
    "bagging_fraction": ((_L,), "subsample"),
    "subsample_freq": ((_L,), _DRAW),
    "bagging_freq": ((_L,), _DRAW),
    "bootstrap_type": ((_C,), _DRAW),
    "bagging_temperature": ((_C,), _DRAW),
    "sampling_method": ((_X,), _DRAW),
    "colsample_bytree": ((_X, _L), "max_features"),
    "feature_fraction": ((_L,), "max_features"),
    "rsm": ((_C,), _COLUMNS),
    "colsample_bylevel": ((_X, _C), _COLUMNS),
    "colsample_bynode": ((_X,), _COLUMNS),
    "feature_fraction_bynode": ((_L,), _COLUMNS),
    # data
    "categorical_feature": ((_L,), "categorical_features"),
    "cat_features": ((_C,), "categorical_features"),
    "enable_categorical": ((_X,), "categorical_features"),
    "feature_types": ((_X,), "categorical_features"),
    "missing": ((_X,), "here NaN, None and null are missing values"),
    "feature_name": ((_L,), "here the names of the columns are those of a data frame"),
    "scale_pos_weight": ((_X, _L, _C), "class_weight"),
    "is_unbalance": ((_L,), 'here it is class_weight="balanced"'),
    "class_weights": ((_C,), "class_weight"),
    "auto_class_weights": ((_C,), 'here it is class_weight="balanced"'),
    # validation
    "eval_set": ((_X, _L, _C), _VALIDATION),
    "eval_X": ((_L,), _VALIDATION),
    "eval_y": ((_L,), _VALIDATION),
    "eval_names": ((_L,), _VALIDATION),
    "sample_weight_eval_set": ((_X,), "here fit takes sample_weight_val"),
    "eval_sample_weight": ((_L,), "here fit takes sample_weight_val"),
    "eval_metric": ((_X, _L, _C), _METRIC),
    "metric": ((_L,), _METRIC),
    "custom_metric": ((_C,), _METRIC),
    "scoring": ((_H,), _METRIC),
    "early_stopping_rounds": ((_X, _L, _C), _STOPPING),
    "early_stopping_round": ((_L,), _STOPPING),
    "od_wait": ((_C,), _STOPPING),
    "od_type": ((_C,), _STOPPING),
    "use_best_model": ((_C,), "here early_stopping=True keeps the best round"),
    "init_model": ((_L, _C), _RESUME),
    "xgb_model": ((_X,), _RESUME),
    # machines
    "nthread": ((_X,), "n_jobs"),
    "num_threads": ((_L,), "n_jobs"),
    "thread_count": ((_C,), "n_jobs"),
    "seed": ((_X, _L), "random_state"),
    "random_seed": ((_C,), "random_state"),
    "device_type": ((_L,), "device"),
    "task_type": ((_C,), "device"),
    "deterministic": ((_L,), "leave it out; here threads never change the model"),
    "verbosity": ((_X, _L), "verbose"),
    "silent": ((_C,), "verbose"),
    "logging_level": ((_C,), "verbose"),
    "allow_writing_files": ((_C,), "leave it out; here a fit writes no files"),
    # predictions
    "importance_type": ((_X, _L), _IMPORTANCE),
    "num_iteration": ((_L,), _STAGES),
    "start_iteration": ((_L,), _STAGES),
    "iteration_range": ((_X,), _STAGES),
    "ntree_limit": ((_X,), _STAGES),
    "ntree_start": ((_C,), _STAGES),
    "ntree_end": ((_C,), _STAGES),
    "raw_score": ((_L,), _MARGIN),
    "output_margin": ((_X,), _MARGIN),
    "prediction_type": (
        (_C,),
        "here predict, predict_proba and decision_function are three methods",
    ),
    "pred_leaf": ((_X, _L), _LEAVES),
    "pred_contrib": ((_L,), _SHAPLEY),
    "pred_contribs": ((_X,), _SHAPLEY),
    "validate_features": ((_X, _L), "leave it out; here columns are always checked by name"),
}


def hint(
    name: str, kind: str, parameters: Collection[str], arguments: Collection[str]
) -> str | None:
    """Return what to write instead of a name from another library.

    Parameters
    ----------
    name : str
        A keyword that was given, and is not known.
    kind : str
        The name of the classifier.
    parameters : collection of str
        Its parameters.
    arguments : collection of str
        The arguments of its `fit`.

    Returns
    -------
    str or None
        A sentence; None if there is nothing to say.
    """
    if name in parameters:
        return f"{name} is a parameter of the classifier: {kind}({name}=...)."
    if name in arguments:
        return f"{name} is an argument of fit."
    if name not in FOREIGN_NAMES:
        return None
    libraries, here = FOREIGN_NAMES[name]
    *others, last = (f"{library}'s" for library in libraries)
    whose = f"{', '.join(others)} and {last}" if others else last
    needed = {here} if here.isidentifier() else _NOT_EVERYWHERE & set(re.findall(r"\w+", here))
    if not needed <= {*parameters, *arguments}:
        return f"{name} is {whose} name; {kind} has no counterpart."
    return f"{name} is {whose} name; {f'here it is {here}' if here.isidentifier() else here}."
