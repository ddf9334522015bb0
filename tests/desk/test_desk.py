"""A desk loses nothing, gives no question to two people, and its model is what the log says."""

import json
import math
from dataclasses import asdict

import numpy as np
import pytest

from coalface import CoalClassifier
from coalface.desk.project.project import Project
from coalface.desk.project.spending import Limits
from coalface.desk.service.desk import Desk
from coalface.desk.service.messages import NoQuestion
from coalface.errors import ConflictError, FileBusyError, InputError, UnknownIdError, UnknownLabelError
from tests.desk.interviewing import taken_over
from tests.desk.projects import LABELS, costs_for, same_bits, small_project, work
from tests.rounds import postgres

both = pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture
def database(request):
    if getattr(request, "param", "sqlite") == "sqlite":
        return "sqlite:///project.db"
    return postgres.fresh_database(request.getfixturevalue("postgres_server"), "desk")


@pytest.fixture
def open_desk(tmp_path, database, clock):
    """Makes a desk, closed at the end."""
    desks = []

    def make(**settings):
        project = small_project(tmp_path / "mail", database=database, **settings)
        desks.append(Desk(project, clock=clock))
        return desks[-1]

    yield make
    for desk in desks:
        desk.close()


def again(desk, clock, snapshot=True):
    """The desk closed and opened again."""
    desk.close()
    if not snapshot:
        for path in desk.project.folder.glob("snapshot-*"):
            path.unlink()
    return Desk(Project.open(desk.project.folder), clock=clock)


@both
@pytest.mark.parametrize("snapshot", [True, False])
def test_a_desk_opened_again_has_the_same_model_and_counts(open_desk, clock, snapshot):
    desk = open_desk()
    work(desk, n=30)
    work(desk, "bob", n=10)
    overview, progress = asdict(desk.overview()), desk.progress("ada")
    other = again(desk, clock, snapshot)
    try:
        assert same_bits(desk.state.model.learner, other.state.model.learner)
        assert other.state.model.learner.round_ > 20
        assert other.progress("ada") == progress
        assert asdict(other.overview()) == overview
        clock.now += 10**6  # the leases of unanswered questions expire
        receipts, reason = work(other)
        assert reason == "nothing-worth-asking"
        assert receipts
    finally:
        other.close()


def test_the_model_is_what_a_learner_makes_of_the_exported_answers(open_desk):
    desk = open_desk()
    _, reason = work(desk)
    assert reason == "nothing-worth-asking"
    learner, live = CoalClassifier(classes=np.array(LABELS)), desk.state.model.learner
    lines = [json.loads(line) for line in desk.export("jsonl")]
    for event in desk.state.log.read(
        kinds=["passed", "closed"]
    ):  # all rounds in their order, by the library's own means
        places = event.body.get("examples", [event.example])
        for place in places:
            cost = np.full((1, 3), np.nan)
            if event.kind == "closed":
                line = next(line for line in lines if line["id"] == desk.project.pool.example_id(place))
                cost[0] = [np.nan if line["costs"].get(label) is None else line["costs"][label] for label in LABELS]
            learner.tell(desk.project.pool.rows(np.array([place])), cost)
    everything = desk.project.pool.rows(np.arange(len(desk.project.pool)))
    assert np.array_equal(learner.predict_cost(everything), live.predict_cost(everything))
    assert (learner.round_, learner.costs_queried_) == (live.round_, live.costs_queried_)
    assert live.round_ == len(desk.project.pool) + 1
    assert live.costs_queried_ == desk.progress().costs < 3 * len(desk.project.pool)
    assert (live.predict(everything) == [costs_label(desk, i) for i in range(len(desk.project.pool))]).mean() > 0.9


def costs_label(desk, place):
    class Shown:
        content, labels = desk.project.pool.content(place), LABELS

    costs = costs_for(Shown)
    return min(costs, key=costs.get)


def test_a_question_is_leased_to_one_annotator_at_a_time(open_desk):
    desk = open_desk()
    held = [desk.lease(f"person {k}") for k in range(40)]
    assert len({question.example_id for question in held}) == 40
    assert [question.id for question in desk.held("person 7")] == [held[7].id]
    more = desk.lease("person 7")
    assert [question.id for question in desk.held("person 7")] == [held[7].id, more.id]


