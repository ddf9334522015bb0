"""Labels of a project that come and go while it is used: questions, answers, logs, snapshots, archives and REST."""

import multiprocessing
import os
import random
import signal
import time
from contextlib import closing

import numpy as np
import pytest

from coalface.desk.project.project import Project
from coalface.desk.service.archive import read_archive, write_archive
from coalface.desk.service.desk import Desk
from coalface.desk.service.messages import NoQuestion
from coalface.errors import FileFormatError, InputError, UnknownLabelError
from coalface.rounds.label_change import LabelChange, change_of
from tests.desk.desks import make_project, open_desk
from tests.desk.projects import costs_for, same_bits, small_project
from tests.desk.serving import client_of, served
from tests.desk.test_pages import log_in

PROJECT = "/api/v1/projects/tickets"


def answer(desk, who, n, draw):
    """Answer n questions to the end with random levels; the labels of each, and the last receipt."""
    asked, receipt = [], None
    for _ in range(n):
        question, labels = desk.lease(who), []
        assert not isinstance(question, NoQuestion), question
        while question is not None:
            labels += question.labels
            costs = {label: float(draw.randrange(5)) for label in question.labels}
            receipt = desk.answer(who, question.id, question.lease_id, costs, f"{draw.random()}")
            question = receipt.follow_up
        asked.append(labels)
    return asked, receipt


@pytest.fixture
def draw():
    return random.Random(5)


@pytest.fixture
def free(tmp_path):
    """A desk without a budget."""
    with open_desk(tmp_path, budget={}) as found:
        yield found


def test_a_new_label_is_asked_about_and_a_retired_one_never_again(free, draw):
    answer(free, "ann", 6, draw)
    assert free.change_labels(change_of(add="Legal"), "eve").offered == ["Billing", "Refunds", "Fraud", "Legal"]
    asked, _ = answer(free, "ann", 25, draw)
    assert sum("Legal" in labels for labels in asked) >= 8  # the questions that were open do not ask about it
    free.change_labels(change_of(retire="Refunds"), "eve")
    asked, _ = answer(free, "ann", 20, draw)
    assert all("Refunds" not in labels for labels in asked)
    coming = free.upcoming(20)
    assert all("Refunds" not in {*one.labels, *one.later} for one in coming)
    (prediction,) = free.predict([{"text": "money"}])
    assert list(prediction["costs"]) == list(prediction["ranges"]) == ["Billing", "Fraud", "Legal"]
    rows = {row.label: row for row in free.overview().labels}
    assert rows["Legal"].asked >= 8
    events = [event for event in free.events(limit=1000) if event.kind == "labels"]
    assert [(event.who, event.body["labels"]) for event in events] == [("eve", "add"), ("eve", "retire")]


def test_a_leased_question_stays_valid_under_its_old_name_and_with_its_retired_label(free, draw):
    answer(free, "ann", 3, draw)
    held = free.lease("bob")
    free.change_labels(change_of(rename="Billing", to="Invoices"))
    free.change_labels(change_of(retire="Fraud"))
    assert set(free.held("bob")[0].labels) == {"Invoices" if one == "Billing" else one for one in held.labels}
    receipt = free.answer("bob", held.id, held.lease_id, dict.fromkeys(held.labels, 2.0), "k")
    assert receipt.learned
    assert receipt == free.answer("bob", held.id, held.lease_id, dict.fromkeys(held.labels, 2.0), "k")
    costs = free.recent("bob")[0].costs
    assert "Billing" not in costs
    assert costs["Invoices"] == 2.0
    with pytest.raises(UnknownLabelError, match="Unknown label 'Post'"):
        free.answer("bob", held.id, held.lease_id, {"Post": 1.0}, "k2")


