"""The model file itself: what is read is what was written, or an error."""

import errno
import json
import os
import struct

import numpy as np
import pytest
import safetensors
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from marginboost import ModelFileError
from marginboost.model.file import checksum, pack, read_bytes, unpack, write_bytes

ARRAYS = {
    "numbers": np.array([[1.5, -0.0, np.nan], [np.inf, 5e-324, 1e308]]),
    "none": np.empty((0, 3), dtype=np.int64),
    "flags": np.array([True, False]),
    "bytes": np.array([[[1, 2]]], dtype=np.uint8),
}
FINITE = st.floats(allow_nan=False, allow_infinity=False)
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | FINITE | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


def with_header(header, body=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def sound(entries, body, text="{}", arrays=None):
    """Return a file with any header, and the checksum of its arrays."""
    metadata = {"marginboost": text, "sha256": checksum(text, arrays or {})}
    return with_header({"__metadata__": metadata, **entries}, body)


def test_what_is_read_is_what_was_written():
    document = {"a": [1, 2.5, None, True, "\u00e9\U0001f600\ud800"], "b": {"c": {}}}
    found, arrays = unpack(pack(document, ARRAYS))
    assert found == document
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        assert arrays[name].tobytes() == array.tobytes()


def test_the_same_content_gives_the_same_bytes():
    assert pack({"a": 1}, ARRAYS) == pack({"a": 1}, dict(reversed(ARRAYS.items())))


def test_safetensors_reads_it(tmp_path):
    path = tmp_path / "file.safetensors"
    write_bytes(path, pack({"a": 1}, ARRAYS))
    with safetensors.safe_open(path, framework="numpy") as file:
        assert json.loads(file.metadata()["marginboost"]) == {"a": 1}
        assert set(file.keys()) == set(ARRAYS)
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(file.get_tensor(name), array)


def test_big_endian_and_strided_arrays_are_kept():
    array = np.arange(12.0).reshape(3, 4).astype(">f8")
    found = unpack(pack(None, {"a": array.T, "b": array[:, ::2]}))[1]
    np.testing.assert_array_equal(found["a"], array.T)
    np.testing.assert_array_equal(found["b"], array[:, ::2])


@given(
    DOCUMENTS,
    st.dictionaries(
        st.text(max_size=5).filter(lambda name: name != "__metadata__"),
        hnp.arrays(
            st.sampled_from(["f8", "f4", "i8", "i4", "u1", "?"]),
            hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
        ),
        max_size=3,
    ),
)
def test_any_content_survives(document, arrays):
    found, again = unpack(pack(document, arrays))
    assert found == document
    assert {n: (a.dtype, a.shape, a.tobytes()) for n, a in again.items()} == {
        n: (a.dtype, a.shape, a.tobytes()) for n, a in arrays.items()
    }


@given(st.data())
def test_no_flipped_bits_go_unnoticed(data):
    """Any change is an error, or has no effect: white space, say."""
    packed = bytearray(pack({"a": [1, 2]}, ARRAYS))
    for _ in range(data.draw(st.integers(1, 3))):
        packed[data.draw(st.integers(0, len(packed) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    try:
        found, arrays = unpack(bytes(packed))
    except ModelFileError:
        return
    assert pack(found, arrays) == pack({"a": [1, 2]}, ARRAYS)


@given(st.binary(max_size=200) | st.binary(max_size=60).map(with_header))
def test_any_bytes_are_refused(data):
    with pytest.raises(ModelFileError):
        unpack(data)


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 100, -1, -9])
def test_a_file_that_is_cut_off(length):
    packed = pack({"a": 1}, ARRAYS)
    with pytest.raises(ModelFileError):
        unpack(packed[:length])
    with pytest.raises(ModelFileError, match="8 more bytes"):
        unpack(packed + bytes(8))


ONE = {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"a": 1}, "must have dtype, shape and data_offsets"),
        ({"a": ONE | {"more": 1}}, "must have dtype, shape and data_offsets"),
        ({"a": ONE | {"dtype": "F8_E4M3"}}, "must be a known one, got 'F8_E4M3'"),
        ({"a": ONE | {"dtype": ["F64"]}}, "must be a known one"),
        ({"a": ONE | {"shape": [2]}}, "the length of its shape"),
        ({"a": ONE | {"shape": [-1]}}, "must be at most 3 sizes"),
        ({"a": ONE | {"shape": [True]}}, "must be at most 3 sizes"),
        ({"a": ONE | {"shape": [1.0]}}, "must be at most 3 sizes"),
        ({"a": ONE | {"shape": [1] * 4}}, "must be at most 3 sizes"),
        ({"a": ONE | {"shape": [1 << 60, 1 << 60]}}, "must be at most 3 sizes"),
        ({"a": ONE | {"data_offsets": [8, 0]}}, "must begin at byte 0"),
        ({"a": ONE | {"data_offsets": [0, 8, 16]}}, "must be two sizes"),
        ({"a": ONE | {"data_offsets": "08"}}, "must be two sizes"),
        ({"a": ONE | {"shape": [2], "data_offsets": [0, 16]}}, "must end within the file"),
        ({"a": ONE, "b": ONE}, "'b' must begin at byte 8"),
        ({"a": ONE | {"data_offsets": [1, 9]}}, "must begin at byte 0"),
        ({"a": ONE | {"shape": [0], "data_offsets": [0, 0]}}, "8 more bytes"),
        ({"a": ONE | {"dtype": "BOOL", "shape": [8]}}, "must hold 0 and 1"),
    ],
)
def test_a_wrong_entry_of_the_header(entries, message):
    with pytest.raises(ModelFileError, match=message):
        unpack(sound(entries, b"\x02" * 8))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"[]", "must be a JSON object"),
        (b"{}", "another safetensors file"),
        (b'{"__metadata__": {"format": "pt"}}', "another safetensors file"),
        (b'{"__metadata__": {"marginboost": "{}"}}', "must be 'marginboost' and 'sha256'"),
        (b'{"__metadata__": {"marginboost": "{}", "sha256": 5}}', "is damaged"),
        (b'{"a": 1, "a": 2}', "'a' twice"),
        (b'{"a": NaN}', "must be finite, got NaN"),
        (b'{"a": 1e999}', "must be finite, got '1e999'"),
        (b'{"a": ' + b"9" * 5000 + b"}", "must be JSON"),
        (b"\xff", "must be UTF-8"),
        (b"[" * 100_000, "at most 16 levels"),
        (b"[" + b"[]," * 300_000 + b"[]]", "262,144 lists"),
    ],
)
def test_a_wrong_header(header, message):
    with pytest.raises(ModelFileError, match=message):
        unpack(with_header(header))


