"""What answers take from the budget, who is paid for what, and several copies of one question."""

import pytest

from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.desk.service.messages import NoQuestion
from coalface.errors import InputError
from tests.desk.interviewing import FOUR, exported, logged, taken_over, tell
from tests.desk.projects import LABELS, same_bits

# -- the budget -----------------------------------------------------------------------------------


def test_a_volunteered_cost_is_free_also_in_a_late_answer(desk_of, clock):
    desk = desk_of()
    late, theirs = taken_over(desk, clock)
    tell(desk, "bob", theirs, **dict.fromkeys(FOUR, 0.0))
    tell(desk, "ada", late, **dict.fromkeys(FOUR, 0.5))
    progress = desk.progress("ada")
    assert (progress.own_costs, progress.own_examples, progress.costs) == (1, 1, 2)


def test_no_annotator_is_paid_twice_for_one_question(desk_of, clock):
    desk = desk_of()
    leases = []
    for _ in range(3):
        leases.append(desk.lease("ada", ttl=60))
        clock.now += 61
    assert len({lease.id for lease in leases}) == 1
    receipts = [tell(desk, "ada", lease, 0.0) for lease in leases]
    assert [receipt.learned for receipt in receipts] == [True, False, False]
    progress = desk.progress("ada")
    assert (progress.own_costs, progress.own_examples) == (1, 1)
    for receipt in receipts[1:]:
        assert desk.undo("ada", receipt.answer_id) is None
    assert desk.progress("ada") == progress


def test_a_true_label_takes_one_cost_of_the_budget(desk_of):
    desk = desk_of(true_label=True, labels=LABELS, learner={}, budget={"costs": 5})
    people = [f"person {k}" for k in range(8)]
    held = [desk.lease(who) for who in people]
    assert [isinstance(question, NoQuestion) for question in held] == [False] * 5 + [True] * 3
    for who, question in zip(people[:5], held, strict=False):
        desk.answer_truth(who, question.id, question.lease_id, None, "k")
    assert desk.progress().costs == 5
    assert desk.lease("ada") == NoQuestion("budget-spent")


def stale_and_again(desk):
    """An annotator answers under a lease that undo has ended, and again when the question comes back."""
    first = tell(desk, "ada", desk.lease("ada"), 1.0)
    old = first.follow_up
    back = desk.undo("ada", first.answer_id)
    stale = tell(desk, "ada", old, 1.0)
    assert not stale.learned
    again = tell(desk, "ada", back, 1.0).follow_up
    assert again.labels == old.labels
    return stale, tell(desk, "ada", again, 1.0)


def test_no_annotator_is_paid_twice_after_an_undo(desk_of):
    desk = desk_of(budget={"costs": 3, "examples": 9})
    _, learned = stale_and_again(desk)
    progress = desk.progress("ada")
    assert (progress.own_costs, progress.own_examples, progress.costs) == (2, 1, 2)
    assert tell(desk, "ada", learned.follow_up, 1.0).follow_up is None  # the third cost is the last
    assert desk.progress().costs == 3


@pytest.mark.parametrize("stale_first", [True, False])
def test_what_is_said_twice_is_paid_for_until_both_are_undone(desk_of, stale_first):
    desk = desk_of()
    receipts = stale_and_again(desk)
    paid = []
    for receipt in receipts if stale_first else reversed(receipts):
        desk.undo("ada", receipt.answer_id)
        paid.append(desk.progress("ada").own_costs)
    assert paid == [2, 1]


def test_where_the_true_label_is_wanted_no_costs_are_taken(desk_of):
    desk = desk_of(true_label=True)
    question = desk.lease("ada")
    before = desk.events(limit=10_000)
    for costs in ({"refund": 0.5}, dict.fromkeys(FOUR, 0.5), {"refund": None, "abuse": 0.0}):
        with pytest.raises(InputError, match="true label"):
            tell(desk, "ada", question, **costs)
    assert desk.events(limit=10_000) == before
    for costs in ({}, {"refund": None}, dict.fromkeys(FOUR)):  # can't tell
        receipt = desk.answer("ada", question.id, question.lease_id, costs, "k")
        assert (receipt.learned, receipt.follow_up) == (True, None)  # and the same key gives the same receipt
        assert desk.progress().costs == 1
    assert set(exported(desk)[0]["costs"].values()) == {None}


def test_a_learner_that_asks_for_true_labels_does_so_at_the_desk(desk_of):
    desk = desk_of(labels=LABELS, learner={"price_of_truth": 2, "rule": {"warm_up": 2}}, budget={"costs": 40})
    question = desk.lease("ada")
    assert question.true_label
    assert question.labels == LABELS
    with pytest.raises(InputError, match="true label"):
        tell(desk, "ada", question, 0.5)
    receipt = desk.answer_truth("ada", question.id, question.lease_id, "refund", "k")
    assert (receipt.learned, receipt.follow_up, desk.progress().costs) == (True, None, 1)
    assert desk.undo("ada", receipt.answer_id).true_label
    assert desk.progress().costs == 0
    question = desk.held("ada")[0]
    desk.answer_truth("ada", question.id, question.lease_id, "other", "l")
    low, high = desk.project.cost_bounds
    assert exported(desk)[0]["costs"] == {"refund": high, "delivery": high, "other": low}
    desk.settle()  # the undo is out of the model
    assert desk.state.model.learner.totals_.truths == 1
    question = desk.lease("ada")
    assert (
        desk.answer("ada", question.id, question.lease_id, dict.fromkeys(LABELS), "m").follow_up is None
    )  # can't tell
    assert desk.state.model.learner.totals_.truths == 2
    desk.state.model.rebuild()
    desk.settle()
    learner = desk.state.model.learner
    assert (learner.totals_.truths, learner.costs_queried_, learner.round_) == (2, 0, 3)