@both
def test_an_expired_lease_goes_to_another_annotator_and_both_answers_are_kept(open_desk, clock):
    desk = open_desk()
    first, second = taken_over(desk, clock)
    assert desk.held("ada") == []
    desk.answer("bob", second.id, second.lease_id, costs_for(second), "b")
    late = desk.answer("ada", first.id, first.lease_id, costs_for(first), "a")
    assert (late.late, late.learned, late.follow_up) == (True, False, None)
    assert [event.who for event in desk.events(limit=1000) if event.kind == "answered"] == ["bob", "ada"]
    assert [event.who for event in desk.events(limit=1000) if event.kind == "expired"] == ["ada"]
    assert desk.state.model.learner.costs_queried_ == 3
    rows = {row.name: row for row in desk.overview().annotators}
    assert (rows["ada"].compared, rows["ada"].agreement, rows["bob"].agreement) == (3, 1.0, 1.0)


def test_a_late_answer_that_comes_first_is_learned_and_the_other_one_kept(open_desk, clock):
    desk = open_desk()
    first = desk.lease("ada", ttl=60)
    clock.now += 61
    second = desk.lease("bob")
    receipt = desk.answer("ada", first.id, first.lease_id, dict.fromkeys(first.labels, 1.0), "a")
    assert (receipt.late, receipt.learned) == (True, True)
    other = desk.answer("bob", second.id, second.lease_id, dict.fromkeys(second.labels, 0.0), "b")
    assert (other.late, other.learned) == (True, False)
    assert json.loads(next(desk.export("jsonl")))["costs"] == dict.fromkeys(first.labels, 1.0)


def test_a_heartbeat_keeps_a_lease_and_a_release_gives_it_up(open_desk, clock):
    desk = open_desk()
    question = desk.lease("ada", ttl=60)
    clock.now += 50
    assert desk.renew(question.lease_id, "ada", ttl=60) == clock.now + 60
    clock.now += 50
    assert desk.lease("bob").example_id != question.example_id
    desk.release(question.lease_id, "ada")
    assert desk.lease("eve").example_id == question.example_id
    with pytest.raises(ConflictError, match="is over"):
        desk.renew(question.lease_id, "ada")


@both
def test_an_answer_sent_twice_counts_once(open_desk):
    desk = open_desk()
    question = desk.lease("ada")
    receipts = [desk.answer("ada", question.id, question.lease_id, costs_for(question), "k") for _ in range(3)]
    assert receipts[0] == receipts[1] == receipts[2]
    assert desk.progress().costs == 3
    with pytest.raises(ConflictError, match="key"):
        desk.answer("ada", question.id, question.lease_id, {"refund": 0.25}, "k")
    with pytest.raises(ConflictError, match="already"):
        desk.answer("ada", question.id, question.lease_id, costs_for(question), "another")
    assert desk.progress().costs == 3


def test_the_key_of_an_undone_answer_is_not_taken_again(open_desk):
    desk = open_desk()
    question = desk.lease("ada")
    receipt = desk.answer("ada", question.id, question.lease_id, costs_for(question), "k")
    back = desk.undo("ada", receipt.answer_id)
    with pytest.raises(ConflictError, match="undone"):
        desk.answer("ada", back.id, back.lease_id, costs_for(back), "k")
    assert desk.answer("ada", back.id, back.lease_id, costs_for(back), "another").learned


def test_a_limit_of_nothing_is_a_limit_and_a_price_of_examples_alone_ends(open_desk):
    assert Limits(costs=0).plain() == {"costs": 0}
    limits = Limits(price=1, price_per_example=1)
    assert limits.room(limits.spent_on(2, 3)) == -math.inf
    desk = open_desk(budget={"price": 2, "price_per_example": 1})
    assert work(desk)[1] == "budget-spent"


def test_follow_ups_come_under_the_same_lease_and_settle(open_desk):
    desk = open_desk()
    receipts, _ = work(desk)
    follow_ups = [receipt.follow_up for receipt in receipts if receipt.follow_up]
    assert follow_ups
    assert all(question.known and not set(question.known) & set(question.labels) for question in follow_ups)
    assert len(receipts) < desk.progress().costs < 3 * len(desk.project.pool)


