"""Interviews among several people: nothing that somebody answered is lost, and nobody is swayed or paid twice."""

import json
from dataclasses import replace

import pytest
import sqlalchemy as sa

from coalface.app.deciding import decide
from coalface.app.desk import Desk
from coalface.app.exchange import NoQuestion
from coalface.app.project import Project
from coalface.errors import ConflictError, InputError, UnknownIdError
from tests.app.projects import LABELS, Clock, costs_for, same_bits, small_project, work

FOUR = ["refund", "delivery", "other", "abuse"]


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def desk_of(tmp_path, clock):
    """Makes a desk that asks about one label at a time, closed at the end."""
    desks = []

    def make(**settings):
        settings = {"learner": {"warm_up": 0}, "labels": FOUR} | settings
        desks.append(Desk(small_project(tmp_path / f"mail-{len(desks)}", **settings), clock=clock))
        return desks[-1]

    yield make
    for desk in desks:
        desk.close()


@pytest.fixture
def counted_work():
    """A list that grows by one for every hundred steps that SQLite takes."""
    steps = []

    def count(connection, *_):
        connection.set_progress_handler(lambda: steps.append(1), 100)

    sa.event.listen(sa.pool.Pool, "checkout", count)
    yield steps
    sa.event.remove(sa.pool.Pool, "checkout", count)


def tell(desk, who, question, cost=None, key=None, **costs):
    """Answer with one cost for all labels asked about, or with these."""
    told = costs or dict.fromkeys(question.labels, cost)
    return desk.answer(who, question.id, question.lease_id, told, key or f"{question.lease_id} {question.id}")


def logged(desk, kind):
    return [event for event in desk.events(limit=10_000) if event.kind == kind]


def exported(desk):
    return [json.loads(line) for line in desk.export("jsonl")]


def half_finished(desk, clock, who="ada", **costs):
    """Somebody answers the first question of an example, and leaves."""
    question = desk.lease(who, ttl=60)
    receipt = tell(desk, who, question, 1.0, **costs)
    assert receipt.follow_up is not None
    clock.now += 61
    return question, receipt


# -- leases ---------------------------------------------------------------------------------------


def test_nobody_takes_by_undoing_what_somebody_else_looks_at(desk_of, clock):
    desk = desk_of()
    _, receipt = half_finished(desk, clock)
    theirs = desk.lease("bob")
    assert theirs.id.endswith(".1")
    with pytest.raises(ConflictError, match="somebody else"):
        desk.undo("ada", receipt.answer_id)
    assert [question.id for question in desk.held("bob")] == [theirs.id]
    assert tell(desk, "bob", theirs, 0.5).learned


def test_an_answer_is_kept_though_its_question_is_back_at_an_earlier_step(desk_of, clock):
    desk = desk_of()
    _, receipt = half_finished(desk, clock)
    theirs = desk.lease("bob", ttl=60)
    clock.now += 61
    desk.undo("ada", receipt.answer_id)
    late = tell(desk, "bob", theirs, 0.5)
    assert (late.late, late.learned, late.follow_up) == (True, False, None)
    number = theirs.id.partition(".")[0]
    for step in (0, 2, 3):
        with pytest.raises(UnknownIdError):
            desk.answer("bob", f"{number}.{step}", theirs.lease_id, {"refund": 0.5}, f"forged {step}")


def test_an_answer_under_a_lease_given_back_is_kept_though_the_example_was_passed_since(desk_of, monkeypatch):
    desk = desk_of()
    dropped = desk.lease("bob")
    tell(desk, "ada", desk.lease("ada"), 0.0)
    desk.release(dropped.lease_id, "bob")
    monkeypatch.setattr("coalface.app.queue.decide_again", lambda *_: (None, None))  # the model knows better by now
    desk.lease("ada")
    assert desk.books.store.question(int(dropped.id.partition(".")[0])) is None
    kept = tell(desk, "bob", dropped, 0.5)
    assert (kept.late, kept.learned) == (True, False)
    assert desk.undo("bob", kept.answer_id) is None


def test_one_person_may_answer_a_question_that_came_back_to_him(desk_of, clock):
    desk = desk_of()
    first, receipt = half_finished(desk, clock)
    theirs = desk.lease("bob", ttl=60)
    clock.now += 61
    desk.undo("ada", receipt.answer_id)
    tell(desk, "bob", theirs, 0.5)  # late, beside the question
    mine = desk.held("ada")[0]
    tell(desk, "ada", mine, 1.0, key="again")
    clock.now += 6000
    again = desk.lease("bob")
    assert (again.example_id, again.id) == (first.example_id, theirs.id)
    assert tell(desk, "bob", again, 0.25).learned


