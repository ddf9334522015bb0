"""Several annotators answer: no answer is lost, and no annotator is biased or paid twice."""

from dataclasses import replace

import pytest
import sqlalchemy as sa

from coalface.desk.service.messages import NoQuestion
from coalface.desk.service.model import scan
from coalface.errors import ConflictError, InputError, UnknownIdError
from coalface.rounds.round import Round
from tests.desk.interviewing import FOUR, exported, half_finished, logged, tell, undone_before
from tests.desk.projects import LABELS, costs_for, work


@pytest.fixture
def counted_work():
    """A list that grows by one for every hundred steps that SQLite takes."""
    steps = []

    def count(connection, *_):
        connection.set_progress_handler(lambda: steps.append(1), 100)

    sa.event.listen(sa.pool.Pool, "checkout", count)
    yield steps
    sa.event.remove(sa.pool.Pool, "checkout", count)


# -- leases ---------------------------------------------------------------------------------------


def test_undo_does_not_take_a_question_from_another_annotator(desk_of, clock):
    desk = desk_of()
    _, receipt = half_finished(desk, clock)
    theirs = desk.lease("bob")
    assert theirs.id.endswith(".1")
    with pytest.raises(ConflictError, match="another annotator"):
        desk.undo("ada", receipt.answer_id)
    assert [question.id for question in desk.held("bob")] == [theirs.id]
    assert tell(desk, "bob", theirs, 0.5).learned


def test_an_answer_is_kept_although_its_question_is_back_at_an_earlier_step(desk_of, clock):
    desk = desk_of()
    _, theirs = undone_before(desk, clock)
    late = tell(desk, "bob", theirs, 0.5)
    assert (late.late, late.learned, late.follow_up) == (True, False, None)
    number = theirs.id.partition(".")[0]
    for step in (0, 2, 3):
        with pytest.raises(UnknownIdError):
            desk.answer("bob", f"{number}.{step}", theirs.lease_id, {"refund": 0.5}, f"forged {step}")


def test_an_answer_under_a_released_lease_is_kept_although_the_example_was_passed(desk_of, monkeypatch):
    desk = desk_of()
    dropped = desk.lease("bob")
    tell(desk, "ada", desk.lease("ada"), 0.0)
    desk.release(dropped.lease_id, "bob")
    monkeypatch.setattr("coalface.desk.service.queue.decide_again", lambda *_: Round(1))  # the model asks nothing now
    desk.lease("ada")
    assert desk.state.store.question(int(dropped.id.partition(".")[0])) is None
    kept = tell(desk, "bob", dropped, 0.5)
    assert (kept.late, kept.learned) == (True, False)
    assert desk.undo("bob", kept.answer_id) is None


def test_an_annotator_may_answer_a_question_that_came_back(desk_of, clock):
    desk = desk_of()
    first, theirs = undone_before(desk, clock)
    tell(desk, "bob", theirs, 0.5)  # late, beside the question
    mine = desk.held("ada")[0]
    tell(desk, "ada", mine, 1.0, key="again")
    clock.now += 6000
    again = desk.lease("bob")
    assert (again.example_id, again.id) == (first.example_id, theirs.id)
    assert tell(desk, "bob", again, 0.25).learned


def test_an_annotator_holds_at_most_a_few_questions(desk_of, clock):
    desk = desk_of(n=200)
    held = [desk.lease("ada", ttl=60) for _ in range(32)]
    assert desk.lease("ada") == NoQuestion("too-many-held")
    assert desk.lease("bob").labels
    desk.release(held[0].lease_id, "ada")
    assert desk.lease("ada").labels
    clock.now += 61
    assert desk.lease("ada").labels


def test_undo_does_not_exceed_the_questions_an_annotator_may_hold(desk_of):
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


def test_earlier_work_does_not_slow_down_a_lease(desk_of, counted_work):
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


def test_a_known_cost_is_not_overwritten(desk_of):
    desk = desk_of()
    first = desk.lease("ada")
    second = tell(desk, "ada", first, 1.0).follow_up
    receipt = tell(desk, "ada", second, **{second.labels[0]: 0.0, first.labels[0]: 0.5})
    assert receipt.follow_up is None
    line = exported(desk)[0]
    assert line["costs"] == {first.labels[0]: 1.0, second.labels[0]: 0.0}
    assert sorted(line["asked"]) == sorted([first.labels[0], second.labels[0]])


