"""The first rows decide the kinds of columns, and say why they cannot."""

import warnings

import numpy as np
import pytest

from coalface import Encoder
from coalface.errors import FileFormatError, InputError

KINDS = {
    "whole numbers": ([1, 2, 3], "number"),
    "numbers as text, with gaps": (["1.5", "NA", "", "-2e3"], "number"),
    "dates as text": (["2024-02-29", "2024-03-01T10:00:00Z"], "date"),
    "booleans": ([True, False, None], "category"),
    "few short texts": (["New York", "Rome", "Rome", "New York"], "category"),
    "codes": (["a1", "b2", "c3"], "category"),
    "sentences": (["Where is my parcel?", "I want my money back"], "text"),
    "the same sentences often": (["Where is my parcel now?", "I want my money back"] * 20, "text"),
    "many distinct words": ([f"T-{number}" for number in range(40)], "text"),
    "nothing": ([None, "", float("nan")], "left out"),
    "nothing but words for it": (["NA", "null"], "left out"),
    "lists of words": ([["late", "parcel"], ["my money"]], "text"),
}


@pytest.mark.parametrize("name", KINDS)
def test_the_kind_of_a_column(name):
    cells, kind = KINDS[name]
    records = [{"x": cell, "also": place} for place, cell in enumerate(cells)]
    assert Encoder().fit(records).columns[0].kind == kind


def test_a_list_of_texts_is_text_even_if_they_look_like_categories():
    assert Encoder().fit(["red", "blue"] * 9).columns[0].kind == "text"
    assert Encoder().fit("one text").transform("one text").shape[0] == 1


def test_columns_of_ids_and_ignored_columns_are_left_out():
    records = [{"id": 1, "key": "a", "size": 2.0, "note": "x"}, {"id": 2, "key": "b", "size": 3.0, "note": "y"}]
    encoder = Encoder(id="key", ignore=["note"]).fit(records)
    assert list(encoder.groups) == ["size"]
    assert [column.describe() for column in encoder.columns if column.kind == "left out"] == [
        "left out, it has the ids",
        "left out, it has the ids",
        "left out, as told",
    ]
    assert Encoder(number=["id"]).fit(records).groups["id"] == (0, 1)


def test_texts_share_the_hashed_columns():
    encoder = Encoder(text=["a", "b", "c"], bits=10).fit([{"a": "x", "b": "y", "c": "z"}])
    assert encoder.groups == {"a": (0, 256), "b": (256, 512), "c": (512, 768)}


def test_a_function_turns_texts_into_vectors():
    encoder = Encoder(embed=lambda texts: [[len(text), 1.0] for text in texts]).fit(["a bc", "d"])
    assert encoder.transform(["four", None]).toarray().tolist() == [[4.0, 1.0], [0.0, 1.0]]
    assert encoder.describe() == "text  text, as vectors of 2 numbers"
    with pytest.raises(InputError, match="Pass it as features"):
        Encoder.from_plain(encoder.plain())
    for wrong in (lambda texts: [1.0] * len(texts), lambda _: [[1.0]]):
        with pytest.raises(InputError, match="features must return"):
            Encoder(embed=wrong).fit_transform(["a", "b"])


