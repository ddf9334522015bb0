"""init, label, export and import."""

import json
import sqlite3
import sys
from types import SimpleNamespace

import pytest

from coalface.cli import screen
from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.rounds import database as engines
from tests.cli.commands import json_lines, refused, run

JUDGE = """
def severity(question):
    return {"costs": {label: float(("parcel" in question["content"]["text"]) == (label == "refund"))
                      for label in question["labels"]}, "price": 0.5}

def unpaid(question):
    return severity(question)["costs"]
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    words = ["parcel", "money", "late", "hello"]
    lines = [json.dumps({"id": i, "text": f"{words[i % 4]} {words[i // 4 % 4]} {i % 3}"}) for i in range(40)]
    (tmp_path / "mail.jsonl").write_text("\n".join(lines))
    (tmp_path / "labels.txt").write_text("refund\ndelivery\n")
    (tmp_path / "desk_judge.py").write_text(JUDGE)
    yield tmp_path
    sys.modules.pop("desk_judge", None)


def test_a_program_labels_and_the_project_travels(files, capsys):
    code, out, _ = run(capsys, "init mail --examples mail.jsonl --labels labels.txt --budget costs=20")
    assert (code, out.splitlines()[0]) == (0, "mail: 40 examples (text), 2 labels; annotators give costs")
    code, out, _ = run(capsys, "label mail --annotator desk_judge:severity --workers 2 --json")
    done = json.loads(out)
    assert code == 0
    assert (done["stopped"], done["costs"]) == ("budget-spent", 20)
    assert done["price"] == 0.5 * done["answers"]
    for end in ("jsonl", "csv", "vw", "coalface", "zip"):
        assert run(capsys, f"export mail out.{end}")[0] == 0
    assert run(capsys, "import out.zip copy")[0] == 0
    assert run(capsys, "export copy again.coalface")[0] == 0
    assert (files / "again.coalface").read_bytes() == (files / "out.coalface").read_bytes()
    assert run(capsys, "export copy again.jsonl")[0] == 0
    kept = (files / "again.jsonl").read_bytes()
    message = refused(capsys, "export mail again.jsonl")
    assert "again.jsonl exists already. Choose another name, or overwrite it. On the command line: --force." in message
    assert (files / "again.jsonl").read_bytes() == kept
    assert run(capsys, "export mail again.jsonl --force")[0] == 0
    assert run(capsys, "export copy again.jsonl --force")[0] == 0
    assert (files / "again.jsonl").read_text() == (files / "out.jsonl").read_text()
    assert len(json_lines((files / "out.jsonl").read_text())) == done["examples"]


def test_a_limit_is_said_in_words(files, capsys):
    run(capsys, "init mail --examples mail.jsonl --labels labels.txt")
    code, out, _ = run(capsys, "label mail --annotator desk_judge:severity --limit 2")
    assert (code, out.endswith(" Reached --limit.\n")) == (0, True)


def test_a_locked_database_is_one_clear_line(files, capsys, monkeypatch):
    monkeypatch.setattr(engines, "_PATIENCE", 50)
    run(capsys, "init mail --examples mail.jsonl --labels labels.txt")
    other = sqlite3.connect("mail/project.db", isolation_level=None, check_same_thread=False)
    judge = SimpleNamespace(lock=lambda _: other.execute("BEGIN IMMEDIATE") and {"costs": {}})
    monkeypatch.setitem(sys.modules, "desk_judge", judge)
    err = refused(capsys, "label mail --annotator desk_judge:lock")
    other.close()
    assert "cannot be used now (database is locked). Try again later." in err


def test_what_was_gathered_is_exported_while_a_service_runs(files, capsys):
    run(capsys, "init mail --examples mail.jsonl --labels labels.txt")
    desk = Desk(Project.open("mail"))
    try:
        question = desk.lease("ada")
        desk.answer("ada", question.id, question.lease_id, dict.fromkeys(question.labels, 0.5), "1")
        for end in ("jsonl", "csv", "vw", "coalface", "zip"):
            assert run(capsys, f"export mail out.{end}")[0] == 0
        assert (files / "out.coalface").read_bytes() == b"".join(desk.export("model"))
        assert (files / "out.jsonl").read_bytes() == b"".join(desk.export("jsonl"))
        assert run(capsys, "label mail --annotator desk_judge:severity")[0] == 2
    finally:
        desk.close()
    assert run(capsys, "import out.zip copy --database sqlite:///other.db")[0] == 0
    assert (files / "copy" / "other.db").exists()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("init mail --examples nowhere.csv --labels labels.txt", "no file"),
        ("init mail --examples mail.jsonl --labels labels.txt --levels right", "--levels must be NAME=NUMBER"),
        ("init mail --examples mail.jsonl --labels labels.txt --budget coins=3", "no 'coins'"),
        ("init . --examples mail.jsonl --labels labels.txt", "new or empty"),
        ("label nowhere --annotator desk_judge:severity", "not a project"),
        ("export nowhere out.txt", "must end in"),
        ("import nowhere.zip copy", "no file"),
    ],
)
def test_mistakes_are_one_line(files, capsys, command, words):
    assert words in refused(capsys, command)


def test_labelling_shows_progress_in_a_log_now_and_then(files, capsys, monkeypatch):
    monkeypatch.setattr(screen, "QUIET_SECONDS", 0.0)
    run(capsys, "init mail --examples mail.jsonl --labels labels.txt")
    code, out, err = run(capsys, "label mail --annotator desk_judge:severity --limit 4 --json")
    assert code == 0
    assert err.splitlines() == [f"Answers: {n} of 4" for n in (1, 2, 3, 4)]
    assert json.loads(out)["answers"] == 4  # standard output has nothing else


def test_prices_by_label_are_forecast_and_booked_in_money(files, capsys):
    start = "init mail --examples mail.jsonl --labels labels.txt"
    assert "got both" in refused(capsys, f"{start} --budget price=9,price_per_cost=1 --price refund=0.5,delivery=2")
    assert "got none for 'delivery'" in refused(capsys, f"{start} --price refund=0.5")
    assert run(capsys, f"{start} --budget price=9 --price refund=0.25,delivery=2")[0] == 0
    forecast = json.loads(run(capsys, "label mail --forecast --json")[1])
    assert 0 < forecast["price"]["highest"] <= 9
    code, out, _ = run(capsys, "label mail --annotator desk_judge:unpaid --json")
    assert code == 0
    done = json.loads(out)
    assert done["stopped"] in ("budget-spent", "nothing-worth-asking")
    assert 0 < done["price"] <= 9
    assert done["price"] % 0.25 == 0


def test_a_forecast_a_budget_of_a_run_and_rates_are_said_in_words(files, capsys):
    budget = "price=9,price_per_cost=0.5"
    assert run(capsys, f"init mail --examples mail.jsonl --labels labels.txt --budget {budget}")[0] == 0
    code, out, _ = run(capsys, "label mail --forecast")
    assert code == 0
    assert out.startswith("mail: the rest of the pool will take ")
    assert "price 9 (" in out or "to 9) (90 % intervals)" in out
    plain = json.loads(run(capsys, "label mail --forecast --json")[1])
    assert plain["price"]["highest"] == 9
    command = "label mail --annotator desk_judge:severity --budget costs=6 --rate refund=900/s --concurrent 2"
    code, out, err = run(capsys, command)
    assert code == 0
    assert "6 costs" in out
    assert out.rstrip().endswith("Reached the --budget of this run.")
    assert err.startswith("Forecast for the rest of the pool: ")
    assert "--rate has no label 'dog'" in refused(capsys, "label mail --annotator desk_judge:severity --rate dog=5/min")
    assert "--annotator must say who answers" in refused(capsys, "label mail")
    assert "some of examples, costs and price" in refused(capsys, "label mail --batch-out q --budget over=3")


def test_questions_go_out_in_a_file_and_answers_come_back_in_another(files, capsys):
    run(capsys, "init mail --examples mail.jsonl --labels labels.txt")
    code, out, _ = run(capsys, "label mail --batch-out questions.jsonl --budget examples=8 --lease 24")
    assert (code, out) == (0, "questions.jsonl: 8 questions about 16 costs, leased to batch.\n")
    lines = json_lines((files / "questions.jsonl").read_text())
    assert run(capsys, "label mail --batch-out again.jsonl --again")[0] == 0
    again = json_lines((files / "again.jsonl").read_text())
    assert {line["lease"] for line in again} == {line["lease"] for line in lines}
    answers = [{**line, "costs": dict.fromkeys(line["labels"], 0.25)} for line in lines]
    (files / "answers.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in answers[:6]))
    code, out, _ = run(capsys, "label mail --batch-in answers.jsonl")
    assert code == 0
    assert out.startswith("mail: 6 answers by batch, 0 late; 0 taken before, 0 unanswered, 0 refused; 12 costs on 6")
    (files / "answers.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in [*answers, {"id": "1.0"}]))
    code, out, err = run(capsys, "label mail --batch-in answers.jsonl")
    assert code == 1
    assert "2 answers by batch, 0 late; 6 taken before, 0 unanswered, 1 refused" in out
    assert err.splitlines() == [
        'answers.jsonl, line 9: a line must have the "id" and the "lease" of its question. Keep them as they were.'
    ]
    assert "--batch-form must be own or openai" in refused(capsys, "label mail --batch-out q --batch-form csv")
    assert "needs a model" in refused(capsys, "label mail --batch-out q --batch-form openai")
    command = "label mail --annotator openai:small --batch-form openai --batch-out requests.jsonl --limit 3"
    assert run(capsys, command)[0] == 0
    assert all(line["body"]["model"] == "small" for line in json_lines((files / "requests.jsonl").read_text()))


def test_columns_are_chosen_as_in_other_verbs(files, capsys):
    (files / "calls.csv").write_text("nr,body,team,days\n7,my parcel is late,post,3\n8,my money is gone,bank,1\n")
    code, out, _ = run(capsys, "init calls --examples calls.csv --text body --id nr --label team --ignore days")
    assert (code, out.splitlines()[0]) == (0, "calls: 2 examples (text), 2 labels; annotators give costs")
    pool = Project.open("calls").pool
    assert (pool.example_id(0), pool.content(0)) == ("7", {"kind": "text", "text": "my parcel is late"})
    assert "calls.csv has no column 'nummer'" in refused(
        capsys, "init other --examples calls.csv --id nummer --label team"
    )
    assert "--labels must name a file" in refused(capsys, "init other --examples calls.csv --text body")
