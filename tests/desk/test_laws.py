"""Whatever three people do in whatever order, at whatever time: the laws of a desk hold after every step."""

import shutil
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.desk.service.messages import Question
from coalface.errors import ConflictError, UnknownIdError
from tests.desk.projects import Clock, same_bits, small_project

LABELS = ["refund", "delivery", "other", "abuse"]
BUDGETS = {1: 4, 2: 12}  # by overlap; a small one ends soon
N_LABELS = {1: 4, 2: 2}  # so that interviews are long, or several people come to their end
people = st.sampled_from(["ada", "bob", "eve"])
costs = st.sampled_from([1.0, 1.0, None, 0.5, 0.0])  # a high cost leaves other labels in question
places = st.sampled_from([1, 1, 1, 2, 3, 5])  # counted from the end: people mostly deal with what is new


@pytest.fixture(scope="module", autouse=True)
def _projects():
    def hurry(connection, *_):
        connection.execute("PRAGMA synchronous=OFF")  # no power cut here: three times as fast

    sa.event.listen(sa.pool.Pool, "checkout", hurry)
    with TemporaryDirectory() as folder:
        for overlap, costs in BUDGETS.items():
            more = {"overlap": overlap, "budget": {"costs": costs}, "learner": {"rule": {"warm_up": 0}}}
            small_project(f"{folder}/{overlap}", 2, LABELS[: N_LABELS[overlap]], **more)
        People.folder = Path(folder)
        yield
    sa.event.remove(sa.pool.Pool, "checkout", hurry)


