"""Judges checked against people: shared examples, agreement, and a gate that holds answers back until it opens."""

import numpy as np
import pytest

from coalface.data.agreement import agreement
from coalface.desk.project.project import Project
from coalface.desk.service import agreements, queue
from coalface.desk.service.archive import read_archive, write_archive
from coalface.desk.service.desk import Desk
from coalface.desk.service.messages import NoQuestion
from coalface.errors import InputError
from tests.desk.projects import costs_for, same_bits, small_project, work
from tests.desk.serving import client_of, served

FEWEST = 8
LEARNER = {"mellowness": 0.9, "rule": {"alike": None}}


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """Fewer examples than usual open the gate, so that the tests are short."""
    monkeypatch.setattr(agreements, "FEWEST", FEWEST)
    monkeypatch.setattr(queue, "_MOST_AWAITED", 12)
    found = Desk(small_project(tmp_path / "mail", n=80, overlap=1.5, learner=LEARNER))
    yield found
    found.close()


def kinds(desk, *wanted):
    return [event for event in desk.state.log.read() if event.kind in wanted]


def contrary(question):
    """A judge that says the opposite of what people say."""
    return {label: 1.0 - cost for label, cost in costs_for(question).items()}


def rebuilt(desk):
    learner = desk.project.new_learner()
    desk.state.model._fold(learner, 0)
    return learner


def test_a_fractional_overlap_shares_that_share_of_the_examples(desk):
    copies = np.array([desk.project.copies_of(number) for number in range(1, 601)])
    assert set(copies) == {1, 2}
    assert copies.mean() == pytest.approx(1.5, abs=0.08)
    assert copies.tolist() == [Project.open(desk.project.folder).copies_of(number) for number in range(1, 601)]


def test_of_a_shared_example_one_copy_is_for_the_judge_and_one_for_people(desk):
    desk.judge("gpt")
    work(desk, "gpt", n=16)
    for who in ("ada", "bob", "gpt", "other judge"):
        if who == "other judge":
            desk.judge(who)
        work(desk, who, n=12)
    judges, by_example = {"gpt", "other judge"}, {}
    for event in kinds(desk, "answered"):
        by_example.setdefault(event.example, set()).add(event.who)
    shared = [who for who in by_example.values() if len(who) > 1]
    assert len(shared) >= 6
    assert all(len(who) == 2 and len(who & judges) == 1 for who in shared)


def test_the_alpha_of_a_judge_is_that_of_its_answers_beside_people(desk):
    desk.judge("gpt")
    work(desk, "gpt", n=24)
    noisy = np.random.default_rng(0)
    work(desk, "ada", n=20, costs=lambda question: {k: noisy.choice([v, 0.5]) for k, v in costs_for(question).items()})
    given = {}
    for event in kinds(desk, "answered"):
        for label, cost in event.body["costs"].items():
            given.setdefault((event.example, label), {})[event.who] = cost
    both = {what: said for what, said in given.items() if len(said) == 2}
    wanted = agreement([list(said.values()) for said in both.values()], [example for example, _ in both])
    row = next(row for row in desk.overview().annotators if row.name == "gpt")
    assert row.judge
    assert (row.alpha.mean, row.alpha.n) == (pytest.approx(wanted.alpha), wanted.examples)
    assert row.alpha.low < row.alpha.mean < row.alpha.high


def test_the_dashboard_and_the_api_show_alpha_and_what_is_held_back(desk):
    desk.judge("gpt", gate=0.99)
    work(desk, "gpt", n=24)
    work(desk, "ada", n=8, costs=contrary)
    with served(desk) as address, client_of(address, "eve") as eve:
        row = next(row for row in eve.get("/api/v1/projects/mail/annotators").json()["items"] if row["name"] == "gpt")
        assert eve.post("/login", data={"token": "coal_eve"}).status_code == 303
        page = " ".join(eve.get("/dashboard").text.split())
    assert (row["judge"], row["gate"]) == (True, 0.99)
    assert row["held_back"] == len(desk.state.counters.held_back) > 0
    alpha = row["alpha"]
    assert f"{alpha['mean']:.2f} ({alpha['low']:.2f} to {alpha['high']:.2f})" in page
    assert '<th scope="row">gpt (judge)</th>' in page
    assert f"{row['held_back']} examples held back" in page