def test_nobody_holds_more_than_a_few_questions(desk_of, clock):
    desk = desk_of(n=200)
    held = [desk.lease("ada", ttl=60) for _ in range(32)]
    assert desk.lease("ada") == NoQuestion("too-many-held")
    assert desk.lease("bob").labels
    desk.release(held[0].lease_id, "ada")
    assert desk.lease("ada").labels
    clock.now += 61
    assert desk.lease("ada").labels


def test_nobody_gets_more_questions_than_that_by_undoing(desk_of):
    desk = desk_of(n=200)
    done = desk.lease("ada")
    receipt = tell(desk, "ada", done, **dict.fromkeys(FOUR, 0.0))
    going_on = tell(desk, "ada", desk.lease("ada"), 1.0)
    held = [going_on.follow_up, *(desk.lease("ada") for _ in range(31))]
    before = logged(desk, "undone")
    with pytest.raises(ConflictError, match="holds 32"):
        desk.undo("ada", receipt.answer_id)
    assert logged(desk, "undone") == before
    assert desk.undo("ada", going_on.answer_id)  # one of the 32
    desk.release(held[-1].lease_id, "ada")
    assert desk.undo("ada", receipt.answer_id).id == done.id
    assert len(desk.held("ada")) == 32


def test_a_lease_that_ran_out_is_not_regained_once_the_budget_went_elsewhere(desk_of, clock):
    desk = desk_of(budget={"costs": 2})
    _, mine = desk.lease("eve", ttl=60), desk.lease("ada", ttl=60)
    clock.now += 61
    assert desk.renew(mine.lease_id, "ada", ttl=60) == clock.now + 60
    clock.now += 61
    theirs = desk.lease("bob")
    assert theirs.example_id != mine.example_id
    assert tell(desk, "bob", theirs, 1.0).follow_up  # one cost spent, one in question
    with pytest.raises(ConflictError, match="no room"):
        desk.renew(mine.lease_id, "ada")
    assert desk.held("ada") == []


def test_what_somebody_did_before_makes_no_lease_slower(desk_of, counted_work):
    desk = desk_of()
    tell(desk, "ada", desk.lease("ada"), **dict.fromkeys(FOUR, 0.0))

    def work_of_a_lease():
        before = len(counted_work)
        desk.release(desk.lease("ada").lease_id, "ada")
        return len(counted_work) - before

    work_of_a_lease()
    few, done = work_of_a_lease(), next(row for row in desk.store.rows() if not row.open)
    with desk.store.database.writing() as connection:
        desk.store.add(connection, [replace(done, number=0, example=1000 + k) for k in range(2000)])
    assert work_of_a_lease() < 1.5 * few


# -- what is known --------------------------------------------------------------------------------


def test_undoing_leaves_what_an_earlier_answer_told(desk_of):
    desk = desk_of()
    first = desk.lease("ada")
    asked = first.labels[0]
    extra = next(label for label in FOUR if label != asked)
    receipt = tell(desk, "ada", first, **{asked: 1.0, extra: 0.75})
    second = receipt.follow_up
    later = tell(desk, "ada", second, **{second.labels[0]: 1.0, extra: 0.25, asked: 0.5})
    back = desk.undo("ada", later.answer_id)
    assert back.id == second.id
    assert back.known == {asked: 1.0, extra: 0.75}
    receipt = tell(desk, "ada", back, 0.0, key="again")
    assert receipt.follow_up is None
    line = exported(desk)[0]
    assert line["costs"] == {asked: 1.0, extra: 0.75, second.labels[0]: 0.0}
    assert sorted(line["asked"]) == sorted([asked, second.labels[0]])


def test_what_is_known_stands_until_it_is_undone(desk_of):
    desk = desk_of()
    first = desk.lease("ada")
    second = tell(desk, "ada", first, 1.0).follow_up
    receipt = tell(desk, "ada", second, **{second.labels[0]: 0.0, first.labels[0]: 0.5})
    assert receipt.follow_up is None
    line = exported(desk)[0]
    assert line["costs"] == {first.labels[0]: 1.0, second.labels[0]: 0.0}
    assert sorted(line["asked"]) == sorted([first.labels[0], second.labels[0]])


