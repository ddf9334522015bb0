"""Raw examples of unusual types are read as what they are."""

from datetime import date

import numpy as np
import pytest

from coalface import CoalClassifier

LABELS = ["a", "b"] * 5


def learner(X):
    return CoalClassifier(["a", "b"], model="online").fit(X, LABELS)


def test_one_dictionary_is_one_example():
    texts = learner([{"text": "where is my parcel"}, {"text": "money back"}] * 5)
    assert texts.predict({"text": "money back"}).tolist() == ["b"]
    assert learner([{"n": 1}, {"n": 2}] * 5).predict({"n": 2}).tolist() == ["b"]


def test_keys_of_records_need_not_be_texts():
    encoder = learner([{0: "x", 1: 5.0}, {0: "y", 1: 7.0}] * 5).encoder_
    assert encoder.describe().startswith("0  category, 2 values ('x', 'y')")


@pytest.mark.parametrize("unit", ["D", "s", "ns"])
def test_arrays_of_dates_are_dates_in_any_unit(unit):
    X = np.array([["2024-01-01"], ["2024-02-01"]] * 5, dtype=f"datetime64[{unit}]")
    days = np.array([["2024-02-01"]], dtype="datetime64[D]")
    assert learner(X).predict(days).tolist() == ["b"]


def test_rows_of_lists_may_have_dates():
    X = [[date(2024, 1, 1), 1], [date(2024, 2, 1), 3]] * 5
    assert learner(X).predict(X[:2]).tolist() == ["a", "b"]
