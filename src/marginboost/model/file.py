"""The model file: a document and named arrays, in the safetensors format, with a checksum.

The first 8 bytes are the length of a header of JSON; it says where each array lies, and carries the
document and the checksum as metadata. The arrays follow. See docs/model_file.md.

The format is simple enough to be written and read here: so the same model gives the same bytes, and a
file is read in one go and checked whole before anything is made of it.
"""

from __future__ import annotations

import errno
import hashlib
import math
import os
import reprlib
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginboost.model.file_text import ModelFileError, as_text, from_text

__all__ = ["ModelFileError", "pack", "read_bytes", "unpack", "write_bytes"]

Arrays = dict[str, NDArray[Any]]

# The keys of the metadata.
_DOCUMENT = "marginboost"
_CHECKSUM = "sha256"

# More than any model needs: names of columns and categories are all that the header is long for.
_MOST_HEADER = 1 << 26

_DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|u1",
}  # fmt: skip
_NAMES = {dtype: name for name, dtype in _DTYPES.items() if name != "BOOL"} | {"|b1": "BOOL"}


def pack(document: Any, arrays: Arrays) -> bytes:
    """Make the bytes of a file.

    Parameters
    ----------
    document : object
        As for `as_text`.
    arrays : dict from str to ndarray
        Of numbers or booleans.

    Returns
    -------
    bytes
    """
    text = as_text(document)
    plain = {name: _little(array) for name, array in arrays.items()}
    header: dict[str, Any] = {
        "__metadata__": {_DOCUMENT: text, _CHECKSUM: checksum(text, plain)}
    }
    parts = []
    end = 0
    # Wide numbers first, so that each array lies at a multiple of its item's size.
    for name, array in sorted(plain.items(), key=lambda item: (-item[1].itemsize, item[0])):
        header[name] = {
            "dtype": _NAMES[array.dtype.str],
            "shape": list(array.shape),
            "data_offsets": [end, end + array.nbytes],
        }
        end += array.nbytes
        parts.append(array.tobytes())
    head = as_text(header).encode()
    head += b" " * (-len(head) % 8)
    if len(head) > _MOST_HEADER:
        raise ValueError(
            f"The names of columns and categories must take at most {_MOST_HEADER >> 20} MiB in a "
            "model file, got more."
        )
    return b"".join([len(head).to_bytes(8, "little"), head, *parts])


def unpack(data: bytes) -> tuple[Any, Arrays]:
    """Read the bytes of a file.

    Parameters
    ----------
    data : bytes
        May be anything.

    Returns
    -------
    document : object
        As it was given to `pack`.
    arrays : dict from str to ndarray
        New arrays.

    Raises
    ------
    ModelFileError
        If a bit is not as `pack` made it, where that could matter.
    """
    header, body = _header(data)
    metadata = header.pop("__metadata__", None)
    if not isinstance(metadata, dict) or not isinstance(metadata.get(_DOCUMENT), str):
        raise ModelFileError("it must have marginboost's metadata, got another safetensors file.")
    if set(metadata) != {_DOCUMENT, _CHECKSUM}:
        raise ModelFileError(
            f"its metadata must be {_DOCUMENT!r} and {_CHECKSUM!r}, got {reprlib.repr(sorted(metadata))}."
        )
    arrays = _arrays(header, body)
    text = metadata[_DOCUMENT]
    if metadata[_CHECKSUM] != checksum(text, arrays):
        raise ModelFileError("its checksum must be that of its content, got another: it is damaged.")
    return from_text(text), arrays


def checksum(text: str, arrays: Arrays) -> str:
    """Return the SHA-256 of a document's text and of named arrays, in the order of their names.

    It tells damage, not malice: whoever changes a file can change its checksum as well.
    """
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = _little(arrays[name])
        shape = ",".join(map(str, array.shape))
        digest.update(f"\n{name}\n{_NAMES[array.dtype.str]}\n{shape}\n".encode())
        digest.update(array.data if array.size else b"")
    return digest.hexdigest()


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Read a file whole.

    Parameters
    ----------
    path : str or path
        Of a file proper: a pipe or a device may have no end.

    Returns
    -------
    bytes
    """
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise ModelFileError("it must be a file, got a folder or a device.")
    with open(path, "rb") as file:
        return file.read(status.st_size)


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file: at any moment there is the old one or the new one, whole.

    Parameters
    ----------
    path : str or path
        What is there is replaced; where it is a link, what it leads to.
    data : bytes
        The content.
    """
    place = Path(os.path.realpath(path))
    _check_place(place)
    beside = place.with_name(f".{place.name[:100]}.{os.urandom(8).hex()}")
    try:
        with open(beside, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if place.exists():
            beside.chmod(stat.S_IMODE(place.stat().st_mode))
        beside.replace(place)
    except BaseException as error:
        with suppress(OSError):
            beside.unlink()
        if isinstance(error, OSError) and error.errno is not None:  # it names a file that nobody knows
            raise OSError(error.errno, error.strerror, str(place)) from None
        raise
    with suppress(OSError):  # the folder's entry too; not every system can
        folder = os.open(place.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _check_place(place: Path) -> None:
    """Raise unless a file can be there."""
    if not place.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT, "This folder does not exist; make it first", str(place.parent)
        )
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, "This is a folder; name a file in it", str(place))