FIRST = [{"note": "where is it?", "size": 1.0}, {"note": "i do not know", "size": 2.0}]
REFUSED = {
    "a column is missing": ({"note": ["x"]}, "X has no column 'size', which the first rows had"),
    "a record lacks a field": ([{"note": "x"}, *FIRST], "The record in row 0 has no 'size'"),
    "a field has another name": ([{"note": "x", "sise": 3}], "New here: 'sise'"),
    "a word among numbers": ([{"note": "x", "size": "big"}], "Column 'size' must have numbers.*got 'big' in row 0"),
    "infinity": ([{"note": "x", "size": np.inf}], "Column 'size' must have finite 32-bit numbers, got inf in row 0"),
    "a number that is too large": ([{"note": "x", "size": 1e39}], "must have finite 32-bit numbers, got 1e\\+39"),
    "mixed examples": (["x", 3], "must be a list of texts, a table or a list of dictionaries, got 3 in row 1"),
    "one dimension": (np.ones(3), r"got shape \(3,\)"),
    "ragged": ([["x"], ["y", 1]], "rows of equal length, got 1 and 2"),
    "ragged columns": ({"note": ["x"], "size": []}, "columns of equal length, got 0 and 1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_rows_that_do_not_fit_are_refused(name):
    rows, words = REFUSED[name]
    with pytest.raises(InputError, match=words) as caught:
        Encoder().fit(FIRST).transform(rows)
    assert "\n" not in str(caught.value)


BAD_FITS = {
    "nearly all numbers": (lambda: Encoder().fit([[str(n)] for n in range(30)] + [["O7"]]), "'O7' in row 30"),
    "no rows": (lambda: Encoder().fit([]), "at least one row"),
    "nothing to learn from": (lambda: Encoder(ignore=["x0"]).fit([["a"]]), "must have a column to learn from"),
    "an unknown column": (lambda: Encoder(text=["title"]).fit(FIRST), "text names the column 'title'. X has 'note'"),
    "a text for a list": (lambda: Encoder(text="note"), r"text must be a list of columns, got 'note'"),
    "a column twice": (lambda: Encoder(text=["a"], date=["a"]), "'a' must be named once"),
    "too many bits": (lambda: Encoder(bits=31), "bits must be a whole number of at least 1 and at most 30"),
    "no function": (lambda: Encoder(embed=3), "embed must be .* or a function"),
    "not fitted": (lambda: Encoder().transform(FIRST), "has not seen any rows"),
}


@pytest.mark.parametrize("name", BAD_FITS)
def test_encoders_that_cannot_be_are_refused(name):
    call, words = BAD_FITS[name]
    with pytest.raises(InputError, match=words):
        call()


def test_repeated_names_of_columns_are_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match="distinct names"):
        Encoder().fit(pandas.DataFrame([["a", "b"]], columns=["x", "x"]))


def test_a_new_column_is_ignored_with_one_warning():
    encoder = Encoder().fit(FIRST)
    wider = [{**record, "mood": "bad"} for record in FIRST]
    with pytest.warns(UserWarning, match="new column 'mood'"):
        found = encoder.transform(wider)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = encoder.transform(wider)
    assert (found != again).nnz == (found != encoder.transform(FIRST)).nnz == 0


def test_a_field_that_was_optional_may_be_absent():
    encoder = Encoder().fit([{"size": 1.0, "mood": "bad"}, {"size": 2.0}])
    assert encoder.transform([{"size": 1.5}]).toarray().tolist() == [[0.0, 0.0, 1.0, 0.0]]


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"format": "coalface encoder", "version": 99},
        lambda plain: {**plain, "columns": [{"kind": "sound", "name": "x"}]},
        lambda plain: {**plain, "columns": [{"kind": "number", "name": "x"}]},
        lambda plain: {name: value for name, value in plain.items() if name != "bits"},
    ],
    ids=["nothing", "newer", "another kind", "a field is missing", "an option is missing"],
)
def test_a_broken_description_is_refused(broken):
    plain = Encoder().fit(FIRST).plain()
    with pytest.raises((FileFormatError, InputError)):
        Encoder.from_plain(broken(plain) if callable(broken) else broken)


@pytest.mark.parametrize("cell", [{"a": 1}, [0.5, 2.0], (1, 2), {1}, b"\xff", np.zeros(3)], ids=repr)
def test_a_cell_of_several_values_is_refused_unless_it_is_read_as_text(cell):
    rows = [{"meta": None, "size": 1.0}, {"meta": cell, "size": 2.0}]
    with pytest.raises(InputError, match=r"Column 'meta' must have texts, numbers or dates, got .* in row 1") as caught:
        Encoder().fit(rows)
    assert caught.value.remedy == {"ignore": "meta", "text": "meta"}
    assert Encoder(ignore=["meta"]).fit(rows).width == 1
    assert Encoder(text=["meta"]).fit(rows).width > 1
