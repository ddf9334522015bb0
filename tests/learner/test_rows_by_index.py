"""If examples and costs are both data frames, their rows are matched by index; other indexes are refused."""

import numpy as np
import pytest

from coalface import CoalClassifier, CostDataset, evaluation_report, simulate
from coalface.errors import InputError
from coalface.evaluate.serving import simulate_serving
from coalface.learner.pool import possible_savings

from ..problems import state_of

pandas = pytest.importorskip("pandas")

LABELS = ["walk", "fly", "swim"]
KEYS = [f"t{i}" for i in range(40)]
X = pandas.DataFrame(np.random.default_rng(3).normal(size=(40, 2)), index=KEYS, columns=["a", "b"])
COST = pandas.DataFrame(np.random.default_rng(4).random((40, 3)), index=KEYS, columns=LABELS)
MASK = pandas.DataFrame(np.random.default_rng(5).random((40, 3)) < 0.5, index=KEYS, columns=LABELS)
MASK["walk"] = True
TURNED = COST.iloc[::-1]


def learner():
    return CoalClassifier(LABELS, model="online")


def test_costs_are_matched_by_index_in_every_method():
    one, other = learner(), learner()
    one.fit(X, cost=COST, candidates=MASK).partial_fit(X, cost=COST).tell(X, COST, asked=MASK, candidates=MASK)
    other.fit(X, cost=TURNED, candidates=MASK[::-1]).partial_fit(X, cost=TURNED)
    other.tell(X, TURNED, asked=MASK[::-1], candidates=MASK[::-1])
    assert state_of(one) == state_of(other)
    assert one.score(X, cost=TURNED) == one.score(X, cost=COST)
    assert one.predict(X, candidates=MASK[::-1]).tolist() == one.predict(X, candidates=MASK).tolist()
    assert (
        possible_savings(one, X, candidates=MASK[::-1]).tolist() == possible_savings(one, X, candidates=MASK).tolist()
    )
    ours, theirs = one.ask(X, known=COST.where(MASK)), one.ask(X, known=TURNED.where(MASK[::-1]), asked=MASK[::-1])
    np.testing.assert_array_equal(ours.mask, theirs.mask)
    asked = []
    one.interview(X, lambda i, label: asked.append((i, label)) or COST.iloc[i][label], candidates=MASK[::-1])
    assert all(MASK.iloc[i][label] for i, label in asked)
    active = [learner().fit(X, cost=cost, active=True, candidates=may) for cost, may in ((COST, MASK), (TURNED, MASK))]
    assert state_of(active[0]) == state_of(active[1])


def test_datasets_simulations_and_evaluations_match_by_index():
    np.testing.assert_array_equal(CostDataset(X, TURNED, candidates=MASK[::-1]).cost, CostDataset(X, COST).cost)
    one, other = learner(), learner()
    first = simulate(one, X, COST, X_test=X, cost_test=COST, candidates=MASK)
    second = simulate(other, X, TURNED, X_test=X, cost_test=TURNED, candidates=MASK[::-1])
    np.testing.assert_array_equal(first.test_cost, second.test_cost)
    assert state_of(one) == state_of(other)
    assert evaluation_report(one, X, cost=TURNED).cost == evaluation_report(one, X, cost=COST).cost


def test_raw_examples_are_matched_too():
    raw = X.assign(channel=["mail", "chat"] * 20)
    assert state_of(learner().fit(raw, cost=TURNED)) == state_of(learner().fit(raw, cost=COST))


def test_a_table_without_an_index_of_its_own_is_taken_in_order():
    plain = learner().fit(X.to_numpy(), cost=COST.to_numpy())
    for cost in (COST, TURNED[::-1], COST.to_numpy()):
        assert state_of(learner().fit(X.to_numpy(), cost=cost)) == state_of(plain)
    assert state_of(learner().fit(X.reset_index(drop=True), cost=COST.reset_index(drop=True))) == state_of(plain)
    assert learner().tell(X[:0], COST[:0]).round_ == 1


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (COST.rename(index={"t3": "t99"}), "cost must have rows with the index of X, got none named 't3' and the"),
        (COST.reset_index(drop=True), "cost must have rows with the index of X, got none named 't0', 't1'"),
        (COST[:39], "cost must have rows with the index of X, got none named 't39'"),
        (TURNED.rename(index={"t3": "t4"}), "cost must have rows with distinct names, got 't4' 2 times"),
    ],
)
def test_other_indexes_are_refused(cost, message):
    for call in (learner().fit, learner().partial_fit, learner().score):
        with pytest.raises(InputError, match=message):
            call(X, cost=cost)
    with pytest.raises(InputError, match=message):
        learner().tell(X, cost)
    with pytest.raises(InputError, match=message):
        simulate(learner(), X, cost)
    with pytest.raises(InputError, match=message):
        CostDataset(X, cost)


def test_a_repeated_index_is_taken_in_order_if_both_have_the_same():
    twice = X.index.repeat(2)
    assert learner().fit(X.loc[twice], cost=COST.loc[twice]).round_ == 81


def test_candidates_of_served_labels_are_matched_by_index():
    one, other, only = learner(), learner(), MASK.copy()
    only["walk"] = ~only["fly"]
    chosen = one.act(X, candidates=only)
    assert only.to_numpy()[np.arange(40), [LABELS.index(label) for label in chosen.labels]].all()
    np.testing.assert_array_equal(one.act(X, candidates=only[::-1]).labels, chosen.labels)
    one.observe(X, chosen.labels, 0.5, chosen.probability, candidates=only)
    other.observe(X, chosen.labels, 0.5, chosen.probability, candidates=only[::-1])
    assert state_of(one) == state_of(other)
    served = [
        simulate_serving(learner(), X, given, candidates=mask) for given, mask in ((COST, only), (TURNED, only[::-1]))
    ]
    np.testing.assert_array_equal(served[0].labels, served[1].labels)
    np.testing.assert_array_equal(served[0].cost, served[1].cost)


def test_known_parts_and_asking_prices_are_matched_by_index():
    one, other = learner().fit(X, cost=COST), learner().fit(X, cost=COST)

    def answer(i, label):
        return COST[label].iloc[i]

    np.testing.assert_array_equal(one.predict(X, offset=COST), one.predict(X, offset=TURNED))
    as_given, turned = (one.ask(X, offset=part, asking_price=part) for part in (COST, TURNED))
    np.testing.assert_array_equal(as_given.offset, turned.offset)
    np.testing.assert_array_equal(as_given.next, turned.next)
    one.tell(X, COST, offset=COST).interview(X, answer, offset=COST)
    other.tell(X, COST, offset=TURNED).interview(X, answer, offset=TURNED)
    assert state_of(one) == state_of(other)
    one, other = learner(), learner()
    for simulated, part in ((one, COST), (other, TURNED)):
        simulate(simulated, X, COST, offset=part, asking_price=part)
    assert state_of(one) == state_of(other)
