"""Algorithm 1 by enumeration against the algorithm written out from all past answers, and its laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coalface.errors import InputError
from coalface.paper import FiniteCoal, Schedule
from coalface.paper.finite import RULES, asked_for

MEMBERS, POOL, LABELS, ROUNDS = 12, 6, 3, 40


def a_class(seed):
    return np.random.default_rng(seed).uniform(size=(MEMBERS, POOL, LABELS))


def learner_for(table, slack, rule="coal"):
    return FiniteCoal(lambda places: table[:, places], slack, rule)


def slack_for(constant):
    schedule = Schedule(n_labels=LABELS, class_size=MEMBERS, constant=constant)
    return lambda i: float(schedule.loss_slack(i, ROUNDS))


def stream(table, seed):
    rng = np.random.default_rng([seed, 1])
    places = rng.integers(POOL, size=ROUNDS)
    return places, (rng.uniform(size=(ROUNDS, LABELS)) < table[0, places]).astype(float)


def by_the_book(table, places, answers, slack):
    """The version spaces after the given rounds: the intersection of the constraints of every round, label by label."""
    plausible = np.ones((MEMBERS, LABELS), bool)
    for i in range(1, len(places) + 2):
        for label in range(LABELS):
            risks = np.zeros(MEMBERS)
            for place, costs in zip(places[: i - 1], answers[: i - 1], strict=True):
                if not np.isnan(costs[label]):
                    risks += (table[:, place, label] - costs[label]) ** 2 / (i - 1)
            plausible[:, label] &= risks <= risks.min() + slack(i) + 1e-12
    return plausible


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 1000), st.sampled_from([0.05, 0.2, 1.0]), st.sampled_from(RULES))
def test_the_ranges_are_those_of_all_constraints_of_the_past(seed, constant, rule):
    table = a_class(seed)
    places, costs = stream(table, seed)
    slack = slack_for(constant)
    learner, answers = learner_for(table, slack, rule), []
    for i in range(ROUNDS):
        plausible = by_the_book(table, places[:i], answers, slack) if i % 8 == 0 else None
        queries = learner.ask(places[i : i + 1])
        if plausible is not None and plausible.any(axis=0).all():
            for label in range(LABELS):
                said = table[plausible[:, label], places[i], label]
                assert queries.lowest[0, label] == pytest.approx(said.min())
                assert queries.highest[0, label] == pytest.approx(said.max())
        answers.append(np.where(queries.mask[0], costs[i], np.nan))
        learner.tell(places[i : i + 1], answers[-1][None])


def test_a_member_that_is_ruled_out_never_widens_a_range_again():
    table = a_class(5)
    places, costs = stream(table, 5)
    learner = learner_for(table, slack_for(0.2), "passive")
    everywhere = np.arange(POOL)
    before = learner.ask(everywhere)
    narrowed = 0
    for i in range(ROUNDS):
        learner.tell(places[i : i + 1], costs[i : i + 1])
        after = learner.ask(everywhere)
        assert (after.lowest >= before.lowest).all()
        assert (after.highest <= before.highest).all()
        narrowed += (after.highest < before.highest).any()
        before = after
    assert narrowed >= 2


@pytest.mark.parametrize("rule", RULES)
def test_learning_does_not_depend_on_the_batches_of_answers(rule):
    table = a_class(6)
    places, costs = stream(table, 6)
    at_once = learner_for(table, slack_for(0.2), rule).tell(places, costs)
    one_by_one = learner_for(table, slack_for(0.2), rule)
    for i in range(ROUNDS):
        one_by_one.tell(places[i : i + 1], costs[i : i + 1])
    for mine, theirs in zip(at_once.ask(np.arange(POOL)), one_by_one.ask(np.arange(POOL)), strict=True):
        assert np.array_equal(mine, theirs)
    assert at_once.costs_queried_ == one_by_one.costs_queried_ == ROUNDS * LABELS


def test_an_empty_version_space_restarts_with_the_latest_constraint():
    # Member 0 is right at first, member 1 for the rest: each is ruled out while the other is right.
    table = np.array([[[0.0, 1.0]], [[1.0, 0.0]]])
    learner = learner_for(table, lambda _: 0.01)
    row = np.array([0])
    learner.tell(row, [[0.0, 1.0]])
    assert learner.ask(row).highest.tolist() == [[0.0, 1.0]]
    for _ in range(3):
        learner.tell(row, [[1.0, 0.0]])
    queries = learner.ask(row)
    assert (queries.lowest.tolist(), queries.highest.tolist()) == ([[1.0, 0.0]], [[1.0, 0.0]])
    assert learner.predict(row).tolist() == [1]


def test_an_unanswered_cost_counts_as_asked_and_teaches_nothing():
    table = a_class(7)
    learner = learner_for(table, slack_for(0.2))
    learner.tell([0], [[0.3, np.nan, np.nan]], asked=[[True, True, False]])
    assert (learner.costs_queried_, learner.examples_queried_, learner.round_) == (2, 1, 2)


def test_each_rule_asks_for_its_own_costs():
    lowest, highest = np.array([[0.1, 0.2, 0.7, 0.3]]), np.array([[0.5, 0.9, 0.95, 0.35]])
    expected = {
        "coal": [True, True, False, False],  # 0.7 is dominated by 0.35, the last range is narrow
        "no-domination": [True, True, True, False],
        "all-or-none": [True] * 4,
        "passive": [True] * 4,
    }
    for rule, mask in expected.items():
        assert asked_for(rule, lowest, highest, 0.1).tolist() == [mask], rule
    settled = np.array([[0.1, 0.8]]), np.array([[0.5, 0.9]])
    assert not asked_for("coal", *settled, 0.01).any()
    assert not asked_for("all-or-none", *settled, 0.01).any()


def test_an_unknown_rule_is_one_clear_line():
    with pytest.raises(InputError, match="no-domination"):
        FiniteCoal(lambda X: np.zeros((1, len(X), 2)), lambda _: 1.0, "dominate")
