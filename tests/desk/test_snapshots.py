"""Snapshots make opening a project faster and never change the model."""

import shutil
import warnings

import pytest

from coalface.desk.project.project import Project
from coalface.desk.service import model
from coalface.desk.service.desk import Desk
from coalface.desk.service.model import LiveModel
from tests.desk.projects import same_bits, small_project, work


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(model, "_EVERY", 10)


@pytest.fixture
def desk(tmp_path):
    found = Desk(small_project(tmp_path / "mail"))
    for _ in range(5):
        work(found, n=12)
        if found.state._snapshots._writer is not None:
            found.state._snapshots._writer.join()
    yield found
    found.close()


def as_after_a_kill(desk, tmp_path):
    """The model that another process finds in the files as they are now."""
    shutil.copytree(desk.project.folder, tmp_path / "killed")
    project = Project.open(tmp_path / "killed")
    store = project.open_store()
    try:
        return LiveModel(project, store.log)
    finally:
        store.close()


def of(project):
    return sorted(project.folder.glob("snapshot-*"), key=lambda path: int(path.name.split("-")[1]))


def test_they_are_written_while_people_answer_and_two_are_kept(desk, tmp_path):
    assert len(of(desk.project)) == 2
    model = as_after_a_kill(desk, tmp_path)
    assert model.kept[1] >= 10
    assert same_bits(model.learner, desk.state.model.learner)
    assert sum(event.kind == "snapshot" for event in desk.events(limit=10_000)) >= 3


def test_a_damaged_snapshot_is_ignored_for_the_one_before(desk, tmp_path):
    before, newest = of(desk.project)
    newest.write_bytes(newest.read_bytes()[:-1])
    with pytest.warns(UserWarning, match="is ignored"):
        model = as_after_a_kill(desk, tmp_path)
    assert model.kept[0] == int(before.name.split("-")[1])
    assert same_bits(model.learner, desk.state.model.learner)


def test_a_file_that_the_log_does_not_name_is_not_looked_at(desk, tmp_path):
    other = Desk(small_project(tmp_path / "other", n=50))
    work(other, n=20)
    other.close()
    foreign = of(other.project)[-1]
    for path in of(desk.project):
        path.unlink()
    last = desk.state.model.last
    for name in (f"snapshot-{last}.coalface", f"snapshot-{last}-00000000.coalface"):
        shutil.copy(foreign, desk.project.folder / name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = as_after_a_kill(desk, tmp_path)
    assert model.kept == (0, 0)
    assert same_bits(model.learner, desk.state.model.learner)


def test_one_that_knows_what_was_undone_is_not_used(desk, tmp_path):
    first = desk.recent("ada", 1000)[-1]
    desk.undo("ada", first.answer_id)
    desk.settle()
    model = as_after_a_kill(desk, tmp_path)
    assert model.kept == (0, 0)
    assert same_bits(model.learner, desk.state.model.learner)


def test_nothing_learned_needs_no_new_one(desk):
    desk.close()
    found = of(desk.project)
    again = Desk(Project.open(desk.project.folder))
    again.lease("ada")
    again.close()
    assert of(desk.project) == found
    assert same_bits(again.state.model.learner, desk.state.model.learner)
