"""Ways to corrupt a model file: blindly, or knowing its format and with a correct checksum."""

import copy
import json
import struct
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

import numpy as np

from marginboost.model import file as model_file

# Values that may cause trouble.
NUMBERS = [0, 1, -1, 2, 3, 7, 255, 2**31 - 1, -(2**31), 2**31, 2**32, 2**48, 2**63 - 1, -(2**63), 2**63,
           2**64, 10**30, 0.0, -0.0, 0.5, 1.5, 1e-320, 1e308, -1e308]  # fmt: skip
TEXTS = ["", "0", "1", "a", "\u0000", "\ud800", "\U0010ffff", "<U1", "<U2147483647", ">i8", "O", "F64",
         "object", "MarginBoostClassifier", "AdaBoostMOClassifier", "x" * 300]  # fmt: skip
FLOATS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, -1e308, 5e-324, 1.0, -1.0, 0.5, 2.0**53]
WHOLES = [0, 1, -1, 2, -2, 3, 7, 127, -128, 2**15, 2**31 - 1, -(2**31), 2**32, 2**62, 2**63 - 1,
          -(2**63)]  # fmt: skip


def flip_bits(data: bytes, others: list[bytes], rng: Random) -> bytes:
    """Flip up to eight bits anywhere."""
    corrupted = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4, 8])):
        corrupted[rng.randrange(len(corrupted))] ^= 1 << rng.randrange(8)
    return bytes(corrupted)


def flip_header(data: bytes, others: list[bytes], rng: Random) -> bytes:
    """Change bytes of the header."""
    corrupted = bytearray(data)
    end = 8 + int.from_bytes(data[:8], "little")
    for _ in range(rng.choice([1, 1, 2, 4])):
        corrupted[rng.randrange(end)] = rng.choice(b'"{}[],:0123456789-.eENIaT\\ \x00\xff')
    return bytes(corrupted)


def truncate(data: bytes, others: list[bytes], rng: Random) -> bytes:
    """Cut off the end or the beginning."""
    place = rng.randrange(len(data))
    return data[:place] if rng.random() < 0.8 else data[place:]


def extend(data: bytes, others: list[bytes], rng: Random) -> bytes:
    """Add bytes."""
    return data + rng.randbytes(rng.choice([1, 4, 8, 64, 1000]))


def splice(data: bytes, others: list[bytes], rng: Random) -> bytes:
    """Overwrite or insert a piece of some file, or leave out a piece."""
    other = rng.choice([data, *others])
    first = rng.randrange(len(other))
    piece = other[first : first + rng.choice([1, 8, 64, 512, len(other)])]
    place = rng.randrange(len(data))
    skipped = rng.choice([0, len(piece), rng.randrange(len(data))])
    return data[:place] + piece + data[place + skipped :]


def change_length(data: bytes, others: list[bytes], rng: Random) -> bytes:
    """Change the length of the header."""
    lengths = [
        0,
        1,
        2,
        len(data),
        len(data) - 8,
        2**26,
        2**32,
        2**63,
        2**64 - 1,
        rng.randrange(9000),
    ]
    length = rng.choice(lengths)
    return struct.pack("<Q", length) + data[8:]


def change_entry(data: bytes, others: list[bytes], rng: Random) -> bytes:
    """Change what the header says about arrays; the bytes stay."""
    header, body = _parted(data)
    names = [name for name in header if name != "__metadata__"]
    for _ in range(rng.choice([1, 1, 2])):
        entry = header[rng.choice(names)]
        if not isinstance(entry, dict):
            continue
        match rng.randrange(6):
            case 0:
                entry["dtype"] = rng.choice(
                    ["F64", "F32", "I64", "I32", "I8", "U8", "U32", "BOOL", "BF16", "F4", 5]
                )
            case 1:
                entry["shape"] = [rng.choice(NUMBERS) for _ in range(rng.randrange(5))]
            case 2:
                entry["data_offsets"] = [rng.choice(NUMBERS) for _ in range(rng.randrange(4))]
            case 3:
                other = header[rng.choice(names)]
                part = rng.choice(["dtype", "shape", "data_offsets"])
                if isinstance(other, dict):
                    entry[part], other[part] = other.get(part), entry.get(part)
            case 4:
                shape = entry["shape"]
                entry["shape"] = rng.choice([[1, *shape], [*shape, 1], shape[::-1]])
            case _:
                header[rng.choice(names)] = rng.choice([entry, None, [], 1, "F64"])
    return _joined(header, body)


def swap_names(data: bytes, others: list[bytes], rng: Random) -> bytes:
    """Swap the names of two arrays, or rename or omit one; the bytes stay."""
    header, body = _parted(data)
    names = [name for name in header if name != "__metadata__"]
    one, other = rng.sample(names, 2)
    if rng.random() < 0.7:
        header[one], header[other] = header[other], header[one]
    else:
        header[rng.choice(["", "classes_", "unknown", "ensemble_", "__metadata__"])] = header.pop(
            one
        )
    return _joined(header, body)


def change_document(data: bytes, others: list[bytes], rng: Random) -> bytes:
    """Change, swap, remove or add entries of the document."""
    document, arrays = _content(data)
    for _ in range(rng.choice([1, 1, 2, 3])):
        places = list(_places(document))
        holder, key = rng.choice(places)
        match rng.randrange(5):
            case 0 | 1:
                holder[key] = _any_value(rng)
            case 2:
                other, other_key = rng.choice(places)
                one = copy.deepcopy(holder[key])
                holder[key], other[other_key] = copy.deepcopy(other[other_key]), one
            case 3:
                del holder[key]
            case _ if isinstance(holder, dict):
                holder[rng.choice([*TEXTS, "coef_", "n_iter_", "callbacks"])] = _any_value(rng)
            case _:
                holder.insert(rng.randrange(len(holder) + 1), _any_value(rng))
        if not document:
            break
    return _packed(document, arrays)


