"""scikit-learn's own callbacks, where it has them: `set_callbacks`, from version 1.9 on."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from marginboost.boosting.round import Round
    from marginboost.model.builder import EnsembleBuilder

__all__ = ["CallbackSupport", "SklearnCallbacks", "with_callbacks"]

F = TypeVar("F", bound=Callable[..., Any])


class _NoSupport:
    """In the place of scikit-learn's mixin where it has none."""


try:
    _module: Any = importlib.import_module("sklearn.callback")
except ModuleNotFoundError:
    _module = None

CallbackSupport: Any = getattr(_module, "CallbackSupportMixin", _NoSupport)


def with_callbacks(method: F) -> F:
    """Decorate `fit` as scikit-learn asks for, where it does."""
    decorated: F = method if _module is None else _module.with_callbacks(method)
    return decorated


class SklearnCallbacks:
    """Tells scikit-learn's callbacks of a fit and of its rounds, each a task of it.

    Parameters
    ----------
    estimator : BoostedClassifier
        Is being fitted, and has callbacks.
    n_rounds : int
        The most rounds there will be.
    interim : callable
        Makes the fitted attributes of a builder, as if the fit ended here.
    given : dict
        X, y and metadata of the fit, which callbacks may ask for.
    """

    def __init__(
        self,
        estimator: Any,
        n_rounds: int,
        interim: Callable[[EnsembleBuilder], dict[str, Any]],
        **given: Any,
    ) -> None:
        self._interim = interim
        self._given = {"estimator": estimator, **given}
        self._context = estimator._init_callback_context(max_subtasks=n_rounds)
        self._context.call_on_fit_task_begin(**self._given)

    def after_round(self, builder: EnsembleBuilder) -> Callable[[Round], bool]:
        """Return what is to be called after each round.

        Parameters
        ----------
        builder : EnsembleBuilder
            The ensemble in the making.
        """

        def look(finished: Round) -> bool:
            task = self._context.subcontext(task_name="round")
            task.call_on_fit_task_begin(**self._given)
            return bool(
                task.call_on_fit_task_end(
                    **self._given, reconstruction_attributes=lambda: self._interim(builder)
                )
            )

        return look

    def end(self, attributes: dict[str, Any]) -> None:
        """Report the end of the fit."""
        self._context.call_on_fit_task_end(**self._given, reconstruction_attributes=attributes)
