"""Where sets come from: a folder, scikit-learn, the cache, the network; and what may go wrong."""

import dataclasses
import gzip

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_iris

from experiments.data.catalogue import CATALOGUE
from experiments.data.entry import Source
from experiments.data.errors import MissingData, WrongData
from experiments.data.library import FOLDER, Library
from experiments.data.npz import read_npz, write_npz
from experiments.data.readers import Delimited, Libsvm, Pieces
from experiments.data.rows import Rows

X, Y = load_iris(return_X_y=True)


def published(site, names=("iris.csv",), **changes):
    """Return iris as a set that must be fetched."""
    rows = ["sepal,petal"]
    rows += [",".join([*map(str, row), str(label)]) for row, label in zip(X, Y, strict=True)]
    (site.folder / "iris.csv").write_text("\n".join(rows[:1] + rows[:0:-1]))  # backwards
    (site.folder / "damaged.csv").write_text("\n".join(rows[:-1]))
    (site.folder / "page.csv").write_text("<html>Sign in first</html>")
    garbled = bytearray(gzip.compress("\n".join(rows).encode()))
    garbled[20:40] = bytes(20)
    (site.folder / "garbled.csv").write_bytes(garbled)
    dump_svmlight_file(X, Y, str(site.folder / "iris.libsvm"), zero_based=False)
    sources = tuple(
        Source(
            (f"{site.url}/{name}",), Pieces(Delimited(",", skip=1) if "csv" in name else Libsvm(4))
        )
        for name in names
    )
    changes = {"sources": sources, "bundled": None} | changes
    return {"iris": dataclasses.replace(CATALOGUE["iris"], **changes)}


def assert_iris(found):
    bundled = Library(None, None, CATALOGUE).load("iris")
    np.testing.assert_array_equal(found.X, bundled.X)
    np.testing.assert_array_equal(found.y, bundled.y)


