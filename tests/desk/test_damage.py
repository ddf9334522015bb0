"""A project that has lost a file, or whose files do not fit each other, says so when it is opened."""

import shutil

import pytest

from coalface.desk.project.pool_files import DTYPES
from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.errors import CoalfaceError, FileBusyError
from coalface.rounds.database import Database
from tests.desk.projects import small_project, work


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A project with answers."""
    desk = Desk(small_project(tmp_path_factory.mktemp("whole") / "mail", n=60))
    work(desk, n=4)
    desk.close()
    return desk.project.folder


@pytest.fixture
def folder(whole, tmp_path):
    """A copy of it to damage."""
    return shutil.copytree(whole, tmp_path / "mail")


def refused(folder):
    """The one line of the error when it is opened."""
    with pytest.raises(CoalfaceError) as caught:
        Desk(Project.open(folder)).close()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def edit(path, old, new):
    before = path.read_text()
    assert old in before
    path.write_text(before.replace(old, new))


def test_only_making_a_project_makes_its_database(folder):
    (folder / "project.db").unlink()
    said = refused(folder)
    assert "project.db must hold this project's answers, but it is missing or empty" in said
    assert "import an exported .zip" in said
    assert not (folder / "project.db").exists()


def test_an_empty_database_is_not_the_projects(folder):
    (folder / "project.db").write_bytes(b"")
    assert "missing or empty" in refused(folder)
    (folder / "project.db").unlink()
    database = Database(f"sqlite:///{folder}/project.db")
    database.bring_up_to_date("events", ())  # that of a ledger
    database.close()
    assert "missing or empty" in refused(folder)


def test_a_database_cut_short_or_overwritten_is_damaged(folder):
    with (folder / "project.db").open("r+b") as file:
        file.truncate(5000)
    assert "project.db is damaged (database disk image is malformed). Restore it" in refused(folder)
    (folder / "project.db").write_bytes(b"rubbish" * 1000)
    assert "project.db is damaged (file is not a database). Restore it" in refused(folder)


def test_a_page_of_the_log_that_was_overwritten_is_damage(folder):
    database = folder / "project.db"
    content = database.read_bytes()
    place = content.rindex(b'{"question"')  # in the log
    page = place // 4096 * 4096
    database.write_bytes(content[:page] + b"\xff" * 4096 + content[page + 4096 :])
    assert "is damaged" in refused(folder)


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("project.toml", "bounds = [0.0, 1.0]", "bounds = [0.0, 9.0]", "bounds of the scale"),
        ("project.toml", "seed = 0", "seed = 1", "seed"),
        ("labels.txt", "refund\ndelivery\n", "delivery\nrefund\n", "list of labels"),
    ],
    ids=["bounds", "seed", "labels"],
)
def test_settings_that_answers_depend_on_must_not_change(folder, file, old, new, said):
    edit(folder / file, old, new)
    assert f"The {said} must not change after the first question" in refused(folder)
    edit(folder / file, new, old)
    Desk(Project.open(folder)).close()


def test_before_the_first_question_everything_may_be_edited(tmp_path):
    project = small_project(tmp_path / "mail", n=20)
    edit(project.folder / "project.toml", "bounds = [0.0, 1.0]", "bounds = [0.0, 9.0]")
    desk = Desk(Project.open(project.folder))
    work(desk, n=1)
    desk.close()
    edit(project.folder / "project.toml", "bounds = [0.0, 9.0]", "bounds = [0.0, 1.0]")
    assert "[0.0, 9.0], got [0.0, 1.0]" in refused(project.folder)


def test_a_database_of_a_newer_version_is_refused(folder):
    database = Database(f"sqlite:///{folder}/project.db")
    with database.writing() as connection:
        connection.exec_driver_sql("UPDATE coalface_schema SET version = 99 WHERE part = 'project'")
    database.close()
    assert "knows up to 1. Upgrade coalface." in refused(folder)


def test_a_database_that_another_process_locks_is_busy(folder, monkeypatch):
    from coalface.rounds import database as engines

    monkeypatch.setattr(engines, "_PATIENCE", 50)
    database = Database(f"sqlite:///{folder}/project.db")
    with database.writing(), pytest.raises(FileBusyError, match=r"cannot be used now \(database is locked\)"):
        Desk(Project.open(folder))
    database.close()


POOL = ["examples.jsonl", *(f"{name}.bin" for name in DTYPES)]


@pytest.mark.parametrize("name", POOL)
def test_a_file_of_the_pool_that_was_cut_short_is_named(folder, name):
    path = folder / "pool" / name
    content = path.read_bytes()
    for cut in (len(content) // 16 * 8, len(content) - 1):  # at the end of a number, and within one
        path.write_bytes(content[:cut])
        assert f"{name} must have {len(content):,} bytes, it has {cut:,}" in refused(folder)


def test_a_pool_that_lost_a_file_is_refused(folder):
    for name in ["pool.json", *POOL]:
        shutil.copyfile(folder / "pool" / name, folder / "copy")
        (folder / "pool" / name).unlink()
        assert name in refused(folder)
        (folder / "pool" / name).write_bytes(b"")
        assert "Restore it" in refused(folder)
        shutil.copyfile(folder / "copy", folder / "pool" / name)
    Desk(Project.open(folder)).close()
