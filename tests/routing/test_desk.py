"""Decisions and outcomes: on disk before they are acknowledged, each outcome once."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import numpy as np
import pytest
from fastapi.testclient import TestClient

from coalface import Encoder
from coalface.errors import ConflictError, FileFormatError, InputError, UnknownIdError, UnknownLabelError
from coalface.routing import Router
from coalface.routing.desk import Decision, ModelOutcome, RoutingDesk
from coalface.routing.web import routing_service

MODELS, PRICES = ["small", "large"], [0.5, 2.0]


def new_router():
    router = Router(MODELS, PRICES, value_of_quality=4.0, model="online")
    return router.tell([{"text": "sum"}, {"text": "proof"}] * 20, [[0.0, 0.0], [1.0, 0.0]] * 20)


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "routes.journal"


@pytest.fixture
def desk(journal):
    return RoutingDesk(new_router(), journal)


@pytest.fixture
def client(desk):
    with TestClient(routing_service(desk), raise_server_exceptions=False) as client:
        yield client


def test_a_decision_names_the_model_the_reason_and_the_questions(client):
    found = client.post("/route", json={"example": "proof"}).json()
    assert found["model"] == "large"
    totals = {name: 4.0 * one["predicted_loss"] + one["price"] for name, one in found["models"].items()}
    assert min(totals, key=totals.get) == "large"
    for one in found["models"].values():
        assert 0 <= one["lowest_loss"] <= one["highest_loss"] <= 1
    assert set(found["ask"]) <= set(MODELS)
    assert client.post("/route", json={"example": {"text": "sum"}}).json()["model"] == "small"
    assert client.post("/route", json={"example": "proof", "quality_weight": 0}).json()["model"] == "small"
    assert client.post("/route", json={"example": "sum", "models": ["large"]}).json()["model"] == "large"


def test_a_reply_has_losses_within_bounds_and_prices_as_people_write_them(client, desk):
    decision = Decision("1-a", 1, "small", 4.0, {"small": -0.03, "large": 1.2}, dict.fromkeys(MODELS, 0.0),
                        dict.fromkeys(MODELS, 1.0), {"small": 0.02000000000000001, "large": 2.0}, ())  # fmt: skip
    desk.route = lambda *_, **__: decision
    found = client.post("/route", json={"example": "sum"}).json()["models"]
    assert [found[name]["predicted_loss"] for name in MODELS] == [0.0, 1.0]
    assert found["small"]["price"] == 0.02


def test_a_conflict_names_only_what_is_known(desk):
    decision = desk.route("sum")
    desk.take(decision.id, [ModelOutcome("small", 0.25), ModelOutcome("large", None)])
    with pytest.raises(ConflictError, match=r"'small': loss 0\.25\. An"):
        desk.take(decision.id, [ModelOutcome("small", 0.5)])
    with pytest.raises(ConflictError, match=r"'large': loss not known\. An"):
        desk.take(decision.id, [ModelOutcome("large", 0.5)])


def test_an_outcome_sent_twice_counts_once_and_another_one_conflicts(client, desk):
    decision = client.post("/route", json={"example": "sum"}).json()["decision"]
    body = {"decision": decision, "outcomes": [{"model": "small", "loss": 0.25, "price": 0.75}]}
    before = desk.router.outcomes_known_
    assert client.post("/outcomes", json=body).json() == {"decision": decision, "learned": 1}
    assert client.post("/outcomes", json=body).json() == {"decision": decision, "learned": 0}
    assert desk.router.outcomes_known_ == before + 1
    body["outcomes"][0]["loss"] = 0.5
    refused = client.post("/outcomes", json=body)
    assert (refused.status_code, refused.headers["content-type"]) == (409, "application/problem+json")
    assert "An outcome cannot be changed" in refused.json()["detail"]
    more = {"decision": decision, "outcomes": [{"model": "large", "loss": None}]}
    assert client.post("/outcomes", json=more).json()["learned"] == 1
    assert desk.router.learner.round_ == 42  # the second outcome is late: it closes no round


def test_an_outcome_sent_again_without_its_price_is_the_same(client):
    decision = client.post("/route", json={"example": "sum"}).json()["decision"]
    one = {"model": "small", "loss": 0.25, "price": 0.75}
    assert client.post("/outcomes", json={"decision": decision, "outcomes": [one]}).json()["learned"] == 1
    del one["price"]
    again = client.post("/outcomes", json={"decision": decision, "outcomes": [one]})
    assert (again.status_code, again.json()["learned"]) == (200, 0)
    assert client.get("/report").json()["spend"] == 0.75
    one["price"] = 0.5
    assert client.post("/outcomes", json={"decision": decision, "outcomes": [one]}).status_code == 409


def test_the_report_counts_losses_that_are_not_known_apart(desk):
    first, second = desk.route("sum"), desk.route("proof")
    desk.take(first.id, [ModelOutcome("small", 0.25), ModelOutcome("large", None)])
    desk.take(second.id, [ModelOutcome("large", None)])
    report = desk.report()
    assert (report.outcomes, report.outcomes_without_loss, report.requests_with_outcomes) == (1, 2, 1)
    assert ["known losses", "1 on 1 request"] in report.rows()
    assert ["losses not known", "2"] in report.rows()


@pytest.mark.parametrize(("tiers", "status"), [(["free", None], 200), (["free", "pro"], 422)])
def test_a_plain_text_will_do_if_only_one_column_was_filled_in_every_request(tmp_path, tiers, status):
    prompts = ["sum of two numbers", "proof of a theorem"]
    X = [{"prompt": prompt, "tier": tier} for prompt in prompts for tier in tiers] * 10
    router = Router(MODELS, PRICES, model="online").tell(X, [[0.0, 0.5]] * len(X))
    with TestClient(routing_service(RoutingDesk(router, tmp_path / "journal"))) as client:
        assert client.post("/route", json={"example": "sum of three"}).status_code == status
        assert client.post("/route", json={"example": {"prompt": "sum", "tier": "free"}}).status_code == 200


def test_a_body_without_the_header_of_json_gets_the_remedy(client):
    body = '{"example": "sum"}'
    answer = client.post("/route", content=body)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert answer.json()["detail"] == "body: Must be JSON. Send the header Content-Type: application/json."
    as_form = {"content-type": "application/x-www-form-urlencoded"}  # as curl sends it by default
    assert "Send the header" in client.post("/route", content=body, headers=as_form).json()["detail"]
    for wrong in ("[1]", "{", ""):
        answer = client.post("/route", content=wrong, headers={"content-type": "application/json"})
        assert (answer.status_code, "Send the header" in answer.json()["detail"]) == (422, False)


def test_the_report_counts_money_and_regret(client):
    first = client.post("/route", json={"example": "proof"}).json()
    second = client.post("/route", json={"example": "sum"}).json()
    assert (first["model"], second["model"]) == ("large", "small")
    client.post(
        "/outcomes",
        json={
            "decision": first["decision"],
            "outcomes": [{"model": "large", "loss": 0.5, "price": 3.0}, {"model": "small", "loss": 0.25}],
        },
    )
    report = client.get("/report").json()
    assert (report["decisions"], report["outcomes"], report["requests_with_outcomes"]) == (2, 2, 1)
    assert report["spend_on_routes"] == 3.0 + 0.5
    assert report["spend_on_questions"] == 0.5
    assert report["spend"] == 4.0
    assert report["mean_loss"] == 0.5
    assert report["estimated_regret"] == pytest.approx((4 * 0.5 + 3.0) - (4 * 0.25 + 0.5))
    assert report["chosen"] == {"large": 1, "small": 1}


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/route", {}, 422, "example"),
        ("/route", {"example": ["a"]}, 422, "example"),
        ("/route", {"example": {}}, 422, "example must be a text or an object of features"),
        ("/route", {"example": "a", "quality_weight": -1}, 422, "quality_weight"),
        ("/route", {"example": "a", "models": ["huge"]}, 422, "Unknown label 'huge'"),
        ("/route", {"example": "a", "colour": 1}, 422, "colour"),
        ("/outcomes", {"decision": "9-x", "outcomes": [{"model": "small", "loss": 0}]}, 404, "no decision '9-x'"),
        ("/outcomes", {"decision": "9-x", "outcomes": []}, 422, "outcomes"),
        ("/outcomes", {"decision": "9-x", "outcomes": [{"model": "small", "loss": 2}]}, 422, "loss"),
        ("/nowhere", {}, 404, "Not Found"),
    ],
)
def test_a_bad_request_says_what_is_wrong(client, path, body, status, words):
    answer = client.post(path, json=body)
    assert answer.status_code == status
    assert words in answer.json()["detail"]


def test_a_large_body_is_refused(desk):
    with TestClient(routing_service(desk, largest_body=1000)) as client:
        answer = client.post("/route", json={"example": "word " * 1000})
        assert answer.status_code == 413
        assert "at most 1000 bytes" in answer.json()["detail"]


def test_a_token_is_needed_if_there_is_one(desk):
    with TestClient(routing_service(desk, token="secret of the router")) as client:
        assert client.get("/report").status_code == 401
        assert client.get("/report", headers={"authorization": "Bearer other"}).status_code == 401
        assert client.get("/report", headers={"authorization": "Bearer secret of the router"}).status_code == 200


def test_opening_the_journal_again_gives_the_same_router_and_report(desk, journal):
    for i in range(30):
        decision = desk.route({"text": ["sum", "proof"][i % 2]})
        desk.take(decision.id, [ModelOutcome(model, 0.25) for model in {decision.model, *decision.ask}])
    again = RoutingDesk(new_router(), journal)
    assert again.report() == desk.report()
    texts = [{"text": "sum"}, {"text": "proof"}]
    np.testing.assert_array_equal(again.router.predicted_loss(texts), desk.router.predicted_loss(texts))
    assert again.take(decision.id, [ModelOutcome(decision.model, 0.25)]) == 0
    assert again.route("sum").number == 31


def test_a_router_that_has_learned_nothing_is_the_same_after_opening_its_journal_again(journal):
    def untrained():
        return Router(MODELS, PRICES, model="online")

    desk = RoutingDesk(untrained(), journal)
    desk.route({"text": "a sum", "length": 5})  # the first request says how examples are read, also without outcomes
    later = desk.route({"text": "a proof", "length": 70})
    desk.take(later.id, [ModelOutcome("small", 0.75)])
    again = RoutingDesk(untrained(), journal)
    requests = [{"text": "a sum", "length": 5}, {"text": "a proof", "length": 50}]
    np.testing.assert_array_equal(again.router.predicted_loss(requests), desk.router.predicted_loss(requests))


def test_an_unfinished_line_was_never_acknowledged_and_a_damaged_one_is_named(desk, journal):
    desk.route("sum")
    whole = journal.read_bytes()
    journal.write_bytes(whole + b'{"decision": {"id"')
    assert RoutingDesk(new_router(), journal).report().decisions == 1
    journal.write_bytes(whole + b'{"of": "9-x", "outcomes": []}\n')
    with pytest.raises(FileFormatError, match="line 3 is damaged"):
        RoutingDesk(new_router(), journal)


def test_a_journal_belongs_to_its_models(journal):
    RoutingDesk(new_router(), journal)
    with pytest.raises(InputError, match="has the decisions of"):
        RoutingDesk(Router(["other", "large"]), journal)


def test_wrong_ids_models_and_numbers_change_nothing(desk, journal):
    decision = desk.route("sum")
    before = journal.read_bytes()
    for error, call in [
        (UnknownIdError, lambda: desk.take("7-x", [ModelOutcome("small", 0.0)])),
        (UnknownLabelError, lambda: desk.take(decision.id, [ModelOutcome("huge", 0.0)])),
        (InputError, lambda: desk.take(decision.id, [ModelOutcome("small", 1.5)])),
        (InputError, lambda: desk.take(decision.id, [ModelOutcome("small", "x")])),
        (InputError, lambda: desk.take(decision.id, [ModelOutcome("small", 0.5, [1.0])])),
        (InputError, lambda: desk.take(decision.id, [ModelOutcome("small", 0.5, -1.0)])),
        (ConflictError, lambda: desk.take(decision.id, [ModelOutcome("small", 0.5), ModelOutcome("small", 0.6)])),
    ]:
        with pytest.raises(error):
            call()
    assert journal.read_bytes() == before


@pytest.mark.slow
def test_a_killed_server_keeps_every_acknowledged_decision_and_outcome(tmp_path):
    model = tmp_path / "models.router"
    new_router().save(model)
    decided, known = {}, {}
    for _ in range(3):
        process, address = _served(model)
        try:
            with httpx.Client(base_url=address, timeout=60) as client:
                for decision, outcome in known.items():  # sent again: nothing is learned twice
                    again = client.post("/outcomes", json={"decision": decision, "outcomes": [outcome]})
                    assert again.json() == {"decision": decision, "learned": 0}
                for i in range(8):
                    found = client.post("/route", json={"example": ["sum", "proof"][i % 2]}).json()
                    decided[found["decision"]] = found["model"]
                    outcome = {"model": found["model"], "loss": 0.25, "price": 1.0}
                    if i < 6:
                        client.post("/outcomes", json={"decision": found["decision"], "outcomes": [outcome]})
                        known[found["decision"]] = outcome
        finally:
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
    report = RoutingDesk(Router.load(model), Path(f"{model}.journal")).report()
    assert (report.decisions, report.outcomes) == (len(decided), len(known)) == (24, 18)
    unpaid = sum(PRICES[MODELS.index(name)] for decision, name in decided.items() if decision not in known)
    assert report.spend == len(known) * 1.0 + unpaid


def _served(model):
    command = [sys.executable, "-m", "coalface", "route", "serve", str(model), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    line = process.stdout.readline()
    return process, line.split(" is at ")[1].split()[0]


def test_a_plain_text_means_the_only_column_whatever_it_is_called(journal):
    router = Router(MODELS, PRICES, value_of_quality=4.0, model="online", features=Encoder(text=["prompt"]))
    router.tell([{"prompt": "a sum"}, {"prompt": "a proof"}] * 20, [[0.0, 0.0], [1.0, 0.0]] * 20)
    decision = RoutingDesk(router, journal).route("a proof")
    assert (decision.model, decision.example) == ("large", {"prompt": "a proof"})
    assert router.predict(["a sum", "a proof"]).tolist() == ["small", "large"]


def test_a_plain_text_is_refused_with_the_columns_that_are_needed(journal):
    router = Router(MODELS, PRICES, model="online", features=Encoder(text=["prompt"]))
    router.tell([{"prompt": "a sum", "tokens": 3}, {"prompt": "a proof", "tokens": 9}], [[0.0, 0.0], [1.0, 0.0]])
    client = TestClient(routing_service(RoutingDesk(router, journal)), raise_server_exceptions=False)
    reply = client.post("/route", json={"example": "a proof"})
    assert reply.status_code == 422
    assert "the columns 'prompt', 'tokens'" in reply.json()["detail"]
    with pytest.raises(InputError, match="the columns 'prompt', 'tokens'"):
        router.predict(["a proof"])


def test_lines_of_the_journal_are_json_that_people_can_read(desk, journal):
    decision = desk.route("sum")
    desk.take(decision.id, [ModelOutcome("small", None)])
    header, routed, outcome = (json.loads(line) for line in journal.read_text().splitlines())
    assert header["models"] == MODELS
    assert routed["decision"]["example"] == {"text": "sum"}
    assert outcome["of"] == decision.id
    assert outcome["outcomes"] == [{"model": "small", "loss": None, "price": None}]