def test_a_volunteered_cost_is_learned_and_not_counted(open_desk):
    desk = open_desk()
    work(desk, n=40)
    question = next(q for q in iter(lambda: desk.lease("bob"), None) if len(q.labels) == 1)
    before, costs = desk.progress().costs, desk.state.model.learner.costs_queried_
    receipt = desk.answer("bob", question.id, question.lease_id, dict.fromkeys(LABELS, 0.0), "all")
    assert receipt.follow_up is None
    assert desk.progress().costs == before + 1
    assert desk.state.model.learner.costs_queried_ == costs + 1
    line = [json.loads(line) for line in desk.export("jsonl")][-1]
    assert (line["costs"], line["asked"]) == (dict.fromkeys(LABELS, 0.0), question.labels)


def test_wrong_ids_and_costs_change_nothing(open_desk):
    desk = open_desk()
    mine, theirs = desk.lease("ada"), desk.lease("bob")
    before = [event.id for event in desk.events(limit=10_000)]
    costs = costs_for(mine)
    for error, call in [
        (UnknownIdError, lambda: desk.answer("ada", "999.0", mine.lease_id, costs, "x")),
        (UnknownIdError, lambda: desk.answer("ada", "../etc", mine.lease_id, costs, "x")),
        (UnknownIdError, lambda: desk.answer("ada", f"{mine.id}1", mine.lease_id, costs, "x")),
        (UnknownIdError, lambda: desk.answer("ada", mine.id, "forged", costs, "x")),
        (UnknownIdError, lambda: desk.answer("ada", theirs.id, mine.lease_id, costs, "x")),
        (UnknownIdError, lambda: desk.answer("ada", theirs.id, theirs.lease_id, costs, "x")),
        (UnknownIdError, lambda: desk.renew(theirs.lease_id, "ada")),
        (UnknownIdError, lambda: desk.release(theirs.lease_id, "ada")),
        (UnknownLabelError, lambda: desk.answer("ada", mine.id, mine.lease_id, {"spam": 1.0}, "x")),
        (InputError, lambda: desk.answer("ada", mine.id, mine.lease_id, {"refund": 1.5}, "x")),
        (InputError, lambda: desk.answer("ada", mine.id, mine.lease_id, {"refund": float("nan")}, "x")),
        (InputError, lambda: desk.answer("ada", mine.id, mine.lease_id, costs, "")),
        (InputError, lambda: desk.answer("ada", mine.id, mine.lease_id, costs, "x", seconds=-1)),
        (InputError, lambda: desk.lease("ada", ttl=0)),
        (InputError, lambda: desk.lease("")),
        (UnknownIdError, lambda: desk.undo("ada", "1")),
        (UnknownIdError, lambda: desk.undo("ada", "-1")),
    ]:
        with pytest.raises(error):
            call()
    assert [event.id for event in desk.events(limit=10_000)] == before


@both
def test_undo_gives_the_question_back_and_the_model_forgets(open_desk, clock):
    desk = open_desk()
    receipts, _ = work(desk, n=25)
    wrong = receipts[10]
    with pytest.raises(UnknownIdError):
        desk.undo("bob", wrong.answer_id)
    before, known = desk.progress().costs, desk.state.model.learner.examples_queried_
    question = desk.undo("ada", wrong.answer_id)
    assert desk.progress().costs < before
    assert desk.held("ada")[0].id == question.id
    with pytest.raises(ConflictError, match="undone"):
        desk.undo("ada", wrong.answer_id)
    desk.settle()
    assert not desk.overview().rebuilding
    assert desk.state.model.learner.examples_queried_ == known - 1
    receipt = desk.answer("ada", question.id, question.lease_id, {}, "instead")
    assert receipt.learned
    forgotten = set(question.labels)
    while receipt.follow_up:
        question = receipt.follow_up
        forgotten |= set(question.labels)
        receipt = desk.answer("ada", question.id, question.lease_id, {}, question.id)
    work(desk, n=5)
    line = next(line for line in map(json.loads, desk.export("jsonl")) if line["id"] == question.example_id)
    assert {line["costs"][label] for label in forgotten} == {None}
    assert [answered.undone for answered in desk.recent("ada", 100)].count(True) >= 1
    progress = desk.progress("ada")
    other = again(desk, clock, snapshot=False)
    try:
        assert same_bits(desk.state.model.learner, other.state.model.learner)
        assert other.progress("ada") == progress
    finally:
        other.close()


def test_a_snapshot_that_knows_what_was_undone_since_is_left_aside(open_desk, clock):
    desk = open_desk()
    receipts, _ = work(desk, n=12)
    desk = again(desk, clock)
    desk.undo("ada", receipts[3].answer_id)
    desk.state.model.settle()
    undone = desk.state.model.learner
    desk._closed = True  # as if it had been killed: no new snapshot
    desk._closing.close()
    other = Desk(Project.open(desk.project.folder), clock=clock)
    try:
        assert same_bits(undone, other.state.model.learner)
    finally:
        other.close()


