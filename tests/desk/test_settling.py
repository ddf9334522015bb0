"""Costs without questions: imported ones and corrections are learned once, and the log keeps what was there before."""

import json

import pytest

from coalface.desk.service.desk import Desk
from coalface.errors import ConflictError, InputError, UnknownIdError, UnknownLabelError
from tests.desk.projects import LABELS, costs_for, same_bits, small_project, work
from tests.desk.test_pool_changes import replayed


@pytest.fixture
def desk(tmp_path):
    found = Desk(small_project(tmp_path / "mail", n=40, learner={"mellowness": 0.9}))
    yield found
    found.close()


def costs_of(desk):
    return {one["id"]: one["costs"] for one in map(json.loads, desk.export("jsonl"))}


def events_of(desk, kind):
    return [event for event in desk.events(limit=10_000) if event.kind == kind]


def test_imported_labels_and_costs_are_learned_and_not_asked_about(desk):
    known = [{"id": f"mail-{i}", "label": LABELS[i % 3]} for i in range(0, 20)]
    known += [{"id": "mail-30", "costs": {"refund": 0.25, "other": None}}]
    found = desk.curation.import_costs(known, "eve")
    assert (found.settled, found.known) == (21, 0)
    assert (desk.progress().costs, desk.progress().examples) == (0, 0)
    assert costs_of(desk)["mail-1"] == {"refund": 1.0, "delivery": 0.0, "other": 1.0}
    assert costs_of(desk)["mail-30"] == {"refund": 0.25, "other": None}
    work(desk)
    leased = {event.body["example_id"] for event in events_of(desk, "leased")}
    assert leased.isdisjoint({one["id"] for one in known})
    assert same_bits(replayed(desk), desk.state.model.learner)
    assert desk.state.model.learner.round_ - 1 == 40  # every example is one round


def test_a_mistake_at_the_end_of_a_long_import_leaves_nothing_done(tmp_path):
    n = 510  # more than one transaction takes
    desk = Desk(small_project(tmp_path / "mail", n=n))
    desk.curation.retire_examples([f"mail-{n - 1}"])
    known = [{"id": f"mail-{i}", "label": "other"} for i in range(n - 1)]
    with pytest.raises(InputError, match="An example must come once, got 'mail-0' twice"):
        desk.curation.import_costs([*known, known[0]])
    with pytest.raises(ConflictError, match=f"'mail-{n - 1}' is retired"):
        desk.curation.import_costs([*known, {"id": f"mail-{n - 1}", "label": "other"}])
    assert costs_of(desk) == {}
    desk.close()


def test_the_same_import_again_changes_nothing_and_answers_are_kept(desk):
    work(desk, n=4)
    answered = costs_of(desk)
    known = [{"id": f"mail-{i}", "label": "other"} for i in range(40)]
    first = desk.curation.import_costs(known)
    assert first.settled == 40 - len(answered)
    assert {name: costs_of(desk)[name] for name in answered} == answered
    again = desk.curation.import_costs(known)
    assert (again.settled, again.known) == (0, 40)


def test_costs_of_an_example_that_was_passed_over_are_late(tmp_path):
    desk = Desk(small_project(tmp_path / "mail", n=60, learner={"mellowness": 1e-9, "rule": {"warm_up": 3}}))
    work(desk)
    passed = [place for place in range(60) if desk.state.counters.was_passed(place)]
    assert passed
    rounds = desk.state.model.learner.round_
    desk.curation.import_costs([{"id": desk.project.pool.example_id(passed[0]), "label": "other"}])
    assert desk.state.model.learner.round_ == rounds
    assert same_bits(replayed(desk), desk.state.model.learner)
    desk.close()


def test_a_correction_replaces_what_the_model_learned_and_the_log_keeps_both(desk):
    work(desk, n=6)
    name, before = next(iter(costs_of(desk).items()))
    label = next(iter(before))
    desk.curation.correct("eve", name, {label: 0.125}, "It says so in the second line.", key="c1")
    assert costs_of(desk)[name] == before | {label: 0.125}
    (event,) = events_of(desk, "settled")
    assert (event.who, event.body["reason"]) == ("eve", "It says so in the second line.")
    said = [one.body["costs"] for one in events_of(desk, "answered") if one.body["example_id"] == name]
    assert before.items() <= {key: value for costs in said for key, value in costs.items()}.items()
    assert same_bits(replayed(desk), desk.state.model.learner)
    desk.curation.correct("eve", name, {label: 0.125}, "It says so in the second line.", key="c1")  # sent twice
    assert len(events_of(desk, "settled")) == 1
    desk.curation.correct("eve", name, {label: 0.5}, "On second thoughts.")
    assert costs_of(desk)[name] == before | {label: 0.5}
    assert desk.state.model.learner.round_ == replayed(desk).round_


