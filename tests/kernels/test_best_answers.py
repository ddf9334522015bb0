"""The answer to an example, and when its true label is asked for in place of single costs."""

import numpy as np
import pytest

from coalface.kernels.rules import best_answer, prefer_truth
from coalface.kernels.state import AUDIT, KNOWN_WELL, UNCERTAIN, WITH_THE_TRUTH

from .decisions import scratch_of, settings_of

K = 4


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
        ([0.125, 0.5, 0.5], [0, 0, 0], [1, 1, 1], 0.25, 0),
        ([0.5, 0.125, 0.5], [0, 0.25, 0], [1, 1, 1], 0.25, 3),
        ([0.3, 0.2, 0.9], [0, 0.2, 0], [1, 1, 1], np.inf, 0),
        ([0.2, 0.3, 0.9], [0.2, 0, 0], [1, 1, 1], np.inf, 1),
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
    expensive = with_questions([0], [0.0, 0.2, 0.2, 0.2], [1, 2, 3])
    assert prefer_truth(settings_of(K, price_of_truth=4.5, **kind), expensive, 4) == 4
    assert not expensive.truth[0]
    paced = with_questions([0], [0.0, 0.2, 0.2, 0.2], [1])
    prefer_truth(settings_of(K, price_of_truth=2.0, budget=50.0, over=9, **kind), paced, 2)
    np.testing.assert_allclose(paced.propensity[:K], [1.0, 0.6, 0.6, 0.6])


@pytest.mark.parametrize(("price", "expected"), [(3.0, True), (3.5, False), (4.0, False)])
def test_a_label_that_no_audit_asks_for_does_not_count_towards_the_price(price, expected):
    scratch = with_questions([0], [0.0, 0.0, 0.2, 0.2], [2, 3])
    prefer_truth(settings_of(K, price_of_truth=price, audits_by_loss=True), scratch, 3)
    assert scratch.truth[0] == expected