def _little(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of the same numbers, as they lie in a file."""
    dtype = array.dtype.newbyteorder("<")
    if dtype.str not in _NAMES:
        raise ValueError(f"An array in a model file must hold numbers, got {array.dtype}.")
    return np.ascontiguousarray(array, dtype=dtype).reshape(array.shape)


def _header(data: bytes) -> tuple[dict[str, Any], memoryview]:
    """Part a file into its header and the arrays' bytes."""
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8:
        raise ModelFileError(
            f"it must be a safetensors file whose header is whole, got {len(data):,} bytes that are "
            "not: it is cut off, or no model."
        )
    if length > _MOST_HEADER:
        raise ModelFileError(
            f"its header must have at most {_MOST_HEADER:,} bytes, got {length:,} bytes."
        )
    try:
        text = data[8 : 8 + length].decode()
    except UnicodeDecodeError:
        raise ModelFileError("its header must be UTF-8 text, got bytes that are not.") from None
    header = from_text(text)
    if not isinstance(header, dict):
        raise ModelFileError("its header must be a JSON object, got something else.")
    return header, memoryview(data)[8 + length :]


def _arrays(header: dict[str, Any], body: memoryview) -> Arrays:
    """Cut the arrays out of the bytes, all of which must belong to one."""
    for name, entry in header.items():
        _check_entry(reprlib.repr(name), entry)
    arrays = {}
    end = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        first, last = entry["data_offsets"]
        shown = reprlib.repr(name)
        dtype = np.dtype(_DTYPES[entry["dtype"]])
        if first != end or last - first != math.prod(entry["shape"]) * dtype.itemsize:
            raise ModelFileError(
                f"array {shown} must begin at byte {end:,} and have the length of its shape, got "
                f"bytes {first:,} to {last:,}."
            )
        if last > len(body):
            raise ModelFileError(
                f"array {shown} must end within the file, got bytes to {last:,} of {len(body):,}."
            )
        end = last
        arrays[name] = _array(name, entry, body[first:last])
    if end != len(body):
        raise ModelFileError(f"its arrays must end where it ends, got {len(body) - end:,} more bytes.")
    return arrays


def _check_entry(name: str, entry: Any) -> None:
    """Check what the header says of an array."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ModelFileError(f"array {name} must have dtype, shape and data_offsets, got others.")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in _DTYPES:
        got = reprlib.repr(dtype)
        raise ModelFileError(f"the dtype of array {name} must be a known one, got {got}.")
    if not _are_sizes(shape) or len(shape) > 3:
        got = reprlib.repr(shape)
        raise ModelFileError(f"the shape of array {name} must be at most 3 sizes, got {got}.")
    if not _are_sizes(offsets) or len(offsets) != 2:
        got = reprlib.repr(offsets)
        raise ModelFileError(f"the offsets of array {name} must be two sizes, got {got}.")


def _are_sizes(numbers: Any) -> bool:
    """Say whether these are whole numbers that a size can be."""
    return isinstance(numbers, list) and all(
        type(number) is int and 0 <= number < 1 << 48 for number in numbers
    )


def _array(name: str, entry: dict[str, Any], part: memoryview) -> NDArray[Any]:
    array: NDArray[Any] = np.frombuffer(part, dtype=_DTYPES[entry["dtype"]]).reshape(entry["shape"])
    if entry["dtype"] != "BOOL":
        return array.astype(array.dtype.newbyteorder("="))
    if array.max(initial=0) > 1:
        raise ModelFileError(f"array {name!r} must hold 0 and 1, got another byte.")
    return array.astype(np.bool_)
