import gzip
from functools import partial
from itertools import permutations
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings

from coalface.data import CostDataset
from coalface.data.formats.csv_table import read_csv, write_csv
from coalface.errors import FileFormatError, InputError, UnknownLabelError
from tests.data.strategies import assert_same, datasets, label_words, words


@settings(deadline=None, max_examples=50)
@given(datasets(labels=label_words, features=words))
def test_a_table_survives_writing_and_reading(dataset):
    with TemporaryDirectory() as folder:
        write_csv(dataset, f"{folder}/a.csv.gz")
        assert_same(read_csv(f"{folder}/a.csv.gz", classes=dataset.classes), dataset)


@pytest.fixture
def read(read_text):
    return partial(read_text, read_csv, "some.csv")


def test_a_label_column_gives_zero_one_costs_or_those_of_a_matrix(read, tmp_path):
    text = "kind,weight\ndog,20\ncat,4\n"
    assert read(text, label="kind").cost.tolist() == [[1, 0], [0, 1]]
    assert read(text, label="kind", classes=["dog", "cat"]).cost.tolist() == [[0, 1], [1, 0]]
    assert read(text, label="kind", cost_matrix=[[0, 5], [7, 0]]).cost.tolist() == [[7, 0], [0, 5]]
    (tmp_path / "matrix.csv").write_text("0,5\n7,0\n")
    np.save(tmp_path / "matrix.npy", [[0, 5], [7, 0]])
    for name in ("matrix.csv", "matrix.npy"):
        assert read(text, label="kind", cost_matrix=tmp_path / name).cost.tolist() == [[7, 0], [0, 5]]


def test_labels_are_integers_where_all_are_spelled_so(read):
    assert read("kind,x\n10,1\n9,2\n", label="kind").classes.tolist() == [9, 10]
    assert read("cost:2,cost:1,x\n0,1,1\n").classes.tolist() == [2, 1]
    assert read("kind,x\n010,1\n9,2\n", label="kind").classes.tolist() == ["010", "9"]


def test_columns_can_be_left_out(read):
    dataset = read("id,x,cost:a\nn1,2,0\n", ignore=["id"])
    assert dataset.feature_names == ("x",)


def test_windows_line_ends_quotes_and_empty_lines_change_nothing(read):
    dataset = read(b'\xef\xbb\xbf"x","cost:a, b"\r\n\r\n1,\r\n')
    assert dataset.classes.tolist() == ["a, b"]
    np.testing.assert_array_equal(dataset.cost, [[np.nan]])


BAD_TABLES = {
    "a cell missing": ("x,cost:a\n1,0\n1\n", {}, "line 3: every line must have 2 cells .* got 1"),
    "a word among numbers": ("x,cost:a\n" + "1,0\n" * 20 + "red,0\n", {}, "line 22: .* numbers only, .* got 'red'"),
    "infinity": ("x,cost:a\ninf,0\n", {}, "got 'inf'. Correct it, or pass ignore="),
    "nothing but empty cells": ("x,cost:a\n,0\n", {}, "must have a column to learn from, got 'x', all left out"),
    "a word that may be the label": ("x,kind\n1,red\n", {"classes": ["red"]}, r"label='kind' .* ignore=\['kind'\]"),
    "a cost that is a word": (
        "x,cost:a\n1,TIMEOUT\n",
        {},
        "line 2, column 'cost:a': .* got 'TIMEOUT'. Write the limit",
    ),
    "an infinite cost": ("x,cost:a\n1,inf\n", {}, "line 2, column 'cost:a': a cost must be a finite number, got 'inf'"),
    "too large": ("x,cost:a\n1e39,0\n", {}, "line 2, column 'x': .* got '1e39'"),
    "no costs": (
        "x,kind\n1,a\n",
        {},
        "either columns named 'cost:LABEL' or a label column, got 'x', 'kind'. Pass label=",
    ),
    "no such label column": ("x,kind\n1,a\n", {"label": "sort"}, "has no column 'sort'. Its columns are 'x', 'kind'"),
    "costs and a label": ("x,cost:a\n1,0\n", {"label": "x"}, "must have either columns .* both 'cost:a' and label='x'"),
    "a name twice": ("x,y,y,cost:a\n1,1,1,0\n", {}, "columns must have distinct names, got 'y'"),
    "no name": ("x,,cost:a\n1,1,0\n", {}, "columns must have distinct names, got ''"),
    "no example": ("x,cost:a\n", {}, "must hold at least one example"),
    "nothing": ("", {}, "must begin with a line of column names, got an empty file"),
    "other labels": ("x,cost:a\n1,0\n", {"classes": ["b"]}, r"one cost column for each of \['b'\], got \['a'\]"),
    "in no known encoding": (b"x,cost:a\n\x81,0\n", {}, "line 2: text must be UTF-8. Pass encoding="),
    "truncated": (gzip.compress(b"x,cost:a\n" + b"1,0\n" * 99, mtime=0)[:-9], {}, "truncated"),
}


@pytest.mark.parametrize(("text", "options", "words"), BAD_TABLES.values(), ids=BAD_TABLES)
def test_a_bad_table_is_named_with_line_and_column(read, text, options, words):
    with pytest.raises(FileFormatError, match=words) as caught:
        read(text, **options)
    assert "\n" not in str(caught.value)


