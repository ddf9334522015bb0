"""A database belongs to one project, and one desk at a time writes it."""

import shutil

import psycopg
import pytest
from sqlalchemy import make_url
from sqlalchemy.exc import OperationalError

from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.errors import FileBusyError, InputError
from coalface.rounds import database as engines
from coalface.rounds.event_log import SqlLedger
from tests.desk.projects import small_project, work
from tests.rounds import postgres


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/answers.db"
    return postgres.fresh_database(request.getfixturevalue("postgres_server"), "owned")


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(engines, "_FAREWELL", 0.2)


def change(project, old, new):
    settings = project.folder / "project.toml"
    settings.write_text(settings.read_text().replace(old, new))
    return Project.open(project.folder)


def test_a_second_project_is_not_made_in_it(url, tmp_path):
    small_project(tmp_path / "first", n=20, database=url)
    with pytest.raises(InputError, match="must be empty"):
        small_project(tmp_path / "second", n=20, database=url)
    assert not (tmp_path / "second").exists()


def test_a_ledger_and_a_project_do_not_share_it(url, tmp_path):
    ledger = SqlLedger(url)
    ledger.begin({"classes": ["a"]})
    ledger.close()
    with pytest.raises(InputError, match="must be empty"):
        small_project(tmp_path / "mail", n=20, database=url)


def test_a_database_of_another_project_is_refused(url, tmp_path):
    first = small_project(tmp_path / "first", n=20, database=url)
    second = small_project(tmp_path / "second", n=20)
    second = change(second, "sqlite:///project.db", url)
    for opening in (lambda: Desk(second), second.open_store):
        with pytest.raises(InputError, match=f"belongs to the project of id {first.id}") as caught:
            opening()
        assert "\n" not in str(caught.value)
    desk = Desk(first)
    work(desk, n=2)
    desk.close()


def test_a_project_without_an_id_gets_one(url, tmp_path):
    made = small_project(tmp_path / "old", n=20, database=url)
    store = made.open_store()
    with store.database.writing() as connection:
        connection.exec_driver_sql("DELETE FROM project")
    store.close()
    old = change(made, f'id = "{made.id}"\n', "")
    assert old.id != made.id
    assert Project.open(old.folder).id == old.id
    for _ in range(2):
        desk = Desk(Project.open(old.folder))
        work(desk, n=2)
        desk.close()


def test_a_second_server_elsewhere_is_refused(url, tmp_path, impatient):
    if url.startswith("sqlite"):
        pytest.skip("a lock in the folder keeps others away")
    desk = Desk(small_project(tmp_path / "here", n=60, database=url))
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    with pytest.raises(FileBusyError, match="one service at a time"):
        Desk(Project.open(tmp_path / "there"))
    work(desk, n=2)
    desk.access.add_token("ada", "annotator", "0" * 64)
    beside = desk.project.open_store()  # tokens are made beside a service
    beside.add_token("bob", "annotator", "1" * 64)
    beside.close()
    desk.close()
    Desk(Project.open(tmp_path / "there")).close()


def cut_off(address, url):
    """Let the server end all connections to a database."""
    name = make_url(url).database
    with psycopg.connect(address.format("postgres"), autocommit=True) as connection:
        ending = "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = %s"
        connection.execute(ending, [name])


def test_a_lost_connection_is_made_again_unless_another_server_came(postgres_server, tmp_path, impatient):
    url = postgres.fresh_database(postgres_server, "lost")
    desk = Desk(small_project(tmp_path / "here", n=60, database=url))
    work(desk, n=2)
    cut_off(postgres_server, url)
    assert len(work(desk, n=2)[0]) == 2
    with pytest.raises(OperationalError), desk.state.recording() as record:
        record.add("asked", {}, who=cut_off(postgres_server, url))
    assert len(work(desk, n=2)[0]) == 2
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    cut_off(postgres_server, url)
    other = Desk(Project.open(tmp_path / "there"))
    work(other, who="bob", n=2)
    with pytest.raises(FileBusyError, match="one service at a time"):
        desk.lease("ada")
    other.close()
    work(desk, n=2)
    assert desk.progress().examples == len({event.example for event in desk.state.log.read(kinds=["answered"])})
    desk.close()
