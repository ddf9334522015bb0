"""An exported project, imported elsewhere, is the same project."""

import csv
import json
import zipfile

import pytest

from coalface import CoalClassifier, read_dataset
from coalface.desk.project.project import Project
from coalface.desk.service.archive import read_archive, write_archive
from coalface.desk.service.desk import Desk
from coalface.errors import CoalfaceError, FileFormatError, InputError
from tests.desk.projects import LABELS, Clock, same_bits, small_project, work
from tests.rounds import postgres


@pytest.mark.parametrize("kinds", [("sqlite", "sqlite"), ("postgresql", "sqlite"), ("sqlite", "postgresql")])
def test_history_model_and_open_questions_are_the_same(tmp_path, request, kinds):
    def url(kind, name):
        if kind == "sqlite":
            return "sqlite:///project.db"
        return postgres.fresh_database(request.getfixturevalue("postgres_server"), name)

    clock = Clock()
    desk = Desk(small_project(tmp_path / "mail", database=url(kinds[0], "here")), clock=clock)
    receipts, _ = work(desk, n=20)
    desk.undo("ada", receipts[5].answer_id)
    held = desk.lease("bob")
    desk.settle()
    write_archive(desk.project, desk.store, tmp_path / "mail.zip")
    events, overview = desk.events(limit=10_000), desk.overview()
    desk.close()
    other = Desk(read_archive(tmp_path / "mail.zip", tmp_path / "copy", url(kinds[1], "there")), clock=clock)
    try:
        assert other.project.id != desk.project.id
        assert other.events(limit=10_000) == events
        assert same_bits(desk.state.model.learner, other.state.model.learner)
        assert other.overview() == overview
        assert other.held("bob") == [held]
        other.answer("bob", held.id, held.lease_id, {}, "later")
        receipts, reason = work(other)
        assert reason == "all-leased"  # what ada undid is still hers
        assert len({event.id for event in other.events(limit=10_000)}) > len(events)
    finally:
        other.close()


def test_an_archive_tells_no_address_and_is_for_its_owner(tmp_path):
    secret = f"sqlite:///{tmp_path}/secret.db"
    project = small_project(tmp_path / "mail", n=20, database=secret, guidelines="Be kind.")
    desk = Desk(project)
    write_archive(project, desk.store, tmp_path / "mail.zip")
    desk.close()
    assert (tmp_path / "mail.zip").stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(tmp_path / "mail.zip") as archive:
        assert not any(b"secret" in archive.read(name) for name in archive.namelist())
    copy = read_archive(tmp_path / "mail.zip", tmp_path / "copy")
    assert (copy.database, copy.guidelines) == ("sqlite:///project.db", "Be kind.")
    with pytest.raises(InputError, match="must be empty"):
        read_archive(tmp_path / "mail.zip", tmp_path / "second", secret)
    assert not (tmp_path / "second").exists()


@pytest.mark.parametrize(
    "line", ['{"kind": "asked", "at": 1, "example": 99}', '{"no": 1}', "{", '{"kind": null, "at": 1}']
)
def test_a_history_that_cannot_be_is_refused(tmp_path, line):
    desk = Desk(small_project(tmp_path / "mail", n=20))
    write_archive(desk.project, desk.store, tmp_path / "mail.zip")
    desk.close()
    with zipfile.ZipFile(tmp_path / "mail.zip") as archive, zipfile.ZipFile(tmp_path / "x.zip", "w") as forged:
        for name in archive.namelist():
            forged.writestr(name, archive.read(name) if name != "events.jsonl" else line)
    with pytest.raises(FileFormatError) as caught:
        read_archive(tmp_path / "x.zip", tmp_path / "copy")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize(
    "name",
    [
        "../evil.txt",
        "/etc/evil",
        "pool/../../evil",
        "notes.txt",
        "pool/a/b/c/d",
        "pool/C:/x.bin",
        "pool/images/../../x.png",
    ],
)
def test_an_archive_with_other_files_is_refused(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr(name, "x")
    with pytest.raises(CoalfaceError, match="files of a project only"):
        read_archive(tmp_path / "x.zip", tmp_path / "a" / "p")
    assert [path.name for path in tmp_path.iterdir()] in (["x.zip", "a"], ["a", "x.zip"])
    assert list((tmp_path / "a").iterdir()) == []


def test_what_is_no_archive_is_refused(tmp_path):
    (tmp_path / "x.zip").write_text("no zip")
    for path in (tmp_path / "x.zip", tmp_path / "nowhere.zip"):
        with pytest.raises(CoalfaceError):
            read_archive(path, tmp_path / "p")
    assert not (tmp_path / "p").exists()


def test_exports_can_be_read_by_others(tmp_path):
    desk = Desk(small_project(tmp_path / "mail"))
    work(desk, n=15)
    for form in ("jsonl", "csv", "vw", "model"):
        (tmp_path / f"out.{form}").write_bytes(b"".join(desk.export(form)))
    closed = desk.state.model.learner.examples_queried_
    with pytest.raises(CoalfaceError, match="one of"):
        desk.export("xml")
    desk.close()
    exported = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    lines = [line for line in exported if line["finished"]]  # the other formats have only these
    assert len(lines) == closed
    assert {answer["who"] for line in lines for answer in line["answers"]} == {"ada"}
    vw = read_dataset(tmp_path / "out.vw", classes=LABELS)
    for row, line in zip(vw.cost, lines, strict=True):
        for label, cost in zip(LABELS, row, strict=True):
            assert line["costs"].get(label, None) == (None if cost != cost else cost)
    table = (tmp_path / "out.csv").read_text().splitlines()
    assert table[0] == "id,cost:refund,cost:delivery,cost:other,who,at"
    assert len(table) == closed + 1
    assert same_bits(CoalClassifier.load(tmp_path / "out.model"), desk.state.model.learner)


def test_no_cell_of_a_table_is_a_formula(tmp_path):
    names = ["=1+2", "-3", "@x", "'y", "mail", "\t=1"]
    desk = Desk(Project.create(tmp_path / "p", [{"id": name, "text": name} for name in names], LABELS))
    work(desk, who="+ada", costs=lambda question: dict.fromkeys(question.labels, 0.5))
    rows = list(csv.DictReader(b"".join(desk.export("csv")).decode().splitlines()))
    desk.close()
    assert {row["who"] for row in rows} == {"'+ada"}
    shown = {row["id"] for row in rows}
    assert shown == {"'=1+2", "-3", "'@x", "''y", "mail", "'\t=1"}
    assert {name.removeprefix("'") for name in shown} == set(names)
