"""Large-margin multi-class boosting with a scikit-learn interface."""

from marginboost.estimators.mcboost import MCBoostClassifier

__version__ = "0.1.0"

__all__ = ["MCBoostClassifier", "__version__"]