def change_numbers(data: bytes, others: list[bytes], rng: Random) -> bytes:
    """Change entries of arrays."""
    document, arrays = _content(data)
    for _ in range(rng.choice([1, 1, 2, 4])):
        array = arrays[rng.choice(list(arrays))]
        if not array.size:
            continue
        flat = array.reshape(-1)
        place = rng.randrange(flat.size)
        value: Any = flat[rng.randrange(flat.size)]
        if rng.random() < 0.7:
            value = rng.choice(FLOATS) if array.dtype.kind == "f" else _wrapped(rng, array.dtype)
        flat[place] = value
    return _packed(document, arrays)


def change_arrays(data: bytes, others: list[bytes], rng: Random) -> bytes:
    """Swap, omit, cut, lengthen, reverse or retype arrays, or use one of another file."""
    document, arrays = _content(data)
    name, other = rng.sample(list(arrays), 2)
    array = arrays[name]
    match rng.randrange(8):
        case 0:
            arrays[name], arrays[other] = arrays[other], array
        case 1:
            del arrays[name]
        case 2:
            arrays[name] = array[: rng.randrange(len(array) + 1)]
        case 3:
            arrays[name] = np.concatenate([array, array])
        case 4:
            arrays[name] = array.T[..., ::-1]
        case 5:
            with np.errstate(invalid="ignore"):
                arrays[name] = array.astype(rng.choice(["f8", "f4", "i8", "i4", "u4", "i1", "?"]))
        case 6:
            shape = rng.choice([(0,), (0, 2**40), (2**40, 0), (1, 1, 1), ()])
            arrays[name] = np.zeros(shape, array.dtype)
        case _:
            arrays |= {
                found: array for found, array in _content(rng.choice(others))[1].items()
                if rng.random() < 0.4
            }  # fmt: skip
    return _packed(document, arrays)


def cross(data: bytes, others: list[bytes], rng: Random) -> bytes:
    """Combine the document of one file and the arrays of another, or parts of documents."""
    document, arrays = _content(data)
    other_document, other_arrays = _content(rng.choice(others))
    match rng.randrange(3):
        case 0:
            return _packed(document, other_arrays)
        case 1:
            document[rng.choice(["class", "fitted", "parameters"])] = other_document["fitted"]
        case _:
            part = rng.choice(["class", "fitted", "parameters"])
            document[part] = other_document[part]
    return _packed(document, arrays)


def odd_text(data: bytes, others: list[bytes], rng: Random) -> bytes:
    """Put odd things into the document's text, with the checksum of that text."""
    header, body = _parted(data)
    text = header["__metadata__"]["marginboost"]
    place = rng.randrange(len(text))
    odd = rng.choice(
        ["NaN", "Infinity", "-Infinity", "1e999", "[" * 50_000, '{"a":' * 5000, "9" * 5000, "[]," * 200,
         '"class":"SAMMEClassifier",', "\\u0000", '"', "}", "null", "true", "0.1e-5", "-", " "]
    )  # fmt: skip
    header["__metadata__"]["marginboost"] = (
        text[:place] + odd + text[place + rng.choice([0, 1, 4]) :]
    )
    return _joined(header, body)


Mutation = Callable[[bytes, list[bytes], Random], bytes]
BLIND: list[Mutation] = [flip_bits, flip_header, truncate, extend, splice, change_length]
KNOWING: list[Mutation] = [change_entry, swap_names, odd_text]  # whether the checksum is repaired
REPAIRED: list[Mutation] = [change_document, change_numbers, change_arrays, cross]


def repair(data: bytes) -> bytes:
    """Write the checksum of the current content into the file, if it can be computed."""
    with suppress(model_file.ModelFileError, KeyError, TypeError, AttributeError):
        header, body = _parted(data)
        entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
        arrays = model_file._arrays(entries, memoryview(body))
        metadata = header["__metadata__"]
        metadata["sha256"] = model_file.checksum(metadata["marginboost"], arrays)
        return _joined(header, body)
    return data


def _parted(data: bytes) -> tuple[dict[str, Any], bytes]:
    end = 8 + int.from_bytes(data[:8], "little")
    return json.loads(data[8:end]), data[end:]


def _joined(header: dict[str, Any], body: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def _content(data: bytes) -> tuple[Any, dict[str, Any]]:
    return model_file.unpack(data)


def _packed(document: Any, arrays: dict[str, Any]) -> bytes:
    return model_file.pack(document, arrays)


def _places(node: Any) -> Any:
    """Yield every container and key of a document."""
    for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
        yield node, key
        if isinstance(value, dict | list):
            yield from _places(value)


def _any_value(rng: Random) -> Any:
    return rng.choice(
        [rng.choice(NUMBERS), rng.choice(TEXTS), None, True, False, [], {}, [1, 2, 3], ["a", "b"],
         {"dict": [[1, 2.0], [True, 3]]}, {"float": "nan"}, {"tuple": [1]}, [[[[[1]]]]], {"a": {"b": 1}}]
    )  # fmt: skip


def _wrapped(rng: Random, dtype: np.dtype[Any]) -> Any:
    return np.array(rng.choice(WHOLES), dtype=np.int64).astype(dtype)
