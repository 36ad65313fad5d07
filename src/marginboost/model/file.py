"""The model file: a document and named arrays, in the safetensors format, with a checksum.

The first 8 bytes are the length of a JSON header, which gives the position of each array, and holds the
document and the checksum as metadata. The arrays follow. See docs/model_file.md.

The format is simple enough to be written and read here. So the same model always gives the same bytes,
and a file is read at once and fully checked before it is used.
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

__all__ = ["ModelFileError", "pack", "peek", "read_bytes", "unpack", "write_bytes"]

Arrays = dict[str, NDArray[Any]]

# The keys of the metadata.
_DOCUMENT = "marginboost"
_CHECKSUM = "sha256"

# More than any model needs: only names of columns and categories make a header long.
_MOST_HEADER = 1 << 26

_DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|u1",
}  # fmt: skip
_NAMES = {dtype: name for name, dtype in _DTYPES.items() if name != "BOOL"} | {"|b1": "BOOL"}


def pack(document: Any, arrays: Arrays) -> bytes:
    """Return the content of a file as bytes.

    Parameters
    ----------
    document : object
        As for `as_text`.
    arrays : dict from str to ndarray
        Arrays of numbers or booleans.

    Returns
    -------
    bytes
    """
    text = as_text(document)
    plain = {name: _little(array) for name, array in arrays.items()}
    header: dict[str, Any] = {"__metadata__": {_DOCUMENT: text, _CHECKSUM: checksum(text, plain)}}
    parts = []
    end = 0
    # Wide numbers first, so that each array begins at a multiple of its item size.
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
    """Read the content of a file.

    Parameters
    ----------
    data : bytes
        Any bytes.

    Returns
    -------
    document : object
        As passed to `pack`.
    arrays : dict from str to ndarray
        New arrays.

    Raises
    ------
    ModelFileError
        If a bit that matters differs from what `pack` wrote.
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
        raise ModelFileError(
            "its checksum must match its content, got another: the file is damaged."
        )
    return from_text(text), arrays


def peek(path: str | os.PathLike[str]) -> Any:
    """Read the document of a file without its arrays, unchecked: it only says what to expect.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    object
        As passed to `pack`, if the file is sound; None if it has no such document.
    """
    with open(path, "rb") as file:
        head = file.read(8)
        length = int.from_bytes(head, "little")
        if length > min(_MOST_HEADER, os.fstat(file.fileno()).st_size):
            return None
        head += file.read(length)
    try:
        metadata = _header(head)[0].get("__metadata__")
        return from_text(metadata[_DOCUMENT]) if isinstance(metadata, dict) else None
    except (ModelFileError, KeyError, TypeError):
        return None


def checksum(text: str, arrays: Arrays) -> str:
    """Return the SHA-256 of a document's text and of named arrays, in the order of their names.

    It protects against damage, not against attacks: whoever changes a file can update its checksum.
    """
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = _little(arrays[name])
        shape = ",".join(map(str, array.shape))
        digest.update(f"\n{name}\n{_NAMES[array.dtype.str]}\n{shape}\n".encode())
        digest.update(array.data if array.size else b"")
    return digest.hexdigest()


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Read a whole file.

    Parameters
    ----------
    path : str or path
        Path of a regular file: a pipe or a device may have no end.

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
    """Write a file such that at any moment either the old one or the new one is complete.

    Parameters
    ----------
    path : str or path
        An existing file is replaced; for a link, the file that it points to.
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
        if isinstance(error, OSError) and error.errno is not None:  # it names the temporary file
            raise OSError(error.errno, error.strerror, str(place)) from None
        raise
    with suppress(OSError):  # also sync the folder's entry; not every system can
        folder = os.open(place.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _check_place(place: Path) -> None:
    """Raise if no file can be written at this place."""
    if not place.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT, "This folder does not exist; create it first", str(place.parent)
        )
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, "This is a folder; name a file in it", str(place))


def _little(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array in the byte order and layout of a file."""
    dtype = array.dtype.newbyteorder("<")
    if dtype.str not in _NAMES:
        raise ValueError(f"An array in a model file must hold numbers, got {array.dtype}.")
    return np.ascontiguousarray(array, dtype=dtype).reshape(array.shape)


def _header(data: bytes) -> tuple[dict[str, Any], memoryview]:
    """Split a file into its header and the bytes of the arrays."""
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8:
        raise ModelFileError(
            f"it must be a safetensors file with a complete header, got {len(data):,} bytes that are "
            "not: the file is truncated, or not a model."
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
    """Read the arrays; every byte must belong to one of them."""
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
        raise ModelFileError(
            f"its arrays must end where it ends, got {len(body) - end:,} more bytes."
        )
    return arrays


def _check_entry(name: str, entry: Any) -> None:
    """Check the header's entry of an array."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ModelFileError(
            f"array {name} must have dtype, shape and data_offsets, got other entries."
        )
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
    """Check whether these are integers in the range of a size."""
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