class People(RuleBasedStateMachine):
    """Three people, a clock that is moved by hand, and everything that was ever displayed."""

    folder: Path

    @initialize(overlap=st.sampled_from(list(BUDGETS)))
    def begin(self, overlap):
        self.place = TemporaryDirectory()
        folder = Path(self.place.name) / "mail"
        shutil.copytree(self.folder / str(overlap), folder)
        self.clock = Clock()
        self.desk = Desk(Project.open(folder), clock=self.clock)
        self.shown = []  # (who, question): also those that are long over
        self.receipts = {}  # (who, question id, lease id, key) -> (costs, receipt)
        self.undone = set()  # answer ids
        self.paid_late = 0

    # -- what people do -------------------------------------------------------------------------

    @rule(who=people, ttl=st.sampled_from([20, 600]))
    def lease(self, who, ttl):
        found = self.desk.lease(who, ttl)
        if isinstance(found, Question):
            self.shown.append((who, found))

    @precondition(lambda self: self.shown)
    @rule(
        place=places,
        cost=costs,
        more=st.dictionaries(st.sampled_from(LABELS[:2]), costs, max_size=1),
        n_ahead=st.sampled_from([0, 0, 1, 4]),
    )
    def answer(self, place, cost, more, n_ahead):
        """An answer to anything that was ever shown is kept, unless that lease has an answer already."""
        who, question = self.shown[-min(place, len(self.shown))]
        self.refuse_what_was_not_shown(who, question)
        ahead = [label for label, _ in question.later[:n_ahead]]
        said = {**dict.fromkeys([*question.labels, *ahead], cost), **more}
        before = [key for key in self.receipts if key[:3] == (who, question.id, question.lease_id)]
        stands = any(self.receipts[key][1].answer_id not in self.undone for key in before)
        key = f"{question.lease_id} {question.id} {len(before)}"
        try:
            receipt = self.desk.answer(who, question.id, question.lease_id, said, key, ahead=ahead)
        except ConflictError:
            assert stands
            return
        assert not stands
        again = self.desk.answer(who, question.id, question.lease_id, said, key, ahead=ahead)
        assert again == receipt  # sent twice, counted once
        self.receipts[who, question.id, question.lease_id, key] = (said, receipt)
        body = self.desk.state.log.get(int(receipt.answer_id)).body
        self.paid_late += body["put"] * receipt.late
        if receipt.follow_up:
            self.shown.append((who, receipt.follow_up))

    def refuse_what_was_not_shown(self, who, question):
        """A step that was never shown under a lease has no answer."""
        number, _, step = question.id.partition(".")
        forged = f"{number}.{int(step) + 1}"
        if all((forged, question.lease_id) != (seen.id, seen.lease_id) for _, seen in self.shown):
            with pytest.raises(UnknownIdError):
                self.desk.answer(who, forged, question.lease_id, {}, "forged")

    @precondition(lambda self: self.receipts)
    @rule(place=places)
    def undo(self, place):
        (who, *_), (_, receipt) = list(self.receipts.items())[-min(place, len(self.receipts))]
        held = self.held_by_others(who)
        try:
            question = self.desk.undo(who, receipt.answer_id)
        except ConflictError:
            return
        self.nothing_is_taken_from_others(who, held)
        self.undone = {str(event.body["answer"]) for event in self.events("undone")}
        if question is not None:
            self.shown.append((who, question))

    @precondition(lambda self: self.shown)
    @rule(place=places)
    def release(self, place):
        who, question = self.shown[-min(place, len(self.shown))]
        self.desk.release(question.lease_id, who)

    @precondition(lambda self: self.shown)
    @rule(place=places)
    def skip(self, place):
        """A skip costs nothing, takes nothing from others, and the question does not come back by itself."""
        who, question = self.shown[-min(place, len(self.shown))]
        spent, held = self.desk.progress(), self.held_by_others(who)
        self.desk.flag(question.lease_id, who, "skipped")
        self.desk.skip(question.lease_id, who)
        assert self.desk.progress() == spent
        self.nothing_is_taken_from_others(who, held)
        number = int(question.id.partition(".")[0])
        row = self.desk.store.question(number)
        if row is not None and row.open and self.desk.held(who) == []:
            found = self.desk.lease(who, 20)
            assert not isinstance(found, Question) or found.id.partition(".")[0] != str(number)
            if isinstance(found, Question):
                self.shown.append((who, found))

    @rule(who=people)
    def resume(self, who):
        self.desk.resume(who)

    @precondition(lambda self: self.shown)
    @rule(place=places)
    def renew(self, place):
        who, question = self.shown[-min(place, len(self.shown))]
        try:
            assert self.desk.renew(question.lease_id, who, 30) == self.clock.now + 30
        except ConflictError:
            return

    @rule(who=people)
    def come_when_all_have_left(self, who):
        self.clock.now += 700
        self.lease(who, 600)

    @rule(seconds=st.sampled_from([25, 700]))
    def wait(self, seconds):
        self.clock.now += seconds

    # -- laws -----------------------------------------------------------------------------------

    @invariant()
    def the_budget_is_passed_by_late_answers_only(self):
        """What was paid for, and what annotators are asked about that is not paid for yet."""
        paid = self.paid_for()
        for who in ("ada", "bob", "eve"):
            for question in self.desk.held(who):
                paid |= {(who, question.example_id, label) for label in question.labels}
        assert len(paid) <= BUDGETS[self.desk.project.overlap] + self.paid_late

    @invariant()
    def each_annotator_is_paid_once_for_a_cost_and_once_for_an_example(self):
        paid = self.paid_for()
        looked = {(event.who, event.example) for event in self.standing() if event.body["step"] == 0}
        for who in ("ada", "bob", "eve"):
            progress = self.desk.progress(who)
            assert progress.own_costs == sum(whose == who for whose, *_ in paid)
            assert progress.own_examples == sum(whose == who for whose, _ in looked)
            assert (progress.costs, progress.examples) == (len(paid), len(looked))

    @invariant()
    def each_question_has_one_holder_and_each_annotator_one_copy(self):
        held = [(who, question) for who in ("ada", "bob", "eve") for question in self.desk.held(who)]
        assert max(Counter(question.id.partition(".")[0] for _, question in held).values(), default=1) == 1
        assert max(Counter((who, question.example_id) for who, question in held).values(), default=1) == 1

    @invariant()
    def what_is_acknowledged_is_in_the_log(self):
        answers = {str(event.id): event for event in self.events("answered")}
        assert len(answers) == len(self.receipts)
        for (who, *_), (said, receipt) in self.receipts.items():
            event = answers[receipt.answer_id]
            assert event.who == who
            assert said.items() <= event.body["costs"].items()

    @invariant()
    def questions_stand_where_the_answers_left_them(self):
        answers = self.standing()
        rows = self.desk.state.store.rows()
        for row in rows:
            learned = [body for body in (event.body for event in answers) if body["learned"]]
            learned = [body for body in learned if body["question"] == row.number]
            assert [body["step"] for body in learned] == list(range(row.step))
            known = {}
            for body in learned:  # what was not asked for comes in where nothing is known
                told = {label: cost for label, cost in body["costs"].items() if cost is not None}
                known = {**told, **known} | {label: body["costs"][label] for label in body["asked"]}
            assert row.round.costs == known
        taken_back = {event.body.get("closed") for event in self.events("undone")}
        taught = Counter(event.example for event in self.events("closed") if event.id not in taken_back)
        assert set(taught) == {row.example for row in rows if not row.open}
        assert set(taught.values()) <= {1}

    def teardown(self):
        """A desk opened again from the log alone has the same counts, questions and model."""
        if not hasattr(self, "desk"):
            return
        self.desk.settle()
        overview = asdict(self.desk.overview())
        self.desk.close()
        for path in self.desk.project.folder.glob("snapshot-*"):
            path.unlink()
        other = Desk(Project.open(self.desk.project.folder), clock=self.clock)
        try:
            assert same_bits(self.desk.state.model.learner, other.state.model.learner)
            assert overview | {"model": 0} == asdict(other.overview()) | {"model": 0}
        finally:
            other.close()
            self.place.cleanup()

    def held_by_others(self, who):
        return [
            (other, question) for other in ("ada", "bob", "eve") if other != who for question in self.desk.held(other)
        ]

    def nothing_is_taken_from_others(self, who, before):
        """They hold the same questions; room in the budget that became free may only add to what follows later."""
        after = self.held_by_others(who)
        assert len(after) == len(before)
        for (holder, question), (other, now) in zip(before, after, strict=True):
            assert (other, now) == (holder, replace(question, later=now.later))
            assert now.later[: len(question.later)] == question.later

    def paid_for(self):
        """Who was asked for which cost of which example, and answered."""
        name = self.desk.project.pool.example_id
        return {(event.who, name(event.example), label) for event in self.standing() for label in event.body["asked"]}

    def standing(self):
        return [event for event in self.events("answered") if str(event.id) not in self.undone]

    def events(self, kind):
        return list(self.desk.state.log.read(kinds=[kind])) if hasattr(self, "desk") else []


People.TestCase.settings = settings(
    max_examples=25, stateful_step_count=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
TestPeople = People.TestCase
