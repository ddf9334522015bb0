"""Laws of the choice of a committee's leader."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.models.leader_choice import LeaderChoice, estimated_costs

seeds = st.integers(0, 10**6)
TO_LEAD, TO_DROP, FIRST_CHANGE, FIRST_DROP = 2.5, 6.0, 30, 300


def evidence_of(costs):
    """How many deviations each member cost more than each other one, (M, M), summed plainly from all rounds."""
    kept = np.array([1 - 1 / max(50.0, 0.5 * before) for before in range(len(costs))])
    weights = np.array([np.prod(kept[t + 1 :]) for t in range(len(costs))])
    gaps = costs[:, :, None] - costs[:, None, :]
    total, squares = (weights[:, None, None] * gaps).sum(0), (weights[:, None, None] ** 2 * gaps**2).sum(0)
    return total / np.sqrt(squares + 1.0)


def stream(seed, n_rounds, n_members=3):
    """Costs of the members, who become better or worse as time goes by."""
    random = np.random.default_rng(seed)
    drift = np.repeat(random.random((1 + n_rounds // 40, n_members)), 40, axis=0)[:n_rounds]
    return (random.random((n_rounds, n_members)) < drift).astype(np.float64)


@given(seeds)
def test_the_leader_changes_with_evidence_and_only_with_evidence(seed):
    costs, choice = stream(seed, 120), LeaderChoice.of(3, leader=1)
    for done in range(1, len(costs) + 1):
        before = int(choice.leader[0])
        choice.add(costs[done - 1])
        against = evidence_of(costs[:done])[before]
        if done < FIRST_CHANGE or against.max() < TO_LEAD - 1e-9:
            assert choice.leader[0] == before
        elif against.max() > TO_LEAD + 1e-9:
            assert choice.leader[0] == against.argmax() != before


def test_members_of_equal_cost_never_take_the_lead_from_each_other():
    choice = LeaderChoice.of(3, leader=2)
    for cost in np.random.default_rng(0).random(500):
        choice.add(np.full(3, cost))
        assert choice.leader[0] == 2
    assert choice.alive.all()


@pytest.mark.parametrize("leader", [0, 1, 2])
def test_a_member_that_costs_less_soon_leads_and_the_others_are_dropped_in_the_end(leader):
    random, choice, led, dropped = np.random.default_rng(leader), LeaderChoice.of(3, leader), [], []
    for _ in range(FIRST_DROP):
        choice.add((random.random(3) < [0.6, 0.1, 0.6]).astype(np.float64))
        led.append(int(choice.leader[0]))
        dropped.append(not choice.alive.all())
    assert led[FIRST_CHANGE + 10 :] == [1] * (FIRST_DROP - FIRST_CHANGE - 10)
    assert dropped == [False] * (FIRST_DROP - 1) + [True]
    assert choice.alive.tolist() == [False, True, False]


@given(seeds)
def test_a_dropped_member_stays_dropped_and_the_leader_is_never_dropped(seed):
    costs, choice = stream(seed, 360), LeaderChoice.of(3, leader=0)
    costs[:, 2] = 1.0  # until it is dropped
    costs[:320, :2] *= 0.3
    costs[320:, 2], costs[320:, :2] = 0.0, 1.0  # then it is the best by far
    alive = choice.alive.copy()
    for cost in costs:
        choice.add(cost)
        assert not np.any(choice.alive & ~alive)
        assert choice.alive[choice.leader[0]]
        alive = choice.alive.copy()
    assert not choice.alive[2]


@given(seeds)
def test_the_mean_cost_lies_between_the_least_and_the_largest_cost(seed):
    costs, choice = np.random.default_rng(seed).random((80, 3)), LeaderChoice.of(3, leader=0)
    for cost in costs:
        choice.add(cost)
    assert np.all(choice.mean_costs >= costs.min(axis=0))
    assert np.all(choice.mean_costs <= costs.max(axis=0))
    assert LeaderChoice.of(3, leader=0).mean_costs.tolist() == [0.0, 0.0, 0.0]


# -- estimates from what was asked


def some_round(seed, n_members=3, n_labels=4):
    """Predictions, candidates, true costs, and the answers that the members would have given."""
    random = np.random.default_rng(seed)
    predicted = random.uniform(-0.2, 1.2, (n_members, n_labels)).astype(np.float32)
    candidates = random.random(n_labels) < 0.7
    candidates[random.integers(n_labels)] = True
    chosen = np.where(candidates, predicted, np.inf).argmin(axis=1)
    return predicted, candidates, random.random(n_labels).astype(np.float32), chosen


@given(seeds)
def test_with_all_costs_known_each_answer_costs_what_it_costs(seed):
    predicted, candidates, costs, chosen = some_round(seed)
    found = estimated_costs(predicted, candidates, costs, np.ones(4))
    np.testing.assert_allclose(found, costs[chosen], rtol=0, atol=1e-6)


@given(seeds)
def test_the_estimate_is_unbiased_whatever_the_chances(seed):
    predicted, candidates, costs, chosen = some_round(seed)
    chances = np.random.default_rng(seed).uniform(0.05, 1.0, 4)
    expected = np.zeros(3)
    for asked in product([False, True], repeat=4):  # every outcome of the audits, with its probability
        answers = np.where(asked, costs, np.float32(np.nan))
        probability = np.prod(np.where(asked, chances, 1 - chances))
        expected += probability * estimated_costs(predicted, candidates, answers, chances)
    np.testing.assert_allclose(expected, costs[chosen], rtol=0, atol=1e-6)


def test_over_many_rounds_with_one_audit_each_the_estimate_has_the_right_mean():
    random, chances = np.random.default_rng(1), np.array([0.1, 0.2, 0.05, 0.4])
    with_audits, without = [], []
    for seed in range(4000):
        predicted, candidates, costs, chosen = some_round(seed)
        audited = random.choice(5, p=[*chances, 1 - chances.sum()])  # at most one label, as the learner does
        answers = np.where(np.arange(4) == audited, costs, np.float32(np.nan))
        for errors, known in ((with_audits, answers), (without, np.full(4, np.nan, np.float32))):
            errors.append(estimated_costs(predicted, candidates, known, chances) - costs[chosen])
    deviations = [
        np.abs(np.mean(errors, axis=0)) / (np.std(errors, axis=0) / 4000**0.5) for errors in (with_audits, without)
    ]
    assert np.all(deviations[0] < 4)
    assert np.all(deviations[1] > 10)


@given(seeds, st.floats(0.0, 0.05))
def test_one_rare_answer_weighs_at_most_twenty_times(seed, chance):
    predicted, candidates, costs, _ = some_round(seed)
    rare, least = (estimated_costs(predicted, candidates, costs, np.full(4, c)) for c in (chance, 0.05))
    np.testing.assert_array_equal(rare, least)
