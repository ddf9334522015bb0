"""CSV files with other separators, decimal marks and encodings are read as if they had the usual ones."""

import io
import logging
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coalface import read_blocks, read_dataset
from coalface.data.formats.csv_form import csv_rows
from coalface.errors import DoubtfulColumnWarning, FileFormatError, InputError
from tests.data.strategies import assert_same

HEADER = ["weight", "größe", "cost:süß", "cost:herb"]
ROWS = [[f"{i / 4}", f"{1 + i / 8}", f"{(i % 4) / 4}" if i % 3 else "", f"{(i % 5) / 8}"] for i in range(60)]


def written(separator=",", decimal="."):
    rows = [[cell.replace(".", decimal) for cell in row] for row in ROWS]
    quoted = [[f'"{cell}"' if separator in cell else cell for cell in row] for row in [HEADER, *rows]]
    return "".join(separator.join(row) + "\n" for row in quoted)


FORMS = {
    "semicolons and commas": (";", ",", "utf-8"),
    "semicolons and points": (";", ".", "utf-8"),
    "tabs": ("\t", ",", "utf-8"),
    "bars": ("|", ".", "utf-8"),
    "quoted decimal commas": (",", ",", "utf-8"),
    "Western text": (";", ",", "cp1252"),
    "Latin-1": (",", ".", "latin-1"),
    "a byte-order mark": (";", ",", "utf-8-sig"),
    "UTF-16 as Excel writes it": ("\t", ",", "utf-16"),
    "UTF-16 without a mark": (";", ",", "utf-16-le"),
    "UTF-16, the other way round": (";", ",", "utf-16-be"),
    "UTF-32": (";", ",", "utf-32"),
}


@pytest.fixture
def said(caplog):
    """A function that gives what the logger has said."""
    caplog.set_level(logging.WARNING, logger="coalface")
    return lambda: [record.getMessage() for record in caplog.records]


@pytest.fixture
def usual(tmp_path):
    (tmp_path / "usual.csv").write_text(written(), encoding="utf-8")
    return read_dataset(tmp_path / "usual.csv", name="a")


