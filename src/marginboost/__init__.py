"""Large-margin multi-class boosting with a scikit-learn interface."""

from marginboost.estimators.adaboost import (
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    AdaBoostMOClassifier,
    AdaBoostSIPClassifier,
    SAMMEClassifier,
)
from marginboost.estimators.marginboost import MarginBoostClassifier
from marginboost.estimators.mcboost import MCBoostClassifier
from marginboost.estimators.others import (
    GradBoostClassifier,
    JointBoostClassifier,
    MultiBoostClassifier,
)

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
    "MultiBoostClassifier",
    "SAMMEClassifier",
    "__version__",
]
