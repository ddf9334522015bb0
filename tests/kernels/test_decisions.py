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
    best_answer,
    decide,
    in_warm_up,
    is_new,
    prefer_truth,
)
from coalface.kernels.state import (
    ABSTAINING_IS_CHEAPER,
    ALL_OR_NONE,
    AUDIT,
    AUTO_WARM_UP,
    CANNOT_BE_BEST,
    COAL,
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
    WITH_THE_TRUTH,
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
    ],
)
def test_reasons(rule, ranges, abstain_cost, expected):
    _, _, reasons = decided(settings_of(3, rule=rule, abstain_cost=abstain_cost), scratch_of(*ranges), 16)
    assert reasons == expected


# -- warm-ups


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
        np.testing.assert_allclose(scratch.propensity[:K][left], rate * rest[left])
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


# -- the answer


@pytest.mark.parametrize(
    ("predicted", "offset", "candidates", "abstain_cost", "expected"),
    [
        ([0.3, 0.2, 0.2], [0, 0, 0], [1, 1, 1], np.inf, 1),
        ([0.3, 0.2, 0.2], [0, 0.2, 0.05], [1, 1, 1], np.inf, 2),
        ([0.3, 0.2, 0.2], [0, 0, 0], [1, 0, 0], np.inf, 0),
        ([0.3, 0.2, 0.2], [0, 0, 0], [0, 0, 0], np.inf, -1),
        ([0.5, 0.25, 0.5], [0, 0, 0], [1, 1, 1], 0.25, 1),
        ([0.5, 0.25, 0.5], [0, 0, 0], [1, 1, 1], 0.125, 3),
        ([0.5, 0.25, 0.5], [0, 0.25, 0], [1, 1, 1], 0.375, 3),
        ([0.5, 0.25, 0.5], [0, 0, 0], [0, 0, 0], 0.9, 3),
    ],
)
def test_the_answer_is_the_least_total_cost_or_to_abstain(predicted, offset, candidates, abstain_cost, expected):
    scratch = scratch_of(np.zeros(3), np.ones(3), candidates=candidates, predicted=predicted, offset=offset)
    settings = settings_of(3, abstain_cost=abstain_cost)
    assert best_answer(settings, scratch.candidates, scratch.predicted, scratch.offset) == expected


# -- true labels


def with_questions(ruled, chances, audited=(), candidates=None):
    """Scratch in which the rule asks for some labels and audits have chances of others."""
    scratch = scratch_of(np.zeros(K), np.ones(K), candidates=candidates)
    scratch.reasons[:K] = KNOWN_WELL
    scratch.propensity[:K] = chances
    scratch.truth[0] = True
    for k in ruled:
        scratch.mask[k], scratch.reasons[k], scratch.propensity[k] = True, UNCERTAIN, 1.0
    for k in audited:
        scratch.mask[k], scratch.reasons[k] = True, AUDIT
    return scratch


def test_costs_are_asked_for_one_by_one_without_a_price_of_true_labels_or_below_it():
    for price, ruled in ((np.inf, [0, 1, 2]), (3.0, [0, 1]), (2.5, [0, 1])):
        scratch = with_questions(ruled, np.zeros(K))
        assert prefer_truth(settings_of(K, price_of_truth=price), scratch, len(ruled)) == len(ruled)
        assert not scratch.truth[0]
        assert scratch.mask[:K].sum() == len(ruled)


def test_the_true_label_is_asked_for_where_as_many_costs_are_wanted_as_it_costs():
    scratch = with_questions([0, 2], np.zeros(K), candidates=[True, True, True, False])
    assert prefer_truth(settings_of(K, price_of_truth=2.0), scratch, 2) == 3
    assert scratch.truth[0]
    assert scratch.mask[:K].tolist() == [True, True, True, False]
    assert scratch.reasons[:K].tolist() == [UNCERTAIN, WITH_THE_TRUTH, UNCERTAIN, KNOWN_WELL]
    np.testing.assert_array_equal(scratch.propensity[:K], [1.0, 1.0, 1.0, 0.0])


@pytest.mark.parametrize("audited", [(), (2,)])
def test_an_audit_that_makes_them_enough_asks_for_the_true_label_with_the_chance_of_all_audits(audited):
    scratch = with_questions([0], [0.0, 0.1, 0.2, 0.3], audited)
    n_asked = prefer_truth(settings_of(K, price_of_truth=2.0), scratch, 1 + len(audited))
    assert scratch.truth[0] == bool(audited)
    assert n_asked == (K if audited else 1)
    np.testing.assert_allclose(scratch.propensity[:K], [1.0, 0.6, 0.6, 0.6])
    assert scratch.reasons[:K].tolist() == [UNCERTAIN, *([AUDIT] * 3 if audited else [KNOWN_WELL] * 3)]


def test_one_audit_is_one_cost():
    scratch = with_questions([0], [0.0, 0.1, 0.2, 0.3], [2])
    assert prefer_truth(settings_of(K, price_of_truth=3.0), scratch, 2) == 2
    assert not scratch.truth[0]
    np.testing.assert_allclose(scratch.propensity[:K], [1.0, 0.1, 0.2, 0.3])


def test_the_chance_of_many_audits_is_at_most_1():
    scratch = with_questions([0], [0.0, 0.5, 0.5, 0.5], [2])
    prefer_truth(settings_of(K, price_of_truth=2.0), scratch, 2)
    np.testing.assert_allclose(scratch.propensity[:K], 1.0)


@pytest.mark.parametrize("kind", [{"miss_rate": 1.0}, {"audits_by_loss": True}])
def test_an_audit_of_all_costs_counts_them_all_and_has_one_chance(kind):
    scratch = with_questions([0], [0.0, 0.2, 0.2, 0.2], [1, 2, 3])
    assert prefer_truth(settings_of(K, price_of_truth=4.0, **kind), scratch, 4) == 4
    assert scratch.truth[0]
    np.testing.assert_allclose(scratch.propensity[:K], [1.0, 0.2, 0.2, 0.2])
    dear = with_questions([0], [0.0, 0.2, 0.2, 0.2], [1, 2, 3])
    assert prefer_truth(settings_of(K, price_of_truth=4.5, **kind), dear, 4) == 4
    assert not dear.truth[0]
    paced = with_questions([0], [0.0, 0.2, 0.2, 0.2], [1])
    prefer_truth(settings_of(K, price_of_truth=2.0, budget=50.0, over=9, **kind), paced, 2)
    np.testing.assert_allclose(paced.propensity[:K], [1.0, 0.6, 0.6, 0.6])
