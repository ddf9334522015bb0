"""Audits: which costs are asked for by chance, and with which chance."""

import numpy as np
import pytest

from coalface.kernels.draws import uniform
from coalface.kernels.rules import audit, audit_by_loss, audit_fully, audit_weight, decide
from coalface.kernels.state import AUDIT, COSTS_QUERIED, LANES, MEAN_PREDICTED, ROUND, ROUNDS, UNCERTAIN

from .decisions import NARROW, TWO_WIDE, counts_of, decided, scratch_of, settings_of

K = 4
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


@pytest.mark.parametrize("n_labels", [K, LANES])  # arrays of LANES labels have no padding after the last
def test_an_audit_of_an_example_to_abstain_on_has_no_predicted_label(n_labels):
    scratch = scratch_of(np.full(n_labels, 0.5), np.full(n_labels, 0.51), predicted=np.full(n_labels, 0.5))
    decide(counts_of(n_labels), settings_of(n_labels, audit_rate=0.4, abstain_cost=0.2), scratch, 9)
    np.testing.assert_allclose(scratch.propensity[:n_labels], 0.4 / n_labels)


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


@pytest.mark.parametrize("kind", [{}, {"miss_rate": 0.1}, {"audits_by_loss": True}])
def test_an_audit_is_made_if_the_first_number_drawn_in_the_round_is_below_its_chance(kind):
    for seed in range(30):
        drawn = uniform(seed, 9, 0)
        for rate, expected in ((drawn, False), (np.nextafter(drawn, 1.0), True)):
            settings = settings_of(1, audit_rate=rate, seed=seed, **kind)
            scratch = scratch_of([0.0], [0.01], predicted=[0.0])
            assert decide(counts_of(1), settings, scratch, 9) == (expected and (drawn < 0.5 or "miss_rate" not in kind))


def test_the_predicted_label_is_audited_if_the_second_number_drawn_in_the_round_is_below_one_half():
    settings = settings_of(K, audit_rate=1.0)
    for seed in range(30):
        scratch = scratch_of(*NARROW, predicted=[0.3, 0.1, 0.2, 0.4])
        audit(counts_of(K), settings._replace(seed=seed), scratch, 9, 1.0)
        others = 4 * (uniform(seed, 9, 1) - 0.5) / 0.5  # each was asked about as often, so each has a quarter
        assert scratch.mask[:K].tolist().index(True) == (1 if others < 0 else int(others))
