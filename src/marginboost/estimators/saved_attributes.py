"""What a file keeps of each classifier beside its parameters: its fitted attributes, by class."""

from __future__ import annotations

from typing import Any

import numpy as np

from marginboost.model.calibration_field import CalibrationField, Frequencies
from marginboost.model.choice_field import ChoiceField
from marginboost.model.decision_fields import Costs, Ranks
from marginboost.model.fields import Field, Integer, Numbers, Real, Size, Text
from marginboost.model.fitted_fields import (
    EncodingField,
    EnsembleField,
    Labels,
    Names,
    Path,
    Vectors,
)

__all__ = ["LATER_PARAMETERS", "NOT_SAVED", "SAVED_ATTRIBUTES", "declared"]

# By name of class; what a class declares, those that derive from it have too. The order matters: a field
# looks at what those before it found. One that is added once files of the format are about is optional,
# or those could not be read any more. Sizes: "rounds" that the model keeps, "trained" ones, "features"
# (columns of X), "columns" (ordered ones), "classes", "splits" and "leaves" of all trees.
SAVED_ATTRIBUTES: dict[str, dict[str, Field]] = {
    "FittedClassifier": {
        "classes_": Labels(),
        "encoding_": EncodingField(),
        "ensemble_": EnsembleField(),
        "cost_matrix_": Costs(optional=True, since=2),
        "class_ranks_": Ranks(optional=True, since=2),
        "n_features_in_": Size("features"),
        "feature_names_in_": Names(optional=True),
        "n_iter_": Size("rounds"),
        "stop_reason_": Text(),
        "feature_importances_": Numbers(("features",), least=0.0),
        "class_count_": Numbers(("classes",), least=0.0, optional=True),
    },
    "BoostedClassifier": {
        "train_errors_": Numbers(("trained",), nan=True),
        "train_losses_": Numbers(("trained",), nan=True, optional=True),
        "fit_seconds_": Numbers(("trained",), nan=True, optional=True),
        "validation_errors_": Numbers(("validated",), nan=True, optional=True),
        "validation_losses_": Numbers(("validated",), nan=True, optional=True),
        "validation_score_": Real(nan=True, optional=True),
        "split_gains_": Numbers(("splits",), least=0.0, optional=True),
    },
    "ClassFrequencies": {
        "training_frequencies_": Frequencies(optional=True),
        "class_frequencies_": Frequencies(optional=True),
    },
    "PredictionSets": {"calibration_rows_": CalibrationField(optional=True)},
    "MarginBoostClassifier": {
        "probability_scale_": Real(above=0.0),
        "seed_": Integer(optional=True),
        "chosen_": ChoiceField(optional=True),
    },
    "MarginBoostClassifierCV": {
        "probability_scale_": Real(above=0.0),
        "seed_": Integer(),
        "oof_error_": Real(nan=True),
        "oof_loss_": Real(nan=True),
        "chosen_": ChoiceField(),
    },
    "MCBoostClassifier": {
        "coef_": Vectors(np.float64, ("rounds", "classes")),
        "optimality_errors_": Numbers(("rounds",), nan=True),
        "probability_scale_": Real(above=0.0),
    },
    "MultiBoostClassifier": {
        "coef_": Vectors(np.float64, ("rounds", "classes")),
        "coef_path_": Path(optional=True),
        "optimality_errors_": Numbers(("rounds",), nan=True),
    },
    "GradBoostClassifier": {"coef_": Vectors(np.float64, ("rounds", "classes"))},
    "SAMMEClassifier": {"votes_": Numbers(("rounds",))},
    "AdaBoostMHClassifier": {"coef_": Vectors(np.float64, ("rounds", "classes"))},
    "TwoVotesClassifier": {
        "code_": Vectors(np.int8, ("rounds", "classes")),
        "votes_": Numbers(("rounds", 2)),
    },
    "AdaBoostECCClassifier": {"seed_": Integer(optional=True)},
    "AdaBoostMOClassifier": {
        "code_": Vectors(np.int8, ("codewords", "classes")),
        "votes_": Numbers(("rounds",)),
    },
}

# Parameters that came after the first format, and the first format that may have them. A file leaves them
# out where they are None, as they were before: then earlier versions can read it.
LATER_PARAMETERS = dict.fromkeys(
    ("cost_matrix", "classes_order", "interaction_cst", "monotonic_cst"), 2
)

# Parameters that a file cannot hold, being code.
NOT_SAVED = frozenset({"callbacks"})


def declared(kind: type[Any]) -> dict[str, Field]:
    """Return the fitted attributes of a class, those of its bases first."""
    found: dict[str, Field] = {}
    for part in reversed(kind.__mro__):
        found |= SAVED_ATTRIBUTES.get(part.__name__, {})
    return found
