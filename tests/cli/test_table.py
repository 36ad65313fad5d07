import gzip
from io import BytesIO

import polars as pl
import pytest

from marginboost.cli.failure import UserError
from marginboost.cli.table import is_table, read_table, write_table

FRAME = pl.DataFrame({"a": [1, 2], "b": ["x, y", None], "c": [0.5, None]})


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.tab", "t.csv.gz", "t.parquet", "T.PQ"])
def test_what_is_written_is_read(tmp_path, name):
    path = tmp_path / name
    with path.open("wb") as file:
        write_table(FRAME, file, name)
    assert is_table(name)
    assert read_table(str(path)).equals(FRAME)


def test_compressed_tables_are_compressed(tmp_path):
    file = BytesIO()
    write_table(FRAME, file, "t.csv.gz")
    assert gzip.decompress(file.getvalue()).startswith(b"a,b,c\n")


def test_words_for_missing_values(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,x\nNA,NaN\n,null\n2.5,\n")
    assert read_table(str(path)).to_dict(as_series=False) == {
        "a": [1.0, None, None, 2.5],
        "b": ["x", None, None, None],
    }


def test_semicolons_where_there_are_no_commas(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1;2\n")
    assert read_table(str(path)).columns == ["a", "b"]


def test_names_with_brackets_and_byte_order_marks(tmp_path):
    path = tmp_path / "t[1].csv"
    path.write_text("\ufeffa,b\n1,2\n", "utf-8")
    assert read_table(str(path), text=["b"]).to_dict(as_series=False) == {"a": [1], "b": ["2"]}


def test_codes_stay_as_they_are_written(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("code,n\n007,1\n7,2\n")
    assert read_table(str(path), text=["code", "absent"])["code"].to_list() == ["007", "7"]


def test_a_word_in_the_last_row_makes_a_column_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\n" + "1\n" * 5000 + "x\n")
    assert read_table(str(path))["a"].dtype == pl.String


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.csv", b"", "is empty"),
        ("t.csv", b"a,b\n", "at least one row"),
        ("t.csv", b"a,b\n1,2,3\n4,5,6\n", "cannot be read"),
        ("t.csv", "a,b\nGr\u00fcn,1\n".encode("latin-1"), "save it as UTF-8"),
        ("t.csv.gz", b"not compressed", "gzip"),
        ("t.parquet", b"not parquet", "must be a Parquet file"),
        ("t.xlsx", b"", "must end in .csv"),
    ],
)
def test_what_cannot_be_read(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises((UserError, OSError), match=words):
        read_table(str(path))


def test_decimal_commas(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "a;b;c;d;e;f;g;h\n3,5;1.234;7;x,1;true;0.25;1,5;\n-1.000,25;5.678;8;2;false;;2,5;\n"
    )
    found = read_table(str(path), text=["g"], decimal=",")
    assert found.to_dict(as_series=False) == {
        "a": [3.5, -1000.25], "b": [1234, 5678], "c": [7, 8], "d": ["x,1", "2"], "e": [True, False],
        "f": [0.25, None], "g": ["1,5", "2,5"], "h": [None, None],
    }  # fmt: skip
    assert read_table(str(path))["a"].to_list() == ["3,5", "-1.000,25"]


def test_decimal_commas_in_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": ["3,5", None], "b": [1.5, 2.5]}).write_parquet(path)
    found = read_table(str(path), decimal=",")
    assert found.to_dict(as_series=False) == {"a": [3.5, None], "b": [1.5, 2.5]}
