"""Conversion of scikit-learn pipelines with classifiers of this library, by skl2onnx.

Importing this module registers the classifiers; `to_onnx` of a classifier does not need it.
"""

from __future__ import annotations

import importlib
from typing import Any

from marginboost.estimators.fitted import FittedClassifier
from marginboost.estimators.saving import own_classes
from marginboost.model.onnx_columns import OrderedColumns
from marginboost.model.onnx_graph import Graph, write_model

__all__ = ["register"]


def register() -> None:
    """Teach skl2onnx how to convert every classifier of this library.

    Importing this module does it already.

    Examples
    --------
    >>> import marginboost.onnx
    >>> from marginboost import MCBoostClassifier
    >>> from skl2onnx import to_onnx
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_iris(return_X_y=True)
    >>> pipeline = make_pipeline(StandardScaler(), MCBoostClassifier(n_estimators=10)).fit(X, y)
    >>> model = to_onnx(pipeline, X[:1].astype("float32"), options={"zipmap": False})
    >>> [output.name for output in model.graph.output]
    ['label', 'probabilities']
    """
    try:
        skl2onnx = importlib.import_module("skl2onnx")
        shapes = importlib.import_module("skl2onnx.common.shape_calculator")
    except ImportError:
        raise ImportError(
            "Conversion of pipelines needs the package skl2onnx: pip install 'marginboost[onnx]' "
            "installs it."
        ) from None
    for name, kind in own_classes(FittedClassifier).items():
        skl2onnx.update_registered_converter(
            kind,
            f"Marginboost{name}",
            shapes.calculate_linear_classifier_output_shapes,
            _convert,
            options={
                "zipmap": [True, False, "columns"],
                "nocl": [True, False],
                "output_class_labels": [False, True],
            },
        )


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add a fitted classifier to the model that skl2onnx is making."""
    model = operator.raw_operator
    if any(names is not None for names in model.encoding_.categories):
        raise ValueError(
            "A classifier in a pipeline must take columns of numbers alone to be converted, got one with "
            "categories: use its own to_onnx."
        )
    graph = Graph(scope.get_unique_variable_name)
    label, probabilities = (variable.full_name for variable in operator.outputs)
    write_model(
        graph,
        OrderedColumns.of_numbers(model.encoding_),
        graph.cast(operator.inputs[0].full_name, "DOUBLE"),
        ensemble=model.ensemble_,
        classes=model.classes_,
        link=model._link(len(model.classes_)),
        outputs=(None, probabilities, label),
        costs=getattr(model, "cost_matrix_", None),
    )
    container.initializers.extend(graph.constants)
    container.nodes.extend(graph.nodes)
    container.node_domain_version_pair_sets.update(graph.opsets.items())


register()
