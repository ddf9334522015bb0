"""Questions that are edited after they were decided: limited, restricted, or given labels that came later."""

import numpy as np
import pytest

from coalface import CoalClassifier
from coalface.kernels.state import (
    ANSWER,
    AUDIT,
    CHANCE,
    N_OUTLOOK,
    NOT_A_CANDIDATE,
    OVER_LIMIT,
    UNCERTAIN,
    WARM_UP,
)
from coalface.rounds.queries import CostRanges, Queries

NAMES = np.array(["cat", "dog", "eel"])
EVERYTHING = np.ones((2, 3), np.bool_)


def questions(**changes):
    """About two examples and three labels: all costs are asked for, and all now."""
    lowest = np.array([[0.1, 0.2, 0.3], [0.1, 0.1, 0.1]])
    width = np.array([[0.1, 0.3, 0.2], [0.6, 0.5, 0.4]])
    outlook = np.zeros((2, N_OUTLOOK))
    outlook[:, ANSWER], outlook[:, CHANCE] = (1, 3), 0.5  # 3: it would abstain
    plain = {
        "mask": EVERYTHING.copy(),
        "next": EVERYTHING.copy(),
        "ranges": CostRanges(lowest, lowest + width),
        "predicted": lowest.copy(),
        "reason_codes": np.full((2, 3), UNCERTAIN, np.int8),
        "propensity": np.full((2, 3), 0.25),
        "truth": np.zeros(2, np.bool_),
        "classes": NAMES,
        "first_round": 7,
        "outlook": outlook,
    }
    return Queries(**{**plain, **changes})


def test_a_limit_keeps_the_widest_ranges_and_forgets_the_chances_of_the_others():
    found = questions().limited_to(4)
    assert found.mask.tolist() == [[False, True, False], [True, True, True]]
    assert found.next.tolist() == found.mask.tolist()
    assert found.propensity.tolist() == [[0.0, 0.25, 0.0], [0.25] * 3]
    assert found.reason_codes.tolist() == [[OVER_LIMIT, UNCERTAIN, OVER_LIMIT], [UNCERTAIN] * 3]
    assert found.outlook is None  # the chance of a dropped question is unknown
    assert questions().limited_to(6).outlook is not None  # nothing was dropped


def test_a_question_for_later_stays_one_for_later():
    now = EVERYTHING.copy()
    now[1, 0] = False
    assert questions(next=now).limited_to(4).next.tolist() == [[False, True, False], [False, True, True]]


def test_a_limit_keeps_audits_first():
    codes = np.full((2, 3), UNCERTAIN, np.int8)
    codes[0, 0] = AUDIT
    assert questions(reason_codes=codes).limited_to(1).mask.tolist() == [[True, False, False], [False] * 3]
    without_question = EVERYTHING.copy()
    without_question[0, 0] = False
    assert not questions(reason_codes=codes, mask=without_question).audit.any()


@pytest.mark.parametrize(("limit", "asked"), [(1, [0, 0]), (2, [3, 0]), (3, [3, 1]), (5, [3, 3])])
def test_a_true_label_is_one_question_with_a_price(limit, asked):
    wide = CostRanges(np.zeros((2, 3)), np.array([[0.9, 0.1, 0.2], [0.6, 0.5, 0.4]]))
    found = questions(truth=np.array([True, False]), price_of_truth=2.0, ranges=wide).limited_to(limit)
    assert found.mask.sum(axis=1).tolist() == asked
    assert found.truth.tolist() == [asked[0] > 0, False]


def test_questions_are_restricted_to_those_that_were_asked():
    later = EVERYTHING.copy()
    later[0, 2] = False  # was asked for only in case
    decided = questions(next=later, truth=np.array([False, True]))
    assert decided.restricted_to(EVERYTHING).mask.tolist() == EVERYTHING.tolist()
    found = decided.restricted_to(later)
    assert isinstance(found, Queries)
    assert (found.mask.tolist(), found.truth.tolist()) == (later.tolist(), [False, True])


def test_answers_to_other_questions_are_no_longer_as_decided():
    some = EVERYTHING.copy()
    some[0, 0] = False
    assert questions().restricted_to(some) is some  # one was due and not asked
    assert questions(mask=some, next=some).restricted_to(EVERYTHING) is EVERYTHING  # one was not decided


def test_labels_that_came_later_have_columns_without_questions():
    classes = np.array([*NAMES, "fox", "gnu"])
    offset = np.full((2, 3), 0.5)
    cost, found = questions(offset=offset).with_later_labels(classes, np.full((2, 3), 0.25))
    np.testing.assert_array_equal(cost, [[0.25] * 3 + [np.nan] * 2] * 2)
    assert found.classes.tolist() == classes.tolist()
    new = slice(3, None)
    assert not found.mask[:, new].any()
    assert not found.next[:, new].any()
    assert (found.reason_codes[:, new] == NOT_A_CANDIDATE).all()
    assert (found.propensity[:, new] == 0.0).all()
    assert (found.offset[:, new] == 0.0).all()
    assert (found.ranges.lowest[:, new] == 0.0).all()
    assert (found.ranges.highest[:, new] == 0.7).all()  # the widest scale that is known
    assert found.outlook[:, ANSWER].tolist() == [1.0, 5.0]  # abstaining has the number after the last label
    for name in ("mask", "next", "predicted", "reason_codes", "propensity", "offset"):
        assert (getattr(found, name)[:, :3] == getattr(questions(offset=offset), name)).all(), name


def test_answers_about_all_labels_and_questions_of_today_stay_as_they_are():
    cost, wide = np.full((2, 3), 0.25), np.full((2, 4), 0.25)
    same = questions()
    assert same.with_later_labels(NAMES, cost) == (cost, same)
    assert same.with_later_labels(np.array([*NAMES, "fox"]), wide)[0] is wide
    assert same.with_later_labels(np.array([*NAMES, "fox"]))[0] is None
    assert questions(outlook=None).with_later_labels(np.array([*NAMES, "fox"]))[1].outlook is None
    assert questions(offset=None).with_later_labels(np.array([*NAMES, "fox"]))[1].offset is None


def test_an_example_becomes_a_round_with_its_number_and_its_questions():
    codes = np.full((2, 3), UNCERTAIN, np.int8)
    codes[1, 2] = AUDIT
    now = np.array([[True] * 3, [False, False, True]])
    one = questions(reason_codes=codes, next=now).round(1)
    assert (one.number, set(one.ask), one.first) == (8, set(NAMES), 1)
    assert one.propensity == {"eel": 0.25}
    assert one.outlook is not None
    assert one.outlook.label is None
    assert one.ranges["cat"] == pytest.approx((0.1, 0.7))
    assert questions(outlook=None).round(0).outlook is None


def test_reasons_name_the_round_and_mark_what_is_asked():
    codes = np.full((2, 3), WARM_UP, np.int8)
    some = np.array([[True] * 3, [True, False, False]])
    first, *lines = questions(reason_codes=codes, mask=some).reason(1).splitlines()
    assert first == "round 8: asks for 1 of 3 costs"
    assert [line.split()[0] for line in lines if line.strip().startswith("ask")] == ["ask"]


def test_a_learner_asks_what_its_questions_say():
    queries = CoalClassifier(NAMES).ask([[1.0], [2.0]])
    assert queries.limited_to(0).mask.sum() == 0