def test_answers_are_held_back_until_the_gate_opens_and_then_learned(desk, tmp_path):
    desk.judge("gpt", gate=0.6)
    _, reason = work(desk, "gpt")
    assert reason == "held-back"  # it does not run ahead of the people who check it
    held = kinds(desk, "held-back")
    assert len(held) >= 12
    assert not kinds(desk, "closed")
    assert same_bits(desk.state.model.learner, rebuilt(desk))
    answered = len(kinds(desk, "answered"))

    work(desk, "ada", n=4)
    assert {event.who for event in kinds(desk, "closed")} == {"ada"}  # people are learned from at once
    write_archive(desk.project, desk.store, tmp_path / "mail.zip")
    work(desk, "ada", n=30)
    learned = {event.example: event.who for event in kinds(desk, "closed")}
    assert desk.state.untrusted == frozenset()
    assert {event.example for event in held} <= learned.keys()
    assert list(learned.values()).count("gpt") >= 4
    assert desk.state.counters.held_back == {}
    assert len(kinds(desk, "answered")) > answered  # nothing was taken from the log
    assert same_bits(desk.state.model.learner, rebuilt(desk))
    assert len(kinds(desk, "closed")) == len(learned)  # none twice

    copy = Desk(read_archive(tmp_path / "mail.zip", tmp_path / "copy"))  # the gate was closed there
    try:
        assert copy.state.untrusted == {"gpt"}
        assert len(copy.state.counters.held_back) >= 4
    finally:
        copy.close()


def test_a_judge_that_disagrees_stays_held_back_and_is_not_learned_from(desk):
    desk.judge("gpt", gate=0.6)
    work(desk, "gpt", costs=contrary)
    work(desk, "ada", n=30)
    row = next(row for row in desk.overview().annotators if row.name == "gpt")
    assert row.alpha.n >= FEWEST
    assert row.alpha.high < 0.6
    assert {event.who for event in kinds(desk, "closed")} == {"ada"}
    assert "gpt" in desk.state.untrusted
    desk.judge("gpt", gate=0)  # no gate: all is learned
    assert "gpt" in {event.who for event in kinds(desk, "closed")}
    assert desk.state.counters.held_back == {}


def test_few_examples_do_not_open_a_gate(desk):
    desk.judge("gpt", gate=0.1)
    work(desk, "gpt")
    receipts, _ = work(desk, "ada", n=FEWEST // 2)
    assert len(receipts) == FEWEST // 2
    assert "gpt" in desk.state.untrusted


def test_what_was_held_back_is_learned_when_the_process_was_killed_before(desk, monkeypatch):
    desk.judge("gpt", gate=0.6)
    work(desk, "gpt")
    monkeypatch.setattr(desk.state, "release_trusted", lambda: None)  # the process ends right after an answer
    work(desk, "ada", n=30)
    assert "gpt" not in {event.who for event in kinds(desk, "closed")}
    desk.close()
    again = Desk(Project.open(desk.project.folder))
    try:
        assert "gpt" in {event.who for event in kinds(again, "closed")}
        assert same_bits(again.state.model.learner, rebuilt(again))
    finally:
        again.close()


def test_undo_never_lets_the_model_learn_what_is_held_back(desk):
    desk.judge("gpt", gate=0.6)
    work(desk, "gpt", costs=contrary)
    work(desk, "ada", n=10)
    for answered in desk.recent("ada", 10):
        if answered.answer_id in {one.answer_id for one in desk.recent("ada", 10) if not one.undone}:
            desk.undo("ada", answered.answer_id)
    desk.settle()
    closed = [event for event in kinds(desk, "closed") if event.id in desk.state.counters.closed.values()]
    assert closed == []
    assert same_bits(desk.state.model.learner, rebuilt(desk))
    held = desk.state.counters.held_back
    assert len(held) == len(set(held)) >= 12


def test_a_person_who_asks_gets_no_second_copy_meant_for_a_judge(tmp_path):
    desk = Desk(small_project(tmp_path / "mail", n=4, overlap=2, learner=LEARNER))
    try:
        desk.judge("gpt")
        work(desk, "ada")
        assert desk.lease("bob") == NoQuestion("others-only")
        assert work(desk, "gpt")[1] == "nothing-worth-asking"
    finally:
        desk.close()


@pytest.mark.parametrize("gate", [-0.1, 1.0, float("nan")])
def test_a_gate_is_a_number_from_0_to_1_and_needs_shared_examples(tmp_path, desk, gate):
    with pytest.raises(InputError, match="below 1"):
        desk.judge("gpt", gate)
    alone = Desk(small_project(tmp_path / "alone", n=4))
    with pytest.raises(InputError, match="overlap"):
        alone.judge("gpt", 0.6)
    alone.close()
