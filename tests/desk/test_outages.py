"""A database that is locked or goes away: callers are asked to retry, and lose nothing."""

import sqlite3
import threading
import time
from contextlib import closing, contextmanager

import pytest
import sqlalchemy as sa

from coalface.desk.web.auth import cookie_of
from coalface.errors import FileBusyError
from coalface.rounds import database as engines
from tests.desk.desks import open_desk
from tests.desk.serving import client_of, served
from tests.desk.test_api import PROJECT, is_problem, lease, send


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "_PATIENCE", 300)
    with open_desk(tmp_path) as found:
        yield found


@contextmanager
def locked(desk):
    """While another program writes to the database."""
    with closing(sqlite3.connect(desk.project.folder / "project.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def test_a_locked_database_is_a_reason_to_come_again(as_ann, stranger, desk):
    (query,) = lease(as_ann)["queries"]
    desk.access.begin_session("sess_bob", "coal_bob", 1e12, 0.0)
    with locked(desk):
        for response in (
            send(as_ann, query, {"Billing": 1}, "k1"),
            as_ann.post(f"{PROJECT}/queries:lease", json={}),
        ):
            assert is_problem(response, 503)
            assert int(response.headers["retry-after"]) > 0
        page = stranger.get("/label", headers={"cookie": f"{cookie_of(desk.project)}=sess_bob"})
        assert (page.status_code, page.headers["content-type"]) == (503, "text/html; charset=utf-8")
        assert "The database cannot be used now" in page.text
    assert send(as_ann, query, {"Billing": 1}, "k1").status_code == 201
    assert as_ann.get(f"{PROJECT}/progress").json()["own_examples"] == 1


@pytest.mark.parametrize("patience", [60_000, 200])  # of a caller that waits for the lock, in milliseconds
def test_progress_does_not_wait_for_who_tries_to_write(tmp_path, monkeypatch, patience):
    monkeypatch.setattr(engines, "_PATIENCE", patience)
    with (
        open_desk(tmp_path) as desk,
        served(desk) as address,
        client_of(address, "ann") as ann,
        client_of(address, "bob") as bob,
    ):
        (query,) = lease(ann)["queries"]
        send(ann, query, {"Billing": 1}, "k1")
        with locked(desk):
            found = []
            waiting = threading.Thread(target=lambda: found.append(bob.post(f"{PROJECT}/queries:lease", json={})))
            waiting.start()
            if patience < 1000:
                waiting.join()
                assert is_problem(found[0], 503)
            else:
                time.sleep(0.3)  # most likely, the caller waits now
            assert ann.get(f"{PROJECT}/progress").json()["own_examples"] == 1
            assert waiting.is_alive() == (patience > 1000)
        waiting.join()


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (sa.exc.OperationalError("SELECT", {}, Exception("server closed the connection")), 503),
        (sa.exc.InterfaceError("SELECT", {}, Exception("already closed"), connection_invalidated=True), 503),
        (FileBusyError("Another service has come to write."), 503),
        (sa.exc.DatabaseError("SELECT", {}, Exception("malformed")), 500),
    ],
    ids=["lost", "invalidated", "another service", "damaged"],
)
def test_what_went_wrong_decides_whether_to_come_again(as_ann, desk, monkeypatch, error, status):
    def fail(*_):
        raise error

    monkeypatch.setattr(desk.state, "recording", fail)
    response = as_ann.post(f"{PROJECT}/queries:lease", json={})
    assert is_problem(response, status)
    assert ("retry-after" in response.headers) == (status == 503)
    assert "SELECT" not in response.text


def test_counts_outlast_a_database_that_cannot_be_read(desk, monkeypatch):
    question = desk.lease("ann")
    desk.answer("ann", question.id, question.lease_id, {"Billing": 1.0}, "k")
    before = desk.progress("ann")

    def gone(*_):
        raise sa.exc.OperationalError("SELECT", {}, Exception("gone"))

    with monkeypatch.context() as patch:
        patch.setattr(desk.state.log, "page", gone)
        with pytest.raises(RuntimeError), desk.state.recording():
            raise RuntimeError("something")
        with pytest.raises(sa.exc.OperationalError):
            desk.lease("ann")
    with monkeypatch.context() as patch:
        patch.setattr(desk.state, "_stale", False)
        assert desk.progress("ann") == before
    assert desk.progress("ann") == before
