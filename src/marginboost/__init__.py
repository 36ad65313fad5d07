"""Large-margin multi-class boosting with a scikit-learn interface."""

from marginboost.estimators.adaboost import (
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    AdaBoostMOClassifier,
    AdaBoostSIPClassifier,
    SAMMEClassifier,
)
from marginboost.estimators.loading import load
from marginboost.estimators.marginboost import MarginBoostClassifier
from marginboost.estimators.mcboost import MCBoostClassifier
from marginboost.estimators.others import (
    GradBoostClassifier,
    JointBoostClassifier,
    MultiBoostClassifier,
)
from marginboost.model.file import ModelFileError

__version__ = "0.1.0"

__all__ = [
    "AdaBoostECCClassifier",
    "AdaBoostMHClassifier",
    "AdaBoostMOClassifier",
    "AdaBoostSIPClassifier",
    "GradBoostClassifier",
    "JointBoostClassifier",
    "MCBoostClassifier",
    "MarginBoostClassifier",
    "ModelFileError",
    "MultiBoostClassifier",
    "SAMMEClassifier",
    "__version__",
    "load",
]
