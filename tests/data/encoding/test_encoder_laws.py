"""Laws of the encoder: what the first rows decide holds for all later rows, however they come."""

import json
from datetime import date, timedelta
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from coalface import Encoder

WORDS = ["parcel", "refund", "Geld", "übermut", "a", "x9", "the"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=4, max_size=9).map(" ".join)
COLUMNS = {
    "note": TEXTS,
    "size": st.one_of(st.none(), st.floats(-1e6, 1e6), st.integers(-9, 9)),
    "team": st.one_of(st.none(), st.sampled_from(["red", "green", "blue sky"])),
    "new": st.booleans(),
    "day": st.one_of(st.none(), st.integers(0, 3000).map(lambda days: date(2020, 1, 1) + timedelta(days))),
}
RECORDS = st.fixed_dictionaries(COLUMNS)
NAMED = {"text": ["note"], "category": ["team"], "number": ["size"], "date": ["day"]}


def tables(least=1):
    return st.lists(RECORDS, min_size=least, max_size=12)


def columns_of(records, names=tuple(COLUMNS)):
    return {name: [record[name] for record in records] for name in names}


def same(one, other):
    return one.shape == other.shape and (one != other).nnz == 0 and one.dtype == other.dtype == np.float32


@settings(max_examples=60, deadline=None)
@given(first=tables(), later=tables(2), data=st.data())
def test_rows_are_encoded_alike_however_they_are_split(first, later, data):
    encoder = Encoder(**NAMED).fit(first)
    place = data.draw(st.integers(1, len(later) - 1))
    parts = [encoder.transform(later[:place]), encoder.transform(later[place:])]
    assert same(encoder.transform(later), scipy.sparse.vstack(parts, format="csr"))


@settings(max_examples=60, deadline=None)
@given(first=tables(), later=tables())
def test_an_encoder_from_its_json_gives_the_same_bits(first, later):
    encoder = Encoder(**NAMED, pairs=True, bits=10).fit(first)
    text = json.dumps(encoder.plain(), allow_nan=False)
    again = Encoder.from_plain(json.loads(text))
    assert same(encoder.transform(later), again.transform(later))
    assert json.dumps(again.plain()) == text
    assert again.describe() == encoder.describe()
    assert repr(again) == repr(encoder)


@settings(max_examples=60, deadline=None)
@given(first=tables(), later=tables(), names=st.permutations(list(COLUMNS)))
def test_the_order_of_columns_in_later_rows_does_not_matter(first, later, names):
    encoder = Encoder(**NAMED, bits=10).fit(first)
    assert same(encoder.transform(columns_of(later)), encoder.transform(columns_of(later, names)))


@settings(max_examples=60, deadline=None)
@given(first=tables(), data=st.data())
def test_the_order_of_the_first_rows_does_not_matter(first, data):
    shuffled = columns_of(data.draw(st.permutations(first)))
    expected = Encoder(bits=10, text=["note"]).fit(columns_of(first)).plain()
    assert Encoder(bits=10, text=["note"]).fit(shuffled).plain() == expected


@settings(max_examples=30, deadline=None)
@given(first=tables(), later=tables())
def test_records_columns_and_frames_are_the_same_table(first, later):
    pandas = pytest.importorskip("pandas")
    arrow = pytest.importorskip("pyarrow")
    encoder = Encoder(**NAMED, bits=10).fit(first)
    rows = encoder.transform(later)
    assert same(rows, encoder.transform(columns_of(later)))
    assert same(rows, encoder.transform(pandas.DataFrame(columns_of(later))))
    if all(record["size"] is None or isinstance(record["size"], float) for record in later):
        assert same(rows, encoder.transform(arrow.table(columns_of(later))))


@settings(max_examples=30, deadline=None)
@given(first=tables())
def test_the_groups_divide_the_columns_and_hashed_ones_come_last(first):
    encoder = Encoder(**NAMED, bits=8).fit(first)
    ends = sorted(encoder.groups.values())
    assert ends[0][0] == 0
    assert all(one[1] == other[0] for one, other in pairwise(ends))
    assert ends[-1] == encoder.groups["note"]
    assert encoder.width == ends[-1][1] == encoder.transform(first).shape[1]
    assert ends[-1][1] - ends[-1][0] == 2**8


def test_a_column_that_is_alone_in_its_group_changes_no_other_group():
    encoder = Encoder(bits=8).fit([{"a": 1, "b": "red"}, {"a": 5, "b": "blue"}])
    one, other = encoder.transform([{"a": 1, "b": "red"}, {"a": 9, "b": "red"}]).toarray()
    start, end = encoder.groups["a"]
    assert (one != other)[start:end].all()
    assert not np.delete(one != other, slice(start, end)).any()
