"""``coalface pool``: examples join and leave a project, and known costs are imported, with and without a service."""

import json
from contextlib import closing

import pytest

from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from tests.cli.commands import refused, run
from tests.desk.serving import served


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


def test_the_same_gold_questions_again_change_nothing(project, capsys):
    (project.folder.parent / "gold.csv").write_text("id,label\nm1,refund\nm2,other\n")

    def mark():
        out = run(capsys, "pool mail --gold gold.csv")[1].splitlines()
        with closing(Desk(Project.open(project.folder))) as desk:
            return out[0], [event.body for event in desk.state.log.read(kinds=["settled"])]

    said, events = mark()
    assert said == "Marked 2 examples as gold; 0 were gold already."
    assert [body["gold"] for body in events] == [True, True]
    assert mark() == ("Marked 0 examples as gold; 2 were gold already.", events)
    (project.folder.parent / "gold.csv").write_text("id,label\nm1,other\nm2,other\n")
    said, now = mark()
    assert said == "Marked 1 example as gold; 1 was gold already."
    assert [body["truth_given"] for body in now] == ["refund", "other", "other"]


def test_known_costs_can_become_gold(project, capsys):
    (project.folder.parent / "one.csv").write_text("id,label\nm1,refund\n")
    run(capsys, "pool mail --costs one.csv")
    assert "Marked 1 example as gold; 0 were" in run(capsys, "pool mail --gold one.csv")[1]
    assert "Marked 0 examples as gold; 1 was" in run(capsys, "pool mail --gold one.csv")[1]


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
    ("options", "why"),
    [
        ("--costs wrong.csv", "Unknown label 'zz' of example 'n1'"),
        ("--gold wrong.csv", "Unknown label 'zz' of example 'n1'"),
        ("--costs known.csv --retire nothing", "no example 'nothing'"),
        ("--restore nothing", "no example 'nothing'"),
    ],
)
def test_a_mistake_in_one_option_leaves_the_others_undone(project, capsys, options, why):
    (project.folder.parent / "wrong.csv").write_text("id,label\nn0,other\nn1,zz\n")
    assert why in refused(capsys, f"pool mail --add more.jsonl {options}")
    found = json.loads(run(capsys, "pool mail --json")[1])
    assert found["pool"] == {"examples": 20, "retired": 0}


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.csv", b"id,label\nm1,refund,3\n", "a.csv, line 2: every line must have 2 cells"),
        ("a.csv", b"id,label,text\nm1,refund\n", "a.csv, line 2: every line must have 3 cells"),
        ("a.csv", b"id,label,label\nm1,refund,other\n", "a.csv, line 1: columns must have distinct names, got 'label'"),
        ("a.csv", b"id,label\nm1,caf\xe9\n", "a.csv, line 2: text must be UTF-8"),
        ("a.csv", b"id,label,text\nm1,refund," + b"x" * 200_000, "field larger than field limit"),
        ("a.csv", b"id,cost:refund\nm1,much\n", "a.csv, line 2: cost:refund must be a number or empty, got 'much'"),
        ("a.csv", b"id,cost:refund\nm1,7\n", "Example 'm1': The cost of label 'refund' must lie in [0, 1], got 7"),
        ("a.jsonl", b'{"id": "m1", "label": "caf\xe9"}\n', "a.jsonl, line 1: text must be UTF-8"),
        ("a.jsonl", b'{"id": "m1", "costs": {"refund": null}}\n', "must hold labels or costs of examples, got none"),
    ],
)
def test_a_bad_file_of_costs_is_named_with_its_line_and_teaches_nothing(project, capsys, name, content, why):
    (project.folder.parent / name).write_bytes(content)
    assert why in refused(capsys, f"pool mail --costs {name}")
    out = run(capsys, "pool mail --costs known.csv --add more.jsonl")[1]
    assert "Learned 2 examples; 0 had known costs already." in out


@pytest.mark.parametrize(
    ("file", "options", "why"),
    [("p.vw", "--predictions", ".jsonl or .csv"), ("p.csv", "--top 3", "must come with --predictions")],
)
def test_mistakes_of_exports(project, capsys, file, options, why):
    assert why in refused(capsys, f"export mail {file} {options}")
