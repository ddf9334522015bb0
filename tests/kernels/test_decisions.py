"""The query rules and warm-ups, one decision at a time: what is asked for, and why."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.kernels.codes import ALL_OR_NONE, AUTO_WARM_UP, COAL, NO_DOMINATION, PASSIVE
from coalface.kernels.rules import in_warm_up, is_new
from coalface.kernels.state import (
    ABSTAINING_IS_CHEAPER,
    CANNOT_BE_BEST,
    KNOWN_WELL,
    NEW_LABEL,
    NOT_A_CANDIDATE,
    ONLY_CONTENDER,
    UNCERTAIN,
    WARM_UP,
    WITH_THE_REST,
)

from .decisions import NARROW, counts_of, decided, scratch_of, settings_of

K = 4
eighths = st.integers(0, 8).map(lambda number: number / 8)
lists = st.lists(eighths, min_size=K, max_size=K)
flags = st.lists(st.booleans(), min_size=K, max_size=K)


# -- the rule


def expected_of(rule, lowest, highest, candidates, abstain_cost, threshold):
    """The labels to ask for, from the definitions, with total costs."""
    upper = [high for high, candidate in zip(highest, candidates, strict=True) if candidate]
    guaranteed = min([*upper, abstain_cost])
    answers = [candidate and low <= guaranteed for low, candidate in zip(lowest, candidates, strict=True)]
    wide = [high - low > threshold for low, high in zip(lowest, highest, strict=True)]
    if rule == NO_DOMINATION:
        return [candidate and is_wide for candidate, is_wide in zip(candidates, wide, strict=True)]
    abstaining = abstain_cost < min(upper, default=np.inf)
    asked = [
        answer and is_wide and sum(answers) + abstaining > 1 for answer, is_wide in zip(answers, wide, strict=True)
    ]
    return [candidate and any(asked) for candidate in candidates] if rule == ALL_OR_NONE else asked


@given(
    st.sampled_from([COAL, ALL_OR_NONE, NO_DOMINATION]),
    lists,
    lists,
    lists,
    flags,
    st.sampled_from([0.25, 0.5, 1.25, np.inf]),
    st.sampled_from([0.5, 1.0, 1.5]),
)
def test_each_rule_asks_for_what_its_definition_says(rule, ends, others, offset, candidates, abstain_cost, width_scale):
    lowest, highest = np.minimum(ends, others), np.maximum(ends, others)
    scratch = scratch_of(lowest, highest, candidates=candidates, offset=offset)
    settings = settings_of(K, rule=rule, abstain_cost=abstain_cost, width_scale=width_scale)
    n_asked, mask, reasons = decided(settings, scratch, round_number=16)
    low, high = lowest + offset, highest + offset
    assert mask == expected_of(rule, low.tolist(), high.tolist(), candidates, abstain_cost, width_scale / 4)
    assert n_asked == sum(mask)
    assert [reason == NOT_A_CANDIDATE for reason in reasons] == [not candidate for candidate in candidates]
    best = min(high[candidates], default=np.inf)
    for k in np.flatnonzero(candidates):
        if reasons[k] == CANNOT_BE_BEST:
            assert low[k] > best
        if reasons[k] == ABSTAINING_IS_CHEAPER:
            assert abstain_cost < low[k] <= best
        if reasons[k] == KNOWN_WELL and rule != NO_DOMINATION:
            assert low[k] <= min(best, abstain_cost)
        if reasons[k] in (UNCERTAIN, KNOWN_WELL):
            assert (highest[k] - lowest[k] > width_scale / 4) == (reasons[k] == UNCERTAIN)
        assert reasons[k] != WITH_THE_REST or rule == ALL_OR_NONE


@pytest.mark.parametrize(
    ("rule", "ranges", "abstain_cost", "expected"),
    [
        (COAL, ([0.0, 0.5, 0.0], [0.4, 0.9, 0.05]), np.inf, [UNCERTAIN, CANNOT_BE_BEST, KNOWN_WELL]),
        (COAL, ([0.0, 0.5, 0.5], [0.4, 0.9, 0.9]), np.inf, [ONLY_CONTENDER, CANNOT_BE_BEST, CANNOT_BE_BEST]),
        (COAL, ([0.0, 0.25, 0.5], [0.4, 0.9, 0.9]), 0.2, [UNCERTAIN, ABSTAINING_IS_CHEAPER, CANNOT_BE_BEST]),
        (ALL_OR_NONE, ([0.0, 0.5, 0.0], [0.4, 0.9, 0.05]), np.inf, [UNCERTAIN, WITH_THE_REST, WITH_THE_REST]),
        (NO_DOMINATION, ([0.0, 0.5, 0.5], [0.4, 0.9, 0.55]), np.inf, [UNCERTAIN, UNCERTAIN, KNOWN_WELL]),
        (PASSIVE, ([0.0, 0.5, 0.5], [0.4, 0.9, 0.55]), np.inf, [WITH_THE_REST] * 3),
        (ALL_OR_NONE, ([0.5, 0.5, 0.9], [0.625, 0.625, 1.0]), np.inf, [KNOWN_WELL, KNOWN_WELL, CANNOT_BE_BEST]),
        (COAL, ([0.0, 0.5, 0.5], [0.25, 0.9, 0.9]), 0.25, [ONLY_CONTENDER, CANNOT_BE_BEST, CANNOT_BE_BEST]),
    ],
)
def test_reasons(rule, ranges, abstain_cost, expected):
    _, _, reasons = decided(settings_of(3, rule=rule, abstain_cost=abstain_cost), scratch_of(*ranges), 16)
    assert reasons == expected


def test_a_label_whose_known_part_makes_it_too_dear_is_not_asked_about():
    scratch = scratch_of([0.0, 0.0, 0.0], [0.4, 0.4, 0.4], offset=[0.0, 0.0, 0.5])
    assert decided(settings_of(3), scratch)[1:] == ([True, True, False], [UNCERTAIN, UNCERTAIN, CANNOT_BE_BEST])


# -- warm-ups


@pytest.mark.parametrize("settings", [{"rule": PASSIVE}, {"warm_up": 9}])
def test_only_candidates_are_asked_about_where_all_labels_are(settings):
    scratch = scratch_of(*NARROW, candidates=[True, False, True, False])
    n_asked, mask, reasons = decided(settings_of(K, **settings), scratch)
    assert (n_asked, mask) == (2, [True, False, True, False])
    assert [reason == NOT_A_CANDIDATE for reason in reasons] == [False, True, False, True]
    np.testing.assert_array_equal(scratch.propensity[:K], [1.0, 0.0, 1.0, 0.0])


@pytest.mark.parametrize(("round_number", "asked"), [(1, True), (3, True), (4, False)])
def test_a_warm_up_of_three_ends_after_the_third_round(round_number, asked):
    n_asked, mask, reasons = decided(settings_of(K, warm_up=3), scratch_of(*NARROW), round_number)
    assert (n_asked, mask) == ((K, [True] * K) if asked else (0, [False] * K))
    assert (reasons == [WARM_UP] * K) == asked


@pytest.mark.parametrize(
    ("round_number", "best", "n_labels", "expected"),
    [
        (5, [9, 9, 9, 9], 4, True),
        (6, [9, 1, 1, 0], 4, False),
        (6, [9, 1, 0, 0], 4, True),
        (6, [9, 1], 2, False),
        (6, [9, 0], 2, True),
        (50, [9, 0, 0, 0], 4, True),
        (51, [9, 0, 0, 0], 4, False),
        (6, [1, 1, 1, 0], 4, False),
    ],
)
def test_the_automatic_warm_up_waits_for_three_labels_that_were_best(round_number, best, n_labels, expected):
    counts = counts_of(n_labels, was_best=best)
    assert in_warm_up(counts, settings_of(n_labels, warm_up=AUTO_WARM_UP), round_number) == expected


@pytest.mark.parametrize(
    ("since", "answered", "warm_up", "round_number", "expected"),
    [
        (0, 0, 4, 3, False),
        (1, 0, 4, 30, True),
        (20, 0, 4, 90, True),
        (20, 1, 4, 19, False),
        (20, 1, 4, 20, True),
        (20, 1, 4, 23, True),
        (20, 1, 4, 24, False),
        (20, 1, AUTO_WARM_UP, 29, True),
        (20, 1, AUTO_WARM_UP, 30, False),
    ],
)
def test_a_label_added_later_has_a_warm_up_of_its_own(since, answered, warm_up, round_number, expected):
    counts = counts_of(2, since=[0, since], answered=[9, answered])
    assert is_new(counts, settings_of(2, warm_up=warm_up), 1, round_number) == expected


def test_labels_added_later_are_asked_about_and_counted_once():
    counts = counts_of(K, since=[0, 8, 8, 8], answered=[9, 1, 1, 1])
    scratch = scratch_of([0.0, 0.0, 0.9, 0.9], [0.8, 0.8, 1.0, 1.0], candidates=[True, True, True, False])
    n_asked, mask, reasons = decided(settings_of(K, warm_up=3), scratch, 9, counts)
    assert (n_asked, mask) == (3, [True, True, True, False])
    assert reasons == [UNCERTAIN, NEW_LABEL, NEW_LABEL, NOT_A_CANDIDATE]


def test_every_label_added_later_that_the_rule_leaves_out_counts():
    counts = counts_of(K, since=[0, 1, 8, 8], answered=[9, 0, 1, 1])
    scratch = scratch_of([0.0, 0.9, 0.9, 0.9], [0.8, 1.0, 1.0, 1.0])
    n_asked, mask, reasons = decided(settings_of(K, warm_up=3), scratch, 9, counts)
    assert (n_asked, mask) == (3, [False, True, True, True])
    assert reasons == [ONLY_CONTENDER, NEW_LABEL, NEW_LABEL, NEW_LABEL]
