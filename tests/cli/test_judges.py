"""label with an LLM judge, and agreement."""

import json

import pytest

from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from tests.cli.commands import refused, run
from tests.desk.fake_llm import KEY, fake_llm
from tests.desk.projects import WORDS, work

LABEL = "label mail --annotator openai:gpt-4o:mini --price-in 2.5 --price-out 10 --backoff 0"


@pytest.fixture
def mail(tmp_path, monkeypatch, capsys):
    """A project with guidelines, in the working folder; half of its examples are shared."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    lines = [json.dumps({"text": f"{WORDS[i % 8]} {WORDS[i // 8 % 8]} {i}"}) for i in range(40)]
    (tmp_path / "mail.jsonl").write_text("\n".join(lines))
    (tmp_path / "labels.txt").write_text("refund\ndelivery\nother\n")
    assert run(capsys, "init mail --examples mail.jsonl --labels labels.txt --overlap 1.5")[0] == 0
    settings = tmp_path / "mail" / "project.toml"
    settings.write_text(settings.read_text().replace('guidelines = ""', 'guidelines = "Think of the customer."'))
    return tmp_path


@pytest.fixture
def endpoint(monkeypatch):
    with fake_llm() as fake:
        monkeypatch.setenv("OPENAI_BASE_URL", fake.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield fake


def test_a_judge_labels_reports_its_spending_and_is_held_back_until_people_agree(mail, endpoint, capsys):
    code, out, err = run(capsys, f"{LABEL} --agreement 0.5 --limit 12 --json")
    done = json.loads(out)
    assert code == 0, err
    assert (done["answers"], done["stopped"]) == (12, "limit")
    assert done["price"] == done["calls"]["price"] == pytest.approx(endpoint.price(2.5, 10.0))
    assert done["calls"]["replies"] == len(endpoint.ledger)
    assert (done["agreement"]["gate"], done["agreement"]["alpha"], done["agreement"]["open"]) == (0.5, None, False)
    code, out, _ = run(capsys, f"{LABEL} --limit 30")
    assert "by gpt-4o-mini, 0 failures" in out
    assert f"Calls: {len(endpoint.ledger)} paid, " in out
    assert f"price {endpoint.price(2.5, 10.0):.6g} in all runs" in out
    assert "the gate of 0.5 is closed" in out
    assert KEY not in out + err
    desk = Desk(Project.open("mail"))
    work(desk, "ada", n=60)
    desk.close()
    code, out, _ = run(capsys, "agreement mail --json")
    judge, person = json.loads(out)
    assert (judge["name"], judge["judge"], person["name"], person["judge"]) == ("gpt-4o-mini", True, "ada", False)
    assert judge["low"] <= judge["alpha"] <= judge["high"]
    code, out, _ = run(capsys, "agreement mail")
    assert "gpt-4o-mini" in out
    assert "held back" in out
    code, out, _ = run(capsys, "agreement mail --by-label --json")
    found = json.loads(out)
    assert (code, [row["name"] for row in found]) == (0, ["refund", "delivery", "other"])
    assert sum(row["costs"] for row in found) == judge["units"]
    assert any(row["alpha"] is not None and row["low"] <= row["alpha"] <= row["high"] for row in found)
    code, out, _ = run(capsys, "agreement mail --by-label")
    assert (code, "Agreement of all annotators" in out, "delivery" in out) == (0, True, True)


def test_a_run_may_limit_the_price_by_prices_of_tokens_alone(mail, endpoint, capsys):
    assert "price_in and price_out" in refused(capsys, "label mail --annotator openai:gpt --budget price=0.12")
    code, out, err = run(capsys, f"{LABEL} --budget price=0.02 --max-tokens 1000 --json")
    done = json.loads(out)
    assert (code, done["stopped"]) == (0, "budget-too-small"), err
    assert 0 < done["calls"]["price"] == pytest.approx(endpoint.price(2.5, 10.0))
    assert done["calls"]["price"] <= 0.02


def test_the_prompt_is_shown_without_a_key_or_a_call(mail, capsys):
    code, out, _ = run(capsys, "label mail --annotator openai:gpt --show-prompt")
    assert code == 0
    for part in ("[system]", '{"costs": {"refund": ..., ', "[user]", "Think of the customer.", "- delivery", "0 means"):
        assert part in out
    (mail / "own.txt").write_text('Judge it {"as": "you like"}: {example}\n{labels}')
    code, out, _ = run(capsys, "label mail --annotator openai:gpt --show-prompt --prompt own.txt")
    assert '[user]\nJudge it {"as": "you like"}: ' in out


def test_prompts_batches_and_rates_have_the_labels_as_they_are_now(mail, endpoint, capsys):
    assert run(capsys, "labels mail --rename refund money")[0] == 0
    assert run(capsys, "labels mail --add legal")[0] == 0
    assert run(capsys, "labels mail --retire other")[0] == 0
    out = run(capsys, "label mail --annotator openai:gpt --show-prompt")[1]
    assert '{"costs": {"money": ..., "delivery": ..., "legal": ...}}' in out
    code, _, err = run(capsys, f"{LABEL} --limit 2 --rate money=900/s --concurrent legal=2")
    assert code == 0, err
    assert "--rate has no label 'refund'" in refused(capsys, f"{LABEL} --limit 2 --rate refund=900/s")
    assert run(capsys, "label mail --annotator openai:gpt --batch-form openai --batch-out q.jsonl --limit 1")[0] == 0
    request = json.loads((mail / "q.jsonl").read_text())
    message = {"content": json.dumps({"costs": {"money": 0.5, "delivery": 0.5, "legal": None}})}
    body = {"choices": [{"message": message}], "usage": {}}
    line = {"custom_id": request["custom_id"], "response": {"status_code": 200, "body": body}}
    (mail / "a.jsonl").write_text(json.dumps(line))
    code, _, err = run(capsys, "label mail --annotator openai:gpt --batch-form openai --batch-in a.jsonl")
    assert code == 0, err


@pytest.mark.parametrize(
    ("text", "problem"), [("{labels} {exmaple}", "{exmaple}"), ("{example}", "must have the placeholder {labels}")]
)
def test_a_prompt_with_wrong_placeholders_is_refused_before_the_first_call(mail, endpoint, capsys, text, problem):
    (mail / "own.txt").write_text(text)
    assert problem in refused(capsys, f"{LABEL} --prompt own.txt")
    assert endpoint.requests == []


def test_mistakes_are_one_clear_line(mail, capsys, monkeypatch):
    assert "OPENAI_API_KEY" in refused(capsys, LABEL)
    assert "must name a model" in refused(capsys, "label mail --annotator openai:")
    assert "There is no file no.txt" in refused(capsys, f"{LABEL} --prompt no.txt")
    assert "openai:MODEL only" in refused(capsys, "label mail --annotator json:dumps --show-prompt")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://ada:secret@localhost/v1")
    message = refused(capsys, LABEL)
    assert "OPENAI_BASE_URL must be" in message
    assert "secret" not in message
    run(capsys, "init alone --examples mail.jsonl --labels labels.txt --budget price=1,price_per_cost=0.1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost/v1")
    assert "overlap" in refused(capsys, "label alone --annotator openai:gpt --agreement 0.6")
    assert "--price-in" in refused(capsys, "label alone --annotator openai:gpt")