def test_nobody_is_shown_the_number_of_somebody_else_as_his_own(desk_of, clock):
    desk = desk_of()
    first, _ = half_finished(desk, clock)
    asked = first.labels[0]
    theirs = desk.lease("bob", ttl=60)
    assert tell(desk, "bob", theirs, **{theirs.labels[0]: 1.0, asked: 0.125}).follow_up
    clock.now += 61
    again = desk.lease("ada")
    assert (again.example_id, again.known) == (first.example_id, {asked: 1.0})
    row = desk.books.store.question(int(again.id.partition(".")[0]))
    assert row.known == {asked: 1.0, theirs.labels[0]: 1.0}


def test_who_cannot_tell_what_nobody_asked_for_says_nothing(desk_of, clock):
    desk = desk_of()
    first, _ = half_finished(desk, clock)
    theirs = desk.lease("bob")
    others = dict.fromkeys(FOUR)
    following = tell(desk, "bob", theirs, **{**others, theirs.labels[0]: 1.0}).follow_up
    assert following.known == {theirs.labels[0]: 1.0}
    assert not set(following.labels) & {*first.labels, *theirs.labels}
    row = desk.books.store.question(int(first.id.partition(".")[0]))
    assert row.known == {first.labels[0]: 1.0, theirs.labels[0]: 1.0}
    assert desk.progress("bob").own_costs == 1
    tell(desk, "bob", following, 0.0)
    assert desk.progress("bob").own_costs == 2


def test_nobody_sees_what_somebody_else_said(desk_of, clock):
    desk = desk_of()
    first, _ = half_finished(desk, clock)
    theirs = desk.lease("bob")
    assert (theirs.example_id, theirs.known) == (first.example_id, {})
    following = tell(desk, "bob", theirs, 1.0).follow_up
    assert following.known == {theirs.labels[0]: 1.0}
    assert desk.held("bob")[0].known == following.known


def test_labels_come_in_the_order_of_the_project(desk_of):
    desk = desk_of(labels=[f"label {k}" for k in range(9)], learner={"warm_up": 0, "rule": "passive"})
    orders = []
    for turn in range(30):
        question = desk.lease("ada")
        assert question.labels == sorted(question.labels)
        plan = desk.books.store.question(int(question.id.partition(".")[0])).plan
        orders.append([*plan["first"], *(label for label, _ in plan["then"])])
        costs = {label: (turn + 3 * k) % 9 / 8 for k, label in enumerate(question.labels)}
        tell(desk, "ada", question, **costs)
    assert any(order != sorted(order) for order in orders)  # the plan has another one


# -- the budget -----------------------------------------------------------------------------------


def test_what_nobody_asked_for_is_free_also_in_a_late_answer(desk_of, clock):
    desk = desk_of()
    late = desk.lease("ada", ttl=60)
    clock.now += 61
    theirs = desk.lease("bob")
    assert theirs.example_id == late.example_id
    tell(desk, "bob", theirs, **dict.fromkeys(FOUR, 0.0))
    tell(desk, "ada", late, **dict.fromkeys(FOUR, 0.5))
    progress = desk.progress("ada")
    assert (progress.own_costs, progress.own_examples, progress.costs) == (1, 1, 2)


def test_nobody_is_paid_twice_for_one_question(desk_of, clock):
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
    """Somebody answers under a lease that undoing has ended, and the same once more when it is asked again."""
    first = tell(desk, "ada", desk.lease("ada"), 1.0)
    old = first.follow_up
    back = desk.undo("ada", first.answer_id)
    stale = tell(desk, "ada", old, 1.0)
    assert not stale.learned
    again = tell(desk, "ada", back, 1.0).follow_up
    assert again.labels == old.labels
    return stale, tell(desk, "ada", again, 1.0)


def test_nobody_is_paid_twice_by_undoing(desk_of):
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


