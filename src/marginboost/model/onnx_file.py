"""An ONNX model as a file: what it says about itself, and how it takes little room.

ONNX stores each number of a list with a tag before it, which is one of its two or three bytes. A packed
list has one tag for all numbers. Every reader of protocol buffers reads both; Python's writer cannot be
asked for packed lists, so they are written here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import marginboost
from marginboost.model.onnx_graph import import_onnx

if TYPE_CHECKING:
    from onnx import AttributeProto, GraphProto, ModelProto, NodeProto

__all__ = ["describe", "packed"]

_BYTES = 2  # the wire type of what has a length: messages, text and packed lists


def describe(
    model: ModelProto, classifier: str, classes: NDArray[Any], names: Sequence[str] | None
) -> None:
    """Write into a model which classifier it is, by which version, and its labels and columns.

    Parameters
    ----------
    model : onnx.ModelProto
        Is changed.
    classifier : str
        Name of the class.
    classes : ndarray
        The labels.
    names : sequence of str, optional
        Names of the columns of X.
    """
    model.producer_version = marginboost.__version__
    facts = {"classifier": classifier, "classes": _as_json(classes.tolist())}
    if names is not None:
        facts["columns"] = _as_json([str(name) for name in names])
    import_onnx().helper.set_model_props(model, facts)


def _as_json(values: list[Any]) -> str:
    return json.dumps(values, ensure_ascii=False, default=str)


def packed(model: ModelProto) -> bytes:
    """Serialize a model with its lists of integers packed."""
    shell = type(model)()
    shell.CopyFrom(model)
    shell.ClearField("graph")
    place = model.DESCRIPTOR.fields_by_name["graph"].number
    head: bytes = shell.SerializeToString()
    return head + _field(place, b"".join(_graph(model.graph)))


def _graph(graph: GraphProto) -> Iterator[bytes]:
    place = graph.DESCRIPTOR.fields_by_name["node"].number
    for node in graph.node:
        yield _field(place, b"".join(_node(node)))
    rest = type(graph)()
    rest.CopyFrom(graph)
    rest.ClearField("node")
    yield rest.SerializeToString()


def _node(node: NodeProto) -> Iterator[bytes]:
    place = node.DESCRIPTOR.fields_by_name["attribute"].number
    for attribute in node.attribute:
        yield _field(place, b"".join(_attribute(attribute)))
    rest = type(node)()
    rest.CopyFrom(node)
    rest.ClearField("attribute")
    yield rest.SerializeToString()


def _attribute(attribute: AttributeProto) -> Iterator[bytes]:
    if not attribute.ints:
        yield attribute.SerializeToString()
        return
    place = attribute.DESCRIPTOR.fields_by_name["ints"].number
    yield _field(place, varints(np.array(attribute.ints, dtype=np.int64)))
    rest = type(attribute)(name=attribute.name, type=attribute.type)
    yield rest.SerializeToString()


def _field(number: int, content: bytes) -> bytes:
    head = varints(np.array([number << 3 | _BYTES])) + varints(np.array([len(content)]))
    return head + content


def varints(numbers: NDArray[np.int64]) -> bytes:
    """Write integers as protocol buffers do: seven bits per byte, the lowest first.

    The highest bit of a byte says that another byte of the number follows.
    """
    rest = numbers.astype(np.uint64)  # negative numbers take ten bytes, in two's complement
    n_bytes = np.ones(len(rest), dtype=np.int64)
    for more in range(1, 10):
        n_bytes += rest >> np.uint64(7 * more) > 0
    ends = np.cumsum(n_bytes)
    found = np.empty(int(ends[-1]) if len(ends) else 0, dtype=np.uint8)
    for place in range(int(n_bytes.max(initial=0))):
        there = n_bytes > place
        low = rest[there] >> np.uint64(7 * place) & np.uint64(0x7F)
        follows = n_bytes[there] > place + 1
        found[ends[there] - n_bytes[there] + place] = low | (
            follows.astype(np.uint64) << np.uint64(7)
        )
    return found.tobytes()