def test_answers_before_a_rename_can_be_undone_and_count_under_the_new_name(free, draw):
    _, receipt = answer(free, "ann", 4, draw)
    before = dict(free.state.counters.asked)
    free.change_labels(change_of(rename="Billing", to="Invoices"))
    assert free.state.counters.asked == {"Invoices": before.pop("Billing"), **before}
    question = free.undo("ann", receipt.answer_id)
    assert {*question.labels} <= {*free.project.labels}
    free.settle()
    free.answer("ann", question.id, question.lease_id, dict.fromkeys(question.labels, 1.0), "again")
    free.change_labels(change_of(add="Billing"))  # another label may take the old name
    assert free.project.labels == ["Invoices", "Refunds", "Fraud", "Billing"]
    assert free.state.counters.asked["Billing"] == 0
    header, *lines = b"".join(free.export("csv")).decode().splitlines()
    assert header == "id,cost:Invoices,cost:Refunds,cost:Fraud,cost:Billing,who,at"
    assert all(line.split(",")[4] == "" for line in lines)


def test_costs_that_two_annotators_gave_are_compared_under_the_new_name(tmp_path):
    with open_desk(tmp_path, overlap=2) as desk:
        for who in ("ann", "bob"):
            question = desk.lease(who)
            desk.answer(who, question.id, question.lease_id, dict.fromkeys(question.labels, 2.0), who)
        before = desk.state.counters.beside_people("ann")
        assert "Billing" in {label for _, label in before}
        desk.change_labels(change_of(rename="Billing", to="Invoices"))
        after = desk.state.counters.beside_people("ann")
        names = {"Billing": "Invoices"}
        assert list(after.items()) == [((i, names.get(label, label)), costs) for (i, label), costs in before.items()]
        overview = desk.overview()
        assert [row.compared for row in overview.annotators] == [len(before)] * 2
        project = desk.project
    with closing(Desk(Project.open(project.folder))) as again:
        assert again.state.counters.beside_people("ann") == after


def test_a_question_that_asked_only_about_a_retired_label_is_passed(tmp_path):
    with closing(Desk(make_project(tmp_path, budget={}, learner={"rule": {"warm_up": 0}}))) as desk:
        question = desk.lease("ann")
        desk.release(question.lease_id, "ann")
        (label,) = question.labels
        desk.change_labels(change_of(retire=label))
        for _ in range(20):
            question = desk.lease("bob")
            assert label not in question.labels
            desk.answer("bob", question.id, question.lease_id, dict.fromkeys(question.labels, 1.0), question.id)


def test_overlapping_questions_lose_a_retired_label_and_are_closed_once(tmp_path, draw):
    with open_desk(tmp_path, budget={}, overlap=2) as desk:
        answer(desk, "ann", 4, draw)
        desk.change_labels(change_of(retire="Fraud"))
        asked, _ = answer(desk, "bob", 6, draw)
        assert all("Fraud" not in labels for labels in asked)
        rebuilt = desk.project.new_learner()
        desk.state.model._fold(rebuilt, 0)
        assert same_bits(rebuilt, desk.state.model.learner)


@pytest.mark.parametrize("keep_snapshots", [True, False])
def test_the_log_snapshots_and_archives_give_the_same_model(tmp_path, draw, keep_snapshots):
    project = make_project(tmp_path, budget={})
    with closing(Desk(project)) as desk:
        answer(desk, "ann", 6, draw)
        desk.change_labels(change_of(add="Legal"))
        desk.state._snapshots.write()
        answer(desk, "ann", 12, draw)
        desk.change_labels(change_of(rename="Fraud", to="Crime"))
        desk.change_labels(change_of(retire="Legal"))
        answer(desk, "ann", 4, draw)
        desk.change_labels(change_of(add="Legal"))
        learner, labels = desk.state.model.learner, desk.project.labels
        write_archive(desk.project, desk.store, tmp_path / "all.zip")
        exported = [b"".join(desk.export(form)) for form in ("jsonl", "csv", "model")]
        if not keep_snapshots:
            for file in project.folder.glob("snapshot-*"):
                file.unlink()
    for folder in (project.folder, read_archive(tmp_path / "all.zip", tmp_path / "again" / "tickets").folder):
        with closing(Desk(Project.open(folder))) as desk:
            assert same_bits(desk.state.model.learner, learner)
            assert desk.project.labels == labels == ["Billing", "Refunds", "Crime", "Legal"]
            assert desk.state.model.learner.classes_.tolist() == labels
            assert [b"".join(desk.export(form)) for form in ("jsonl", "csv", "model")] == exported