@pytest.mark.parametrize(("separator", "decimal", "encoding"), FORMS.values(), ids=FORMS)
def test_the_first_lines_show_the_form(tmp_path, usual, said, separator, decimal, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes(written(separator, decimal).encode(encoding))
    assert_same(read_dataset(path), usual)
    usual_form = (separator, decimal, encoding.removesuffix("-sig")) == (",", ".", "utf-8")
    assert len(said()) == (0 if usual_form else 1)
    blocks = list(read_blocks(path, rows=7))
    np.testing.assert_array_equal(np.vstack([block.X.toarray() for block in blocks]), usual.X.toarray())
    np.testing.assert_array_equal(np.vstack([block.cost for block in blocks]), usual.cost)


@pytest.mark.parametrize(("separator", "decimal", "encoding"), FORMS.values(), ids=FORMS)
def test_a_form_that_is_given_is_not_said(tmp_path, usual, said, separator, decimal, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes(written(separator, decimal).encode(encoding))
    options = {"separator": separator, "decimal": decimal, "encoding": encoding}
    assert_same(read_dataset(path, **options), usual)
    next(read_blocks(path, rows=7, **options))
    assert said() == []


def test_what_was_found_is_said_in_one_line(tmp_path, said):
    (tmp_path / "a.csv").write_bytes(written(";", ",").encode("cp1252"))
    read_dataset(tmp_path / "a.csv")
    assert said() == [
        f"{tmp_path / 'a.csv'} was read with semicolons between cells, decimal commas and the encoding cp1252, as its "
        "first lines suggest. Pass separator, decimal or encoding if that is wrong."
    ]


def test_the_form_is_said_once_where_texts_make_the_file_be_read_again(tmp_path, said):
    (tmp_path / "a.csv").write_bytes("größe;wort;art\n1,5;süß;a\n2,5;sauer;b\n".encode("cp1252"))
    dataset = read_dataset(tmp_path / "a.csv", label="art")
    assert [record["größe"] for record in dataset.records] == ["1.5", "2.5"]
    assert dataset.records[0]["wort"] == "süß"
    assert len(said()) == 1


def test_standard_input_has_a_form_too(monkeypatch, usual):
    text = written("\t", ",").encode("utf-16")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    (block,) = read_blocks("-", "csv", name="a")
    assert_same(block, usual)


def test_a_tsv_file_has_tabs_whatever_its_header_has(tmp_path, said):
    (tmp_path / "a.tsv").write_text("x,y\tkind\n1\ta\n2\tb\n")
    assert read_dataset(tmp_path / "a.tsv", label="kind").feature_names == ("x,y",)
    assert said() == []


def test_western_text_may_begin_after_the_lines_that_were_looked_at(tmp_path, said):
    rows = "".join(f"{i},red\n" for i in range(10_500))
    (tmp_path / "a.csv").write_bytes(f"x,colour\n{rows}1,grün\n".encode("cp1252"))
    assert list(csv_rows(tmp_path / "a.csv"))[-1] == (10_502, ["1", "grün"])
    (line,) = said()
    assert "was read with the encoding cp1252" in line


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("привет", "cp1251"),
        ("für", "cp437"),
        ("für", "mac-roman"),
        ("miło", "cp1250"),
        ("日本語です", "shift-jis"),
        ("你好吗", "gbk"),
    ],
)
def test_text_that_may_be_in_another_encoding_is_refused_and_read_with_the_option(tmp_path, text, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes(f"x,kind\n1,{text}\n".encode(encoding))
    with pytest.raises(FileFormatError, match=r"line 2: text must be UTF-8. Pass encoding="):
        read_dataset(path, label="kind")
    assert read_dataset(path, label="kind", encoding=encoding).classes.tolist() == [text]


def test_utf_8_that_breaks_off_is_not_taken_for_western_text(tmp_path):
    (tmp_path / "a.csv").write_bytes("x,kind\n1,für\n2,f".encode() + b"\xfcr\n")
    with pytest.raises(FileFormatError, match=r"line 3: text must be UTF-8"):
        read_dataset(tmp_path / "a.csv", label="kind")


def test_a_wrong_encoding_is_an_error(tmp_path):
    (tmp_path / "a.csv").write_text("x,kind\n1,für\n", encoding="cp1252")
    with pytest.raises(FileFormatError, match=r"text must be utf-16 .*\. Pass encoding="):
        read_dataset(tmp_path / "a.csv", label="kind", encoding="utf-16")


# -- what cannot be decided ---------------------------------------------------------------------------------------


def test_two_separators_that_both_fit_are_refused_with_the_option(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("weight,kg;kind\n1,5;a\n2,5;b\n")
    with pytest.raises(FileFormatError, match=r"the separator may be commas or semicolons. Pass separator=") as no:
        read_dataset(path, label="kind")
    assert no.value.remedy == {"separator": None}
    assert read_dataset(path, label="kind", separator=";").X.toarray().tolist() == [[1.5], [2.5]]


def test_a_line_with_too_few_cells_names_the_separator(tmp_path):
    (tmp_path / "a.csv").write_text("x;kind\n1;a\n2\n")
    with pytest.raises(FileFormatError, match=r"line 3: every line must have 2 cells .* Look for missing semicolons"):
        read_dataset(tmp_path / "a.csv", label="kind")


@pytest.mark.parametrize("cost", ["1,234", "1.234,5", "1,234,567"])
def test_a_cost_that_may_be_a_thousand_is_refused(tmp_path, cost):
    path = tmp_path / "a.csv"
    path.write_text(f"x;cost:a;cost:b\n1;{cost};0\n2;2;1\n")
    with pytest.raises(FileFormatError, match=r"line 2, column 'cost:a': a cost must be a finite .*decimal=','"):
        read_dataset(path)


def test_a_thousand_is_a_decimal_if_the_user_says_so(tmp_path):
    (tmp_path / "a.csv").write_text("x;cost:a;cost:b\n1;1,234;0\n2;2;1\n")
    assert read_dataset(tmp_path / "a.csv", decimal=",").cost[0].tolist() == [np.float32(1.234), 0]


@pytest.mark.parametrize("text", ["x;cost:a;cost:b\n1,5;1.234;0\n", "x;cost:a;cost:b\n1;0,5;0\n1;1.234;0\n"])
def test_a_cost_with_a_point_among_decimal_commas_is_refused(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(FileFormatError, match=r"column 'cost:a': with decimal commas, a number must not have a point"):
        read_dataset(tmp_path / "a.csv")


def test_commas_and_points_in_one_file_leave_cells_as_they_are(tmp_path):
    (tmp_path / "a.csv").write_text("price;rate;kind\n3,5;0.5;a\n4,5;0.25;b\n")
    with pytest.warns(DoubtfulColumnWarning, match=r"'price' .* numbers such as '3,5'.* decimal=','"):
        dataset = read_dataset(tmp_path / "a.csv", label="kind")
    assert [record["price"] for record in dataset.records] == ["3,5", "4,5"]


def test_dates_times_labels_and_ids_stay_as_they_are(tmp_path):
    (tmp_path / "a.csv").write_text(
        "id;when;at;price;kind\n1,5;02.03.2026;12.30;3,5;0,5\n2,5;03.03.2026;12.45;4,5;1,5\n"
    )
    with pytest.warns(DoubtfulColumnWarning, match="'when' .* dates such as '02.03.2026'"):
        dataset = read_dataset(tmp_path / "a.csv", label="kind", id="id", decimal=",")
    assert (dataset.ids.tolist(), dataset.classes.tolist()) == (["1,5", "2,5"], ["0,5", "1,5"])
    assert dataset.records[0] == {"when": "02.03.2026", "at": "12.30", "price": "3.5"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"separator": ";;"}, "separator must be one character, such as ';', or 'tab', got ';;'"),
        ({"separator": '"'}, "separator must be one character"),
        ({"decimal": ";"}, "decimal must be '.' or ',', got ';'"),
        ({"encoding": "klingon"}, "encoding must be one that Python knows, such as 'cp1252', got 'klingon'"),
        ({"encoding": "rot13"}, "encoding must be one that Python knows"),
    ],
)
def test_an_impossible_form_is_refused(tmp_path, options, words):
    (tmp_path / "a.csv").write_text("x,kind\n1,a\n")
    with pytest.raises(InputError, match=words):
        read_dataset(tmp_path / "a.csv", label="kind", **options)