def test_a_correction_that_confirms_an_answer_does_not_rebuild_the_model(desk):
    work(desk, n=6)
    name, before = next(iter(costs_of(desk).items()))
    learner = desk.state.model.learner
    desk.curation.correct("eve", name, before, "Agreed.")
    assert not desk.state.model.rebuilding
    assert desk.state.model.learner is learner
    assert desk.project.pool.place(name) in desk.state.counters.settled
    assert costs_of(desk)[name] == before
    assert same_bits(replayed(desk), desk.state.model.learner)


def test_an_answer_after_a_correction_is_kept_beside_it(desk):
    question = desk.lease("ada")
    desk.curation.correct("eve", question.example_id, {}, "Known from the file.", label="refund")
    receipt = desk.answer("ada", question.id, question.lease_id, costs_for(question), "k")
    assert receipt.answer_id in [str(event.id) for event in events_of(desk, "answered")]
    assert costs_of(desk)[question.example_id] == {"refund": 0.0, "delivery": 1.0, "other": 1.0}
    desk.undo("ada", receipt.answer_id)
    assert costs_of(desk)[question.example_id] == {"refund": 0.0, "delivery": 1.0, "other": 1.0}
    desk.settle()
    assert same_bits(replayed(desk), desk.state.model.learner)


def test_open_questions_about_an_example_that_is_known_now_are_withdrawn(desk):
    desk.lease("ada")
    waiting = [row for row in desk.store.rows() if row.open and row.lease is None]
    assert waiting
    name = desk.project.pool.example_id(waiting[0].example)
    desk.curation.import_costs([{"id": name, "label": "other"}])
    assert [row for row in desk.store.about(waiting[0].example) if row.open] == []


def test_after_a_restart_corrections_count_once(desk, tmp_path):
    work(desk, n=8)
    name = next(iter(costs_of(desk)))
    desk.curation.correct("eve", name, {}, "See the file.", label="other")
    desk.settle()
    learner, costs = desk.state.model.learner, costs_of(desk)
    desk.close()
    again = Desk(type(desk.project).open(tmp_path / "mail"))
    assert costs_of(again) == costs
    assert same_bits(again.state.model.learner, learner)
    again.close()


@pytest.mark.parametrize(
    ("records", "error", "words"),
    [
        ([{"id": "mail-1"}], InputError, 'must have "label"'),
        ([{"label": "other"}], InputError, 'the "id"'),
        ([{"id": "nothing", "label": "other"}], UnknownIdError, "nothing"),
        ([{"id": "mail-1", "label": "lawyer"}], UnknownLabelError, "lawyer"),
        ([{"id": "mail-1", "costs": {"other": 7}}], InputError, r"must lie in \[0, 1\]"),
        ([{"id": "mail-1", "label": "other"}, {"id": "mail-1", "label": "refund"}], InputError, "twice"),
    ],
    ids=["no costs", "no id", "unknown id", "unknown label", "out of bounds", "twice"],
)
def test_wrong_costs_change_nothing(desk, records, error, words):
    with pytest.raises(error, match=words):
        desk.curation.import_costs([{"id": "mail-2", "label": "other"}, *records])
    assert events_of(desk, "settled") == []


def test_a_retired_example_is_not_corrected(desk):
    desk.curation.retire_examples(["mail-2"])
    with pytest.raises(ConflictError, match="retired"):
        desk.curation.correct("eve", "mail-2", {}, "because", label="other")


def test_a_correction_without_costs_is_refused(desk):
    with pytest.raises(InputError, match="at least one cost"):
        desk.curation.correct("eve", "mail-2", {}, "because")


def test_a_correction_without_a_reason_is_refused(desk):
    with pytest.raises(InputError, match="needs a reason"):
        desk.curation.correct("eve", "mail-2", {}, " ", label="other")