def test_an_unknown_label_lists_the_known_ones(read):
    with pytest.raises(UnknownLabelError, match=r"'cow'. The known labels are 'cat', 'dog'"):
        read("x,kind\n1,cow\n", label="kind", classes=["cat", "dog"])


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("m.csv", b"0,1\n", r"must have shape \(2, 2\), .* got \(1, 2\)"),
        ("m.csv", b"0,1\n1\n", "line 2: every line must have 2 cells"),
        ("m.csv", b"", "must hold a cost matrix, got an empty file"),
        ("m.csv", b"\x81,1\n1,0\n", "line 1: text must be UTF-8"),
        ("m.csv", b"0,x\n1,0\n", "line 1: a cost must be a number, got '0,x'"),
        ("m.csv", b"a,b\n0,1\n1,0\n", "line 1: .* names in its first line, .* and in its first column"),
        ("m.csv", b"a,0,1\nb,1,0\n", "line 1: .* names in its first line, .* and in its first column"),
        ("m.csv", b"a,b\na,0,1\nb,1,0\n", "line 2: every line must have 2 cells .* in the header"),
        ("m.csv", b",a,c\na,0,1\nb,1,0\n", "has a column named 'c', which is not a label.*The labels are 'a', 'b'"),
        ("m.csv", b",a,b\na,0,1\n7,1,0\n", "has a row named '7', which is not a label"),
        ("m.csv", b",a,b\na,0,1\na,1,0\n", "must have one row for each label, got 'a' twice"),
        ("m.csv", b",a,b,b\na,0,1,1\nb,1,0,1\n", "must have one column for each label, got 'b' twice"),
        ("m.csv", b",a,b\na,0,1\n", "must have a row for each label, got none for 'b'"),
        ("m.csv", b",b\na,0\nb,1\n", "must have a column for each label, got none for 'a'"),
        ("m.csv", b",a,b\na,0,1\nb,,0\n", "line 3: a cost must be a number, got ',0'"),
        ("m.csv", b"0,inf\n1,0\n", "must be finite, got inf at row 0, column 1"),
        ("m.npy", b"junk", "must be an array of numbers"),
        ("m.txt", b"0 1", "must be in a .npy or .csv file"),
    ],
)
def test_a_bad_cost_matrix_is_named(read, tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises((InputError, FileFormatError), match=words) as caught:
        read("x,kind\n1,a\n2,b\n", label="kind", cost_matrix=tmp_path / name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("classes", [None, ["b", "c", "a"], ["c", "b", "a"]])
@pytest.mark.parametrize("rows", list(permutations("abc")))
def test_named_costs_belong_to_their_labels_whatever_the_order(read, tmp_path, rows, classes):
    columns = rows[1:] + rows[:1]
    cost = {(true, other): float(ord(true) * (true != other) + ord(other)) for true in "abc" for other in "abc"}
    lines = [",".join([true, *(str(cost[true, other]) for other in columns)]) for true in rows]
    (tmp_path / "m.csv").write_text("\n".join(["truth, " + ", ".join(columns), *lines, "", ""]))
    dataset = read("x,kind\n1,c\n2,a\n3,b\n", label="kind", classes=classes, cost_matrix=tmp_path / "m.csv")
    for true, found in zip("cab", dataset.cost.tolist(), strict=True):
        assert found == [cost[true, label] for label in dataset.classes.tolist()]


def test_what_a_table_cannot_hold_is_not_written(tmp_path):
    with pytest.raises(InputError, match="candidates"):
        write_csv(CostDataset([[1]], [[0, 1]], candidates=[[True, True]]), tmp_path / "a.csv")
    with pytest.raises(InputError, match="got 'cost:x'"):
        write_csv(CostDataset([[1]], [[0, 1]], feature_names=["cost:x"]), tmp_path / "a.csv")


@pytest.mark.parametrize("column", ["weight", "note"])
def test_missing_labels_are_one_error_with_the_first_line_and_their_number(column, tmp_path):
    cells = {"weight": ["4", "20", "7", "8"], "note": ["purrs", "barks", "hisses", "growls"]}[column]
    lines = [f"{cell},{label}" for cell, label in zip(cells, ["cat", " ", "cat", ""], strict=True)]
    (tmp_path / "pets.csv").write_text(f"{column},kind\n\n" + "\n".join(lines) + "\n")
    words = r"pets.csv, line 4: the label, in column 'kind', is missing; 2 of 4 rows have none. Add the labels, or move"
    with pytest.raises(FileFormatError, match=words):
        read_csv(tmp_path / "pets.csv", label="kind")


@pytest.mark.parametrize("size", ["3", "small", ""])
def test_a_cost_may_say_that_it_is_not_known(size, tmp_path):
    words = ["n/a", "NaN", " - ", "?", ""]
    rows = "".join(f"{size},1,{word},0.5\n" for word in words)
    (tmp_path / "runs.csv").write_text(f"size,depth,cost:walk,cost:fly\n{rows}")
    np.testing.assert_array_equal(read_csv(tmp_path / "runs.csv").cost, [[np.nan, 0.5]] * len(words))
