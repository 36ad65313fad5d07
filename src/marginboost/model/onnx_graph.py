"""A model as a graph of ONNX operators, with unchanged trees in double precision.

Values are compared, and leaves added up, as float64: a row reaches the same leaves as in `Ensemble`. The
sums are returned as float32, the only type that ONNX has for leaves with vectors.
"""

from __future__ import annotations

import importlib
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.model.ensemble import Ensemble
from marginboost.model.link import Link, OneAgainstAll
from marginboost.model.onnx_columns import OrderedColumns
from marginboost.model.onnx_trees import leaf_table, tree_attributes

__all__ = ["OLDEST", "Graph", "checked_opset", "import_onnx", "label_array", "write_model"]

# The domains of operators outside of ONNX's default domain, and the first versions of their operator sets
# that support all of our types.
_ML = "ai.onnx.ml"
_DOMAINS = {"LabelEncoder": (_ML, 4), "TreeEnsembleRegressor": (_ML, 3)}
# The first version of the default domain in which all of our operators are as we write them.
OLDEST = 13

_LEAST_PROBABILITY = 1e-300  # as in native/src/predict/link.cpp


def import_onnx() -> Any:
    """Import onnx; if it is missing, raise an error that explains how to install it."""
    try:
        return importlib.import_module("onnx")
    except ImportError:
        raise ImportError(
            "An ONNX model needs the package onnx. Install it with pip install 'marginboost[onnx]'."
        ) from None


def checked_opset(opset: int | str | None) -> int:
    """Return the version of the default domain that `to_onnx` was asked for."""
    newest = int(import_onnx().defs.onnx_opset_version())
    if opset is None or opset == "newest":
        return OLDEST if opset is None else newest
    if isinstance(opset, bool) or not isinstance(opset, Integral) or not OLDEST <= opset <= newest:
        raise ValueError(
            f'opset must be None, "newest" or an integer from {OLDEST} to {newest}, the newest of the '
            f"installed package onnx; got {opset!r}."
        )
    return int(opset)


class Graph:
    """Operations and constants of a graph that is being built.

    Parameters
    ----------
    unique : callable
        Makes a unique name.
    opset : int
        Version of the operators of the default domain.

    Attributes
    ----------
    nodes : list of NodeProto
        The operations, in an order in which they can run.
    constants : list of TensorProto
        The constants, with the names that nodes refer to.
    opsets : dict from str to int
        The versions of operator sets that the nodes need, by domain.
    """

    __slots__ = ("_onnx", "_opset", "_unique", "constants", "nodes", "opsets")

    def __init__(self, unique: Any, opset: int = OLDEST) -> None:
        self._onnx = import_onnx()
        self._opset = opset
        self._unique = unique
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.opsets: dict[str, int] = {}

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add an operation of one output; return the output's name."""
        name = self._unique(operator.lower()) if output is None else output
        domain, version = _DOMAINS.get(operator, ("", self._opset))
        self.opsets[domain] = max(version, self.opsets.get(domain, 0))
        self.nodes.append(
            self._onnx.helper.make_node(
                operator, inputs, [name], self._unique(operator), domain=domain, **attributes
            )
        )
        return name

    def constant(self, values: Any) -> str:
        """Add a constant; return its name."""
        name: str = self._unique("constant")
        self.constants.append(self.tensor(np.asarray(values), name))
        return name

    def tensor(self, values: NDArray[Any], name: str = "") -> Any:
        """Convert values, numbers or text, to an ONNX tensor."""
        return self._onnx.numpy_helper.from_array(values, name or self._unique("values"))

    def cast(self, name: str, to: str, output: str | None = None) -> str:
        """Add a conversion to an ONNX type; return the output's name."""
        return self.add("Cast", name, output=output, to=self._onnx.TensorProto.DataType.Value(to))


