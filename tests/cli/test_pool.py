"""``coalface pool``: examples join and leave a project, and known costs are imported, with and without a service."""

import json

import pytest

from coalface.service.desk.desk import Desk
from coalface.service.project.project import Project
from tests.cli.commands import refused, run
from tests.service.serving import served


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = [{"id": f"m{i}", "text": f"parcel {i} is late"} for i in range(20)]
    (tmp_path / "more.jsonl").write_text(
        "".join(json.dumps({"id": f"n{i}", "text": f"card {i}"}) + "\n" for i in range(3))
    )
    (tmp_path / "known.csv").write_text("id,label\nm1,refund\nn0,other\n")
    return Project.create(tmp_path / "mail", examples, ["refund", "other"])


def test_a_folder(project, capsys):
    code, out, _ = run(capsys, "pool mail --add more.jsonl --costs known.csv --retire m3 --reason spam")
    assert code == 0
    assert out.splitlines() == [
        "Added 3 examples; 0 were there already.",
        "Learned 2 examples; 0 had known costs already.",
        "Retired 1 example.",
        "The pool has 23 examples, 1 retired.",
    ]
    found = json.loads(run(capsys, "pool mail --add more.jsonl --restore m3 --json")[1])
    assert found["added"] == {"added": 0, "known": 3}
    assert found["pool"] == {"examples": 23, "retired": 0}
    assert run(capsys, "export mail all.csv")[0] == 0
    assert run(capsys, "export mail p.csv --predictions --top 5")[0] == 0
    assert len((project.folder.parent / "p.csv").read_text().splitlines()) == 6
    fresh = Project.create("twin", [{"id": "m1", "text": "x"}, {"id": "n0", "text": "y"}], ["refund", "other"])
    assert fresh.name == "twin"
    out = run(capsys, "pool twin --costs all.csv")[1]  # what was exported is imported
    assert "Learned 2 examples" in out


def test_a_running_service(project, capsys, monkeypatch):
    desk = Desk(project)
    with served(desk) as address:
        assert "COALFACE_TOKEN" in refused(capsys, f"pool {address}/mail --add more.jsonl")
        monkeypatch.setenv("COALFACE_TOKEN", "coal_eve")
        found = json.loads(run(capsys, f"pool {address}/mail --add more.jsonl --costs known.csv --retire n2 --json")[1])
        assert found == {
            "added": {"added": 3, "known": 0},
            "costs": {"settled": 2, "known": 0},
            "retired": {"changed": 1},
        }
        assert "already open" in refused(capsys, "pool mail --add more.jsonl")
    desk.close()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("--first", "must come with --add"),
        ("--add nothing.csv", "There is no file nothing.csv"),
        ("--costs more.jsonl", "must hold labels or costs"),
        ("--retire nothing", "no example 'nothing'"),
        ("--add more.jsonl --features more.jsonl", "must be a .npy array"),
    ],
)
def test_mistakes(project, capsys, options, why):
    assert why in refused(capsys, f"pool mail {options}")


@pytest.mark.parametrize(
    ("file", "options", "why"),
    [("p.vw", "--predictions", ".jsonl or .csv"), ("p.csv", "--top 3", "must come with --predictions")],
)
def test_mistakes_of_exports(project, capsys, file, options, why):
    assert why in refused(capsys, f"export mail {file} {options}")
