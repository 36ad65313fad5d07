"""Errors that say what the parameters of other libraries are called here."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, Self

from sklearn.base import BaseEstimator

from marginboost.estimators.foreign_names import hint

__all__ = ["NameHints"]

# Methods whose unknown keywords get a hint.
_METHODS = ("__init__", "fit", "predict", "predict_proba")


class NameHints(BaseEstimator):  # type: ignore[misc]
    """A classifier that knows what its parameters are called elsewhere.

    Constructors keep explicit parameters. An unknown keyword is an error without this class too; here the
    message says what to write instead.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in _METHODS:
            if name in vars(cls):
                setattr(cls, name, _with_hints(vars(cls)[name]))

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this classifier.

        Parameters
        ----------
        **params : dict
            Names and values of parameters.

        Returns
        -------
        self
            The classifier.
        """
        for name in sorted(params.keys() - set(self._get_param_names())):
            text = _hint(type(self), name)
            if text is not None:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}: {text}")
        changed: Self = super().set_params(**params)
        return changed


def _with_hints(method: Callable[..., Any]) -> Callable[..., Any]:
    """Make a method give hints; `inspect.signature` still returns its own parameters."""
    known = inspect.signature(method).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
        return method
    place = "" if method.__name__ == "__init__" else f".{method.__name__}"

    @wraps(method)
    def hinting(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        for name in sorted(kwargs.keys() - known.keys()):
            text = _hint(type(self), name)
            if text is not None:
                raise TypeError(f"{type(self).__name__}{place} has no argument {name!r}: {text}")
        return method(self, *args, **kwargs)

    return hinting


def _hint(kind: Any, name: str) -> str | None:
    arguments = inspect.signature(kind.fit).parameters
    return hint(name, kind.__name__, kind._get_param_names(), arguments)