def test_a_project_of_true_labels_needs_the_costs_of_a_new_label(tmp_path):
    labels, matrix = ["a", "b"], np.array([[0.0, 1.0], [0.5, 0.0]])
    examples = [{"id": str(i), "text": f"word{i}"} for i in range(6)]
    with closing(Desk(Project.create(tmp_path / "p", examples, labels, cost_matrix=matrix))) as desk:
        first = desk.lease("ann")
        desk.answer_truth("ann", first.id, first.lease_id, "a", "k1")
        with pytest.raises(InputError, match="needs those of all 3 labels"):
            desk.change_labels(change_of(add="c"))
        wider = np.array([[0.0, 1.0, 0.2], [0.5, 0.0, 0.3], [0.4, 1.0, 0.0]])
        too_dear = wider + np.outer([0, 0, 9.0], [1, 0, 0])
        for wrong, why in ((wider * 0.5, "keep the costs"), (too_dear, "within the scale")):
            with pytest.raises(InputError, match=why):
                desk.change_labels(change_of(add="c", cost_matrix=wrong))
        held = desk.lease("ann")
        desk.change_labels(change_of(add="c", cost_matrix=wider))
        assert desk.held("ann")[0].labels == ["a", "b", "c"]
        desk.answer_truth("ann", held.id, held.lease_id, "c", "k2")
        assert desk.recent("ann")[0].costs == {"a": 0.4, "b": 1.0, "c": 0.0}
        desk.change_labels(change_of(retire="a"))
        assert desk.lease("ann").labels == ["b", "c"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (change_of(add="Billing"), "'Billing' exists already"),
        (change_of(add=" Legal"), "without spaces around it"),
        (change_of(add="two\nlines"), "one line of text"),
        (change_of(add="\ud83d"), "whole characters"),
        (change_of(rename="Billing", to="Fraud"), "cannot be renamed"),
        (change_of(retire="Legal"), "Unknown label 'Legal'"),
    ],
)
def test_an_impossible_change_is_refused_and_writes_nothing(desk, change, why):
    before = desk.state.log.last()
    with pytest.raises(InputError, match=why):
        desk.change_labels(change)
    assert desk.state.log.last() == before
    assert desk.project.offered == ["Billing", "Refunds", "Fraud"]


def test_two_labels_must_be_left(desk):
    desk.change_labels(change_of(retire="Fraud"))
    with pytest.raises(InputError, match="keep two labels"):
        desk.change_labels(change_of(retire="Refunds"))


def test_a_damaged_change_is_refused(tmp_path):
    project = make_project(tmp_path)
    with closing(Desk(project)) as desk, desk.state.recording() as record:
        record.events.clear()
    with closing(project.open_store()) as store, store.database.writing() as connection:
        body = LabelChange("eat", "Fraud", 1).to_json()
        connection.exec_driver_sql(f"INSERT INTO events (at, kind, body) VALUES (1.0, 'labels', '{json_of(body)}')")
    with pytest.raises(FileFormatError, match="is damaged"):
        Desk(project)


def json_of(body):
    return str(body).replace("'", '"')


# -- REST and pages -----------------------------------------------------------------------------------


