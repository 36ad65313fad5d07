"""Files as public sources have them."""

import gzip
import io
import tarfile

import numpy as np
import pytest
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file, load_digits, load_iris

from experiments.data.readers import (
    Delimited,
    Libsvm,
    Pieces,
    read_idx,
    read_idx_pairs,
    read_mat,
    read_newsgroups,
    read_views,
)

X, Y = load_iris(return_X_y=True)


def idx(array):
    sizes = np.array(array.shape, ">u4").tobytes()
    return bytes([0, 0, 8, array.ndim]) + sizes + array.astype(np.uint8).tobytes()


@pytest.mark.parametrize("separator", [",", " ", "\t", " ,  "])
@pytest.mark.parametrize("compress", [False, True])
def test_delimited_text(tmp_path, separator, compress):
    names = np.array(["a", "b", "c"])[Y]
    lines = ["who knows"]
    lines += [separator.join([name, *map(str, row)]) for row, name in zip(X, names, strict=True)]
    text = ("\r\n".join(lines) + "\r\n\r\n").encode()
    path = tmp_path / "iris"
    path.write_bytes(gzip.compress(text) if compress else text)
    read = Delimited(separator.strip() or None, features=(1, None), label=0, skip=1)
    found = read(path)
    np.testing.assert_array_equal(found.X, X)
    np.testing.assert_array_equal(found.y, names)
    assert found.test is None


def test_flags_quotes_and_other_names_of_labels(tmp_path):
    path = tmp_path / "vowels"
    path.write_text('"0","1","2.5"\n"1","0","3.5"\n')
    found = Delimited(",", features=(2, 3), label=1, test=0, labels={"0": "one", "1": "two"})(path)
    assert found.X.tolist() == [[2.5], [3.5]]
    assert found.y.tolist() == ["two", "one"]
    assert found.test.tolist() == [False, True]


def test_the_first_rows_can_be_those_to_train_on(tmp_path):
    path = tmp_path / "letters"
    path.write_text("1,A\n2,B\n3,C\n")
    assert Delimited(",", train_rows=2)(path).test.tolist() == [False, False, True]


def test_libsvm_text(tmp_path):
    path = tmp_path / "iris"
    dump_svmlight_file(X, Y + 1, str(path), zero_based=False)
    found = Libsvm(5, {1: "a", 2: "b", 3: "c"})(path)  # the fifth is 0 throughout
    np.testing.assert_array_equal(found.X, np.hstack([X, np.zeros((150, 1))]))
    np.testing.assert_array_equal(found.y, np.array(["a", "b", "c"])[Y])


def test_libsvm_text_with_signs_and_spaces(tmp_path):
    path = tmp_path / "odd"
    path.write_text("+3   1:0.25 3:-1e-12 \n-1 2:1 ")
    found = Libsvm(3)(path)
    assert found.X.tolist() == [[0.25, 0, -1e-12], [0, 1, 0]]
    assert found.y.tolist() == [3, -1]


def test_pieces_say_which_part_they_are(tmp_path):
    for number in range(3):
        (tmp_path / str(number)).write_text("1,2\n" * (number + 1))
    paths = [tmp_path / str(number) for number in range(3)]
    found = Pieces(Delimited(","), (False, False, True), (5, 6, 7))(paths)
    assert found.test.tolist() == [False] * 3 + [True] * 3
    assert found.part.tolist() == [5, 6, 6, 7, 7, 7]


def test_idx(tmp_path):
    digits = load_digits()
    contents = [
        digits.images[:1000],
        digits.target[:1000],
        digits.images[1000:],
        digits.target[1000:],
    ]
    paths = [tmp_path / str(number) for number in range(4)]
    for number, (path, content) in enumerate(zip(paths, contents, strict=True)):
        path.write_bytes(gzip.compress(idx(content)) if number % 2 else idx(content))
    found = read_idx_pairs(paths)
    np.testing.assert_array_equal(found.X, digits.images)
    np.testing.assert_array_equal(found.y, digits.target)
    np.testing.assert_array_equal(found.test, np.arange(1797) >= 1000)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"<html>", "must begin with 00 00 08"), (idx(np.eye(3))[:-1], "must have 9 values; got 8")],
)
def test_what_is_no_idx(tmp_path, content, message):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_idx(tmp_path / "file")


def test_matlab_files(tmp_path):
    savemat(tmp_path / "iris.mat", {"fea": X, "gnd": Y[:, None]})
    found = read_mat(tmp_path / "iris.mat")
    np.testing.assert_array_equal(found.X, X)
    np.testing.assert_array_equal(found.y, Y)


@pytest.mark.parametrize("shape", [(1, 2), (2, 1)])
def test_matlab_files_of_views(tmp_path, shape):
    views = np.empty(shape, dtype=object)
    views.ravel()[:] = [X[:, :2], X[:, 2:]]
    savemat(tmp_path / "iris.mat", {"X": views, "Y": Y[:, None]})
    found = read_views(tmp_path / "iris.mat")
    np.testing.assert_array_equal(found.X, X)
    np.testing.assert_array_equal(found.y, Y)


def test_matlab_files_of_something_else(tmp_path):
    savemat(tmp_path / "iris.mat", {"X": X})
    with pytest.raises(ValueError, match="one cell array and one column of labels; got 0 and 0"):
        read_views(tmp_path / "iris.mat")


def test_newsgroups(tmp_path):
    articles = {
        "20news-bydate-test/b.group/7": "From: zebra\n\nApple pear pear unseen",
        "20news-bydate-train/b.group/10": "apple\n\napple x1 the Pear",
        "20news-bydate-train/b.group/9": "apple\r\n\r\nAPPLE pear rare\n\nrare",
        "20news-bydate-train/a.group/3": "pear\n\npear apple \xe9t\xe9",
    }
    with tarfile.open(tmp_path / "news.tar.gz", "w:gz") as archive:
        for name, text in articles.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode("latin-1"))
            archive.addfile(member, io.BytesIO(text.encode("latin-1")))
    found = read_newsgroups([tmp_path / "news.tar.gz"])
    assert found.X.toarray().tolist() == [[1, 1], [1, 1], [1, 1], [1, 2]]  # apple, pear
    assert found.y.tolist() == ["a.group", "b.group", "b.group", "b.group"]
    assert found.test.tolist() == [False, False, False, True]
