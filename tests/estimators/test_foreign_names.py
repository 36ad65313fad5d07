"""The table of foreign names: the libraries have them, and what it says is here is here."""

import inspect
import re
from importlib import import_module

import pytest

from marginboost import MarginBoostClassifier
from marginboost.estimators.foreign_names import FOREIGN_NAMES, hint

OURS = MarginBoostClassifier().get_params()
ARGUMENTS = set(inspect.signature(MarginBoostClassifier.fit).parameters)
SENTENCES = sorted({here for _, here in FOREIGN_NAMES.values() if not here.isidentifier()})
# Of the libraries themselves; their scikit-learn interfaces pass them on.
PASSED_ON = {
    "lightgbm": {
        "num_iterations",
        "num_boost_round",
        "num_trees",
        "eta",
        "shrinkage_rate",
        "num_class",
        "boost_from_average",
        "min_data_in_leaf",
        "max_delta_step",
        "lambda_l2",
        "max_bin",
        "monotone_constraints",
        "interaction_constraints",
        "bagging_fraction",
        "bagging_freq",
        "feature_fraction",
        "feature_fraction_bynode",
        "scale_pos_weight",
        "is_unbalance",
        "metric",
        "early_stopping_rounds",
        "early_stopping_round",
        "num_threads",
        "seed",
        "device_type",
        "deterministic",
        "verbosity",
    },
    "xgboost": {
        "num_boost_round",
        "eta",
        "num_class",
        "use_label_encoder",
        "nthread",
        "seed",
        "ntree_limit",
        "pred_leaf",
        "pred_contribs",
    },
    "catboost": set(),
}


def known_names(module, kind):
    """Return the parameters of a classifier, and the arguments of its methods."""
    kind = getattr(import_module(module), kind)
    named = set(inspect.signature(kind.__init__).parameters) | set(kind().get_params())
    for method in ("fit", "predict"):
        named |= set(inspect.signature(getattr(kind, method)).parameters)
    return named


@pytest.mark.parametrize(
    ("library", "module", "kind"),
    [
        ("LightGBM", "lightgbm", "LGBMClassifier"),
        ("XGBoost", "xgboost", "XGBClassifier"),
        ("CatBoost", "catboost", "CatBoostClassifier"),
        ("HistGradientBoostingClassifier", "sklearn.ensemble", "HistGradientBoostingClassifier"),
    ],
)
def test_the_libraries_have_them(library, module, kind):
    pytest.importorskip(module)
    listed = {name for name, (libraries, _) in FOREIGN_NAMES.items() if library in libraries}
    assert listed
    assert listed <= known_names(module, kind) | PASSED_ON.get(module, set())


def test_names_here():
    named = {here for _, here in FOREIGN_NAMES.values() if here.isidentifier()}
    assert named <= set(OURS)
    assert not set(FOREIGN_NAMES) & (set(OURS) | ARGUMENTS)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_sentences_name_what_there_is(sentence):
    known = {*OURS, *ARGUMENTS, *dir(MarginBoostClassifier), "feature_importances_"}
    names = re.findall(r"\b\w+_\w*\b", sentence)
    assert set(names) <= known


def test_a_hint_for_every_name():
    for name in FOREIGN_NAMES:
        text = hint(name, "MarginBoostClassifier", OURS, ARGUMENTS)
        assert re.fullmatch(rf"{name} is .*'s name; .*[^.]\.", text)
    assert hint("nonsense", "MarginBoostClassifier", OURS, ARGUMENTS) is None