def left(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("file", ["iris.csv", "iris.libsvm"])
def test_a_set_is_fetched_once(site, tmp_path, file):
    library = Library(None, tmp_path / "cache", published(site, (file,)))
    assert library.find("iris") is None
    for _ in range(2):
        assert_iris(library.load("iris"))
    assert site.asked == [f"/{file}"]
    assert library.find("iris") == "cache"
    assert left(tmp_path / "cache") == ["iris.npz"]


@pytest.mark.parametrize("bad", ["damaged.csv", "page.csv", "garbled.csv", "nowhere.csv"])
def test_the_next_source_helps_out(site, tmp_path, bad):
    library = Library(None, tmp_path / "cache", published(site, (bad, "iris.csv")))
    assert_iris(library.load("iris"))
    assert site.asked == [f"/{bad}", "/iris.csv"]


def test_nothing_wrong_is_kept(site, tmp_path):
    names = ("damaged.csv", "page.csv", "nowhere.csv")
    library = Library(None, tmp_path / "cache", published(site, names, advice="Ask Fisher."))
    with pytest.raises(MissingData) as caught:
        library.load("iris")
    message = str(caught.value)
    assert message.startswith("The data set iris is not here, and could not be fetched:")
    assert "damaged.csv: WrongData" in message
    assert "got 149 rows" in message
    assert "page.csv: " in message
    assert "404" in message
    assert f"Set {FOLDER} to a folder with iris.npz" in message
    assert message.endswith("Ask Fisher.")
    assert left(tmp_path / "cache") == []


@pytest.mark.parametrize("right", [True, False])
def test_a_file_that_is_known_is_checked_by_pooch(site, tmp_path, right):
    import pooch  # noqa: PLC0415

    sets = published(site)
    known = pooch.file_hash(site.folder / "iris.csv", "sha256") if right else "0" * 64
    source = dataclasses.replace(sets["iris"].sources[0], known_hashes=(f"sha256:{known}",))
    sets = {"iris": dataclasses.replace(sets["iris"], sources=(source,))}
    library = Library(None, tmp_path / "cache", sets)
    if right:
        assert_iris(library.load("iris"))
    else:
        with pytest.raises(MissingData, match="does not match the known hash"):
            library.load("iris")
        assert left(tmp_path / "cache") == []


def test_no_server(tmp_path):
    # Nobody listens there.
    source = Source(("http://127.0.0.1:9/iris.csv",), Pieces(Delimited(",")))
    sets = {"iris": dataclasses.replace(CATALOGUE["iris"], sources=(source,), bundled=None)}
    with pytest.raises(MissingData, match=r"127\.0\.0\.1:9/iris\.csv: ConnectionError"):
        Library(None, tmp_path / "cache", sets).load("iris")


def test_a_set_without_a_source(tmp_path):
    with pytest.raises(MissingData, match=r"(?s)no public source.*r52_counts\.npz.*ModApte"):
        Library(None, tmp_path, CATALOGUE).load("reuters52")


@pytest.mark.parametrize("damage", ["cut", "flipped", "other rows", "empty"])
def test_a_damaged_cache_is_filled_anew(site, tmp_path, damage):
    library = Library(None, tmp_path / "cache", published(site))
    library.load("iris")
    path = tmp_path / "cache" / "iris.npz"
    content = bytearray(path.read_bytes())
    if damage == "cut":
        path.write_bytes(content[:-100])
    elif damage == "flipped":
        content[len(content) // 2] ^= 255
        path.write_bytes(content)
    elif damage == "other rows":
        write_npz(path, Rows(X[1:], Y[1:]))
    else:
        path.write_bytes(b"")
    assert_iris(library.load("iris"))
    assert site.asked == ["/iris.csv"] * 2
    np.testing.assert_array_equal(read_npz(path).X, library.load("iris").X)
    assert len(site.asked) == 2


def test_the_folder_comes_first(site, tmp_path):
    write_npz(tmp_path / "iris.npz", Rows(X[::-1].astype(np.float32), Y[::-1]))
    library = Library(tmp_path, tmp_path / "cache", published(site))
    assert_iris(library.load("iris"))
    assert library.find("iris") == FOLDER
    assert not site.asked
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("content", ["rows", "text", "no labels", "pickle"])
def test_a_wrong_file_in_the_folder_is_no_reason_to_look_elsewhere(site, tmp_path, content):
    path = tmp_path / "iris.npz"
    if content == "rows":
        write_npz(path, Rows(X + 1, Y))
    elif content == "text":
        path.write_text("5.1,3.5,1.4,0.2,0")
    elif content == "no labels":
        np.savez(path, X=X)
    else:
        np.savez(path, X=X, y=np.array([{}] * 150, dtype=object))
    with pytest.raises(WrongData, match=r"iris\.npz must"):
        Library(tmp_path, tmp_path / "cache", published(site)).load("iris")
    assert not site.asked


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(MissingData, match=f"{FOLDER} must name an existing folder; got"):
        Library(tmp_path / "typo", tmp_path, CATALOGUE).load("iris")


def test_what_scikit_learn_brings_needs_neither_folder_nor_network(tmp_path):
    library = Library(tmp_path, tmp_path / "cache", CATALOGUE)
    for name in ("iris", "wine", "digits"):
        found, entry = library.load(name), CATALOGUE[name]
        assert library.find(name) == "scikit-learn"
        assert found.X.shape == (entry.rows, entry.features)
        assert len(np.unique(found.y)) == entry.classes


def test_a_set_that_nobody_knows(tmp_path):
    with pytest.raises(ValueError, match=r"must be one of digits, .*, wine; got 'mushrooms'"):
        Library(None, tmp_path, CATALOGUE).load("mushrooms")


def test_a_file_is_written_as_a_whole_or_not_at_all(tmp_path):
    write_npz(tmp_path / "iris.npz", Rows(X, Y))
    before = (tmp_path / "iris.npz").read_bytes()
    with pytest.raises(TypeError):
        write_npz(tmp_path / "iris.npz", Rows(X, _Unwritable()))
    assert (tmp_path / "iris.npz").read_bytes() == before
    assert left(tmp_path) == ["iris.npz"]


class _Unwritable:
    def __array__(self, dtype=None, copy=None):
        raise TypeError("not this one")
