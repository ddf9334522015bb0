"""Budgets, one decision at a time, against the description of a plan in ``tests/reference/pacing.py``."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coalface.kernels.budgets import count_asked_row, count_spending, decide_within_budget, set_pace
from coalface.kernels.codes import PASSIVE
from coalface.kernels.state import (
    AUDIT,
    COSTS_BEFORE,
    COSTS_QUERIED,
    EXAMPLES_BEFORE,
    EXAMPLES_QUERIED,
    NEW_LABEL,
    OVER_BUDGET,
    SLACK_FACTOR,
    TRUTHS_QUERIED,
    UNCERTAIN,
    WARM_UP,
    WITH_THE_REST,
)

from ..reference.online import pull
from ..reference.pacing import Purse
from .decisions import counts_of, scratch_of, settings_of

K = 4
# Sums and products of these have no rounding, so that an amount can be met exactly.
amounts = st.sampled_from([0.0, 1.0, 2.0, 8.0, 20.0, 64.0, 320.0])
prices = st.tuples(st.sampled_from([0.0, 1.0, 4.0]), st.sampled_from([0.0, 0.5, 2.0])).filter(any)
wide = (np.zeros(K), np.ones(K))


def limited(amount, over, per_example=0.0, per_cost=1.0, n_labels=K, **changed):
    return settings_of(
        n_labels, budget=amount, over=over, price_per_example=per_example, price_per_cost=per_cost, **changed
    )


def after(scratch, examples, costs, factor=1.0):
    scratch.pacing[[SLACK_FACTOR, EXAMPLES_BEFORE, COSTS_BEFORE]] = factor, examples, costs
    return scratch


# -- what was spent


@pytest.mark.parametrize(("price", "expected"), [(np.inf, 9.0), (1.5, 9.0 + 1.5 * 3)])
def test_spending_is_what_was_asked_for_since_the_budget_began(price, expected):
    settings = limited(
        50, 10, price_of_truth=price, examples_before_budget=4, costs_before_budget=6, truths_before_budget=2
    )
    counts, scratch = counts_of(K), scratch_of(*wide)
    counts.counters[[EXAMPLES_QUERIED, COSTS_QUERIED, TRUTHS_QUERIED]] = 9, 15, 5
    count_spending(counts, settings, scratch)
    assert scratch.pacing[[EXAMPLES_BEFORE, COSTS_BEFORE]].tolist() == [5.0, expected]


def test_counts_below_those_of_the_beginning_are_nothing_spent():
    settings = limited(
        50, 10, price_of_truth=2.0, examples_before_budget=4, costs_before_budget=6, truths_before_budget=2
    )
    scratch = scratch_of(*wide)
    count_spending(counts_of(K), settings, scratch)
    assert scratch.pacing[[EXAMPLES_BEFORE, COSTS_BEFORE]].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("n_asked", "truth", "expected"), [(0, False, [2, 3]), (1, False, [3, 4]), (3, False, [3, 6]), (4, True, [3, 4.5])]
)
def test_rows_of_a_batch_count_for_the_rows_after_them(n_asked, truth, expected):
    scratch = after(scratch_of(*wide), 2, 3)
    scratch.truth[0] = truth
    count_asked_row(limited(50, 10, price_of_truth=1.5), scratch, n_asked)
    assert scratch.pacing[[EXAMPLES_BEFORE, COSTS_BEFORE]].tolist() == expected


# -- the pace


@settings(max_examples=300)
@given(amounts, st.sampled_from([1, 4, 10]), prices, st.integers(0, 14), st.integers(0, 8), st.integers(0, 30))
def test_the_slack_follows_what_is_left_of_the_plan(amount, over, per, rounds_done, examples, costs):
    began = 100
    scratch = after(scratch_of(*wide), examples, costs, factor=7.0)
    set_pace(limited(amount, over, *per, rounds_before_budget=began), scratch, began + rounds_done + 1)
    purse = Purse(amount, over, *per)
    expected = purse.slack_factor(rounds_done, purse.price(examples, costs), K)
    np.testing.assert_allclose(scratch.pacing[SLACK_FACTOR], expected, rtol=1e-12)


def test_rounds_before_the_budget_are_not_of_its_plan():
    scratch = after(scratch_of(*wide), 0, 0)
    set_pace(limited(10.0, 10, rounds_before_budget=100), scratch, 50)
    np.testing.assert_allclose(scratch.pacing[SLACK_FACTOR], (1 / 0.8) ** 20, rtol=1e-12)


@pytest.mark.parametrize(("spent", "expected"), [(2, 1e12), (3, (7 / (10 * 0.8)) ** 20), (10, 1.0), (11, 1.0)])
def test_the_pace_where_the_budget_just_suffices_and_where_it_just_ends(spent, expected):
    scratch = after(scratch_of(*wide), 0, spent)
    set_pace(limited(10.0, 2), scratch, 1)  # two rounds of four costs: 8
    np.testing.assert_allclose(scratch.pacing[SLACK_FACTOR], expected, rtol=1e-12)


def test_without_a_budget_the_slack_is_as_it_is():
    scratch = after(scratch_of(*wide), 5, 5, factor=7.0)
    set_pace(settings_of(K), scratch, 3)
    assert scratch.pacing[SLACK_FACTOR] == 1.0


# -- the limit of a round

quarters = st.lists(st.integers(0, 4).map(lambda number: number / 4), min_size=K, max_size=K)
flags = st.lists(st.booleans(), min_size=K, max_size=K)
spent_before = st.tuples(st.integers(0, 8), st.integers(0, 30))


@settings(max_examples=400)
@given(amounts, st.sampled_from([1, 4, 10]), prices, st.integers(1, 14), spent_before, quarters, quarters, flags)
def test_the_widest_ranges_are_asked_for_up_to_the_limit(
    amount, over, per, round_number, before, ends, other_ends, candidates
):
    lowest, highest = np.minimum(ends, other_ends), np.maximum(ends, other_ends)
    scratch = after(scratch_of(lowest, highest, candidates=candidates), *before)
    n_asked = decide_within_budget(counts_of(K), limited(amount, over, *per, rule=PASSIVE), scratch, round_number)
    most = Purse(amount, over, *per).most_costs(round_number, *before, K)
    wanted = np.flatnonzero(candidates)
    kept = wanted[np.argsort((lowest - highest)[wanted], kind="stable")][:most]
    mask = np.isin(np.arange(K), kept)
    assert n_asked == mask.sum()
    np.testing.assert_array_equal(scratch.mask[:K], mask)
    np.testing.assert_array_equal(scratch.propensity[:K], mask)
    np.testing.assert_array_equal(scratch.reasons[:K] == OVER_BUDGET, np.array(candidates) & ~mask)
    np.testing.assert_array_equal(scratch.reasons[:K] == WITH_THE_REST, mask)


@pytest.mark.parametrize(
    ("amount", "per_example", "per_cost", "spent", "most"),
    [
        (10.0, 0.0, 1.0, 2, 1),  # planned after the first of 100 rounds: 2.08; one cost may always lead the plan
        (100.0, 0.0, 1.0, 22, 3),  # planned 20.8 and 5 ahead of it
        (10.0, 3.0, 1.0, 2, 1),  # a fifth is less than the first cost, which fits
        (50.0, 3.0, 1.0, 2, 4),  # a fifth is 10, for 3 + 4
        (25.0, 3.0, 1.0, 2, 2),  # a fifth is 5
        (100.0, 0.5, 0.25, 104, 0),  # 26 spent, 25.8 planned: no example more
        (100.0, 0.5, 0.25, 100, 4),
        (20.0, 0.0, 7.0, 0, 1),
    ],
)
def test_what_one_example_may_take(amount, per_example, per_cost, spent, most):
    budget = limited(amount, 100, per_example, per_cost, rule=PASSIVE)
    assert decide_within_budget(counts_of(K), budget, after(scratch_of(*wide), 0, spent), 1) == most


@pytest.mark.parametrize("width", list(permutations([0.25, 0.5, 0.75, 1.0])))
def test_the_two_widest_of_four_ranges_are_kept(width):
    scratch = after(scratch_of(1 - np.array(width), np.ones(K)), 0, 23)  # 25.8 may be spent after the first round
    assert decide_within_budget(counts_of(K), limited(100.0, 100, rule=PASSIVE), scratch, 1) == 2
    np.testing.assert_array_equal(scratch.mask[:K], np.array(width) > 0.5)


# -- the warm-up


@pytest.mark.parametrize(("spent", "n_candidates", "warms_up"), [(4, 4, True), (5, 4, False), (5, 3, True)])
def test_a_warm_up_ends_with_a_fifth_of_the_budget(spent, n_candidates, warms_up):
    scratch = after(scratch_of(*wide, candidates=np.arange(K) < n_candidates), 0, spent)
    settings = limited(40.0, 100, warm_up=9, width_scale=100.0)  # the rule itself asks for nothing
    n_asked = decide_within_budget(counts_of(K), settings, scratch, 3)
    assert n_asked == (n_candidates if warms_up else 0)
    assert (scratch.reasons[0] == WARM_UP) == warms_up


def test_a_warm_up_counts_the_price_of_its_example():
    settings = limited(40.0, 100, 5.0, 1.0, warm_up=9, width_scale=100.0)  # 5 + 4 of a fifth, which is 8
    assert decide_within_budget(counts_of(K), settings, after(scratch_of(*wide), 0, 0), 3) == 0
    three = after(scratch_of(*wide, candidates=[True] * 3 + [False]), 0, 0)
    assert decide_within_budget(counts_of(K), settings, three, 3) == 3


def test_after_the_warm_up_the_rule_decides():
    scratch = after(scratch_of(*wide), 0, 0)
    decide_within_budget(counts_of(K), limited(400.0, 100, warm_up=2), scratch, 3)
    assert set(scratch.reasons[:K]) == {UNCERTAIN}


# -- an example with a price


def test_all_costs_of_an_example_that_is_paid_for_are_free_if_they_have_no_price():
    lowest, highest = [0.0, 0.0, 0.9, 0.5], [0.6, 0.6, 1.0, 0.5]
    scratch = after(scratch_of(lowest, highest, candidates=[True, True, True, False]), 0, 0)
    n_asked = decide_within_budget(counts_of(K), limited(400.0, 100, 1.0, 0.0), scratch, 9)
    assert (n_asked, scratch.mask[:K].tolist()) == (3, [True, True, True, False])


@pytest.mark.parametrize(("per_example", "per_cost"), [(3.0, 1.0), (1.0, 4.0)])
def test_an_example_that_is_paid_for_is_decided_with_as_much_more_slack_as_its_costs_are_cheaper(per_example, per_cost):
    predicted, sensitivity, factor, round_number = np.array([0.2, 0.25, 0.5, 0.6]), 0.03, 0.5, 9
    settings = limited(400.0, 100, per_example, per_cost)
    scratch = scratch_of([0, 0, 1, 1], [1, 1, 1, 1], predicted=predicted, sensitivity=sensitivity)
    assert decide_within_budget(counts_of(K), settings, after(scratch, 0, 0, factor), round_number) > 0
    slack = 0.1 * np.log(K * (round_number - 1)) * factor * (1 + per_example / per_cost)
    lowest = [p - pull(p, sensitivity, slack) for p in predicted]
    highest = [p + pull(1 - p, sensitivity, slack) for p in predicted]
    np.testing.assert_allclose(scratch.lowest[:K], lowest, atol=1e-6)
    np.testing.assert_allclose(scratch.highest[:K], highest, atol=1e-6)


def test_an_example_is_paid_for_by_its_first_question():
    scratch = after(scratch_of([0.0, 0.0, 0.9, 0.9], [0.8, 0.1, 1.0, 1.0]), 0, 0)  # the rule asks for one cost
    assert decide_within_budget(counts_of(K), limited(400.0, 100, 1.0, 0.0), scratch, 9) == K


def test_an_example_that_the_rule_would_not_ask_about_is_not_paid_for():
    scratch = after(scratch_of([0.0, 0.9, 0.9, 0.9], [0.1, 1.0, 1.0, 1.0], predicted=0.5, sensitivity=9.0), 0, 0)
    assert decide_within_budget(counts_of(K), limited(400.0, 100, 3.0, 1.0), scratch, 9) == 0
    np.testing.assert_allclose(scratch.highest[:K], [0.1, 1.0, 1.0, 1.0], atol=1e-6)


@pytest.mark.parametrize(("costs", "most"), [(17, 4), (18, 0)])  # an example and a cost have a price of 1
@pytest.mark.parametrize("unit", [1.0, 1 / 64])
def test_an_example_with_a_price_is_asked_about_up_to_where_spending_leads_its_plan_by_a_twentieth(costs, most, unit):
    scratch = after(scratch_of(*wide), 1, costs)  # after 20 of 80 rounds: 40 (0.2 + 0.8 / 4 + 0.05) = 18
    settings = limited(40.0 * unit, 80, unit, unit, rule=PASSIVE)
    assert decide_within_budget(counts_of(K), settings, scratch, 20) == most


# -- new labels and audits


def test_a_label_in_its_own_warm_up_is_asked_about_within_the_limit():
    counts = counts_of(K, since=[0, 0, 0, 8], answered=[5, 5, 5, 1])
    narrow = [0.0, 0.9, 0.9, 0.9], [0.1, 1.0, 1.0, 1.0]
    settings = limited(400.0, 100, warm_up=5)
    scratch = after(scratch_of(*narrow), 0, 0)
    assert decide_within_budget(counts, settings, scratch, 9) == 1
    assert scratch.reasons[3] == NEW_LABEL
    assert decide_within_budget(counts, settings, after(scratch_of(*narrow), 0, 400), 9) == 0


@pytest.mark.parametrize(("per_example", "per_cost"), [(0.0, 1.0), (0.0, 0.5), (2.0, 1.0)])
@pytest.mark.parametrize(("audit_rate", "round_number", "spent"), [(0.02, 21, 20), (1.0, 21, 20), (1.0, 150, 20)])
def test_audits_have_a_tenth_of_what_is_left_for_a_round(per_example, per_cost, audit_rate, round_number, spent):
    narrow = [0.0, 0.9, 0.9, 0.9], [0.01, 0.91, 0.91, 0.91]
    settings = limited(120.0, 100, per_example, per_cost, audit_rate=audit_rate)
    counts, scratch = counts_of(K), after(scratch_of(*narrow), 0, spent)
    decide_within_budget(counts, settings, scratch, round_number)
    left, rounds_left = 120.0 - per_cost * spent, max(101 - round_number, 1)
    expected = min(audit_rate, 0.1 * left / rounds_left / (per_example + per_cost))
    np.testing.assert_allclose(scratch.propensity[:K].sum(), expected)


@pytest.mark.parametrize(("spent", "audited"), [(16, False), (15, True)])
def test_audits_only_take_what_the_rule_leaves(spent, audited):
    scratch = after(scratch_of([0.0, 0.0, 0.9, 0.9], [0.8, 0.8, 1.0, 1.0]), 0, spent)
    settings = limited(40.0, 80, audit_rate=0.5)
    decide_within_budget(counts_of(K), settings, scratch, 20)  # at most 40 (0.2 + 0.8 / 4 + 0.05) = 18 in all
    assert set(scratch.reasons[:2]) == {UNCERTAIN}
    assert np.all((scratch.propensity[2:K] > 0) == audited)


def test_an_audit_that_is_made_counts_as_asked():
    asked = []
    for seed in range(40):
        scratch = after(scratch_of([0.0, 0.9, 0.9, 0.9], [0.01, 0.91, 0.91, 0.91]), 0, 0)
        settings = limited(100.0, 10, audit_rate=0.5, seed=seed)
        n_asked = decide_within_budget(counts_of(K), settings, scratch, 9)
        assert n_asked == scratch.mask[:K].sum() == np.sum(scratch.reasons[:K] == AUDIT)
        asked.append(n_asked)
    assert set(asked) == {0, 1}
