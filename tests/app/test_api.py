"""The REST interface: what it gives, to whom, and how it refuses."""

import json
from pathlib import Path

import pytest

from tests.app.desks import LABELS, answers, desk_in_turn, open_desk
from tests.app.serving import client_of, served

PROJECT = "/api/v1/projects/tickets"


def lease(client, **body):
    return client.post(f"{PROJECT}/queries:lease", json=body).raise_for_status().json()


def send(client, query, costs, key, **more):
    body = {"query_id": query["id"], "lease_id": query["lease_id"], "costs": costs, **more}
    return client.post(f"{PROJECT}/answers", json=body, headers={"Idempotency-Key": key})


def is_problem(response, status):
    """Whether a refusal is what RFC 9457 says it should be."""
    body = response.json()
    return (
        response.status_code == status == body["status"]
        and response.headers["content-type"] == "application/problem+json"
        and bool(body["title"] and body["detail"])
    )


def test_a_query_is_leased_answered_and_followed_up_under_the_same_lease(tmp_path):
    with desk_in_turn(tmp_path) as desk, served(desk) as address, client_of(address, "ann") as ann:
        (query,) = lease(ann)["queries"]
        (label,) = query["labels"]
        receipt = send(ann, query, {}, "k1", unsure=[label])
        assert receipt.status_code == 201
        follow_up = receipt.json()["follow_up"]
        assert follow_up["lease_id"] == query["lease_id"]
        assert follow_up["known"] == {label: None}
        assert label not in follow_up["labels"]
        assert ann.get(f"{PROJECT}/queries").json()["queries"] == [follow_up]


def test_the_same_key_gives_the_same_receipt_and_answers_once(as_ann, desk):
    (query,) = lease(as_ann)["queries"]
    receipts = [send(as_ann, query, {"Billing": 1}, "k1").json() for _ in range(3)]
    assert receipts[0] == receipts[1] == receipts[2]
    assert len(answers(desk)) == 1
    assert is_problem(send(as_ann, query, {"Billing": 2}, "k1"), 409)
    assert is_problem(send(as_ann, query, {"Billing": 2}, "k2"), 409)


def test_nobody_else_may_answer_renew_release_undo_or_see_it(as_ann, as_bob, desk):
    query, other = lease(as_ann, max_items=2)["queries"]
    answer_id = send(as_ann, query, dict.fromkeys(LABELS, 1), "k1").json()["answer_id"]
    assert is_problem(send(as_bob, other, {"Fraud": 1}, "k1"), 403)
    assert is_problem(as_bob.post(f"/api/v1/leases/{other['lease_id']}:renew", json={}), 403)
    assert is_problem(as_bob.post(f"/api/v1/leases/{other['lease_id']}:release"), 403)
    assert is_problem(as_bob.delete(f"/api/v1/answers/{answer_id}"), 403)
    assert as_bob.get(f"{PROJECT}/answers").json() == []
    assert as_bob.get(f"{PROJECT}/queries").json()["queries"] == []
    assert answers(desk) == [("ann", dict.fromkeys(LABELS, 1.0))]


def test_a_forged_id_is_unknown(as_ann):
    (query,) = lease(as_ann)["queries"]
    forged = {"id": "9999.0", "lease_id": query["lease_id"]}
    assert is_problem(send(as_ann, forged, {"Billing": 1}, "k"), 404)
    assert is_problem(send(as_ann, query | {"lease_id": "forged"}, {"Billing": 1}, "k"), 404)
    assert is_problem(as_ann.delete("/api/v1/answers/1"), 404)
    assert is_problem(as_ann.post("/api/v1/leases/..%2f..:release"), 404)


def test_annotators_see_no_ranges_and_engineers_do(tmp_path):
    with desk_in_turn(tmp_path) as desk, served(desk) as address, client_of(address, "ann") as ann:
        (hidden,) = lease(ann)["queries"]
        follow_up = send(ann, hidden, {}, "k").json()["follow_up"]
        with client_of(address, "eve") as eve:
            (shown,) = lease(eve)["queries"]
    for query in (hidden, follow_up):
        assert (query["ranges"], query["reason"]) == ({}, "")
    assert set(shown["ranges"]) == set(LABELS)
    assert shown["reason"]


ENGINEERS_ONLY = [
    ("GET", f"{PROJECT}/overview"),
    ("GET", f"{PROJECT}/annotators"),
    ("GET", f"{PROJECT}/events"),
    ("GET", f"{PROJECT}/exports/jsonl"),
    ("POST", f"{PROJECT}/predict"),
    ("GET", "/api/v1/tokens"),
    ("POST", "/api/v1/tokens"),
    ("DELETE", "/api/v1/tokens/bob"),
]


@pytest.mark.parametrize(("method", "path"), ENGINEERS_ONLY)
def test_annotators_may_not(as_ann, as_eve, method, path):
    body = {"POST": {"predict": {"examples": [{"text": "money back"}]}, "tokens": {"name": "x", "role": "annotator"}}}
    sent = body.get(method, {}).get(path.rsplit("/", 1)[1])
    assert is_problem(as_ann.request(method, path, json=sent), 403)
    assert as_eve.request(method, path, json=sent).is_success