def test_half_finished_interviews_are_learned_when_the_budget_is_spent(desk_of, clock):
    desk = desk_of(budget={"costs": 3})
    late = desk.lease("bob", ttl=60)
    clock.now += 61
    tell(desk, "eve", desk.lease("eve"), 0.0)
    question = desk.lease("ada", ttl=60)
    assert tell(desk, "ada", question, 1.0).follow_up
    tell(desk, "bob", late, 0.5)  # takes what was left for the follow-up once that has run out
    assert desk.lease("eve") == NoQuestion("budget-spent")
    assert [line["id"] for line in exported(desk)] == [late.example_id]  # ada is still at it
    clock.now += 61
    assert desk.lease("eve") == NoQuestion("budget-spent")
    assert [line["id"] for line in exported(desk)] == [late.example_id, question.example_id]
    assert exported(desk)[-1]["costs"] == {question.labels[0]: 1.0}
    assert desk.books.model.learner.examples_queried_ == 2
    assert desk.lease("eve") == NoQuestion("budget-spent")
    assert len(logged(desk, "closed")) == 2
    assert len(logged(desk, "stopped")) == 1


# -- reasons --------------------------------------------------------------------------------------


def test_a_pool_that_is_not_looked_through_is_said_to_be(desk_of, monkeypatch):
    def silent(*args):
        return (found._replace(plans=[None] * len(found.plans)) for found in decide(*args))

    monkeypatch.setattr("coalface.app.queue._MOST_LOOKED_AT", 8)
    monkeypatch.setattr("coalface.app.queue.decide", silent)
    desk = desk_of(n=40)
    reasons = [desk.lease("ada").reason for _ in range(6)]
    assert reasons == ["looking"] * 4 + ["nothing-worth-asking"] * 2
    assert len(logged(desk, "stopped")) == 1


def test_copies_for_others_are_not_said_to_be_leased(desk_of):
    desk = desk_of(n=3, overlap=2)
    work(desk, "ada")
    assert desk.lease("ada") == NoQuestion("others-only")
    held = [desk.lease("bob") for _ in range(3)]
    assert desk.lease("ada") == NoQuestion("others-only")
    assert desk.lease("eve") == NoQuestion("all-leased")
    for question in held:
        desk.release(question.lease_id, "bob")
    assert desk.lease("eve").labels


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
    live = desk.books.model.learner
    desk.close()
    for path in desk.project.folder.glob("snapshot-*"):
        path.unlink()
    other = Desk(Project.open(desk.project.folder), clock=clock)
    try:
        assert same_bits(live, other.books.model.learner)
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


# -- the record -----------------------------------------------------------------------------------


def test_the_log_says_what_was_put_to_whom_and_until_when(desk_of, clock):
    desk = desk_of()
    first = desk.lease("ada", ttl=60)
    leased = logged(desk, "leased")[-1]
    assert (leased.who, leased.body["labels"], leased.body["until"]) == ("ada", first.labels, clock.now + 60)
    second = tell(desk, "ada", first, 1.0).follow_up
    answered = logged(desk, "answered")[-1]
    assert answered.body["asked"] == first.labels
    assert answered.body["lease"] == leased.id
    assert answered.body["then"] == {"labels": second.labels, "until": second.expires_at}
    desk.renew(first.lease_id, "ada", ttl=60)
    assert logged(desk, "renewed") == []
    clock.now += 61
    desk.renew(first.lease_id, "ada", ttl=60)
    assert logged(desk, "renewed")[0].body["until"] == clock.now + 60
    asked = logged(desk, "asked")[0]
    assert set(asked.body) >= {"labels", "audits", "reason"}


def test_what_is_undone_leaves_the_estimate_of_the_cost(desk_of):
    desk = desk_of(labels=LABELS, n=200, learner={})
    receipts, _ = work(desk)
    before = desk.books.tally.test_cost()
    undone = next(receipt for receipt in reversed(receipts) if receipt.follow_up is None)
    desk.undo("ada", undone.answer_id)
    after = desk.books.tally.test_cost()
    assert after.n == before.n - 1


def test_a_label_counts_as_asked_about_only_where_it_was(desk_of):
    desk = desk_of()
    question = desk.lease("ada")
    tell(desk, "ada", question, **dict.fromkeys(FOUR, 0.0))
    assert {row.label: row.asked for row in desk.overview().labels} == {
        label: int(label in question.labels) for label in FOUR
    }


@pytest.mark.parametrize("name", ["a:b", "", "\ud800", "\0", "x" * 201])
def test_names_that_the_log_could_mistake_are_refused(desk_of, name):
    desk = desk_of(n=3)
    with pytest.raises(InputError):
        desk.lease(name)
    question = desk.lease("a")
    assert tell(desk, "a", question, 0.0, key="b:c").learned
    with pytest.raises(InputError):
        desk.answer("a", question.id, question.lease_id, costs_for(question), "\ud800")
