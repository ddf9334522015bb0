"""Lines that give a true label or the cost of a served label: what is read, and what is refused."""

import pytest

from coalface.rounds.parsing import shown
from coalface.rounds.round import Round


@pytest.mark.parametrize("label", ["cat", 7, 0.5])
def test_a_served_label_is_text_or_a_number_with_its_cost(label):
    one = Round.from_json({"round": 3, "served": label, "probability": 0.25, "costs": {str(label): 0.5}})
    assert (one.served, one.probability, one.costs) == (str(label), 0.25, {str(label): 0.5})


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ({"served": True, "costs": {"True": 0.5}}, '"served" must be a label, got True'),
        ({"served": ["cat"], "costs": {"cat": 0.5}}, r'"served" must be a label, got \[\'cat\'\]'),
        ({"served": "cat", "costs": {"dog": 0.5}}, "must have the cost of the served label 'cat' alone"),
        ({"served": "cat", "costs": {"cat": 0.5, "dog": 0.5}}, "must have the cost of the served label 'cat' alone"),
        ({"served": "cat", "costs": {"cat": None}}, "must have the cost of the served label 'cat' alone"),
        ({"served": "cat", "costs": {}}, "must have the cost of the served label 'cat' alone"),
        ({"costs": {"cat": 0.5}}, '"served" and "probability" belong together'),
    ],
)
def test_a_bad_served_label_is_refused(line, problem):
    with pytest.raises(ValueError, match=problem):
        Round.from_json({"round": 3, "probability": 0.25, **line})


@pytest.mark.parametrize(("given", "read"), [("cat", "cat"), (7, "7"), (0.5, "0.5"), (None, None)])
def test_a_true_label_is_text_or_a_number_or_unknown(given, read):
    assert Round.from_json({"round": 3, "truth": given}).truth == read


@pytest.mark.parametrize("given", [True, False, ["cat"], {"cat": 1}])
def test_a_bad_true_label_is_refused(given):
    with pytest.raises(ValueError, match='"truth" must be a label, or null'):
        Round.from_json({"round": 3, "truth": given})


def costs_of(**line):
    return Round.from_json({"round": 3, **line}).costs


def test_who_cannot_tell_the_true_label_cannot_tell_a_cost_that_was_asked_for():
    assert costs_of(ask=["cat", "dog"], truth=None) == {"cat": None, "dog": None}
    assert costs_of(ask=["cat", "dog"], truth=None, costs={"dog": 0.5}) == {"dog": 0.5}
    assert costs_of(ask=["cat", "dog"], truth="cat") == {}
    assert costs_of(ask=["cat", "dog"]) == {}


@pytest.mark.parametrize(("length", "is_cut"), [(10, False), (1000, True)])
def test_a_long_value_is_shortened_in_messages(length, is_cut):
    text = shown("x" * length)
    assert text.endswith("...") is is_cut
    assert len(text) < 100
