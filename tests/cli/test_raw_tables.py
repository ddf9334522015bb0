"""From a table of tickets to predictions: texts, categories, gaps and ids on the command line."""

import json
import random
from pathlib import Path

import pytest

from coalface.cli import main

from .commands import answered, json_lines, refused, run

PHRASES = {"money": "I want my money back", "post": "where is my parcel", "law": "my lawyer will write"}
WORDS = ["please", "today", "again", "hello", "still"]


def tickets(n, seed):
    rng = random.Random(seed)
    for number in range(n):
        team = rng.choice(list(PHRASES))
        note = f"{rng.choice(WORDS)} {PHRASES[team]} {rng.choice(WORDS)}"
        paid = rng.choice(["", f"{rng.uniform(1, 99):.2f}"])
        yield {"key": f"T{number}", "note": note, "channel": rng.choice(["mail", "chat"]), "paid": paid, "team": team}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, n, seed in (("tickets", 120, 0), ("new", 20, 1)):
        rows = list(tickets(n, seed))
        lines = [",".join(row.values()) for row in rows]
        (tmp_path / f"{name}.csv").write_text("\n".join([",".join(rows[0]), *lines]) + "\n")
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(json.dumps({**row, "paid": float(row["paid"]) if row["paid"] else None}) + "\n" for row in rows)
        )
    (tmp_path / "costs.csv").write_text("truth,post,money,law\npost,0,0.2,0.6\nmoney,0.2,0,0.6\nlaw,1,1,0\n")
    return tmp_path


TRAIN = "train tickets.csv --label team --id key --cost-matrix costs.csv --model m.coal"


def test_two_commands_lead_from_a_table_to_predictions_with_ids(capsys):
    code, out, err = run(capsys, TRAIN)
    assert code == 0
    assert out.startswith("m.coal: 120 examples, 3 labels")
    assert "note     text, words and letters in words hashed" in err
    assert "paid     number, standardised" in err
    assert "missing values marked" in err
    code, out, err = run(capsys, "predict m.coal new.csv --costs")
    assert (code, err) == (0, "")
    found = json_lines(out)
    assert [line["id"] for line in found] == [f"T{number}" for number in range(20)]
    assert [line["label"] for line in found] == [row["team"] for row in tickets(20, 1)]


def test_csv_and_json_lines_give_the_same_model_and_predictions(capsys):
    main(TRAIN.split())
    main(TRAIN.replace("csv --label", "jsonl --label").replace("m.coal", "j.coal").split())
    outputs = [
        run(capsys, f"predict {model} {file} --costs")[1]
        for model in ("m.coal", "j.coal")
        for file in ("new.csv", "new.jsonl")
    ]
    assert len(set(outputs)) == 1


def test_ask_shows_the_ticket_and_tell_learns_from_it(capsys):
    main(TRAIN.split())
    code, out, _ = run(capsys, "ask m.coal new.csv --max-costs 30")
    questions = json_lines(out)
    asked = [line for line in questions if line["ask"]]
    assert code == 0
    assert asked[0]["id"].startswith("T")
    assert set(asked[0]["example"]) == {"note", "channel", "paid"}
    assert "indices" not in out
    Path("answers.jsonl").write_text("".join(answered(questions)))
    code, out, _ = run(capsys, "tell m.coal answers.jsonl")
    assert code == 0
    assert "next round 141" in out


def test_an_empty_model_keeps_the_encoder_of_its_first_questions(capsys):
    main(["train", "--classes", "post,money,law", "--model", "e.coal"])
    code, out, err = run(capsys, "ask e.coal tickets.csv --id key --ignore team")
    assert code == 0
    assert "Columns:" in err
    Path("answers.jsonl").write_text("".join(answered(json_lines(out))))
    assert run(capsys, "tell e.coal answers.jsonl")[0] == 0
    code, out, err = run(capsys, "predict e.coal new.csv")
    assert (code, err) == (0, "")
    assert json_lines(out)[0]["id"] == "T0"


def test_a_simulated_run_over_a_table_is_saved_with_its_encoder(capsys):
    assert run(capsys, "simulate tickets.csv --label team --id key --save s.coal")[0] == 0
    code, out, err = run(capsys, "predict s.coal new.csv")
    assert (code, err) == (0, "")
    assert sum(line["label"] == row["team"] for line, row in zip(json_lines(out), tickets(20, 1), strict=True)) > 15
    code, out, _ = run(capsys, "simulate tickets.csv --label team --id key --test new.jsonl --json")
    assert code == 0


