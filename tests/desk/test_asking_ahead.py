"""All questions that an example may need come together: one call gives what one call per label would have given."""

import json

import pytest

from coalface.desk.service.messages import NoQuestion
from tests.desk.desks import LABELS, desk_in_turn
from tests.desk.interviewing import exported, logged
from tests.desk.projects import same_bits, work


def true_cost(example_id, label):
    """A cost of 0, 0.25, ..., 1 that depends on the example and the label."""
    return (sum(map(ord, example_id + label)) % 5) / 4


def given_ahead(question):
    """What an annotator says who follows the rule of ``later``: all costs, and the labels that came later."""
    costs = {label: true_cost(question.example_id, label) for label in question.labels}
    ahead = []
    for label, needless in question.later:
        if all(cost > needless for cost in costs.values()):
            costs[label] = true_cost(question.example_id, label)
            ahead.append(label)
    return costs, ahead


def work_ahead(desk, n=10**6):
    """Answer up to ``n`` questions with all that comes later; how many calls, and why there were no more."""
    for calls in range(n):
        question = desk.lease("ada")
        if isinstance(question, NoQuestion):
            return calls, question.reason
        costs, ahead = given_ahead(question)
        desk.answer("ada", question.id, question.lease_id, costs, question.lease_id + question.id, ahead=ahead)
    return n, None


def in_turn(question):
    return {label: true_cost(question.example_id, label) for label in question.labels}


def closed_rounds(desk):
    return [json.dumps({k: v for k, v in e.body.items() if k != "question"}) for e in logged(desk, "closed")]


def test_one_call_per_example_gives_the_same_rounds_costs_and_model(desk_of):
    labels = [f"label {i}" for i in range(8)]
    one, other = desk_of(labels=labels, n=60), desk_of(labels=labels, n=60)
    receipts, _ = work(one, costs=in_turn)
    calls, _ = work_ahead(other)
    assert calls == other.progress().examples == one.progress().examples
    assert calls < 0.5 * len(receipts)
    assert closed_rounds(one) == closed_rounds(other)
    assert one.progress().costs == other.progress().costs
    assert same_bits(one.state.model.learner, other.state.model.learner)
    strip = [{k: v for k, v in line.items() if k not in ("answers", "at")} for line in exported(one)]
    assert strip == [{k: v for k, v in line.items() if k not in ("answers", "at")} for line in exported(other)]


@pytest.mark.parametrize("budget", [{"costs": 7}, {"costs": 40}, {"price": 3.1, "price_per_cost": 0.2}])
def test_costs_given_ahead_never_exceed_the_budget(desk_of, budget):
    desk = desk_of(labels=[f"label {i}" for i in range(8)], budget=budget)
    _, reason = work_ahead(desk)
    spent = desk.progress()
    assert reason == "budget-spent"
    assert all(getattr(spent, name) <= budget.get(name, 1e9) for name in ("costs", "price"))
    assert spent.costs >= 7


def test_what_the_rule_does_not_ask_for_is_volunteered(desk_of):
    desk = desk_of()
    question = desk.lease("ada")
    (first,), later = question.labels, [label for label, _ in question.later]
    assert later
    costs = {first: 0.0} | dict.fromkeys(later, 1.0)  # the first settles the rest
    desk.answer("ada", question.id, question.lease_id, costs, "k", ahead=later)
    assert desk.progress().costs == 1
    (line,) = exported(desk)
    assert (line["asked"], line["costs"]) == ([first], costs)


def test_only_costs_that_are_given_count_as_asked_ahead(desk_of):
    desk = desk_of()
    question = desk.lease("ada")
    later = [label for label, _ in question.later]
    receipt = desk.answer("ada", question.id, question.lease_id, {question.labels[0]: 1.0}, "k", ahead=later)
    assert (desk.progress().costs, receipt.follow_up.labels) == (1, later[:1])


def test_an_answer_with_later_labels_is_repeated_and_undone_as_one(desk_of):
    desk = desk_of()
    question = desk.lease("ada")
    costs = dict.fromkeys([*question.labels, *(label for label, _ in question.later)], 1.0)
    ahead = [label for label, _ in question.later]
    receipts = [desk.answer("ada", question.id, question.lease_id, costs, "k", ahead=ahead) for _ in range(2)]
    assert receipts[0].answer_id == receipts[1].answer_id
    assert desk.progress().costs == len(costs)
    again = desk.undo("ada", receipts[0].answer_id)
    assert (again.labels, again.later) == (question.labels, question.later)
    assert desk.progress().costs == 0


def test_labels_that_an_earlier_answer_settled_are_not_offered_again(desk_of):
    desk = desk_of(labels=[f"label {i}" for i in range(8)])
    work_ahead(desk, 50)
    question = desk.lease("ada")
    lows = [low for _, low in question.later]
    assert min(lows) < max(lows)  # the model has learned to tell labels apart
    cost = (min(lows) + max(lows)) / 2
    receipt = desk.answer("ada", question.id, question.lease_id, dict.fromkeys(question.labels, cost), "k")
    asked = [*receipt.follow_up.labels, *(label for label, _ in receipt.follow_up.later)]
    assert asked == [label for label, low in question.later if low < cost]


def test_the_page_tells_programs_what_comes_later(tmp_path, desk_of):
    with desk_in_turn(tmp_path) as desk:
        question = desk.lease("ann")
        assert sorted([*question.labels, *(label for label, _ in question.later)]) == sorted(LABELS)