def test_engineers_change_labels_over_rest_and_annotators_may_not(desk):
    with served(desk) as address, client_of(address, "eve") as eve, client_of(address, "ann") as ann:
        assert ann.post(f"{PROJECT}/labels", json={"add": "Legal"}).status_code == 403
        found = eve.post(f"{PROJECT}/labels", json={"add": "Legal"}).raise_for_status().json()
        assert (found["labels"][-1], found["retired"]) == ("Legal", [])
        eve.post(f"{PROJECT}/labels", json={"rename": "Legal", "to": "Lawyers"}).raise_for_status()
        eve.post(f"{PROJECT}/labels", json={"retire": "Fraud"}).raise_for_status()
        seen = ann.get(PROJECT).json()
        assert (seen["labels"], seen["retired"]) == (["Billing", "Refunds", "Lawyers"], ["Fraud"])
        assert seen["all_labels"] == ["Billing", "Refunds", "Fraud", "Lawyers"]
        for body in ({}, {"add": "x", "retire": "Billing"}, {"rename": "Billing"}, {"add": "Billing"}, {"eat": "x"}):
            assert eve.post(f"{PROJECT}/labels", json=body).status_code == 422


def test_pages_show_the_labels_as_they_are_now(desk):
    desk.change_labels(change_of(add="Legal"))
    desk.change_labels(change_of(retire="Fraud"))
    with served(desk) as address, client_of(address) as client:
        log_in(client, "eve")
        page = client.get("/dashboard").text
        assert "Fraud (retired)" in page
        assert "Legal" in page
        assert "Legal" in client.get("/label").text  # the first examples are asked about in full
        assert "Fraud" not in client.get("/label").text


def test_the_reasons_of_labels_that_are_not_asked_leave_out_retired_ones(free, draw):
    answer(free, "ann", 6, draw)
    free.change_labels(change_of(retire="Fraud"))
    assert all("Fraud" not in labels for labels in free.not_asked(free.lease("ann")).values())


# -- kills --------------------------------------------------------------------------------------------

CHANGES = [
    change_of(add="new"),
    change_of(rename="new", to="newer"),
    change_of(retire="newer"),
    change_of(add="newer"),
    change_of(add="last"),
    change_of(rename="newer", to="old"),
]


def label_until_killed(folder, acknowledged):
    """Answer, and change labels in between; each acknowledged change is a line of a file."""
    desk = Desk(Project.open(folder))
    done = sum(1 for event in desk.state.log.read(kinds=["labels"]))
    handle = os.open(acknowledged, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for number in range(10_000):
        question = desk.lease("ann", ttl=5)
        if not isinstance(question, NoQuestion):
            desk.answer("ann", question.id, question.lease_id, costs_for(question), question.lease_id + question.id)
        if number % 7 == 3 and done < len(CHANGES):
            desk.change_labels(CHANGES[done])
            os.write(handle, f"{done}\n".encode())
            done += 1


@pytest.mark.slow
def test_kills_lose_no_acknowledged_change_and_the_model_is_that_of_the_log(tmp_path):
    folder, acknowledged = tmp_path / "mail", tmp_path / "acknowledged"
    small_project(folder, n=2000, learner={"mellowness": 0.9})
    acknowledged.touch()
    draw, context = random.Random(0), multiprocessing.get_context("fork")
    for _ in range(8):
        process = context.Process(target=label_until_killed, args=(folder, acknowledged))
        process.start()
        size, deadline = acknowledged.stat().st_size, time.monotonic() + 60
        waits_for = min(size + 2, 2 * len(CHANGES))
        while acknowledged.stat().st_size < waits_for and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(draw.uniform(0.0, 0.05))
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        with closing(Desk(Project.open(folder))) as desk:
            recorded = [event.body for event in desk.state.log.read(kinds=["labels"])]
            assert len(recorded) >= len(acknowledged.read_text().split())
            assert [(one["labels"], one["label"]) for one in recorded] == [
                (one.kind, one.label) for one in CHANGES[: len(recorded)]
            ]
            rebuilt = desk.project.new_learner()
            desk.state.model._fold(rebuilt, 0)
            assert same_bits(desk.state.model.learner, rebuilt)
            assert desk.state.model.learner.classes_.tolist() == desk.project.labels
            assert list(desk.state.model.learner.labels_.retired) == list(desk.project.retired)
    assert len(recorded) == len(CHANGES)
