"""Laws of the choice of a committee's leader."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.models.leader_choice import LeaderChoice, estimated_costs

seeds = st.integers(0, 10**6)
TO_LEAD, TO_LEAD_BY_ERROR, TO_DROP, FIRST_CHANGE, FIRST_DROP = 2.5, 4.0, 6.0, 30, 300
SIMPLEST, NO_ERRORS = 0, np.zeros(3)


class Plain:
    """The evidence, summed from all events each time: of rounds, and of earlier rows compared again."""

    def __init__(self):
        self.events = []  # (round, costs, errors, their weight, their squared weight, rounds for the mean)

    def add(self, costs, errors, times):
        self.events.append((self.n_rounds + 1, costs, errors, times, times**2, times))

    def add_again(self, now, before, rounds, independence):
        forgotten = 0.5 * np.maximum(now - before, 0)
        costs = (1 - independence) * now + independence * forgotten
        self.events.append((self.n_rounds, costs, NO_ERRORS, rounds, rounds, rounds * (1 - independence)))

    @property
    def n_rounds(self):
        return self.events[-1][0] if self.events else 0

    def kept(self, number):
        """What is left of the weight of an event of this round."""
        return np.prod([1 - 1 / max(50.0, 0.5 * before) for before in range(number, self.n_rounds)])

    def evidence(self, part=1, prior=1.0):
        """How many deviations each member cost more than each other one, (M, M); by errors with part=2."""
        total, squares = 0.0, prior
        for number, *facts in self.events:
            gap, kept = facts[part - 1][:, None] - facts[part - 1][None, :], self.kept(number)
            total, squares = total + kept * facts[2] * gap, squares + kept**2 * facts[3] * gap**2
        return total / np.sqrt(squares)

    def errors(self):
        return self.evidence(part=2, prior=0.01)

    def mean_costs(self):
        total = sum(self.kept(number) * facts[2] * facts[0] for number, *facts in self.events)
        return total / max(sum(self.kept(number) * facts[4] for number, *facts in self.events), 1.0)


def stream(seed, n_rounds, n_members=3):
    """Costs of the members, who become better or worse as time goes by."""
    random = np.random.default_rng(seed)
    drift = np.repeat(random.random((1 + n_rounds // 40, n_members)), 40, axis=0)[:n_rounds]
    return (random.random((n_rounds, n_members)) < drift).astype(np.float64)


def events_of(seed, n_rounds):
    """Rounds of the stream with errors and weights, and after every 16th how earlier rows were answered."""
    random = np.random.default_rng(seed)
    errors = np.abs(random.normal(random.random(3), 0.1, (n_rounds, 3)))
    for number, cost in enumerate(stream(seed, n_rounds)):
        yield "round", (cost, errors[number], random.choice([0.2, 1.0, 3.0]))
        if number % 16 == 15:
            yield "again", (random.random(3), random.random(3), 16.0)


def labels_in_runs(seed, n_rounds):
    """Labels that repeat the one before with some probability, often a high one."""
    random, labels = np.random.default_rng(seed), [0]
    stays = 1 - random.random() ** 3
    while len(labels) < n_rounds:
        labels.append(labels[-1] if random.random() < stays else int(random.integers(3)))
    return labels


def follow_all(choice, labels, n_labels=3):
    """Show the labels to the choice; returns how much each round counts."""
    often, found = np.zeros(n_labels), []
    for label in labels:
        found.append(choice.follow(label, often))
        often[label] += 1
    return found


@given(seeds)
def test_the_leader_changes_with_evidence_and_only_with_evidence(seed):
    choice, plain = LeaderChoice.of(3, leader=1), Plain()
    follow_all(choice, labels_in_runs(seed, 150))
    for kind, given_ in events_of(seed, 120):
        before = int(choice.leader[0])
        if kind == "round":
            choice.add(*given_)
            plain.add(*given_)
        else:
            choice.add_again(*given_)
            plain.add_again(*given_, choice.independence)
        against, better = plain.evidence()[before], plain.errors()[before, SIMPLEST]
        np.testing.assert_allclose(choice.mean_costs, plain.mean_costs(), rtol=1e-9)
        if np.abs([against.max() - TO_LEAD, better - TO_LEAD_BY_ERROR, against[SIMPLEST] - 1e-6]).min() < 1e-6:
            continue  # too close for two ways of adding up
        expected = before
        if plain.n_rounds >= FIRST_CHANGE and against.max() > TO_LEAD:
            expected = against.argmax()
        elif plain.n_rounds >= FIRST_CHANGE and against[SIMPLEST] >= 0 and better > TO_LEAD_BY_ERROR:
            expected = SIMPLEST
        assert choice.leader[0] == expected


def test_members_of_equal_cost_never_take_the_lead_from_each_other():
    choice = LeaderChoice.of(3, leader=2)
    for cost in np.random.default_rng(0).random(500):
        choice.add(np.full(3, cost), np.full(3, cost))
        choice.add_again(np.full(3, cost), np.zeros(3), 16.0)
        assert choice.leader[0] == 2
    assert choice.alive.all()


@pytest.mark.parametrize(("cost_of_simplest", "led_by"), [(0.2, 0), (0.1, 0), (0.3, 2)])
def test_the_simplest_member_leads_if_its_predictions_are_closer_and_its_answers_cost_no_more(cost_of_simplest, led_by):
    choice, random = LeaderChoice.of(3, leader=2), np.random.default_rng(0)
    for _ in range(100):
        errors = np.array([0.1, 0.1, 0.2]) + 0.05 * random.random(3)
        choice.add(np.array([cost_of_simplest, 0.2, 0.2]), errors)
    assert choice.leader[0] == led_by


def test_another_member_never_leads_because_its_predictions_are_closer():
    choice = LeaderChoice.of(3, leader=2)
    for _ in range(100):
        choice.add(np.full(3, 0.2), np.array([0.2, 0.0, 0.2]))
    assert choice.leader[0] == 2


@pytest.mark.parametrize("leader", [0, 1, 2])
def test_a_member_that_costs_less_soon_leads_and_the_others_are_dropped_in_the_end(leader):
    random, choice, led, dropped = np.random.default_rng(leader), LeaderChoice.of(3, leader), [], []
    for _ in range(FIRST_DROP):
        choice.add((random.random(3) < [0.6, 0.1, 0.6]).astype(np.float64), NO_ERRORS)
        led.append(int(choice.leader[0]))
        dropped.append(not choice.alive.all())
    assert led[FIRST_CHANGE + 10 :] == [1] * (FIRST_DROP - FIRST_CHANGE - 10)
    assert dropped == [False] * (FIRST_DROP - 1) + [True]
    assert choice.alive.tolist() == [False, True, False]


@given(seeds)
def test_exactly_the_members_with_much_evidence_against_them_are_dropped_and_never_the_leader(seed):
    costs, choice, plain = stream(seed, 360), LeaderChoice.of(3, leader=0), Plain()
    costs[:, 2] = np.minimum(costs[:, 2] + 0.8 * (np.arange(360) < 320), 1.0)
    alive = choice.alive.copy()
    for cost in costs:
        choice.add(cost, NO_ERRORS)
        plain.add(cost, NO_ERRORS, 1.0)
        if plain.n_rounds >= FIRST_DROP:
            against = plain.evidence()[:, choice.leader[0]]
            alive &= against <= TO_DROP
            assert np.abs(against - TO_DROP).min() > 1e-9
        np.testing.assert_array_equal(choice.alive, alive)
        assert choice.alive[choice.leader[0]]


@given(seeds)
def test_the_mean_cost_lies_between_the_least_and_the_largest_cost(seed):
    costs, choice = np.random.default_rng(seed).random((80, 3)), LeaderChoice.of(3, leader=0)
    for cost in costs:
        choice.add(cost, NO_ERRORS)
    assert np.all(choice.mean_costs >= costs.min(axis=0))
    assert np.all(choice.mean_costs <= costs.max(axis=0))
    assert LeaderChoice.of(3, leader=0).mean_costs.tolist() == [0.0, 0.0, 0.0]


# -- runs of labels


@given(seeds)
def test_a_round_that_repeats_a_label_counts_less_the_more_repeats_exceed_chance(seed):
    labels, choice = labels_in_runs(seed, 200), LeaderChoice.of(2, leader=0)
    found = follow_all(choice, labels)
    for number in range(1, len(labels)):
        repeated = np.array([False] + [labels[i] == labels[i - 1] for i in range(1, number + 1)])
        share = np.sum(repeated * 0.01 * 0.99 ** np.arange(number, -1, -1))
        by_chance = np.sum((np.bincount(labels[:number]) / number) ** 2)
        excess = share - by_chance - 2.5 * np.sqrt(by_chance * (1 - by_chance) / 200)
        expected = 1 - excess / (1 - by_chance) if excess > 0 else 1.0
        assert found[number] == pytest.approx(expected if repeated[-1] else 1.0, abs=1e-9)
    assert choice.independence == pytest.approx(expected, abs=1e-9)


def test_labels_in_random_order_count_in_full_and_sorted_ones_hardly():
    mixed, sorted_ = LeaderChoice.of(2, leader=0), LeaderChoice.of(2, leader=0)
    labels = np.random.default_rng(0).integers(3, size=900)
    assert np.mean(follow_all(mixed, labels)) > 0.999
    follow_all(sorted_, np.sort(labels))
    assert sorted_.independence < 0.2


def test_where_labels_come_in_random_order_only_what_was_forgotten_counts():
    choice = LeaderChoice.of(3, leader=0)
    choice.add_again(np.array([0.5, 0.3, 0.1]), np.array([0.5, 0.1, 0.4]), 16.0)
    assert choice.independence == 1.0
    np.testing.assert_allclose(choice.costs, 16 * 0.5 * np.array([0.0, 0.2, 0.0]))
    assert choice.weight[0] == 0


def test_where_labels_come_in_runs_the_member_that_has_unlearned_the_others_loses_the_lead():
    choice = LeaderChoice.of(3, leader=0)
    for number, label in enumerate(np.repeat(np.arange(3), 100)):
        counts = choice.follow(int(label), np.bincount(np.arange(number) // 100, minlength=3))
        choice.add(np.array([0.0, 0.1, 0.1]), NO_ERRORS, counts)
        if number % 16 == 15:
            choice.add_again(np.array([0.6, 0.1, 0.2]), np.array([0.0, 0.1, 0.1]), 16.0)
    assert choice.leader[0] == 1


# -- members that come back


def with_one_dropped(seed):
    """A choice of three after 400 rounds, whose last member is dropped, led by the second."""
    random, choice = np.random.default_rng(seed), LeaderChoice.of(3, leader=1)
    for _ in range(400):
        choice.add((random.random(3) < [0.15, 0.1, 0.9]).astype(np.float64), random.random(3))
    assert choice.alive.tolist() == [True, True, False]
    assert choice.leader[0] == 1
    return choice


def test_as_long_as_nothing_changes_no_member_is_missed():
    choice, random = with_one_dropped(0), np.random.default_rng(1)
    for _ in range(2000):
        choice.add((random.random(3) < [0.15, 0.1, 0.9]).astype(np.float64), NO_ERRORS)
        assert not choice.misses_others
    assert not LeaderChoice.of(3, leader=0).misses_others


def test_a_member_that_was_dropped_is_missed_as_soon_as_there_is_evidence_that_it_costs_less():
    choice, missed = with_one_dropped(0), []
    for _ in range(300):
        choice.add_again(np.array([0.3, 0.3, 0.05]), np.array([0.1, 0.1, 0.05]), 16.0)
        choice.add(np.array([0.12, 0.12, 0.0]), NO_ERRORS)
        evidence = choice.differences[1, 2] / np.sqrt(choice.squares[1, 2] + 1.0)
        assert choice.misses_others == (evidence > TO_LEAD)
        missed.append(choice.misses_others)
    assert missed[-1]
    assert not missed[0]
    assert choice.leader[0] != 2  # one that learns no longer does not lead


def test_members_that_were_dropped_are_missed_when_the_leader_begins_to_fail():
    choice, missed = with_one_dropped(0), []
    recent = float(choice.recent[0])
    for _ in range(60):
        choice.add(np.ones(3), NO_ERRORS)
        recent = 0.98 * recent + 0.02
        usual = choice.mean_costs[choice.leader[0]]
        missed.append(choice.misses_others)
        assert missed[-1] == (recent > usual + 4 * np.sqrt(usual * (1 - usual) / 100) + 0.02)
    assert any(missed)
    assert not missed[0]


@pytest.mark.parametrize("seed", range(5))
def test_who_is_called_back_starts_equal_to_the_leader_and_the_others_keep_their_evidence(seed):
    choice = with_one_dropped(seed)
    before = choice._replace(**{name: array.copy() for name, array in choice._asdict().items()})
    choice.call_back()
    assert choice.alive.all()
    assert not choice.misses_others
    assert choice.leader[0] == 1
    for name in ("differences", "squares", "error_differences", "error_squares"):
        ours, theirs = getattr(choice, name), getattr(before, name)
        np.testing.assert_array_equal(ours[:2, :2], theirs[:2, :2])
        np.testing.assert_array_equal(ours[2], ours[1])
        np.testing.assert_array_equal(ours[:, 2], ours[:, 1])
    assert choice.mean_costs[2] == choice.mean_costs[1] == choice.recent[0] == before.mean_costs[1]
    assert choice.mean_costs[0] == before.mean_costs[0]
    for _ in range(60):  # it leads as soon as it costs less
        choice.add(np.array([0.5, 0.5, 0.0]), NO_ERRORS)
    assert choice.leader[0] == 2


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
