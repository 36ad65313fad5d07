"""Convert a fitted model to ONNX, which runs without Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginboost.data.encoding import Category, Encoding
from marginboost.model.ensemble import Ensemble
from marginboost.model.link import Link
from marginboost.model.onnx_columns import OrderedColumns
from marginboost.model.onnx_graph import (
    OLDEST,
    Graph,
    checked_opset,
    import_onnx,
    label_array,
    write_model,
)

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["make_onnx"]

OUTPUTS = ("scores", "probabilities", "label")


def make_onnx(
    ensemble: Ensemble,
    encoding: Encoding,
    classes: NDArray[Any],
    link: Link,
    names: Sequence[str] | None,
    *,
    opset: int | str | None = None,
    costs: NDArray[np.float64] | None = None,
) -> ModelProto:
    """Convert a model to ONNX.

    Parameters
    ----------
    ensemble : Ensemble
        The trees.
    encoding : Encoding
        Converts the columns of X to those that trees split.
    classes : ndarray
        The labels.
    link : Link
        Converts scores to probabilities.
    names : sequence of str, optional
        Names of the columns of X.
    opset : int or "newest", optional
        Version of the operators of the default domain.
    costs : float64 array of n_classes x n_classes, optional
        By true and predicted class; labels are then those of least expected cost.

    Returns
    -------
    onnx.ModelProto
        See `BoostedClassifier.to_onnx`.
    """
    helper, types = import_onnx().helper, import_onnx().TensorProto
    # The prefix distinguishes these names from those of columns.
    graph = Graph(_numbered("marginboost/"), checked_opset(opset))
    if all(of_column is None for of_column in encoding.categories):
        inputs = [helper.make_tensor_value_info("X", types.FLOAT, [None, encoding.n_features])]
        columns, matrix = OrderedColumns.of_numbers(encoding), graph.cast("X", "DOUBLE")
    else:
        named = input_names(encoding.n_features, names)
        inputs = [
            helper.make_tensor_value_info(
                name, types.STRING if _is_text(of_column) else types.FLOAT, [None, 1]
            )
            for name, of_column in zip(named, encoding.categories, strict=True)
        ]
        columns, matrix = OrderedColumns.of_mixed(encoding), _mixed_matrix(graph, encoding, named)
    write_model(
        graph,
        columns,
        matrix,
        ensemble=ensemble,
        classes=classes,
        link=link,
        outputs=OUTPUTS,
        costs=costs,
        with_table=True,
    )
    labels = label_array(classes).dtype
    label_type = types.STRING if labels.kind == "O" else helper.np_dtype_to_tensor_dtype(labels)
    outputs = [
        helper.make_tensor_value_info("label", label_type, [None]),
        helper.make_tensor_value_info("probabilities", types.FLOAT, [None, len(classes)]),
        helper.make_tensor_value_info("scores", types.FLOAT, [None, len(classes)]),
    ]
    made = helper.make_graph(graph.nodes, "marginboost", inputs, outputs, graph.constants)
    opsets = [helper.make_opsetid(domain, number) for domain, number in graph.opsets.items()]
    # Version 8 is enough for the oldest operators, and old runtimes read it.
    version = max(8, helper.find_min_ir_version_for(opsets)) if graph.opsets[""] > OLDEST else 8
    made_model: ModelProto = helper.make_model(
        made, opset_imports=opsets, ir_version=version, producer_name="marginboost"
    )
    return made_model


def input_names(n_features: int, names: Sequence[str] | None) -> list[str]:
    """Return a name for each column's input: the column's own name if ONNX allows it."""
    found: list[str] = []
    for column in range(n_features):
        name = f"x{column}" if names is None else str(names[column])
        while not name or name in found or name in OUTPUTS or name.startswith("marginboost/"):
            name = f"x{column}_{name}"
        found.append(name)
    return found


def _numbered(prefix: str) -> Callable[[str], str]:
    """Return a function that makes unique names."""
    numbers = count()
    return lambda name: f"{prefix}{name}_{next(numbers)}"


def _is_text(names: tuple[Category, ...] | None) -> bool:
    return names is not None and all(isinstance(name, str) for name in names)


def _mixed_matrix(graph: Graph, encoding: Encoding, named: list[str]) -> str:
    """Join the columns of numbers and the tables of the categories' positions to one matrix."""
    numbers = [
        name
        for name, of_column in zip(named, encoding.categories, strict=True)
        if of_column is None
    ]
    parts = [graph.cast(graph.add("Concat", *numbers, axis=1), "DOUBLE")] if numbers else []
    for column, positions in enumerate(encoding.positions):
        source = int(encoding.source[column])
        categories = encoding.categories[source]
        if positions is None or categories is None:
            continue
        fill = encoding.fill[column]
        if _is_text(categories):
            # The table must not be empty; a category that is not in it is treated like a missing value.
            keys: NDArray[Any] = np.array(categories or [""], dtype=np.object_)
            name = named[source]
        else:
            keys = _single(np.array(categories))
            name = graph.cast(named[source], "DOUBLE")
        table = graph.add(
            "LabelEncoder",
            name,
            keys_tensor=graph.tensor(keys),
            values_tensor=graph.tensor(positions if categories else np.array([fill])),
            default_tensor=graph.tensor(np.array([fill])),
        )
        parts.append(table)
    return graph.add("Concat", *parts, axis=1)


def _single(categories: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round categories to float32, the type of the model's inputs."""
    with np.errstate(over="ignore"):
        rounded = categories.astype(np.float32).astype(np.float64)
    if len(np.unique(rounded)) < len(rounded):
        raise ValueError(
            "For ONNX, categories that are numbers must differ as float32, got some that do not; convert "
            "them to text."
        )
    return rounded
