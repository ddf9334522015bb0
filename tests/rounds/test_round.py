"""A round as JSON, there and back."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.rounds.round import Outlook, Round

numbers = st.floats(allow_nan=False, allow_infinity=False)
chances = st.floats(0, 1, exclude_min=True)
LABELS = ["cat", "dog", "öther", "", "7"]
some_labels = st.lists(st.sampled_from(LABELS), unique=True).map(tuple)

outlooks = st.builds(
    Outlook, label=st.none() | st.text(), predicted=st.floats(0, 1), chance=chances, reachable=st.floats(0, 1)
)


@st.composite
def rounds(draw):
    ask, unasked = draw(some_labels), draw(some_labels)
    unasked = tuple(label for label in unasked if label not in ask)
    costs = {label: draw(st.none() | numbers) for label in (*ask, *unasked) if label in unasked or draw(st.booleans())}
    length = draw(st.integers(0, 5))
    named = draw(st.booleans())
    return Round(
        number=draw(st.integers(0, 2**60)),
        late=draw(st.booleans()),
        width=draw(st.integers(1, 2**31)),
        indices=()
        if named
        else tuple(draw(st.lists(st.integers(0, 2**30), min_size=length, max_size=length, unique=True))),
        values=() if named else tuple(draw(st.lists(numbers, min_size=length, max_size=length))),
        features=draw(st.dictionaries(st.text(), numbers, max_size=3)) if named else None,
        columns=draw(st.none() | st.lists(st.text(), unique=True, max_size=3).map(tuple)),
        candidates=draw(st.sampled_from([None, tuple(LABELS)])),
        ask=ask,
        first=draw(st.none() | st.integers(0, 5)),
        ranges={label: (draw(numbers), draw(numbers)) for label in ask},
        predicted={label: draw(numbers) for label in ask},
        reasons={label: draw(st.text()) for label in ask},
        propensity={label: draw(chances) for label in ask[:1]},
        outlook=draw(st.none() | outlooks),
        ask_truth=draw(st.booleans()),
        truth=draw(st.none() | st.sampled_from(LABELS)),
        costs=costs,
        unasked=unasked,
        by=dict.fromkeys(costs, "ada"),
    )


@given(rounds())
def test_a_round_survives_being_written_as_json(one):
    written = json.loads(json.dumps(one.to_json(), allow_nan=False))
    assert Round.from_json(written) == one
    assert Round.trusted(written) == one


GOOD = Round(
    7,
    width=64,
    indices=(3, 5),
    values=(1.0, 0.5),
    candidates=("cat", "dog", "cow"),
    ask=("cat", "dog"),
    ranges={"cat": (0.0, 0.5)},
    propensity={"dog": 0.25},
    outlook=Outlook("cat", 0.5, 1.0, 0.25),
    costs={"cat": 0.25, "dog": None, "cow": 1.0},
    unasked=("cow",),
    by={"cat": "ada"},
).to_json()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ({"round": None}, '"round" must be a non-negative integer'),
        ({"round": "7"}, "got '7'"),
        ({"round": -1}, "got -1"),
        ({"round": 7.5}, "got 7.5"),
        ({"round": True}, "got True"),
        ({"n_features": "wide"}, '"n_features" must be'),
        ({"late": "false"}, '"late" must be true or false'),
        ({"indices": [3]}, '"indices" and "values" must have the same length, got 1 and 2'),
        ({"indices": [3, -5]}, "got -5"),
        ({"indices": [3, 3]}, '"indices" must hold 3 only once'),
        ({"indices": [3, 5.5]}, "got 5.5"),
        ({"indices": 3}, '"indices" must be a list'),
        ({"features": {"length": 1.0}}, '"features" or "indices", got both'),
        ({"values": [1.0, "x"]}, "must be a finite number, got 'x'"),
        ({"values": [1.0, float("nan")]}, "must be a finite number, got nan"),
        ({"ask": ["cat", "cat"]}, "\"ask\" must hold 'cat' only once"),
        ({"ask": "cat"}, '"ask" must be a list'),
        ({"ask": [["cat"], "dog"]}, "list of labels as text"),
        ({"ask": ["cat"]}, "\"ask\" must hold 'dog'"),
        ({"costs": {"cat": "cheap"}}, "the cost of 'cat' must be a finite number, got 'cheap'"),
        ({"costs": {"cat": float("inf")}}, "must be a finite number, got inf"),
        ({"costs": [0.5]}, '"costs" must be an object'),
        ({"costs": {"bird": 0.5}}, "\"candidates\" must hold 'bird'"),
        ({"candidates": 3}, '"candidates" must be a list'),
        ({"ranges": {"cat": [0.0]}}, "the range of 'cat' must be a list of two numbers"),
        ({"propensity": {"dog": 0.0}}, "must be above 0 and at most 1, got 0.0"),
        ({"outlook": None}, '"outlook" must be an object'),
        ({"outlook": {"label": "cat", "predicted": 0.5, "reachable": 0.5}}, '"chance" is missing'),
        ({"outlook": {"label": ["cat"], "predicted": 0.5, "chance": 0.5, "reachable": 0.5}}, "must be text or null"),
        ({"outlook": {"label": "cat", "predicted": 0.5, "chance": 1.5, "reachable": 0.5}}, "at most 1, got 1.5"),
        ({"outlook": {"label": "cat", "predicted": 1.5, "chance": 0.5, "reachable": 0.5}}, "must lie in \\[0, 1\\]"),
    ],
    ids=str,
)
def test_what_cannot_be_a_round_is_refused_with_what_is_wrong(damage, words):
    with pytest.raises(ValueError, match=words):
        Round.from_json({**GOOD, **damage})


@pytest.mark.parametrize("line", [None, 3, "x", [], [1, 2], {}], ids=repr)
def test_what_is_not_an_object_with_a_round_is_refused(line):
    with pytest.raises(ValueError, match=r"must be one JSON object|is missing"):
        Round.from_json(line)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(sorted(GOOD)), json_values)
def test_any_value_in_place_of_a_field_gives_a_round_or_a_value_error(field, value):
    with suppress(ValueError):
        one = Round.from_json({**GOOD, field: value})
        assert Round.from_json(json.loads(json.dumps(one.to_json(), allow_nan=False))).number == one.number


def test_questions_are_asked_in_turn_and_answers_rule_out_later_ones():
    one = Round(1, ask=("a", "b", "c"), first=1, ranges={"a": (0.0, 9.0), "b": (2.0, 8.0), "c": (5.0, 6.0)})
    bounds = (0.0, 10.0)
    assert one.next_labels(bounds) == ("a",)
    assert one.with_answers({"a": 4.0}).next_labels(bounds) == ("b",)
    assert one.with_answers({"a": 4.0, "b": 3.0}).next_labels(bounds) == ()
    assert one.with_answers({"a": None}).next_labels(bounds) == ("b",)
    assert one.with_answers({"a": 2.0}).next_labels(bounds) == ()  # a range must reach below the known cost
    assert Round(1, ask=("a", "b")).next_labels() == ("a", "b")


@pytest.mark.parametrize(
    "one", [Round(1, costs={"a": 0.5}), Round(1, ask=("cat",), costs={"cow": 0.9}), Round(1, width=0)], ids=str
)
def test_what_was_asked_and_the_width_survive_the_json_form(one):
    again = Round.from_json(one.to_json())
    assert (again, again.asked) == (one, one.asked)


@pytest.mark.parametrize(("known_part", "asked"), [(0.0, ("b",)), (1.0, ("b",)), (1.5, ()), (2.0, ())])
def test_the_known_part_of_a_cost_counts_when_the_next_question_is_chosen(known_part, asked):
    ranges = {"a": (1.0, 5.0), "b": (1.5, 5.0)}
    one = Round(1, ask=("a", "b"), first=1, ranges=ranges, costs={"a": 3.0}, offset={"b": known_part})
    assert one.next_labels((1.0, 5.0)) == asked  # b is worth a question if 1.5 + its known part is below 3


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ({"indices": (1,), "values": (2.0,)}, [1]),
        ({"costs": {"a": 1.0}, "width": 3}, []),  # a row of zeros, from which something was learned
        ({"costs": {"a": 1.0}}, None),
        ({"width": 3}, None),
        ({"indices": (1,), "values": (2.0,), "features": {"length": 2.0}}, None),
    ],
)
def test_a_row_is_written_if_it_has_values_or_was_learned(given, written):
    assert Round(1, ask=("a",), **given).to_json().get("indices") == written