def test_info_says_what_the_encoder_does_and_convert_keeps_it(capsys):
    _, out, _ = run(capsys, "data info tickets.csv --label team --id key --ignore channel")
    assert "note  text, words" in out
    assert "channel" not in out
    _, out, _ = run(capsys, "data info tickets.csv --label team --id key --json")
    assert json.loads(out)["columns"]["channel"].startswith("category, 2 values ('chat', 'mail')")
    assert run(capsys, "data convert tickets.jsonl folder --label team --id key")[0] == 0
    assert run(capsys, "train folder --model f.coal")[0] == 0
    code, out, _ = run(capsys, "predict f.coal new.csv")
    assert (code, json_lines(out)[3]["id"]) == (0, "T3")


def test_mistakes_are_one_line(capsys, folder):
    main(TRAIN.split())
    (folder / "short.csv").write_text("key,note,paid\nT1,hello,3\n")
    assert "short.csv: X has no column 'channel'" in refused(capsys, "predict m.coal short.csv")
    (folder / "n.csv").write_text("size,kind\n1,a\n2,b\n")
    (folder / "gap.csv").write_text('size\n1\n""\n')
    main(["train", "n.csv", "--label", "kind", "--model", "n.coal"])
    assert "gap.csv, column 'size': the model learned from numbers" in refused(capsys, "predict n.coal gap.csv")
    (folder / "a.vw").write_text("1:0 | a\n")
    assert "has no option 'text'" in refused(capsys, "data info a.vw --text a")


@pytest.mark.filterwarnings("default")
def test_a_new_column_is_one_warning(capsys, folder):
    main(TRAIN.split())
    lines = (folder / "new.csv").read_text().splitlines()
    (folder / "wide.csv").write_text("\n".join([f"{lines[0]},mood", *(f"{line},bad" for line in lines[1:])]))
    code, _, err = run(capsys, "predict m.coal wide.csv")
    assert code == 0
    assert err == "coalface: warning: X has the new column 'mood', which the first rows did not have. Ignored.\n"


@pytest.mark.filterwarnings("default")
def test_a_column_of_names_is_one_warning_with_the_options_that_leave_it_out(capsys, folder):
    rows = "\n".join(f"inst{place:03}.cnf,{place % 7},{place % 3},{place % 2}" for place in range(60))
    (folder / "runs.csv").write_text(f"instance,size,cost:walk,cost:fly\n{rows}\n")
    for command in ("data info runs.csv", "train runs.csv --model r.coal", "simulate runs.csv"):
        _, _, err = run(capsys, command)
        (warned,) = [line for line in err.splitlines() if "warning" in line]
        assert warned.startswith("coalface: warning: Column 'instance' looks like an id")
        assert warned.endswith("On the command line: --id instance or --ignore instance.")
        assert "warning" not in run(capsys, f"{command.replace('r.coal', 's.coal')} --id instance")[2]


def _write_orders(path, months, largest):
    lines = ["size,colour,day,team"]
    for number in range(200):
        day = f"{months[number % len(months)]}-{1 + number % 28:02}"
        lines.append(f"{number * largest / 199:.3f},{'red' if number % 3 else 'blue'},{day},{'ab'[number % 2]}")
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("command", ["predict", "ask", "evaluate --label team"], ids=["predict", "ask", "evaluate"])
def test_columns_that_have_left_what_was_learned_are_told_once(capsys, folder, command):
    _write_orders(folder / "orders.csv", ["2024-01", "2024-02", "2024-03", "2024-04"], largest=10)
    _write_orders(folder / "later.csv", ["2025-05", "2025-09"], largest=100)
    main(["train", "orders.csv", "--label", "team", "--model", "o.coal"])
    capsys.readouterr()
    verb, *options = command.split()
    code, _, err = run(capsys, " ".join([verb, "o.coal", "later.csv", *options]))
    dates, sizes = [line for line in err.splitlines() if "warning" in line]
    assert code == 0
    assert dates.startswith(
        "coalface: warning: Column 'day' of 200 of 200 rows lies after 2024-04-28, the last date of the first rows "
        "(up to 2025-09-28)."
    )
    assert sizes.startswith(
        "coalface: warning: Column 'size' of 178 of 200 rows lies above 10, the largest value learned (up to 100, "
        "9 times the range further)."
    )
    assert "warning" not in run(capsys, " ".join([verb, "o.coal", "orders.csv", *options]))[2]


@pytest.mark.filterwarnings("default")
def test_columns_of_numbers_have_their_names_in_warnings(capsys, folder):
    for name, largest in (("few", 10), ("many", 100)):
        lines = ["kg,cm,team", *(f"1.5,{number * largest / 99:.3f},{'ab'[number % 2]}" for number in range(100))]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    main(["train", "few.csv", "--label", "team", "--model", "o.coal"])
    capsys.readouterr()
    err = run(capsys, "predict o.coal many.csv --label team")[2]
    assert err.startswith("coalface: warning: Column 'cm' of 89 of 100 rows lies above 10,")
    assert err.count("warning") == 1
