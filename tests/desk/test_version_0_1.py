"""Questions and events of version 0.1 are read as rounds, on both databases."""

import json

import pytest
import sqlalchemy as sa

from coalface.desk.log import store as tables
from coalface.desk.log.events import rounds_in
from coalface.desk.log.store import Row, Store
from coalface.desk.service.messages import reason_in_words
from coalface.rounds.database import Database
from coalface.rounds.event_log import Event, EventLog
from coalface.rounds.round import Outlook
from tests.rounds import postgres

LABELS = ["refund", "delivery", 'it\'s "other"']
PLAN = {
    "first": [LABELS[2]],
    "then": [["refund", 0.1]],
    "audits": {"refund": 0.25},
    "outlook": [2.0, 0.5, 0.75, 0.125],
    "ranges": {LABELS[2]: [0.0, 1.0], "refund": [0.1, 0.6]},
    "reason": "one label is uncertain, one is drawn at random",
    "unasked": ["delivery"],
}
KNOWN = {LABELS[2]: None, "delivery": 0.3333333333333333}
LINE = {
    "number": 7,
    "example": 40,
    "copy": 0,
    "open": True,
    "step": 1,
    "asking": 1,
    "turn": 12,
    "decided": 3,
    "plan": PLAN,
    "known": KNOWN,
    "lease": "abc",
    "holder": "ada",
    "expires": 12.5,
    "previous": None,
}


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/project.db"
    return postgres.fresh_database(request.getfixturevalue("postgres_server"), "version_0_1")


def is_as_recorded(row):
    assert (row.number, row.example, row.lease, row.holder, row.expires) == (7, 40, "abc", "ada", 12.5)
    found = row.round
    assert (found.number, found.ask, found.first) == (12, (LABELS[2], "refund"), 1)
    assert (dict(found.costs), found.unasked, found.asked) == (KNOWN, ("delivery",), (LABELS[2],))
    assert found.ranges["refund"] == (0.1, 0.6)
    assert found.propensity == {"refund": 0.25}
    assert found.outlook == Outlook(LABELS[2], 0.5, 0.75, 0.125)
    assert found.next_labels() == ("refund",)
    assert reason_in_words(found) == PLAN["reason"]


def test_the_migration_keeps_what_a_question_asked_and_what_was_answered(url):
    database = Database(url)
    EventLog(database)
    database.bring_up_to_date("desk", tables.STEPS[:2])
    columns = LINE | {"plan": json.dumps(PLAN), "known": json.dumps(KNOWN)}
    with database.writing() as connection:
        connection.execute(sa.table("questions", *map(sa.column, LINE)).insert().values(columns))
    database.close()
    store = Store(url, LABELS)
    try:
        (row,) = store.rows()
        is_as_recorded(row)
        with store.database.writing() as connection:
            store.change(connection, 7, round=row.round.to_json())
        (again,) = store.rows()
        assert again == row
    finally:
        store.close()


def test_a_question_of_an_archive_is_read():
    row = Row.from_json(LINE, LABELS)
    is_as_recorded(row)
    assert Row.from_json(json.loads(json.dumps(row.to_json())), LABELS) == row


def test_events_are_read():
    answers = [
        {"label": "refund", "cost": 0.5, "audit": True, "propensity": 0.25},
        {"label": "delivery", "cost": None},
        {"label": LABELS[2], "cost": 0.1, "asked": False},
    ]
    closed = Event("closed", 1.0, example=4, body={"question": 1, "answers": answers, "outlook": [3.0, 0.5, 1.0, 0.0]})
    ((example, found),) = rounds_in(closed, LABELS)
    assert (example, found.asked, found.unasked) == (4, ("refund", "delivery"), (LABELS[2],))
    assert found.costs == {"refund": 0.5, "delivery": None, LABELS[2]: 0.1}
    assert (found.propensity, found.outlook) == ({"refund": 0.25}, Outlook(None, 0.5, 1.0, 0.0))
    passed = {"examples": [5, 6, 7], "outlooks": [[1.0, 0.5, 0.25, 0.0], None, [0.0, 0.0, 0.0, 0.0]], "cursor": 9}
    found = rounds_in(Event("passed", 1.0, body=passed), LABELS)
    assert [(example, one.outlook) for example, one in found] == [
        (5, Outlook("delivery", 0.5, 0.25, 0.0)),
        (6, None),
        (7, None),
    ]