def test_a_snapshot_saves_all_the_learning_but_what_came_after_it(open_desk, clock, monkeypatch):
    desk = open_desk()
    work(desk, n=12)
    told = []
    monkeypatch.setattr("coalface.desk.service.model.teach", lambda _, __, lessons: told.extend(lessons))
    other = again(desk, clock)
    other.close()
    assert told == []


@pytest.mark.parametrize(
    "budget", [{"examples": 7}, {"costs": 11}, {"price": 9.0, "price_per_example": 1.0, "price_per_cost": 0.3}], ids=str
)
def test_a_budget_is_spent_and_never_exceeded(open_desk, budget):
    desk = open_desk(budget=budget)
    crew, questions = [f"person {k}" for k in range(4)], {}
    for turn in range(200):
        who = crew[turn % 4]
        question = questions.get(who) or desk.lease(who)
        if isinstance(question, NoQuestion):
            questions.pop(who, None)
            continue
        if turn < 4:
            questions[who] = question  # all hold one before anybody answers
            continue
        questions[who] = desk.answer(who, question.id, question.lease_id, costs_for(question), str(turn)).follow_up
    progress = desk.progress()
    name = next(iter(budget))
    spent = {"examples": progress.examples, "costs": progress.costs, "price": progress.price}
    assert budget[name] * 0.85 <= spent[name] <= budget[name] + 1e-9
    assert desk.lease("ada") == NoQuestion("budget-spent")
    assert [event.body["reason"] for event in desk.events(limit=5000) if event.kind == "stopped"] == ["budget-spent"]


@both
def test_with_overlap_two_annotators_see_each_example_once(open_desk):
    desk = open_desk(n=30, overlap=2)
    seen = {"ada": set(), "bob": set()}
    for who in seen:
        while not isinstance(question := desk.lease(who), NoQuestion):
            assert question.example_id not in seen[who]
            seen[who].add(question.example_id)
            while question:
                costs = costs_for(question) if who == "ada" else dict.fromkeys(question.labels, 0.5)
                question = desk.answer(who, question.id, question.lease_id, costs, question.id + who).follow_up
        assert question.reason == ("others-only" if who == "ada" else "nothing-worth-asking")
    assert seen["ada"] == seen["bob"] != set()
    assert desk.state.model.learner.examples_queried_ == len(seen["ada"])
    ada = next(row for row in desk.overview().annotators if row.name == "ada")
    assert ada.compared > 20
    assert 0.0 < ada.agreement < 1.0


def test_a_true_label_says_all_costs(open_desk):
    tree = {"refund": "money", "delivery": "post", "other": "post"}
    desk = open_desk(tree=tree)
    question = desk.lease("ada")
    assert question.labels == LABELS
    receipt = desk.answer_truth("ada", question.id, question.lease_id, "delivery", "k")
    assert receipt.follow_up is None
    assert json.loads(next(desk.export("jsonl")))["costs"] == {"refund": 1.0, "delivery": 0.0, "other": 0.5}
    question = desk.lease("ada")
    assert desk.answer_truth("ada", question.id, question.lease_id, None, "l").learned
    assert desk.progress().costs == 2
    with pytest.raises(UnknownLabelError):
        desk.answer_truth("ada", question.id, question.lease_id, "spam", "m")


def test_everything_handed_out_is_json(open_desk):
    desk = open_desk()
    assert json.dumps([asdict(desk.lease("ada")), asdict(desk.overview())], allow_nan=False)
    work(desk, "bob")
    told = [asdict(event) for event in desk.events()]
    shown = [asdict(desk.overview()), told, desk.predict([{"text": "where is my parcel"}]), asdict(desk.progress())]
    assert json.dumps(shown, allow_nan=False)
    assert [event["id"] for event in told] == sorted(event["id"] for event in told)
    overview = desk.overview()
    assert overview.test_cost.low <= overview.test_cost.mean <= overview.test_cost.high
    assert overview.passive_costs == 3 * overview.decided


def test_a_project_has_one_desk_at_a_time(open_desk, clock):
    desk = open_desk()
    with pytest.raises(FileBusyError):
        Desk(Project.open(desk.project.folder), clock=clock)
