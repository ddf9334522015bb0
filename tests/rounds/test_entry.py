"""One line of the ledger, there and back."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.errors import FileFormatError
from coalface.rounds.entry import Answer, Entry, Outlook

numbers = st.floats(allow_nan=False, allow_infinity=False)
labels = st.one_of(st.text(), st.integers(-(2**60), 2**60), numbers, st.booleans())
answers = st.builds(
    Answer,
    label=labels,
    cost=st.none() | numbers,
    asked=st.booleans(),
    audit=st.booleans(),
    propensity=st.floats(0, 1, exclude_min=True),
)

outlooks = st.builds(
    Outlook,
    label=st.none() | labels,
    predicted=st.floats(0, 1),
    chance=st.floats(0, 1, exclude_min=True),
    reachable=st.floats(0, 1),
)


@st.composite
def entries(draw):
    given_answers = tuple(draw(st.lists(answers, max_size=4)))
    length = draw(st.integers(0, 5)) if given_answers else 0
    return Entry(
        round=draw(st.integers(1, 2**60)),
        late=draw(st.booleans()),
        width=draw(st.integers(0, 2**31)),
        indices=tuple(draw(st.lists(st.integers(0, 2**31), min_size=length, max_size=length))),
        values=tuple(draw(st.lists(numbers, min_size=length, max_size=length))),
        answers=given_answers,
        candidates=draw(st.none() | st.lists(labels, max_size=3).map(tuple)),
        outlook=draw(st.none() | outlooks),
    )


@given(entries())
def test_an_entry_survives_being_written_as_json(entry):
    again = Entry.from_json(json.loads(json.dumps(entry.to_json(), allow_nan=False)))
    assert again == entry
    assert [type(answer.label) for answer in again.answers] == [type(answer.label) for answer in entry.answers]


GOOD = Entry(7, False, 64, (3, 5), (1.0, 0.5), (Answer("cat", 0.25), Answer("dog", None))).to_json()


@pytest.mark.parametrize(
    "damage",
    [
        {"round": None},
        {"round": "7"},
        {"round": -1},
        {"round": 7.5},
        {"round": True},
        {"width": "wide"},
        {"indices": [3]},
        {"indices": [3, -5]},
        {"indices": [3, 5.5]},
        {"indices": 3},
        {"values": [1.0, "x"]},
        {"values": [1.0, float("nan")]},
        {"values": [1.0, float("inf")]},
        {"answers": [{"cost": 0.5}]},
        {"answers": [{"label": "cat"}]},
        {"answers": [{"label": "cat", "cost": "cheap"}]},
        {"answers": [{"label": "cat", "cost": float("nan")}]},
        {"answers": [{"label": ["cat"], "cost": 0.5}]},
        {"answers": [{"label": {"cat": 1}, "cost": 0.5}]},
        {"answers": ["cat"]},
        {"answers": 3},
        {"candidates": 3},
        {"candidates": [["cat"]]},
        {"outlook": None},
        {"outlook": {"label": "cat", "predicted": 0.5, "reachable": 0.5}},
        {"outlook": {"label": ["cat"], "predicted": 0.5, "chance": 0.5, "reachable": 0.5}},
        {"outlook": {"label": "cat", "predicted": 0.5, "chance": 0.0, "reachable": 0.5}},
        {"outlook": {"label": "cat", "predicted": 0.5, "chance": 1.5, "reachable": 0.5}},
        {"outlook": {"label": "cat", "predicted": float("nan"), "chance": 0.5, "reachable": 0.5}},
    ],
    ids=str,
)
def test_what_cannot_be_an_entry_is_refused(damage):
    line = {**GOOD, **damage}
    with pytest.raises(FileFormatError):
        Entry.from_json(line)


@pytest.mark.parametrize("line", [None, 3, "x", [], [1, 2], {}], ids=repr)
def test_what_is_no_object_is_refused(line):
    with pytest.raises(FileFormatError):
        Entry.from_json(line)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(sorted(GOOD)), json_values)
def test_whatever_takes_the_place_of_a_field_gives_an_entry_or_one_kind_of_error(field, value):
    with suppress(FileFormatError):
        entry = Entry.from_json({**GOOD, field: value})
        assert Entry.from_json(json.loads(json.dumps(entry.to_json(), allow_nan=False))).round == entry.round
