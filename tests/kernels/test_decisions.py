"""The query rules, one decision at a time: what is asked for, why, and with which chance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.kernels.rules import (
    audit,
    audit_by_loss,
    audit_fully,
    audit_weight,
    decide,
    in_warm_up,
    is_new,
)
from coalface.kernels.state import (
    ABSTAINING_IS_CHEAPER,
    ALL_OR_NONE,
    AUDIT,
    AUTO_WARM_UP,
    CANNOT_BE_BEST,
    COAL,
    COSTS_QUERIED,
    KNOWN_WELL,
    MEAN_PREDICTED,
    NEW_LABEL,
    NO_DOMINATION,
    NOT_A_CANDIDATE,
    ONLY_CONTENDER,
    PASSIVE,
    ROUND,
    ROUNDS,
    UNCERTAIN,
    WARM_UP,
    WITH_THE_REST,
)

from .decisions import counts_of, scratch_of, settings_of

K = 4
NARROW = [0.0, 0.5, 0.5, 0.5], [0.01, 0.51, 0.51, 0.51]  # the rule asks for nothing
TWO_WIDE = [0.0, 0.0, 0.9, 0.9], [0.8, 0.8, 1.0, 1.0]  # the rule asks for the first two
eighths = st.integers(0, 8).map(lambda number: number / 8)
lists = st.lists(eighths, min_size=K, max_size=K)
flags = st.lists(st.booleans(), min_size=K, max_size=K)


def decided(settings, scratch, round_number=9, counts=None):
    """The number that ``decide`` returns, the mask and the reasons."""
    n_asked = decide(counts_of(settings.n_labels) if counts is None else counts, settings, scratch, round_number)
    n_labels = settings.n_labels
    np.testing.assert_array_equal(scratch.propensity[:n_labels] == 1.0, scratch.mask[:n_labels])
    return n_asked, scratch.mask[:n_labels].tolist(), scratch.reasons[:n_labels].tolist()


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


# -- audits

ASKED = [0, 1, 4, 9]


def shares(n_seeds, draw):
    """How often each label was marked, over the seeds."""
    return np.mean([draw(seed) for seed in range(n_seeds)], axis=0)


@pytest.mark.parametrize(
    ("ranges", "candidates", "predicted", "expected"),
    [
        (NARROW, [True] * 4, [0.3, 0.1, 0.2, 0.4], [1.0, 0.5, 0.2, 0.1]),
        (NARROW, [True, False, True, True], [0.3, 0.1, 0.2, 0.4], [1.0, 0.0, 0.2, 0.1]),
        (TWO_WIDE, [True] * 4, [0.1, 0.2, 0.3, 0.4], [0.0, 0.0, 0.2, 0.1]),
    ],
)
def test_half_of_the_audits_are_of_the_predicted_label_and_the_others_favour_the_seldom_asked(
    ranges, candidates, predicted, expected
):
    rate, rest = 0.6, np.array(expected) / sum(expected)
    best = int(np.argmin(np.where(candidates, predicted, np.inf)))
    if rest[best] > 0:
        rest = 0.5 * rest + 0.5 * (np.arange(K) == best)

    def draw(seed):
        scratch = scratch_of(*ranges, candidates=candidates, predicted=predicted)
        settings = settings_of(K, audit_rate=rate, seed=seed)
        n_asked = decide(counts_of(K, asked=ASKED), settings, scratch, 9)
        audited = scratch.reasons[:K] == AUDIT
        assert n_asked == scratch.mask[:K].sum()
        assert audited.sum() <= 1
        left = np.array(candidates) & ~(scratch.mask[:K] & ~audited)
        np.testing.assert_allclose(scratch.propensity[:K], np.where(left, rate * rest, candidates))
        return audited

    error = 4 * np.sqrt(0.25 / 1500)
    np.testing.assert_allclose(shares(1500, draw), rate * rest, atol=error)


def test_nothing_is_left_to_audit_where_the_rule_asks_for_everything():
    scratch = scratch_of(np.zeros(K), np.ones(K))
    n_asked, mask, _ = decided(settings_of(K, audit_rate=1.0), scratch)
    assert (n_asked, mask) == (K, [True] * K)
    assert audit(counts_of(K), settings_of(K), scratch, 9, 1.0) == 0


def test_an_audit_of_an_example_to_abstain_on_has_no_predicted_label():
    scratch = scratch_of(*NARROW, predicted=[0.3, 0.4, 0.5, 0.6])
    decide(counts_of(K), settings_of(K, audit_rate=0.4, abstain_cost=0.2), scratch, 9)
    np.testing.assert_allclose(scratch.propensity[:K], 0.1)


@pytest.mark.parametrize(("n_labels", "rate"), [(4, 0.1), (4, 0.5), (8, 0.5)])
def test_full_audits_ask_for_every_cost_of_few_examples(n_labels, rate):
    expected = min(rate, 0.5 / n_labels)

    def draw(seed):
        scratch = scratch_of([0.0] + [0.5] * (n_labels - 1), [0.01] + [0.51] * (n_labels - 1))
        settings = settings_of(n_labels, audit_rate=rate, miss_rate=0.1, seed=seed)
        n_asked = decide(counts_of(n_labels), settings, scratch, 9)
        assert n_asked in (0, n_labels)
        assert n_asked == scratch.mask[:n_labels].sum()
        np.testing.assert_allclose(scratch.propensity[:n_labels], expected)
        assert set(scratch.reasons[:n_labels]) == {AUDIT} or not n_asked
        return n_asked > 0

    assert abs(shares(800, draw) - expected) < 4 * np.sqrt(expected / 800)


def test_a_full_audit_leaves_what_the_rule_asks_for_as_it_is():
    for seed in range(20):
        scratch = scratch_of(*TWO_WIDE, candidates=[True, True, True, False])
        decide(counts_of(K), settings_of(K, audit_rate=1.0, miss_rate=1.0, seed=seed), scratch, 9)
        np.testing.assert_allclose(scratch.propensity[:K], [1.0, 1.0, 0.125, 0.0])
        audited = bool(scratch.mask[2])
        assert scratch.reasons[:K].tolist()[:2] == [UNCERTAIN] * 2
        assert (scratch.reasons[2] == AUDIT) == audited
        again = scratch_of(*TWO_WIDE)
        again.mask[0] = True
        again.propensity[:K] = 0.0
        marked = audit_fully(settings_of(K, audit_rate=1.0, miss_rate=1.0, seed=seed), again, 9)
        assert marked == (3 if audited else 0)


@pytest.mark.parametrize(
    ("predicted", "offset", "mean", "n_rounds", "was_best", "expected"),
    [
        ([0.1, 0.9, 0.9, 0.9], 0.0, 0.2, 20.0, [200, 200], 0.01 * (0.5 + 6 * 0.1 / 0.2)),
        ([0.1, 0.9, 0.9, 0.9], 0.1, 0.2, 20.0, [200, 200], 0.01 * (0.5 + 6 * 0.2 / 0.2)),
        ([-0.5, 0.9, 0.9, 0.9], 0.0, 0.2, 20.0, [200, 200], 0.01 * 0.5),
        ([2.0, 3.0, 3.0, 3.0], 0.0, 2.0, 20.0, [200, 200], 0.01 * (0.5 + 6 / 2)),
        ([0.9, 0.95, 0.95, 0.95], 0.0, 0.01, 20.0, [200, 200], 1.0),
        ([0.1, 0.9, 0.9, 0.9], 0.0, 0.0, 20.0, [200, 200], 0.01),
        ([0.1, 0.9, 0.9, 0.9], 0.0, 0.2, 0.0, [200, 200], 0.01),
        ([0.1, 0.9, 0.9, 0.9], 0.0, 0.2, 1.0, [200, 200], 0.01 * 3.5),
        ([0.1, 0.9, 0.9, 0.9], 0.0, 0.2, 20.0, [400, 0], 0.01 * 3.5),  # no other label was ever best
        ([0.1, 0.9, 0.9, 0.9], 0.0, 0.2, 20.0, [400, 12], 0.01 * 3.5),  # 12 of 400: no fewer than 3 %
        ([0.1, 0.9, 0.9, 0.9], 0.0, 0.2, 20.0, [400, 2, 4], 0.01 * (3.5 + 2**3 - 1)),
        ([-0.15, 0.9, 0.9, 0.9], 0.0, 0.2, 20.0, [400, 2, 4], 0.01 * (0.5 + (2**3 - 1) * np.exp(-1.0))),
        ([0.1, 0.9, 0.9, 0.9], 0.0, 0.2, 20.0, [400, 1], 0.01 * (3.5 + 7 * K - 1)),  # 7 times per label at most
    ],
)
def test_audits_by_loss_follow_the_predicted_cost(predicted, offset, mean, n_rounds, was_best, expected):
    counts = counts_of(K, was_best=was_best)
    counts.counters[ROUND] = 401
    counts.saving[[ROUNDS, MEAN_PREDICTED]] = n_rounds, mean
    scratch = scratch_of(*NARROW, predicted=predicted, offset=offset)
    settings = settings_of(K, audit_rate=0.01, audits_by_loss=True)
    n_asked = decide(counts, settings, scratch, 9)
    np.testing.assert_allclose(scratch.propensity[:K], expected, rtol=1e-6)
    assert n_asked == scratch.mask[:K].sum()
    assert expected < 1.0 or n_asked == K


@pytest.mark.parametrize(("costs_queried", "times"), [(180, 2.5**3), (181, 1.0)])
def test_rare_labels_are_audited_more_until_18_percent_of_all_costs_were_asked_for(costs_queried, times):
    counts = counts_of(K, was_best=[250, 1, 2])
    counts.counters[[ROUND, COSTS_QUERIED]] = 251, costs_queried
    counts.saving[[ROUNDS, MEAN_PREDICTED]] = 20.0, 0.2
    scratch = scratch_of(*NARROW, predicted=[0.0, 0.9, 0.9, 0.9])
    decide(counts, settings_of(K, audit_rate=0.01, audits_by_loss=True), scratch, 9)
    np.testing.assert_allclose(scratch.propensity[:K], 0.01 * (0.5 + times - 1.0), rtol=1e-6)


def test_audits_by_loss_are_made_as_often_as_recorded_and_not_where_the_predicted_label_is_asked_for():
    counts = counts_of(K)
    counts.saving[[ROUNDS, MEAN_PREDICTED]] = 20.0, 0.2

    def draw(seed):
        scratch = scratch_of(*NARROW, predicted=[0.1, 0.9, 0.9, 0.9])
        return decide(counts, settings_of(K, audit_rate=0.1, audits_by_loss=True, seed=seed), scratch, 9) == K

    assert abs(shares(800, draw) - 0.35) < 4 * np.sqrt(0.35 * 0.65 / 800)
    scratch = scratch_of(*TWO_WIDE, predicted=[0.1, 0.2, 0.9, 0.9])
    n_asked, mask, _ = decided(settings_of(K, audit_rate=1.0, audits_by_loss=True), scratch, counts=counts)
    assert (n_asked, mask) == (2, [True, True, False, False])


def test_audits_by_loss_are_even_where_the_answer_is_to_abstain():
    scratch = scratch_of(*NARROW, predicted=[0.3, 0.4, 0.5, 0.6])
    settings = settings_of(K, audit_rate=0.4, abstain_cost=0.2, audits_by_loss=True)
    audit_by_loss(counts_of(K), settings, scratch, 9)
    np.testing.assert_allclose(scratch.propensity[:K], 0.1)


@pytest.mark.parametrize(("chance", "weight"), [(1.0, 1.0), (0.5, 2.0), (0.25, 3.0), (0.0, 1.0)])
def test_an_audited_answer_stands_for_those_that_were_not_asked_for_up_to_three(chance, weight):
    assert audit_weight(chance) == weight
