"""The real sets, where MARGINBOOST_DATA has them."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.datasets import dump_svmlight_file

from experiments.data import NAMES, is_here, load, load_scenes
from experiments.data.__main__ import main
from experiments.data.catalogue import CATALOGUE
from experiments.data.library import FOLDER
from experiments.data.npz import read_npz
from experiments.data.rows import checksum, settled

FILES = Path(os.environ.get(FOLDER) or "/nowhere")

# As their sources publish them: rows to train and to test on, or rows; then the rows of the classes.
PUBLISHED = {
    "iris": (150, [50, 50, 50]),
    "wine": (178, [59, 71, 48]),
    "glass": (214, [70, 76, 17, 13, 9, 29]),
    "vehicle": (846, [218, 212, 217, 199]),
    "vowel": ((528, 462), [90] * 11),
    "vowel-1452": ((528, 924), [132] * 11),
    "dna": ((2000, 1186), [767, 765, 1654]),
    "svmguide2": (391, [221, 117, 53]),
    "svmguide4": ((300, 312), None),
    "satimage": ((4435, 2000), [1533, 703, 1358, 626, 707, 1508]),
    "segment": (2310, [330] * 7),
    "usps": ((7291, 2007), [1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821]),
    "pendigits": ((7494, 3498), [1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055]),
    "letter": ((16000, 4000), None),
    "isolet": ((6238, 1559), [300] * 5 + [298] + [300] * 6 + [299] + [300] * 13),
    "mnist": ((60000, 10000), [6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958]),
    "news20": ((11314, 7532), None),
    "reuters52": ((6532, 2568), None),
    "leaves100": (1600, [16] * 100),
    "digits": (1797, None),
}


def here(name):
    if name not in ("iris", "wine", "digits") and not is_here(name):
        pytest.skip(f"{name} is not here: MARGINBOOST_DATA names no folder with it")
    return load(name)


def stored(name):
    path = FILES / f"{name}.npz"
    if not path.is_file():
        pytest.skip(f"{name}.npz is not here: MARGINBOOST_DATA names no folder with it")
    return read_npz(path)


def test_all_sets_are_looked_at():
    assert set(PUBLISHED) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_sets_are_as_published(name):
    found = here(name)
    rows, classes = PUBLISHED[name]
    if isinstance(rows, tuple):
        assert (np.sum(~found.test), np.sum(found.test)) == rows
    else:
        assert found.test is None
        assert len(found.y) == rows
    labels, counts = np.unique(found.y, return_counts=True)
    entry = CATALOGUE["vowel" if name == "vowel-1452" else name]
    assert len(labels) == entry.classes
    assert classes is None or counts.tolist() == classes
    assert found.X.shape[0] == len(found.y)
    assert np.prod(found.X.shape[1:]) == entry.features
    if issparse(found.X):
        assert found.X.dtype == np.uint16
    elif name != "mnist":
        assert found.X.dtype == np.float64
        assert np.isfinite(found.X).all()
    assert (found.part is None) == (name != "isolet")
    assert bool(found.note) == (
        name in ("vowel-1452", "news20", "reuters52", "leaves100", "digits")
    )


def test_a_set_stays_in_memory_and_cannot_be_changed():
    found = load("iris")
    assert load("iris") is found
    with pytest.raises(ValueError, match="read-only"):
        found.X[0] = 0
    found.X[[1, 2]][0] = 0  # a choice of rows is a copy


def test_the_doubled_vowels():
    once, twice = here("vowel"), here("vowel-1452")
    np.testing.assert_array_equal(twice.X, np.vstack([once.X, once.X[once.test]]))
    np.testing.assert_array_equal(twice.y, np.concatenate([once.y, once.y[once.test]]))


def test_the_scenes():
    if not (FILES / "scene15_images.zip").is_file():
        pytest.skip("the scenes are not here: MARGINBOOST_DATA names no folder with them")
    scenes = load_scenes()
    with np.load(FILES / "scene15_index.npz") as index:
        np.testing.assert_array_equal(scenes.names, index["names"])
        np.testing.assert_array_equal(scenes.y, index["y"])
        np.testing.assert_array_equal(scenes.test, index["split"] == 1)
    assert [np.ndim(image) for image in scenes.images([0, 4484])] == [2, 2]


def test_the_table(capsys):
    assert main(["iris", "digits", "--load"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:4] == ["iris", "150", "4", "3"]
    assert "scikit-learn, loaded in" in lines[2]
    assert main([]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(NAMES) + 2


def test_the_table_tells_what_is_missing(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv(FOLDER, str(tmp_path))
    monkeypatch.setattr("experiments.data.cache_folder", lambda: tmp_path)
    assert main(["reuters52"]) == 0
    assert capsys.readouterr().out.endswith("not here, and cannot be fetched\n")
    assert main(["reuters52", "--load"]) == 1
    assert "The data set reuters52 is not here" in capsys.readouterr().out


def text(rows, separator, label_first=False, first=None):
    """Return rows as lines of a file, with as many digits as float32 has."""
    lines = [] if first is None else [first]
    for features, label in zip(rows.X, rows.y, strict=True):
        values = [str(value) for value in features]
        lines.append(
            separator.join([str(label), *values] if label_first else [*values, str(label)])
        )
    return "\n".join(lines) + "\n"


def parts(rows):
    return [type(rows)(rows.X[chosen], rows.y[chosen]) for chosen in (~rows.test, rows.test)]


def glass(rows, source):
    numbered = rows._replace(X=[[number, *row] for number, row in enumerate(rows.X, 1)])
    return [text(numbered, ",", first="1,2,3,4,5,6,7" if source == 0 else None)]


def vehicle(rows, source):
    pieces = [type(rows)(rows.X[k : k + 94], rows.y[k : k + 94]) for k in range(0, 846, 94)]
    return [text(piece, " ").replace("van\n", "van \n") for piece in pieces]


def vowel(rows, source):
    if source == 0:  # flag, speaker, sex; vowels are counted from 0
        marked = [[int(flag), 7, 1, *row] for flag, row in zip(rows.test, rows.X, strict=True)]
        return [text(rows._replace(X=marked, y=rows.y - 1), " ")]
    files = []
    for part in parts(rows):
        X = [[label, *row] for label, row in zip(part.y, part.X, strict=True)]
        numbered = part._replace(X=X, y=np.arange(len(X)))
        files.append(text(numbered, ",", label_first=True, first='"row.names","y","x.1"'))
    return files


def numbers(rows, source):
    header = {"pendigits": " 0,1,2,3,4,5,6,7,8,9", "satimage": "1\t2\t3"}
    name = "satimage" if rows.X.shape[1] == 36 else "pendigits"
    separator = ", " if name == "pendigits" else "\t "[source]
    first = header[name] if source == 0 else None
    return [text(part, separator, first=first) for part in parts(rows)]


def letter(rows, source):
    return [text(rows, ",", label_first=True, first="A,B,C" if source == 0 else None)]


def segment(rows, source):
    return [text(rows, " ")]


AS_TEXT = {
    "glass": glass, "vehicle": vehicle, "vowel": vowel, "satimage": numbers, "pendigits": numbers,
    "letter": letter, "segment": segment,
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "source"),
    [(name, source) for name in AS_TEXT for source in range(len(CATALOGUE[name].sources))],
)
def test_files_of_text_as_the_sources_have_them_give_the_same_rows(tmp_path, name, source):
    entry = CATALOGUE[name]
    files = AS_TEXT[name](stored(name), source)
    assert_same_rows(tmp_path, entry, source, [file.encode() for file in files])


@pytest.mark.parametrize("name", ["dna", "svmguide2", "svmguide4"])
def test_files_of_libsvm_as_the_sources_have_them_give_the_same_rows(tmp_path, name):
    rows = stored(name)
    if name == "dna":
        rows = rows._replace(y=np.searchsorted(["ei", "ie", "n"], rows.y) + 1)
    files = []
    for part in [rows] if rows.test is None else parts(rows):
        dump_svmlight_file(part.X.astype(float), part.y, str(tmp_path / "part"), zero_based=False)
        files.append((tmp_path / "part").read_bytes())
    assert_same_rows(tmp_path, CATALOGUE[name], 0, files)


def assert_same_rows(tmp_path, entry, source, files):
    published = entry.sources[source]
    assert len(files) == len(published.urls)
    paths = [tmp_path / str(number) for number in range(len(files))]
    for path, content in zip(paths, files, strict=True):
        path.write_bytes(content)
    assert checksum(settled(published.read(paths), entry.dtype)) == entry.checksum


def test_what_is_here_needs_no_pooch(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.delenv("MARGINBOOST_DATA", raising=False)
    assert len(load("wine").y) == 178