def test_every_route_of_the_description_refuses_strangers(stranger):
    paths = stranger.get("/api/v1/openapi.json").json()["paths"]
    assert len(paths) > 12
    for path, methods in paths.items():
        for method in methods:
            found = stranger.request(method, path.replace("{project}", "tickets").replace("{", "").replace("}", ""))
            assert is_problem(found, 401), (method, path)
    assert is_problem(stranger.get(PROJECT, headers={"authorization": "Bearer coal_nobody"}), 401)


def test_every_route_is_in_the_documentation(stranger):
    text = (Path(__file__).parents[2] / "docs" / "labelling-service.md").read_text(encoding="utf-8")
    for path in stranger.get("/api/v1/openapi.json").json()["paths"]:
        last = path.rsplit("/", 1)[1].split("}")[-1] or path.split("/")[-2]
        assert last in text, path


def test_a_removed_token_opens_no_door(as_eve, as_bob):
    assert as_bob.get(PROJECT).is_success
    assert as_eve.delete("/api/v1/tokens/bob").status_code == 204
    assert is_problem(as_bob.get(PROJECT), 401)
    assert is_problem(as_eve.delete("/api/v1/tokens/eve"), 409)


def test_a_new_token_is_shown_once_and_stored_as_a_digest(as_eve, stranger, desk):
    made = as_eve.post("/api/v1/tokens", json={"name": "cy", "role": "annotator"}).json()
    assert stranger.get(PROJECT, headers={"authorization": f"Bearer {made['token']}"}).is_success
    assert {"name": "cy", "role": "annotator"} in as_eve.get("/api/v1/tokens").json()
    assert made["token"] not in repr(desk.store.tokens())


def test_the_log_comes_in_pages_and_none_is_lost_or_twice(as_ann, as_eve):
    lease(as_ann, max_items=3)
    whole = as_eve.get(f"{PROJECT}/events", params={"limit": 1000}).json()["items"]
    seen, cursor = [], "0"
    while cursor is not None:
        page = as_eve.get(f"{PROJECT}/events", params={"limit": 3, "cursor": cursor}).json()
        seen += page["items"]
        cursor = page["next_cursor"]
    assert seen == whole
    assert len(seen) > 10


def test_when_there_is_nothing_to_ask_the_reason_is_said(tmp_path):
    with open_desk(tmp_path, budget={"examples": 1}) as desk, served(desk) as address, client_of(address, "ann") as ann:
        (query,) = lease(ann)["queries"]
        assert lease(ann) == {"queries": [], "reason": "all-leased"}
        send(ann, query, {"Billing": 1}, "k")
        assert lease(ann) == {"queries": [], "reason": "budget-spent"}


@pytest.mark.parametrize(
    ("costs", "more"),
    [
        ({"Billing": 9}, {}),
        ({"Nonsense": 1}, {}),
        ({"Billing": "much"}, {}),
        ({}, {"label": "Billing", "unsure": ["Fraud"]}),
        ({}, {"lead_time_s": -1}),
        ({}, {"coats": {}}),
        ({}, {"note": "\0"}),
    ],
)
def test_what_breaks_a_rule_is_refused_and_changes_nothing(as_ann, desk, costs, more):
    (query,) = lease(as_ann)["queries"]
    before = desk.events(limit=1000)
    assert is_problem(send(as_ann, query, costs, "k", **more), 422)
    assert desk.events(limit=1000) == before


def test_numbers_that_json_does_not_have_are_refused(as_ann):
    (query,) = lease(as_ann)["queries"]
    body = {"query_id": query["id"], "lease_id": query["lease_id"], "costs": {"Billing": float("nan")}}
    headers = {"Idempotency-Key": "k", "content-type": "application/json"}
    assert is_problem(as_ann.post(f"{PROJECT}/answers", content=json.dumps(body), headers=headers), 422)


def test_an_answer_without_a_key_is_refused(as_ann):
    (query,) = lease(as_ann)["queries"]
    body = {"query_id": query["id"], "lease_id": query["lease_id"], "costs": {"Billing": 1}}
    assert is_problem(as_ann.post(f"{PROJECT}/answers", json=body), 422)


@pytest.mark.parametrize(
    "path", ["/api/v1/nothing", "/api/v1/projects/other", "/static/../service.py", "/static/%2e%2e/api.py"]
)
def test_what_is_not_there_is_not_found(as_eve, path):
    assert as_eve.get(path).status_code == 404


def test_exports_come_as_files(as_eve):
    (query,) = lease(as_eve)["queries"]
    send(as_eve, query, dict.fromkeys(LABELS, 3), "k")
    answer = as_eve.get(f"{PROJECT}/exports/csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="tickets.csv"'
    assert query["example_id"] in answer.text
    assert is_problem(as_eve.get(f"{PROJECT}/exports/exe"), 422)