def test_an_annotator_sees_only_their_own_costs_as_known(desk_of, clock):
    desk = desk_of()
    first, _ = half_finished(desk, clock)
    asked = first.labels[0]
    theirs = desk.lease("bob", ttl=60)
    assert tell(desk, "bob", theirs, **{theirs.labels[0]: 1.0, asked: 0.125}).follow_up
    clock.now += 61
    again = desk.lease("ada")
    assert (again.example_id, again.known) == (first.example_id, {asked: 1.0})
    row = desk.state.store.question(int(again.id.partition(".")[0]))
    assert row.round.costs == {asked: 1.0, theirs.labels[0]: 1.0}
    assert row.round.by == {asked: "ada", theirs.labels[0]: "bob"}


def test_cannot_tell_about_labels_that_were_not_asked_is_ignored(desk_of, clock):
    desk = desk_of()
    first, _ = half_finished(desk, clock)
    theirs = desk.lease("bob")
    others = dict.fromkeys(FOUR)
    following = tell(desk, "bob", theirs, **{**others, theirs.labels[0]: 1.0}).follow_up
    assert following.known == {theirs.labels[0]: 1.0}
    assert not set(following.labels) & {*first.labels, *theirs.labels}
    row = desk.state.store.question(int(first.id.partition(".")[0]))
    assert row.round.costs == {first.labels[0]: 1.0, theirs.labels[0]: 1.0}
    assert desk.progress("bob").own_costs == 1
    tell(desk, "bob", following, 0.0)
    assert desk.progress("bob").own_costs == 2


def test_no_annotator_sees_the_answers_of_another(desk_of, clock):
    desk = desk_of()
    first, _ = half_finished(desk, clock)
    theirs = desk.lease("bob")
    assert (theirs.example_id, theirs.known) == (first.example_id, {})
    following = tell(desk, "bob", theirs, 1.0).follow_up
    assert following.known == {theirs.labels[0]: 1.0}
    assert desk.held("bob")[0].known == following.known


def test_labels_come_in_the_order_of_the_project(desk_of):
    desk = desk_of(labels=[f"label {k}" for k in range(9)], learner={"rule": {"variant": "passive", "warm_up": 0}})
    orders = []
    for turn in range(30):
        question = desk.lease("ada")
        assert question.labels == sorted(question.labels)
        orders.append(list(desk.state.store.question(int(question.id.partition(".")[0])).round.ask))
        costs = {label: (turn + 3 * k) % 9 / 8 for k, label in enumerate(question.labels)}
        tell(desk, "ada", question, **costs)
    assert any(order != sorted(order) for order in orders)  # the round has another one


# -- reasons --------------------------------------------------------------------------------------


def test_the_reason_is_looking_until_the_whole_pool_is_scanned(desk_of, monkeypatch):
    def silent(*args):
        return ([(example, Round(one.number)) for example, one in found] for found in scan(*args))

    monkeypatch.setattr("coalface.desk.service.queue._MOST_SCANNED", 8)
    monkeypatch.setattr("coalface.desk.service.queue.scan", silent)
    desk = desk_of(n=40)
    reasons = [desk.lease("ada").reason for _ in range(6)]
    assert reasons == ["looking"] * 4 + ["nothing-worth-asking"] * 2
    assert len(logged(desk, "stopped")) == 1


def test_copies_for_other_annotators_are_not_called_leased(desk_of):
    desk = desk_of(n=3, overlap=2)
    work(desk, "ada")
    assert desk.lease("ada") == NoQuestion("others-only")
    held = [desk.lease("bob") for _ in range(3)]
    assert desk.lease("ada") == NoQuestion("others-only")
    assert desk.lease("eve") == NoQuestion("all-leased")
    for question in held:
        desk.release(question.lease_id, "bob")
    assert desk.lease("eve").labels


# -- the record -----------------------------------------------------------------------------------


def test_the_log_records_what_was_asked_of_whom_and_until_when(desk_of, clock):
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
    before = desk.state.counters.model_costs.lately()
    undone = next(receipt for receipt in reversed(receipts) if receipt.follow_up is None)
    desk.undo("ada", undone.answer_id)
    after = desk.state.counters.model_costs.lately()
    assert after.n == before.n - 1


def test_a_label_counts_as_asked_about_only_where_it_was(desk_of):
    desk = desk_of()
    question = desk.lease("ada")
    tell(desk, "ada", question, **dict.fromkeys(FOUR, 0.0))
    assert {row.label: row.asked for row in desk.overview().labels} == {
        label: int(label in question.labels) for label in FOUR
    }


@pytest.mark.parametrize("name", ["a:b", "", "\ud800", "\0", "x" * 201])
def test_names_that_the_log_could_confuse_are_refused(desk_of, name):
    desk = desk_of(n=3)
    with pytest.raises(InputError):
        desk.lease(name)
    question = desk.lease("a")
    assert tell(desk, "a", question, 0.0, key="b:c").learned
    with pytest.raises(InputError):
        desk.answer("a", question.id, question.lease_id, costs_for(question), "\ud800")