def test_a_huge_header_is_refused_before_it_is_read():
    with pytest.raises(ModelFileError, match="truncated"):
        unpack(struct.pack("<Q", 1 << 40) + b"{}")


def test_a_header_of_many_columns_is_written():
    names = [f"column {i}" for i in range(100_000)]
    assert unpack(pack(names, {}))[0] == names


def test_what_is_not_a_file(tmp_path):
    with pytest.raises(ModelFileError, match="must be a file, got a folder"):
        read_bytes(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "none")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ModelFileError, match="must be a file"):  # and does not wait
            read_bytes(tmp_path / "pipe")


def test_a_place_where_no_file_can_be(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"This folder does not exist; create it first: .*none'$"
    ):
        write_bytes(tmp_path / "none" / "file", b"")
    with pytest.raises(IsADirectoryError, match="This is a folder; name a file in it"):
        write_bytes(tmp_path, b"")


def test_a_save_that_is_refused_names_the_file(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EACCES, "Permission denied", "a name that nobody gave")

    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(PermissionError, match=r"Permission denied: '.*file'"):
        write_bytes(tmp_path / "file", b"")
    assert not list(tmp_path.iterdir())


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_bytes(path, b"old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_bytes(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_save_follows_links_and_keeps_the_usual_permissions(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_bytes(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"
    (tmp_path / "other").write_bytes(b"")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "other").stat().st_mode
