import gzip
import io
import sys
from io import BytesIO

import polars as pl
import pytest

from marginboost.cli.failure import UserError
from marginboost.cli.formats import Dialect, is_table, separator_from
from marginboost.cli.header import columns_at_once, columns_of
from marginboost.cli.table import read_table, write_table

FRAME = pl.DataFrame({"a": [1, 2], "b": ["x, y", None], "c": [0.5, None]})


@pytest.mark.parametrize(
    "name",
    [
        *(
            "t.csv",
            "t.tsv",
            "t.tab",
            "t.txt",
            "t.csv.gz",
            "t.txt.gz",
            "t.jsonl",
            "t.jsonl.gz",
            "t.ndjson",
        ),
        *("t.parquet", "T.PQ", "t.arrow", "t.feather", "t.ipc"),
    ],
)
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
    ("early", "late", "dtype"),
    [
        ("1", "x", pl.String),
        ("1", "2.5", pl.Float64),
        ("true", "x", pl.String),
        ("", "7", pl.Int64),
        ("NA", "2.5", pl.Float64),
        ("", "x", pl.String),
        ("", "", pl.String),
    ],
)
@pytest.mark.parametrize("stdin", [False, True])
def test_types_hold_for_all_rows(tmp_path, monkeypatch, early, late, dtype, stdin):
    """Whatever the first rows, from which types are guessed, look like."""
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + f"{early},1\n" * 12 + f"{late},1\n")
    monkeypatch.setattr("marginboost.cli.text_table.SAMPLED", 10)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    found = read_table("-" if stdin else str(path))
    assert found["a"].dtype == dtype
    assert found.height == 13
    assert str(found["a"][-1] if late else "") == late


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.csv", b"", "is empty"),
        ("t.csv", b"a,b\n", "at least one row"),
        ("t.csv", b"a,b\n1,2,3\n4,5,6\n", "cannot be read"),
        ("t.csv", "a,b\nGr\u00fcn,1\n".encode("latin-1"), "save it as UTF-8"),
        ("t.csv.gz", b"not compressed", "gzip"),
        ("t.parquet", b"not parquet", "must be a Parquet file"),
        ("t.doc", b"", "must end in .csv"),
        ("t.arrow", b"not arrow", "must be an Arrow file"),
        ("t.feather", b"ARROW1not", "must be an Arrow file"),
        ("t.jsonl", b"not json", "must be a file with a JSON object per line"),
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
    found = read_table(str(path), text=["g"], dialect=Dialect(","))
    assert found.to_dict(as_series=False) == {
        "a": [3.5, -1000.25], "b": [1234, 5678], "c": [7, 8], "d": ["x,1", "2"], "e": [True, False],
        "f": [0.25, None], "g": ["1,5", "2,5"], "h": [None, None],
    }  # fmt: skip
    assert read_table(str(path))["a"].to_list() == ["3,5", "-1.000,25"]


def test_decimal_commas_in_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": ["3,5", None], "b": [1.5, 2.5]}).write_parquet(path)
    found = read_table(str(path), dialect=Dialect(","))
    assert found.to_dict(as_series=False) == {"a": [3.5, None], "b": [1.5, 2.5]}


@pytest.mark.parametrize("mark", "\t;|, ")
def test_the_separator_of_a_text_file_is_found(tmp_path, mark):
    path = tmp_path / "t.txt"
    path.write_text(f"a{mark}b\n1{mark}2\n")
    assert read_table(str(path)).to_dict(as_series=False) == {"a": [1], "b": [2]}


@pytest.mark.parametrize(
    ("name", "mark", "given"),
    [("t.csv", ":", ":"), ("t.csv", "|", "bar"), ("t.txt", "\t", "\\t"), ("t.tsv", " ", "space")],
)
def test_a_separator_that_is_given(tmp_path, name, mark, given):
    path = tmp_path / name
    path.write_text(f"a,x{mark}b\n1{mark}2\n")
    dialect = Dialect(separator=separator_from(given))
    assert read_table(str(path), ["b"], dialect).to_dict(as_series=False) == {
        "a,x": [1],
        "b": ["2"],
    }
    assert columns_at_once(str(path), dialect) == ["a,x", "b"]


@pytest.mark.parametrize("text", ["", "ab", "\N{MIDDLE DOT}", '"', "\n"])
def test_separators_that_cannot_be(text):
    with pytest.raises(UserError, match="--separator must be one"):
        separator_from(text)


def test_arrow_streams(tmp_path):
    path = tmp_path / "t.arrow"
    FRAME.write_ipc_stream(path)
    assert read_table(str(path)).equals(FRAME)


def test_folders_of_parquet_files(tmp_path):
    for year, rows in ((2024, FRAME[:1]), (2025, FRAME[1:])):
        part = tmp_path / "all" / f"year={year}"
        part.mkdir(parents=True)
        rows.write_parquet(part / "part[0].parquet")
    (tmp_path / "all" / "_SUCCESS").touch()
    (tmp_path / "all" / "_temporary.parquet").write_text("incomplete")
    found = read_table(str(tmp_path / "all"))
    assert found.drop("year").equals(FRAME)
    assert found["year"].cast(int).to_list() == [2024, 2025]
    assert columns_at_once(str(tmp_path / "all"), Dialect()) == found.columns
    (tmp_path / "none").mkdir()
    with pytest.raises(OSError, match="must hold Parquet files"):
        read_table(str(tmp_path / "none"))


def test_workbooks(tmp_path):
    pytest.importorskip("fastexcel")
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["a", "b", "c"], [1, "x, y", 0.5], [2, None, None]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    assert read_table(str(tmp_path / "t.xlsx")).equals(FRAME)
    (tmp_path / "bad.xlsx").write_text("no workbook")
    with pytest.raises(UserError, match="must be an Excel workbook"):
        read_table(str(tmp_path / "bad.xlsx"))


def test_a_workbook_without_its_reader(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    (tmp_path / "t.xlsx").touch()
    with pytest.raises(ImportError, match=r"marginboost\[excel\]"):
        read_table(str(tmp_path / "t.xlsx"))


@pytest.mark.parametrize("name", ["t.csv", "t.txt.gz", "t.jsonl", "t.parquet", "t.feather"])
def test_names_of_columns(tmp_path, name):
    path = tmp_path / name
    with path.open("wb") as file:
        write_table(FRAME, file, name)
    assert columns_of(str(path), Dialect()) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ('"a,b",c', ["a,b", "c"]),
        ("\ufeffa,b", ["a", "b"]),
        ('"a\nb",c', ["a\nb", "c"]),
        ("a,a", ["a", "a_duplicated_0"]),
        ("a;b", ["a", "b"]),
    ],
)
def test_names_of_columns_are_those_of_the_table(tmp_path, header, names):
    path = tmp_path / "t.csv"
    mark = ";" if ";" in header else ","
    path.write_text(f"{header}\n1{mark}2\n", "utf-8")
    assert columns_of(str(path), Dialect()) == read_table(str(path)).columns == names
