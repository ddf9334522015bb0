"""Databases grow by steps that never change, show one moment, and keep passwords to themselves."""

import gc

import pytest
import sqlalchemy as sa

from coalface.desk.log import access, store
from coalface.errors import FileFormatError, InputError
from coalface.rounds import event_log as events
from coalface.rounds.database import Database, without_password
from coalface.rounds.event_log import Event, EventLog, SqlLedger
from coalface.rounds.label_change import LabelChange
from coalface.rounds.round import Round
from tests.rounds import postgres

PARTS = {"events": events.STEPS, "desk": store.STEPS, "project": store.PROJECT_STEPS}
TABLES = (events._events, store._questions, access._tokens, access._sessions)


@pytest.fixture(params=["sqlite", "postgresql"])
def new(request, tmp_path):
    """Makes a new database."""
    made = []

    def make(name):
        url = f"sqlite:///{tmp_path}/{name}.db"
        if request.param == "postgresql":
            url = postgres.fresh_database(request.getfixturevalue("postgres_server"), name)
        made.append(Database(url))
        return made[-1]

    yield make
    for database in made:
        database.close()


def _kind(database, type_):
    """To SQLite all whole numbers are alike, and all others."""
    alike = {"BIGINT": "INTEGER", "DOUBLE": "REAL"} if database.engine.dialect.name == "sqlite" else {}
    return alike.get(str(type_), str(type_))


def columns_of(database, table):
    """The names of the columns of a table, and their kinds."""
    return {
        column["name"]: _kind(database, column["type"]) for column in sa.inspect(database.engine).get_columns(table)
    }


def test_the_steps_make_the_columns_that_the_program_knows(new):
    stepped, known = new("stepped"), new("known")
    for part, steps in PARTS.items():
        stepped.bring_up_to_date(part, steps)
    with known.writing() as connection:
        for table in TABLES:
            columns = [sa.Column(column.name, column.type) for column in table.c]
            sa.Table(table.name, sa.MetaData(), *columns).create(connection)
    for table in TABLES:
        assert columns_of(stepped, table.name) == columns_of(known, table.name) != {}


def test_a_database_of_the_future_is_refused(new):
    database = new("future")
    database.bring_up_to_date("events", [lambda _: None] * 99)
    with pytest.raises(FileFormatError, match="Upgrade"):
        EventLog(database)


def test_one_moment_stays_whoever_writes(new):
    log = EventLog(new("moment"))

    def write(kind):
        with log.database.writing() as connection:
            log.extend(connection, [Event(kind, 1.0)])

    write("one")
    with log.database.one_moment():
        assert log.last() == 1
        write("two")
        with log.database.one_moment():
            assert [event.kind for event in log.read()] == ["one"]
        assert log.last() == 1
    assert log.last() == 2


@pytest.mark.parametrize("url", ["postgresql:/ada:secret@h/x", "postgresql://a:secret@127.0.0.1:1/x?connect_timeout=1"])
def test_no_message_holds_a_password(url):
    with pytest.raises(InputError) as caught:
        Database(url)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "secret" not in without_password(url)


def test_two_learners_do_not_write_one_ledger(new):
    database = new("two")
    url = database.engine.url.render_as_string(hide_password=False)
    first, second = SqlLedger(url), SqlLedger(url)
    try:
        first.begin({"classes": ["a"]})
        with pytest.raises(InputError, match="has begun already"):
            second.begin({"classes": ["b"]})
        with pytest.raises(FileFormatError, match="has changed since it was opened"):
            second.append([])
        assert first.header == {"classes": ["a"]}
    finally:
        first.close()
        second.close()


def test_a_ledger_that_is_dropped_closes_its_connections(tmp_path):
    ledger, closed = SqlLedger(f"sqlite:///{tmp_path}/answers.db"), []
    ledger.begin({"classes": ["a"]})
    sa.event.listen(ledger._log.database.engine, "close", lambda *_: closed.append(True))
    assert not closed
    del ledger
    gc.collect()
    assert closed


def test_the_length_of_a_ledger_counts_rounds_and_changes_of_labels(new):
    ledger = SqlLedger(new("long").engine.url.render_as_string(hide_password=False))
    try:
        ledger.begin({"classes": ["a"]})
        ledger.append([Round(1, width=3), LabelChange("add", "b", 2), Round(2, width=3)])
        assert len(ledger) == 3
    finally:
        ledger.close()
