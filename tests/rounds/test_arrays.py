"""Rounds as the arrays of the learner, and back: every field by hand."""

import math

import numpy as np
import pytest

from coalface.data.rows import check_rows
from coalface.errors import InputError, UnknownLabelError
from coalface.kernels.state import ANSWER, AUDIT, CHANCE, N_OUTLOOK, PREDICTED, REACHABLE, new_rounds
from coalface.rounds.arrays import (
    ServedLabels,
    answer_arrays,
    check_recordable,
    outlook_of,
    rounds_from_arrays,
    rows_of_rounds,
)
from coalface.rounds.round import Outlook, Round

LABELS = ("cat", "dog", "eel")
NAN = math.nan


def outlook(answer, predicted, chance, reachable):
    found = np.zeros(N_OUTLOOK)
    found[[ANSWER, PREDICTED, CHANCE, REACHABLE]] = answer, predicted, chance, reachable
    return found


def decided(n_rows=2):
    """Arrays of rounds in which nothing was asked."""
    arrays = new_rounds(n_rows, len(LABELS), asked=np.zeros((n_rows, len(LABELS)), np.bool_))
    for name in ("reasons", "propensity"):
        getattr(arrays, name)[...] = 0
    return arrays


def written(cost, arrays, X=((1.0, 0.0), (0.0, 2.5)), **others):
    return rounds_from_arrays(7, LABELS, check_rows(np.array(X)), np.array(cost, np.float64), arrays, **others)


def test_answers_become_costs_questions_and_answers_that_were_not_asked_for():
    arrays = decided()
    arrays.asked[0] = True, True, False
    first, second = written([[0.5, NAN, 0.25], [NAN, NAN, NAN]], arrays)
    assert first.costs == {"cat": 0.5, "dog": None, "eel": 0.25}
    assert (first.ask, first.unasked) == (("cat", "dog"), ("eel",))
    assert (first.indices, first.values, first.width) == ((0,), (1.0,), 2)
    assert (first.number, second.number, first.late) == (7, 8, False)
    assert (second.costs, second.ask, second.indices, second.values) == ({}, (), (), ())  # nothing to learn from it
    assert (first.candidates, first.outlook, first.truth, first.offset, first.served) == (None, None, None, {}, None)
    assert (first.columns, first.encoder, first.ask_truth, first.probability) == (None, None, False, None)


def test_late_answers_all_belong_to_the_next_round_and_have_no_outlook():
    arrays = decided()._replace(outlook=np.array([outlook(0, 0.1, 0.5, 0.0)] * 2))
    found = written([[0.5, NAN, NAN], [NAN, 0.5, NAN]], arrays, late=True)
    assert [(one.number, one.late, one.outlook) for one in found] == [(7, True, None), (7, True, None)]


def test_only_candidates_are_written():
    candidates = np.array([[True, False, True], [True, True, True]])
    arrays = decided()._replace(candidates=candidates)
    arrays.asked[...] = True
    first, second = written([[0.5, 0.5, NAN]] * 2, arrays)
    assert (first.candidates, first.ask, first.costs) == (("cat", "eel"), ("cat", "eel"), {"cat": 0.5, "eel": None})
    assert (second.candidates, second.ask) == (LABELS, LABELS)


def test_one_example_can_have_candidates_and_ask_for_its_true_label():
    candidates, truth = np.array([[True, False, True]]), np.array([True])
    arrays = decided(1)._replace(candidates=candidates, truth=truth)
    found = written([[0.5, 0.5, NAN]], arrays, X=((1.0, 0.0),))
    assert [(one.candidates, one.ask_truth) for one in found] == [(("cat", "eel"), True)]
    without = written([[0.5, 0.5, NAN]], arrays._replace(truth=np.empty(0, np.bool_)), X=((1.0, 0.0),))
    assert [one.ask_truth for one in without] == [False]


def test_chances_are_those_of_audits_alone():
    arrays = decided()
    arrays.asked[...] = True
    arrays.propensity[...] = 0.25
    arrays.reasons[0, 1] = AUDIT
    first, second = written([[0.5, 0.5, 0.5]] * 2, arrays)
    assert (first.propensity, second.propensity) == ({"dog": 0.25}, {})
    without_reasons = arrays._replace(reasons=np.empty((0, 0), np.int8))
    assert written([[0.5, 0.5, 0.5]] * 2, without_reasons)[0].propensity == {}


def test_names_of_columns_and_the_encoder_stand_in_the_first_round():
    columns, encoder = np.array(["length", "width"], object), {"kind": "table"}
    first, second = written([[0.5, NAN, NAN]] * 2, decided(), columns=columns, encoder=encoder)
    assert (first.columns, first.encoder) == (("length", "width"), encoder)
    assert (second.columns, second.encoder) == (None, None)


