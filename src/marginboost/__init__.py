"""Large-margin multi-class boosting with a scikit-learn interface."""

from marginboost.estimators.adaboost_ecc import AdaBoostECCClassifier
from marginboost.estimators.adaboost_mh import AdaBoostMHClassifier
from marginboost.estimators.adaboost_mo import AdaBoostMOClassifier
from marginboost.estimators.adaboost_sip import AdaBoostSIPClassifier
from marginboost.estimators.gradboost import GradBoostClassifier
from marginboost.estimators.jointboost import JointBoostClassifier
from marginboost.estimators.loading import load
from marginboost.estimators.marginboost import MarginBoostClassifier
from marginboost.estimators.marginboost_cv import MarginBoostClassifierCV
from marginboost.estimators.mcboost import MCBoostClassifier
from marginboost.estimators.multiboost import MultiBoostClassifier
from marginboost.estimators.samme import SAMMEClassifier
from marginboost.evaluation.costs import mean_cost
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
    "MarginBoostClassifierCV",
    "ModelFileError",
    "MultiBoostClassifier",
    "SAMMEClassifier",
    "__version__",
    "load",
    "mean_cost",
]