def test_only_csv_has_a_form(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"x": 1, "kind": "a"}\n')
    with pytest.raises(InputError, match="The jsonl format has no option 'separator'"):
        read_dataset(tmp_path / "a.jsonl", label="kind", separator=";")


def test_a_cost_matrix_has_a_form_too(tmp_path):
    (tmp_path / "a.csv").write_text("x,kind\n1,a\n2,b\n")
    (tmp_path / "m.csv").write_text(";b;a\na;0,5;0\nb;0;0,25\n")
    dataset = read_dataset(tmp_path / "a.csv", label="kind", cost_matrix=tmp_path / "m.csv")
    assert dataset.cost.tolist() == [[0.0, 0.5], [0.25, 0.0]]


numbers = st.floats(-1e6, 1e6, width=32).map(lambda value: f"{value:.6f}".rstrip("0").rstrip("."))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8), st.sampled_from([";", "\t", "|"]))
def test_a_decimal_comma_is_never_another_number(tmp_path_factory, rows, separator):
    """Whatever the numbers are, a file with decimal commas gives the costs of the file with points, or an error."""
    folder = tmp_path_factory.mktemp("numbers")
    (folder / "points.csv").write_text("x,cost:a\n" + "".join(f"{x},{cost}\n" for x, cost in rows))
    text = f"x{separator}cost:a\n" + "".join(f"{x}{separator}{cost}\n" for x, cost in rows).replace(".", ",")
    (folder / "commas.csv").write_text(text)
    wanted = read_dataset(folder / "points.csv").cost
    np.testing.assert_array_equal(read_dataset(folder / "commas.csv", decimal=",").cost, wanted)
    try:
        found = read_dataset(folder / "commas.csv").cost
    except (FileFormatError, DoubtfulColumnWarning):
        return
    np.testing.assert_array_equal(found, wanted)
