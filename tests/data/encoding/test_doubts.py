"""A column that was read as words although it looks like ids, dates or numbers is named in a warning."""

import warnings

import numpy as np
import pytest

from coalface import CoalClassifier, Encoder
from coalface.errors import DoubtfulColumnWarning

N = 60
SIZES = np.arange(N, dtype=float)
IDS = [f"inst{place:04}.cnf" for place in range(N)]


def _records(cells):
    return [{"x": cell, "size": size} for cell, size in zip(cells, SIZES, strict=False)]


def _warned(X, encoder=None):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        (encoder or Encoder()).fit(X)
    return [str(one.message) for one in caught if one.category is DoubtfulColumnWarning]


def test_a_column_of_ids_is_named_with_an_example_and_what_to_do():
    (message,) = _warned(_records(IDS))
    assert message.startswith("Column 'x' looks like an id, because nearly all of its values differ, such as 'inst0000")
    assert "Drop it, or name it under text" in message
    assert "\n" not in message


def test_a_learner_warns_of_ids_in_a_data_frame_and_in_records():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"instance": IDS, "size": SIZES})
    for X in (frame, frame.to_dict("records")):
        with pytest.warns(DoubtfulColumnWarning, match="Column 'instance' looks like an id"):
            CoalClassifier().fit(X, ["a", "b"] * (N // 2))


NO_IDS = {
    "few rows": IDS[:40],
    "sentences": [f"where is parcel {place}" for place in range(N)],
    "values that repeat": [f"user{place % 55}" for place in range(N)],
    "e-mail addresses": [f"u{place}@shop.example" for place in range(N)],
    "urls": [f"https://shop.example/{place}" for place in range(N)],
    "sentences without blanks": [f"我的包裹{place}还没到" for place in range(N)],
    "nothing": [None] * N,
}


@pytest.mark.parametrize("name", NO_IDS)
def test_other_columns_are_no_ids(name):
    assert _warned(_records(NO_IDS[name])) == []


def test_a_column_is_not_taken_for_ids_if_it_is_all_there_is_to_learn_from_or_if_the_user_said_what_it_is():
    assert _warned(IDS) == []
    assert _warned([{"x": name, "id": name} for name in IDS]) == []
    for option in ("text", "ignore"):
        assert _warned(_records(IDS), Encoder(**{option: ["x"]})) == []
    assert _warned(_records(IDS), Encoder(id="x")) == []


def test_values_that_repeat_after_the_first_thousand_are_no_ids():
    users = [f"user{place % 1500}" for place in range(3000)]
    assert _warned({"x": users, "size": np.arange(3000.0)}) == []


FORMS = {
    "days first": "02.03.2026 08:00",
    "months first": "3/14/2026",
    "short years": "14/3/26 8:05 PM",
    "years first": "2026/03/02",
    "names of months": "2 March 2026",
    "months before days": "Mar 2, 2026",
    "mail": "Mon, 02 Mar 2026 08:00:00 GMT",
}


@pytest.mark.parametrize("name", FORMS)
def test_dates_in_another_form_are_named(name):
    (message,) = _warned(_records([FORMS[name]] * 3 + ["unknown"]))
    assert f"Column 'x' was read as words, because it has dates such as {FORMS[name]!r}. Write them as 2026-" in message


def test_numbers_with_a_comma_are_named():
    (message,) = _warned(_records([f"{place},5" for place in range(9)]))
    assert "it has numbers such as '0,5'. Write them as 3.5" in message


@pytest.mark.parametrize("text", ["1.2.3", "10.0.0.1", "12-3456", "1,2,3", "A/2/2026", "in March 2026", "32.13.2026"])
def test_other_texts_are_neither_dates_nor_numbers(text):
    assert _warned(_records([text] * 9)) == []


def test_dates_that_the_user_calls_a_category_are_one():
    assert _warned(_records(["02.03.2026"] * 9), Encoder(category=["x"])) == []
