"""Counters and model agree with the log after every failure."""

import time
from contextlib import contextmanager

import pytest

from coalface.desk.service.desk import Desk
from coalface.desk.service.project_state import ProjectState
from tests.desk.projects import Clock, costs_for, same_bits, small_project, work


@pytest.fixture
def desk(tmp_path):
    found = Desk(small_project(tmp_path / "mail"), clock=Clock())
    work(found, n=3)
    yield found
    found.close()


def answer(desk, question, key="again and again"):
    return desk.answer("ada", question.id, question.lease_id, costs_for(question), key)


def the_log_is_what_is_known(desk):
    fresh = ProjectState(desk.project, desk.store, desk.state.clock)
    assert vars(fresh.counters.spent) == vars(desk.state.counters.spent)
    assert fresh.counters.annotators() == desk.state.counters.annotators()
    assert (fresh.counters.closed, fresh.counters.cursor) == (desk.state.counters.closed, desk.state.counters.cursor)
    assert same_bits(fresh.model.learner, desk.state.model.learner)


def lose_the_connection_after_the_commit(desk, monkeypatch):
    """Once: the commit succeeds, and the caller gets an error."""
    writing, database = desk.store.database.writing, desk.store.database

    @contextmanager
    def torn():
        monkeypatch.setattr(database, "writing", writing)
        with writing() as connection:
            yield connection
        raise ConnectionError("lost")

    monkeypatch.setattr(database, "writing", torn)


def test_a_commit_that_was_not_confirmed_counts_once(desk, monkeypatch):
    question, before = desk.lease("ada"), desk.progress().examples
    lose_the_connection_after_the_commit(desk, monkeypatch)
    with pytest.raises(ConnectionError):
        answer(desk, question)
    assert desk.progress().examples == before + 1
    the_log_is_what_is_known(desk)
    assert answer(desk, question).learned
    assert desk.progress().examples == before + 1
    work(desk, n=3)
    the_log_is_what_is_known(desk)


def test_an_undo_that_was_not_confirmed_is_undone(desk, monkeypatch):
    last = desk.recent("ada", 1)[0]
    lose_the_connection_after_the_commit(desk, monkeypatch)
    with pytest.raises(ConnectionError):
        desk.undo("ada", last.answer_id)
    assert desk.recent("ada", 1)[0].undone
    desk.settle()
    the_log_is_what_is_known(desk)


def test_an_event_that_was_half_counted_is_counted_once(desk, monkeypatch):
    question, counters = desk.lease("ada"), desk.state.counters
    monkeypatch.setattr(counters.model_costs, "record", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        answer(desk, question)
    the_log_is_what_is_known(desk)
    assert answer(desk, question).learned
    the_log_is_what_is_known(desk)


def test_an_answer_is_taken_although_the_model_cannot_learn_it(desk, monkeypatch):
    question = desk.lease("ada")
    monkeypatch.setattr("coalface.desk.service.model.teach", lambda *_: 1 / 0)
    assert answer(desk, question).learned
    while desk.state.model.problem is None:  # the first attempt to rebuild fails, too
        time.sleep(0.001)
    monkeypatch.undo()
    desk.settle()
    the_log_is_what_is_known(desk)


def test_what_is_refused_leaves_no_trace(desk):
    question = desk.lease("ada")
    with pytest.raises(TypeError), desk.state.recording() as record:
        record.add("asked", {}, who="bob", seconds=record.add("asked", {"not": "JSON" / 1}))
    assert "bob" not in desk.state.counters.workers
    answer(desk, question)
    the_log_is_what_is_known(desk)
