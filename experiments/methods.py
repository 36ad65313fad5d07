"""The classifiers to compare, under the paper's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from numpy.typing import NDArray

from marginboost import (
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    AdaBoostMOClassifier,
    AdaBoostSIPClassifier,
    GradBoostClassifier,
    MarginBoostClassifier,
    MCBoostClassifier,
    MultiBoostClassifier,
    SAMMEClassifier,
)
from marginboost.plot.canvas import COLOURS, GREY


class Classifier(Protocol):
    """The interface of a scikit-learn classifier."""

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Any:
        """Learn."""
        ...

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the classes."""
        ...

    def set_params(self, **params: Any) -> Any:
        """Set parameters."""
        ...


@dataclass(frozen=True)
class Method:
    """A classifier to compare.

    Attributes
    ----------
    label : str
        Its name in tables.
    make : callable
        Creates one from the number of rounds, a seed, a number of threads and the parameters that
        an experiment sets.
    in_paper : bool
        Whether the paper has it.
    colour : str
        Colour of its curve, in every plot.
    staged : bool
        Whether it can predict with fewer rounds.
    """

    label: str
    make: Callable[[int, int, int, Mapping[str, Any]], Classifier]
    colour: str
    in_paper: bool = True
    staged: bool = True


def _mcboost(
    loss: Literal["exponential", "logistic"],
) -> Callable[[int, int, int, Mapping[str, Any]], Classifier]:
    def make(rounds: int, seed: int, n_jobs: int, parameters: Mapping[str, Any]) -> Classifier:
        # The paper's own settings are the defaults: eta 0.5, nu 1e-9, stumps, all thresholds.
        model = MCBoostClassifier(rounds, loss=loss, calibrate=False, n_jobs=n_jobs)
        model.set_params(**parameters)
        return model

    return make


def _multiboost(
    stopping: Literal["paper", "optimum"], *, from_zero: bool = False
) -> Callable[[int, int, int, Mapping[str, Any]], Classifier]:
    def make(rounds: int, seed: int, n_jobs: int, parameters: Mapping[str, Any]) -> Classifier:
        model = MultiBoostClassifier(
            rounds,
            loss="logistic",
            stopping=stopping,
            from_zero=from_zero,
            keep_path=True,
            n_jobs=n_jobs,
        )
        model.set_params(**parameters)
        return model

    return make


def _other(
    kind: Callable[..., Any], seeded: bool = False
) -> Callable[[int, int, int, Mapping[str, Any]], Classifier]:
    def make(rounds: int, seed: int, n_jobs: int, parameters: Mapping[str, Any]) -> Classifier:
        model: Classifier = kind(rounds, n_jobs=n_jobs)
        given = {"random_state": seed} | dict(parameters) if seeded else parameters
        model.set_params(**given)
        return model

    return make


def _marginboost(rounds: int, seed: int, n_jobs: int, parameters: Mapping[str, Any]) -> Classifier:
    """Its defaults, which decide on rounds and sizes from the data, whatever the others have."""
    return MarginBoostClassifier(n_jobs=n_jobs, random_state=seed)


def _lightgbm(rounds: int, seed: int, n_jobs: int, parameters: Mapping[str, Any]) -> Classifier:
    """Its defaults: a hundred rounds of one tree per class."""
    from lightgbm import LGBMClassifier  # noqa: PLC0415  only some experiments need it

    return LGBMClassifier(n_jobs=n_jobs, random_state=seed, verbosity=-1)


BLUE, RED, GREEN, PINK, SKY, AMBER, BLACK = COLOURS
# No plot has all of them: SAMME and AdaBoost.SIP never appear together, nor do the two modern
# classifiers with AdaBoost.MO and GradBoost.
METHODS = {
    "samme": Method("SAMME", _other(SAMMEClassifier), GREY),
    "ecc": Method("AdaBoost.ECC", _other(AdaBoostECCClassifier, seeded=True), AMBER),
    "mh": Method("AdaBoost.MH", _other(AdaBoostMHClassifier), GREEN),
    "mo": Method("AdaBoost.MO", _other(AdaBoostMOClassifier), PINK),
    "sip": Method("AdaBoost.SIP", _other(AdaBoostSIPClassifier), GREY),
    "gradboost": Method("GradBoost", _other(GradBoostClassifier), SKY),
    # Stopped as in the paper, which does not say where each round's L-BFGS-B starts.
    "multiboost": Method("MultiBoost", _multiboost("paper"), BLACK),
    "multiboost-zero": Method("MultiBoost from zero", _multiboost("paper", from_zero=True), GREY),
    "multiboost-optimum": Method(
        "MultiBoost to its optimum", _multiboost("optimum"), GREY, in_paper=False
    ),
    "exp": Method("MCBoost-exp", _mcboost("exponential"), RED),
    "log": Method("MCBoost-log", _mcboost("logistic"), BLUE),
    "marginboost": Method("MarginBoost", _marginboost, PINK, in_paper=False, staged=False),
    "lightgbm": Method("LightGBM", _lightgbm, SKY, in_paper=False, staged=False),
}
# Our modern classifier, and today's reference: one more column each in every table.
TODAY = ("marginboost", "lightgbm")