def test_truths_known_parts_outlooks_and_served_labels_are_written_by_name():
    arrays = decided()._replace(
        truth=np.array([True, False]),
        offsets=np.array([[0.0, 0.25, 0.0], [0.0, 0.0, 0.0]], np.float32),
        outlook=np.array([outlook(1, 0.1, 0.5, 0.05), outlook(3, 0.2, 0.4, 0.0)]),
    )
    served = ServedLabels(np.array([2, 0]), np.array([0.75, 1.0]))
    first, second = written([[0.5, NAN, NAN]] * 2, arrays, truth=np.array([1, -1]), span=4.0, served=served)
    assert (first.ask_truth, first.truth, first.offset) == (True, "dog", {"dog": 1.0})
    assert (second.ask_truth, second.truth, second.offset) == (False, None, {})
    assert first.outlook == Outlook("dog", 0.1, 0.5, 0.05)
    assert second.outlook == Outlook(None, 0.2, 0.4, 0.0)  # it would have abstained
    assert [(one.served, one.probability) for one in (first, second)] == [("eel", 0.75), ("cat", 1.0)]
    assert outlook_of(LABELS, outlook(1, 0.1, 0.0, 0.05)) is None  # its chance is unknown


def test_reading_gives_back_what_was_written():
    rounds = [
        Round(1, ask=("cat", "eel"), costs={"cat": 0.5, "eel": None, "dog": 0.25}, unasked=("dog",)),
        Round(2, candidates=("dog", "eel"), truth="eel", ask_truth=True, offset={"dog": 2.0}, propensity={"eel": 0.1}),
        Round(3, outlook=Outlook("eel", 0.1, 0.5, 0.05)),
        Round(4, outlook=Outlook(None, 0.2, 0.4, 0.0)),
    ]
    found = answer_arrays(rounds, LABELS)
    np.testing.assert_array_equal(found.cost, [[0.5, 0.25, NAN], *[[NAN] * 3] * 3])
    assert found.asked.tolist() == [[True, False, True], *[[False] * 3] * 3]
    assert found.candidates is not None
    assert found.candidates.tolist() == [[True] * 3, [False, True, True], [True] * 3, [True] * 3]
    assert (found.truth.tolist(), found.asks_truth.tolist()) == ([-1, 2, -1, -1], [False, True, False, False])
    assert found.offset is not None
    assert found.offset.tolist() == [[0.0] * 3, [0.0, 2.0, 0.0], [0.0] * 3, [0.0] * 3]
    assert found.audits.tolist() == [[0.0] * 3, [0.0, 0.0, 0.1], [0.0] * 3, [0.0] * 3]
    unknown = np.zeros(N_OUTLOOK)
    known = [outlook(2, 0.1, 0.5, 0.05), outlook(3, 0.2, 0.4, 0.0)]
    np.testing.assert_array_equal(found.outlook, [unknown, unknown, *known])
    assert found.served is None


def test_served_labels_are_read_where_every_round_has_one():
    rounds = [Round(1, served="eel", probability=0.75), Round(2, served="cat", probability=1.0)]
    served = answer_arrays(rounds, LABELS).served
    assert served is not None
    assert (served.labels.tolist(), served.chances.tolist()) == ([2, 0], [0.75, 1.0])
    assert answer_arrays([*rounds, Round(3)], LABELS).served is None
    assert answer_arrays([], LABELS).served is None
    plain = answer_arrays([Round(1)], LABELS)
    assert (plain.candidates, plain.offset) == (None, None)


def test_an_unknown_label_is_named():
    with pytest.raises(UnknownLabelError, match="owl"):
        answer_arrays([Round(1, costs={"owl": 0.5})], LABELS)


def test_examples_become_rows_as_wide_as_the_widest():
    rows = rows_of_rounds(
        [Round(1, indices=(1, 4), values=(0.5, 2.0), width=5), Round(2), Round(3, indices=(0,), values=(1.0,), width=9)]
    )
    assert rows.indptr.tolist() == [0, 2, 2, 3]
    assert (rows.columns.tolist(), rows.values.tolist(), rows.width) == ([1, 4, 0], [0.5, 2.0, 1.0], 9)
    with pytest.raises(InputError, match=r"Round 2 names its features, .* Pass X\."):
        rows_of_rounds([Round(1), Round(2, features={"length": 1.0})])


def test_labels_that_json_cannot_hold_are_refused():
    for labels in (np.array(["a"]), np.array([1]), np.array([0.5])):
        check_recordable(labels)
    pair = np.empty(1, object)
    pair[0] = (1, 2)
    with pytest.raises(InputError, match=r"Recorded labels must be text or numbers, got \(1, 2\)"):
        check_recordable(pair)
