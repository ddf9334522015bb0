"""The ARFF that ASlib uses."""

from io import StringIO

import numpy as np
import pytest
from scipy.io import arff

from coalface.data.formats.arff import read_arff
from coalface.errors import FileFormatError

HEAD = "@relation t\n@attribute name string\n@attribute size numeric\n@attribute state {ok, 'timed out'}\n@data\n"


def written(tmp_path, text):
    (tmp_path / "t.arff").write_text(text)
    return tmp_path / "t.arff"


def test_numbers_and_nominal_values_are_what_scipy_reads(tmp_path):
    head = "@RELATION t\n@ATTRIBUTE a NUMERIC\n@ATTRIBUTE 'b c' REAL\n@ATTRIBUTE d {x,y}\n@DATA\n"
    text = head + "1, -2.5e3, x\n% no\n?,4,y\n"
    table = read_arff(written(tmp_path, text))
    expected, _ = arff.loadarff(StringIO(text))
    np.testing.assert_array_equal(table.numbers("a"), expected["a"])
    np.testing.assert_array_equal(table.numbers("b c"), expected["b c"])
    assert table.texts("d") == [value.decode() for value in expected["d"]]


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("a b,1,ok", ["a b", "1", "ok"]),
        ("'a, b', 1 ,'timed out'", ["a, b", "1", "timed out"]),
        (r'"it\"s",1,ok', ['it"s', "1", "ok"]),
        ("it's,1,ok", ["it's", "1", "ok"]),
        ("'?',?,ok", ["?", None, "ok"]),
        ("a,1,ok\r", ["a", "1", "ok"]),
    ],
)
def test_a_row_is_cut_at_commas_outside_quotes(tmp_path, row, cells):
    table = read_arff(written(tmp_path, HEAD + row + "\n"))
    assert [column[0] for column in table.columns.values()] == cells


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD + "a,1\n", r"line 6: a row must have 3 values, .* got 'a,1'. It has 2"),
        (HEAD + "\na,1,lost\n", r"line 7: state must be one of ok, timed out, got 'lost'"),
        (HEAD + "'a,1,ok\n", "line 6: a quote must be closed"),
        (HEAD.replace("numeric", "date"), "line 3: the type of an attribute must be numeric, string or"),
        (HEAD.replace("@attribute size", "@attribute"), "line 3: an attribute must have a name and a type"),
        (HEAD.replace("size", "name"), "line 3: an attribute must be declared once, got 'name'"),
        ("@relation t\nhello\n", "line 2: a header may hold only"),
        ("@relation t\n@attribute a numeric\n", "must have attributes and then @data, got 1"),
        ("@relation t\n@data\n", "must have attributes and then @data, got 0"),
    ],
)
def test_an_error_in_a_file_names_its_line(tmp_path, text, said):
    with pytest.raises(FileFormatError, match=said) as caught:
        read_arff(written(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_columns_are_asked_for_by_name_and_kind(tmp_path):
    table = read_arff(written(tmp_path, HEAD + "?,1,ok\n"))
    with pytest.raises(FileFormatError, match="line 6: name must not be missing"):
        table.texts("name")
    with pytest.raises(FileFormatError, match="the attribute name must be numeric"):
        table.numbers("name")
    with pytest.raises(FileFormatError, match="must have the attribute weight, got name, size, state"):
        table.numbers("weight")
    with pytest.raises(FileFormatError, match="There is no file"):
        read_arff(tmp_path / "none.arff")
    (tmp_path / "t.arff").write_bytes(b"\xff\xfe@relation")
    with pytest.raises(FileFormatError, match="must be UTF-8"):
        read_arff(tmp_path / "t.arff")
