"""A project that an earlier version made, with its database, goes on in this one."""

import base64
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import psycopg
import pytest

from coalface.desk.project.project import Project
from coalface.desk.service.archive import write_archive
from coalface.desk.service.desk import Desk
from tests.desk.projects import work
from tests.rounds import postgres

KEPT = Path(__file__).parent / "data" / "project_before_operations.json"


@pytest.fixture
def kept():
    """The files of a project, the SQL of its database, and what its model predicted."""
    return json.loads(KEPT.read_text())


def restored(kept, folder):
    """The project as it was, in a folder."""
    for name, content in kept["files"].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(base64.b64decode(content))
    with closing(sqlite3.connect(folder / "project.db")) as database:
        database.executescript(kept["sql"])
    return folder


def test_answers_model_leases_and_tokens_are_the_same_after_an_upgrade(kept, tmp_path):
    desk = Desk(Project.open(restored(kept, tmp_path / "mail")))
    rows = desk.project.pool.rows(np.arange(12))
    assert desk.state.model.learner.predict_cost(rows).tolist() == kept["predicted"]
    assert desk.progress().examples == 4  # of five answers, one was undone
    assert desk.store.holder_of("coal_eve") == ("eve", "engineer")
    receipt = desk.answer("bob", kept["held"], kept["lease"], {}, "late")  # under a lease of the earlier version
    assert receipt.learned
    work(desk, who="bob", n=3, costs=lambda question: dict.fromkeys(question.labels, 0.5))
    write_archive(desk.project, desk.store, tmp_path / "mail.zip")
    desk.close()
    Desk(Project.open(tmp_path / "mail")).close()


def test_a_second_opening_changes_nothing(kept, tmp_path):
    folder = restored(kept, tmp_path / "mail")
    for _ in range(2):
        desk = Desk(Project.open(folder))
        events = [(event.id, event.kind) for event in desk.events(limit=1000) if event.kind != "snapshot"]
        desk.close()
    with closing(sqlite3.connect(folder / "project.db")) as database:
        listed = database.execute("select id, kind from events where kind != 'snapshot' order by id").fetchall()
    assert events == listed


def test_a_database_in_postgresql_is_upgraded_too(kept, tmp_path, postgres_server):
    url = postgres.fresh_database(postgres_server, "upgraded")
    folder = restored(kept, tmp_path / "mail")
    copy_to_postgresql(folder / "project.db", url)
    settings = (folder / "project.toml").read_text()
    (folder / "project.toml").write_text(settings.replace("sqlite:///project.db", url))
    desk = Desk(Project.open(folder))
    rows = desk.project.pool.rows(np.arange(12))
    assert desk.state.model.learner.predict_cost(rows).tolist() == kept["predicted"]
    assert len(work(desk, who="cid", n=2, costs=lambda question: dict.fromkeys(question.labels, 0.5))[0]) == 2
    desk.close()


def copy_to_postgresql(path, url):
    """Write the tables as the earlier version made them: its migrations are the first steps of today's."""
    from coalface.desk.log.ownership import STEPS as OWNER
    from coalface.desk.log.store import STEPS as DESK
    from coalface.rounds.database import Database
    from coalface.rounds.event_log import STEPS as EVENTS

    with closing(sqlite3.connect(path)) as old, closing(Database(url)) as database:
        versions = dict(old.execute("select part, version from coalface_schema"))
        for part, steps in (("events", EVENTS), ("desk", DESK), ("project", OWNER)):
            database.bring_up_to_date(part, steps[: versions[part]])
        with psycopg.connect(url) as connection:
            for table in ("events", "questions", "tokens", "project"):
                found = old.execute(f"select * from {table}")
                names = [column[0] for column in found.description]
                places = ", ".join(["%s"] * len(names))
                insert = f"insert into {table} ({', '.join(names)}) values ({places})"
                truth = names.index("open") if "open" in names else None
                for row in found:
                    values = [bool(value) if place == truth else value for place, value in enumerate(row)]
                    connection.execute(insert, values)
            for table, column in (("events", "id"), ("questions", "number")):
                largest = f"(select max({column}) from {table})"
                connection.execute(f"select setval(pg_get_serial_sequence('{table}', '{column}'), {largest})")