def test_half_finished_interviews_are_learned_when_the_budget_is_spent(desk_of, clock):
    desk = desk_of(budget={"costs": 3})
    late = desk.lease("bob", ttl=60)
    clock.now += 61
    tell(desk, "eve", desk.lease("eve"), 0.0)
    question = desk.lease("ada", ttl=60)
    assert tell(desk, "ada", question, 1.0).follow_up
    tell(desk, "bob", late, 0.5)  # takes what was left for the follow-up once that has run out
    assert desk.lease("eve") == NoQuestion("budget-spent")
    assert [line["id"] for line in exported(desk) if line["finished"]] == [late.example_id]  # ada is still at it
    clock.now += 61
    assert desk.lease("eve") == NoQuestion("budget-spent")
    assert [line["id"] for line in exported(desk) if line["finished"]] == [late.example_id, question.example_id]
    assert exported(desk)[-1]["costs"] == {question.labels[0]: 1.0}
    assert desk.state.model.learner.examples_queried_ == 2
    assert desk.lease("eve") == NoQuestion("budget-spent")
    assert len(logged(desk, "closed")) == 2
    assert len(logged(desk, "stopped")) == 1


# -- several copies -------------------------------------------------------------------------------


def test_who_answered_one_copy_late_gets_no_other(desk_of, clock):
    desk = desk_of(n=1, overlap=2)
    mine = desk.lease("ada", ttl=60)
    clock.now += 61
    theirs = desk.lease("bob")
    assert theirs.id == mine.id
    tell(desk, "bob", theirs, 0.0)
    assert not tell(desk, "ada", mine, 0.5).learned
    assert desk.lease("ada") == NoQuestion("others-only")
    assert desk.lease("eve").example_id == mine.example_id


def test_who_has_taken_another_copy_is_not_heard_twice(desk_of, clock):
    desk = desk_of(n=1, overlap=2)
    one = desk.lease("ada", ttl=60)
    clock.now += 61
    theirs = desk.lease("bob", ttl=60)
    two = desk.lease("ada", ttl=600)
    assert theirs.id == one.id != two.id
    clock.now += 61
    assert not tell(desk, "ada", one, 0.5).learned  # kept, but copy two is the one that was put to ada
    assert len(desk.held("ada")) == 1


def test_the_model_learns_the_other_copy_when_the_first_one_is_undone(desk_of, clock):
    desk = desk_of(n=4, overlap=2)
    mine, theirs = desk.lease("ada"), desk.lease("bob")
    assert mine.example_id == theirs.example_id
    receipt = tell(desk, "ada", mine, **dict.fromkeys(FOUR, 0.0))
    tell(desk, "bob", theirs, **dict.fromkeys(FOUR, 1.0))
    assert exported(desk)[0]["costs"] == dict.fromkeys(FOUR, 0.0)
    back = desk.undo("ada", receipt.answer_id)
    assert exported(desk)[0]["costs"] == dict.fromkeys(FOUR, 1.0)
    tell(desk, "ada", back, key="again", **dict.fromkeys(FOUR, 0.5))
    assert [line["costs"] for line in exported(desk)] == [dict.fromkeys(FOUR, 1.0)]
    desk.settle()
    live = desk.state.model.learner
    desk.close()
    for path in desk.project.folder.glob("snapshot-*"):
        path.unlink()
    other = Desk(Project.open(desk.project.folder), clock=clock)
    try:
        assert same_bits(live, other.state.model.learner)
    finally:
        other.close()


def test_the_model_learns_the_copy_that_was_done_next(desk_of, clock):
    desk = desk_of(n=2, overlap=3)
    questions = {who: desk.lease(who) for who in ("ada", "bob", "eve")}
    assert len({question.example_id for question in questions.values()}) == 1
    receipts = {}
    for who, cost in (("ada", 0.0), ("eve", 1.0), ("bob", 0.5)):
        receipts[who] = tell(desk, who, questions[who], **dict.fromkeys(FOUR, cost))
    taught = []
    for who in ("ada", "eve"):
        desk.undo(who, receipts[who].answer_id)
        taught.append(exported(desk)[0]["costs"]["refund"])
    assert taught == [1.0, 0.5]


def test_a_copy_left_half_way_was_done_last(desk_of, clock):
    desk = desk_of(n=1, overlap=4, budget={"costs": 4})
    late = desk.lease("zoe", ttl=60)
    questions = {who: desk.lease(who) for who in ("ada", "bob", "eve")}
    clock.now += 61
    assert tell(desk, "bob", questions["bob"], 0.25).follow_up
    receipt = tell(desk, "ada", questions["ada"], **dict.fromkeys(FOUR, 0.0))
    tell(desk, "eve", questions["eve"], **dict.fromkeys(FOUR, 1.0))
    clock.now += 601
    tell(desk, "zoe", late, **dict.fromkeys(FOUR, 0.5))
    assert desk.lease("kim") == NoQuestion("budget-spent")
    assert all(not row.open for row in desk.store.rows())
    desk.undo("ada", receipt.answer_id)
    assert exported(desk)[0]["costs"] == dict.fromkeys(FOUR, 1.0)
