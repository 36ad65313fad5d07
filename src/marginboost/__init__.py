"""Large-margin multi-class boosting with a scikit-learn interface.

Public names are imported when they are first used, so that ``import marginboost`` and the command line
start at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marginboost.boosting.round import Round
    from marginboost.data.stored_rows import StoredRows
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
    from marginboost.model.file_text import ModelFileError

__version__ = "0.2.0"

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
    "Round",
    "SAMMEClassifier",
    "StoredRows",
    "__version__",
    "load",
    "mean_cost",
]

# The modules that define the public names.
_MODULES = {
    "AdaBoostECCClassifier": "estimators.adaboost_ecc",
    "AdaBoostMHClassifier": "estimators.adaboost_mh",
    "AdaBoostMOClassifier": "estimators.adaboost_mo",
    "AdaBoostSIPClassifier": "estimators.adaboost_sip",
    "GradBoostClassifier": "estimators.gradboost",
    "JointBoostClassifier": "estimators.jointboost",
    "MCBoostClassifier": "estimators.mcboost",
    "MarginBoostClassifier": "estimators.marginboost",
    "MarginBoostClassifierCV": "estimators.marginboost_cv",
    "ModelFileError": "model.file_text",
    "MultiBoostClassifier": "estimators.multiboost",
    "Round": "boosting.round",
    "SAMMEClassifier": "estimators.samme",
    "StoredRows": "data.stored_rows",
    "load": "estimators.loading",
    "mean_cost": "evaluation.costs",
}

if not TYPE_CHECKING:  # type checkers shall find the names above, and no others

    def __getattr__(name):
        """Import a public name when it is first used."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        globals()[name] = found
        return found

    def __dir__():
        return sorted({*globals(), *__all__})
