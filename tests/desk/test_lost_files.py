"""A database file or a lock that is removed or replaced under a running desk: nothing is acknowledged into nothing."""

import shutil
import sqlite3
import subprocess
import sys

import httpx
import pytest

from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.errors import FileBusyError, LostDatabaseError
from tests.cli.commands import run
from tests.desk.projects import small_project, work


@pytest.fixture
def desk(tmp_path):
    found = Desk(small_project(tmp_path / "mail", n=60))
    yield found
    found.close()


def remove(folder):
    (folder / "project.db").unlink()


def remove_journal(folder):
    (folder / "project.db-wal").unlink()


def replace(folder):
    shutil.copy(folder / "project.db", folder / "copy.db")
    (folder / "copy.db").replace(folder / "project.db")


def move_away(folder):
    folder.rename(folder.with_name("elsewhere"))


@pytest.mark.parametrize("damage", [remove, remove_journal, replace, move_away])
def test_no_answer_is_acknowledged_into_a_file_that_is_gone(desk, damage):
    work(desk, n=3)
    question = desk.lease("ada")
    damage(desk.project.folder)
    with pytest.raises(LostDatabaseError, match=r"project\.db was moved, deleted or replaced") as caught:
        desk.answer("ada", question.id, question.lease_id, {}, "last")
    assert "\n" not in str(caught.value)
    with pytest.raises(LostDatabaseError):
        desk.lease("bob")


def test_a_database_that_went_back_in_time_is_noticed(desk):
    work(desk, n=3)
    path = desk.project.folder / "project.db"
    with sqlite3.connect(path) as other:  # as a restored copy in the same file would
        other.execute("DELETE FROM events WHERE id > 4")
        other.execute("UPDATE sqlite_sequence SET seq = 4 WHERE name = 'events'")
    other.close()
    with pytest.raises(LostDatabaseError, match="fewer events than"):
        work(desk, n=1)


def test_the_lock_survives_its_file(desk):
    folder = desk.project.folder
    for lock in folder.glob(".*.lock"):
        lock.unlink()
    with pytest.raises(FileBusyError, match="already open in another process"):
        Desk(Project.open(folder))
    command = [sys.executable, "-c", "import sys; from coalface.desk.service.desk import Desk; "
               "from coalface.desk.project.project import Project; Desk(Project.open(sys.argv[1]))"]  # fmt: skip
    other = subprocess.run([*command, str(folder)], capture_output=True, text=True, check=False)
    assert "already open in another process" in other.stderr
    desk.close()
    Desk(Project.open(folder)).close()


@pytest.mark.slow
def test_the_service_stops_with_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    project = small_project(tmp_path / "mail", n=60)
    token = run(capsys, "serve mail --new-token ada")[1].strip()
    command = [sys.executable, "-m", "coalface", "serve", "mail", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().split()[3]
        with httpx.Client(
            base_url=f"{address}/api/v1", headers={"authorization": f"Bearer {token}"}, timeout=60.0
        ) as client:
            lease = client.post("/projects/mail/queries:lease", json={})
            query = lease.json()["queries"][0]
            remove(project.folder)
            body = {"query_id": query["id"], "lease_id": query["lease_id"], "costs": {}}
            refused = client.post("/projects/mail/answers", json=body, headers={"Idempotency-Key": "k"})
        assert refused.status_code == 503
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 2, err
    last = err.strip().splitlines()[-1]
    assert last.startswith("coalface: ")
    assert "was moved, deleted or replaced" in last
    assert "Traceback" not in err + out
