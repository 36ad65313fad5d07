"""The constraints of a model: which columns may interact, and which scores are monotone in a column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginboost.boosting.monotone import MonotoneSteps
from marginboost.data.columns import column_label
from marginboost.engine.trees.interactions import Interactions

if TYPE_CHECKING:
    from marginboost.data.encoding import Encoding

__all__ = [
    "Constraints",
    "MonotoneRule",
    "check_constraints",
    "read_interactions",
    "read_monotonic",
]

# How many columns a group has, by what users call it.
ORDERS = {"no_interactions": 1, "pairwise": 2}

Names = Sequence[str] | NDArray[Any] | None


class MonotoneRule(NamedTuple):
    """A difference of two classes' scores that is monotone in a column.

    Attributes
    ----------
    column : int
        Of X.
    pair : (int, int)
        Numbers of two classes a and b, the larger first: the difference is F[a] - F[b].
    sign : int
        +1: it never falls as the column rises; -1: it never rises.
    """

    column: int
    pair: tuple[int, int]
    sign: int


def check_constraints(interaction_cst: Any, monotonic_cst: Any) -> None:
    """Raise where the parameters are wrong for any X and y."""
    _check_interactions(interaction_cst)
    if isinstance(monotonic_cst, Mapping):
        _check_by_column(monotonic_cst)
    elif monotonic_cst is not None:
        signs = np.asarray(monotonic_cst, dtype=object)
        if signs.ndim != 1:
            raise ValueError(
                "monotonic_cst must be a dictionary by column, or a list with -1, 0 or 1 per column; "
                f"got {monotonic_cst!r}."
            )
        for column, sign in enumerate(signs.tolist()):
            _check_sign(sign, column)


def _check_interactions(interaction_cst: Any) -> None:
    if isinstance(interaction_cst, str):
        if interaction_cst not in ORDERS:
            raise ValueError(
                'interaction_cst must be "pairwise", "no_interactions", None, or a list of lists of '
                f"columns; got {interaction_cst!r}."
            )
    elif interaction_cst is not None:
        listed = isinstance(interaction_cst, Iterable) and not isinstance(interaction_cst, Mapping)
        if not listed or not all(map(_is_group, interaction_cst)):
            raise ValueError(
                "interaction_cst must be a list of lists, tuples or sets of columns; got "
                f"{interaction_cst!r}."
            )


def _check_by_column(monotonic_cst: Mapping[Any, Any]) -> None:
    for column, wanted in monotonic_cst.items():
        signs = wanted.values() if isinstance(wanted, Mapping) else [wanted]
        for sign in signs:
            _check_sign(sign, column)
        if isinstance(wanted, Mapping) and not all(map(_is_pair, wanted)):
            raise ValueError(
                "monotonic_cst must have pairs of two different labels, as in "
                f'{{("good", "bad"): 1}}; got {list(wanted)!r} for column {column!r}.'
            )


def _is_group(group: Any) -> bool:
    return isinstance(group, list | tuple | set | frozenset | range | np.ndarray)


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, tuple) and len(pair) == 2 and pair[0] != pair[1]


def _check_sign(sign: Any, column: Any) -> None:
    whole = isinstance(sign, Integral) and not isinstance(sign, bool | np.bool_)
    if not whole or int(sign) not in (-1, 0, 1):
        raise ValueError(
            f"monotonic_cst must hold -1, 0 or 1, or pairs of labels with these; got {sign!r} for "
            f"column {column!r}."
        )


def read_interactions(
    interaction_cst: Any, n_features: int, names: Names = None
) -> list[list[int]] | str | None:
    """Turn the parameter into groups of numbers of columns, as in scikit-learn.

    Parameters
    ----------
    interaction_cst : object
        As users give it.
    n_features : int
        Columns of X.
    names : sequence of str, optional
        Their names.

    Returns
    -------
    list of lists of int, str or None
        Columns that no group has form one more. A word stays as it is.
    """
    if interaction_cst is None or isinstance(interaction_cst, str):
        return interaction_cst
    groups = [
        sorted({_place("interaction_cst", column, n_features, names) for column in group})
        for group in interaction_cst
    ]
    rest = sorted(set(range(n_features)).difference(*groups))
    return [*groups, rest] if rest else groups


def read_monotonic(
    monotonic_cst: Any,
    n_features: int,
    classes: NDArray[Any],
    *,
    names: Names = None,
    ranks: NDArray[np.integer] | None = None,
    categories: Sequence[Any] | None = None,
) -> list[MonotoneRule]:
    """Turn the parameter into rules.

    Parameters
    ----------
    monotonic_cst : object
        As users give it.
    n_features : int
        Columns of X.
    classes : array
        The labels.
    names : sequence of str, optional
        Names of the columns.
    ranks : integer array, optional
        The place of each class in the order of classes, where they have one.
    categories : sequence, optional
        For each column, its categories, or None for a column of numbers.
    """
    if monotonic_cst is None:
        return []
    if isinstance(monotonic_cst, Mapping):
        given = [
            (_place("monotonic_cst", column, n_features, names), wanted)
            for column, wanted in monotonic_cst.items()
        ]
    else:
        given = list(enumerate(np.asarray(monotonic_cst).tolist()))
        if len(given) != n_features:
            raise ValueError(
                f"monotonic_cst must have a number for each of the {n_features} columns; got "
                f"{len(given)}."
            )
    found: dict[tuple[int, tuple[int, int]], MonotoneRule] = {}
    for column, wanted in given:
        label = column_label(column, None if names is None else list(names))
        for a, b, sign in _differences(label, column, wanted, classes, ranks):
            if categories is not None and categories[column] is not None:
                raise ValueError(
                    f"monotonic_cst must name columns of numbers; got {label}, whose "
                    "categories have no order."
                )
            rule = MonotoneRule(column, (max(a, b), min(a, b)), sign if a > b else -sign)
            if found.setdefault((column, rule.pair), rule) != rule:
                raise ValueError(
                    "monotonic_cst must not ask of one difference both to rise and to fall; got that "
                    f"for {label} and the classes {classes[a]!r} and {classes[b]!r}."
                )
    return list(found.values())


def _differences(
    label: str,
    column: int,
    wanted: Any,
    classes: NDArray[Any],
    ranks: NDArray[np.integer] | None,
) -> list[tuple[int, int, int]]:
    """Return what is asked for a column: (a, b, sign), F[a] - F[b] of the sign."""
    if isinstance(wanted, Mapping):
        return [
            (_class_number(a, classes), _class_number(b, classes), int(sign))
            for (a, b), sign in wanted.items()
            if sign
        ]
    if not wanted:
        return []
    if len(classes) == 2 and ranks is None:
        return [(1, 0, int(wanted))]
    if ranks is None:
        a, b = classes.tolist()[:2]
        raise ValueError(
            "monotonic_cst must name two classes where there are more than two without an order, as in "
            f"{{{column}: {{({b!r}, {a!r}): 1}}}}; got {wanted!r} for {label}."
        )
    order = np.argsort(ranks).tolist()
    return [(high, low, int(wanted)) for low, high in pairwise(order)]


def _class_number(label: Any, classes: NDArray[Any]) -> int:
    for number, known in enumerate(classes.tolist()):
        if known == label:
            return number
    raise ValueError(
        f"monotonic_cst must name classes of y, {classes.tolist()!r}; got {label!r}, which is none."
    )


def _place(parameter: str, column: Any, n_features: int, names: Names) -> int:
    if isinstance(column, str):
        if names is None:
            raise ValueError(
                f"{parameter} must hold numbers of columns where X has no names; got {column!r}."
            )
        if column not in list(names):
            raise ValueError(f"{parameter} must name columns of X; got {column!r}, which is none.")
        return list(names).index(column)
    whole = isinstance(column, Integral) and not isinstance(column, bool | np.bool_)
    if whole and 0 <= int(column) < n_features:
        return int(column)
    raise ValueError(
        f"{parameter} must hold names of columns or numbers from 0 to {n_features - 1}; got "
        f"{column!r}."
    )


class Constraints(NamedTuple):
    """The constraints of a fit.

    Attributes
    ----------
    groups : list of lists of int, str or None
        As `read_interactions` returns them.
    rules : list of MonotoneRule
        As `read_monotonic` returns them.
    """

    groups: list[list[int]] | str | None
    rules: list[MonotoneRule]

    @classmethod
    def of(cls, model: Any, classes: NDArray[Any], categories: Sequence[Any]) -> Constraints | None:
        """Read the parameters of a classifier that knows the columns of X.

        Parameters
        ----------
        model : classifier
            Has `n_features_in_`, and where X has names, `feature_names_in_`.
        classes : array
            The labels.
        categories : sequence
            For each column, its categories, or None for a column of numbers.

        Returns
        -------
        Constraints or None
            None where there are none.
        """
        if model.interaction_cst is None and model.monotonic_cst is None:
            return None
        n_features, names = model.n_features_in_, getattr(model, "feature_names_in_", None)
        rules = read_monotonic(
            model.monotonic_cst,
            n_features,
            classes,
            names=names,
            ranks=getattr(model, "class_ranks_", None),
            categories=categories,
        )
        return cls(read_interactions(model.interaction_cst, n_features, names), rules)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that ask for this, by numbers of columns and of classes."""
        by_column: dict[int, dict[tuple[int, int], int]] = {}
        for rule in self.rules:
            by_column.setdefault(rule.column, {})[rule.pair] = rule.sign
        return {"interaction_cst": self.groups, "monotonic_cst": by_column or None}

    def interactions(self, encoding: Encoding) -> Interactions | None:
        """Make what the search of trees keeps to."""
        if self.groups is None:
            return None
        groups = ORDERS[self.groups] if isinstance(self.groups, str) else self.groups
        return Interactions(encoding.source, groups)

    def monotone(self, encoding: Encoding) -> MonotoneSteps | None:
        """Make what the steps of trees keep to."""
        if not self.rules:
            return None
        pairs = sorted({rule.pair for rule in self.rules})
        signs = np.zeros((encoding.n_ordered, len(pairs)), dtype=np.int8)
        for rule in self.rules:
            signs[encoding.source == rule.column, pairs.index(rule.pair)] = rule.sign
        return MonotoneSteps(pairs, signs)