def write_model(
    graph: Graph,
    columns: OrderedColumns,
    matrix: str,
    *,
    ensemble: Ensemble,
    classes: NDArray[Any],
    link: Link,
    outputs: tuple[str | None, str, str],
    costs: NDArray[np.float64] | None = None,
    with_table: bool = False,
) -> None:
    """Add scores, probabilities and labels to a graph.

    Parameters
    ----------
    graph : Graph
        The graph to add the operations to.
    columns : OrderedColumns
        The places of the ordered columns in the matrix.
    matrix : str
        Name of a matrix of float64.
    ensemble : Ensemble
        The model.
    classes : ndarray
        The labels.
    link : Link
        Converts scores to probabilities.
    outputs : three str
        Names of scores (or None), probabilities and labels.
    costs : float64 array of n_classes x n_classes, optional
        By true and predicted class; labels are then those of least expected cost.
    with_table : bool
        With many classes, keep the leaves' weights in a table beside the trees, which is smaller.
    """
    scores_name, probabilities_name, label_name = outputs
    table = leaf_table(ensemble) if with_table else None
    attributes = tree_attributes(ensemble, columns, table)
    tensors = {
        f"{name}_as_tensor": graph.tensor(attributes.pop(name))
        for name in ("nodes_values", "target_weights")
    }
    of_trees = scores_name if table is None else None
    scores = graph.add("TreeEnsembleRegressor", matrix, output=of_trees, **attributes, **tensors)
    if table is not None:
        sums = _sum_rows(graph, scores, table.values, attributes["n_targets"])
        scores = graph.cast(sums, "FLOAT", scores_name)
    probabilities = _add_link(graph, graph.cast(scores, "DOUBLE"), link, len(classes))
    graph.cast(probabilities, "FLOAT", probabilities_name)
    if costs is None:
        best = graph.add("ArgMax", scores, axis=1, keepdims=0)
    else:
        expected = graph.add("MatMul", probabilities, graph.constant(costs))
        best = graph.add("ArgMin", expected, axis=1, keepdims=0)
    graph.add("Gather", graph.constant(label_array(classes)), best, output=label_name, axis=0)


def _sum_rows(graph: Graph, places: str, table: NDArray[np.float64], n_places: int) -> str:
    """Add, for each row of places, the rows of a table that it names; return the name of the sums.

    Row by row, so that no more than one row of X has its leaves in memory.
    """
    onnx = import_onnx()
    body = Graph(lambda name: f"{places}/{name}")
    found = body.add("Gather", graph.constant(table), f"{places}/row", axis=0)
    body.add("ReduceSum", found, body.constant(np.array([0])), output=f"{places}/sum", keepdims=0)
    info, types = onnx.helper.make_tensor_value_info, onnx.TensorProto
    loop = onnx.helper.make_graph(
        body.nodes,
        "sum_of_rows",
        [info(f"{places}/row", types.INT64, [None])],
        [info(f"{places}/sum", types.DOUBLE, [table.shape[1]])],
        body.constants,
    )
    # One row more, which is cut off again: onnxruntime cannot loop over no row.
    more = graph.constant(np.zeros((1, n_places), dtype=np.int64))
    padded = graph.add("Concat", graph.cast(places, "INT64"), more, axis=0)
    sums = graph.add("Scan", padded, body=loop, num_scan_inputs=1)
    return graph.add("Slice", sums, *(graph.constant(np.array([n])) for n in (0, -1, 0)))


def _add_link(graph: Graph, scores: str, link: Link, n_classes: int) -> str:
    """Add the probabilities of scores, both of float64; return their name."""
    if not isinstance(link, OneAgainstAll) or n_classes == 2:
        factor = 1.0 if isinstance(link, OneAgainstAll) else float(link.factor)
        scaled = graph.add("Mul", scores, graph.constant(np.array(factor)))
        return graph.add("Softmax", scaled, axis=1)
    # Not the operator Sigmoid: runtimes truncate its small values.
    odds = graph.add("Exp", graph.add("Mul", scores, graph.constant(np.array(-2.0))))
    share = graph.add("Reciprocal", graph.add("Add", odds, graph.constant(np.array(1.0))))
    share = graph.add("Max", share, graph.constant(np.array(_LEAST_PROBABILITY)))
    total = graph.add("ReduceSum", share, graph.constant(np.array([1])), keepdims=1)
    return graph.add("Div", share, total)


def label_array(classes: NDArray[Any]) -> NDArray[Any]:
    """Convert the labels to a type that ONNX has; text becomes objects."""
    kind = classes.dtype.kind
    if kind in "OU":
        return classes.astype(np.object_)
    if kind == "f":
        return classes.astype(np.float32 if classes.dtype.itemsize < 8 else np.float64)
    if kind == "b":
        return classes.astype(np.bool_)
    return classes.astype(np.uint64 if classes.max() > np.iinfo(np.int64).max else np.int64)
