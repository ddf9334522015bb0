"""The REST interface: its responses, who may call what, and its refusals."""

import json
import re
from contextlib import closing
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.desk.service.messages import STOPPED
from coalface.web.http_errors import RESPONSES
from tests.desk.desks import LABELS, answers, desk_in_turn, open_desk
from tests.desk.serving import client_of, served

PROJECT = "/api/v1/projects/tickets"
PAGE = (Path(__file__).parents[2] / "docs" / "labelling-service.md").read_text(encoding="utf-8")


def lease(client, **body):
    return client.post(f"{PROJECT}/queries:lease", json=body).raise_for_status().json()


def send(client, query, costs, key, **more):
    body = {"query_id": query["id"], "lease_id": query["lease_id"], "costs": costs, **more}
    return client.post(f"{PROJECT}/answers", json=body, headers={"Idempotency-Key": key})


def is_problem(response, status):
    """Whether a response is a problem in the format of RFC 9457."""
    body = response.json()
    return (
        response.status_code == status == body["status"]
        and response.headers["content-type"] == "application/problem+json"
        and bool(body["title"] and body["detail"])
    )


def test_a_follow_up_query_has_the_lease_of_the_first(tmp_path):
    with desk_in_turn(tmp_path) as desk, served(desk) as address, client_of(address, "ann") as ann:
        (query,) = lease(ann)["queries"]
        (label,) = query["labels"]
        receipt = send(ann, query, {}, "k1", unsure=[label])
        assert receipt.status_code == 201
        follow_up = receipt.json()["follow_up"]
        assert follow_up["lease_id"] == query["lease_id"]
        assert follow_up["known"] == {label: None}
        assert label not in follow_up["labels"]
        assert ann.get(f"{PROJECT}/queries").json() == {"items": [follow_up], "next_cursor": None}


def test_the_same_key_gives_the_same_receipt_and_answers_once(as_ann, desk):
    (query,) = lease(as_ann)["queries"]
    receipts = [send(as_ann, query, {"Billing": 1}, "k1").json() for _ in range(3)]
    assert receipts[0] == receipts[1] == receipts[2]
    assert len(answers(desk)) == 1
    assert is_problem(send(as_ann, query, {"Billing": 2}, "k1"), 409)
    assert is_problem(send(as_ann, query, {"Billing": 2}, "k2"), 409)


def test_a_true_label_project_refuses_costs(tmp_path):
    more = {"labels": LABELS, "true_label": True}
    with open_desk(tmp_path, **more) as desk, served(desk) as address, client_of(address, "ann") as ann:
        (query, other, third) = lease(ann, max_items=3)["queries"]
        assert is_problem(send(ann, query, {"Billing": 1}, "k1"), 422)
        assert is_problem(send(ann, query, {"Billing": 1}, "k1", label="Fraud"), 422)
        assert answers(desk) == []
        assert send(ann, query, {}, "k1", label="Fraud").status_code == 201
        assert send(ann, other, {}, "k2").status_code == 201
        assert send(ann, third, {}, "k3", unsure=list(LABELS)).status_code == 201
        assert [set(costs.values()) for _, costs in answers(desk)] == [{0.0, 4.0}, {None}, {None}]


def test_only_the_holder_may_answer_renew_release_undo_or_see_a_query(as_ann, as_bob, desk):
    query, other = lease(as_ann, max_items=2)["queries"]
    answer_id = send(as_ann, query, dict.fromkeys(LABELS, 1), "k1").json()["answer_id"]
    assert is_problem(send(as_bob, other, {"Fraud": 1}, "k1"), 404)
    assert is_problem(as_bob.post(f"/api/v1/leases/{other['lease_id']}:renew", json={}), 404)
    assert is_problem(as_bob.post(f"/api/v1/leases/{other['lease_id']}:release"), 404)
    assert is_problem(as_bob.delete(f"{PROJECT}/answers/{answer_id}"), 404)
    assert as_bob.get(f"{PROJECT}/answers").json()["items"] == []
    assert as_bob.get(f"{PROJECT}/queries").json()["items"] == []
    assert answers(desk) == [("ann", dict.fromkeys(LABELS, 1.0))]
    of_ann, missing = (as_bob.delete(f"{PROJECT}/answers/{number}").json()["detail"] for number in (answer_id, "9999"))
    assert of_ann == missing.replace("9999", answer_id)  # otherwise callers could count the answers of others


def test_a_forged_id_is_unknown(as_ann):
    (query,) = lease(as_ann)["queries"]
    forged = {"id": "9999.0", "lease_id": query["lease_id"]}
    assert is_problem(send(as_ann, forged, {"Billing": 1}, "k"), 404)
    assert is_problem(send(as_ann, query | {"lease_id": "forged"}, {"Billing": 1}, "k"), 404)
    assert is_problem(as_ann.delete(f"{PROJECT}/answers/1"), 404)
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
    ("GET", f"{PROJECT}/examples"),
    ("GET", f"{PROJECT}/next"),
    ("GET", f"{PROJECT}/exports/jsonl"),
    ("POST", f"{PROJECT}/predict"),
    ("GET", f"{PROJECT}/tokens"),
    ("POST", f"{PROJECT}/tokens"),
    ("DELETE", f"{PROJECT}/tokens/bob"),
]


@pytest.mark.parametrize(("method", "path"), ENGINEERS_ONLY)
def test_annotators_may_not_call_engineers_routes(as_ann, as_eve, method, path):
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


def test_the_description_names_the_bearer_token_on_every_route(stranger):
    description = stranger.get("/api/v1/openapi.json").json()
    ((name, scheme),) = description["components"]["securitySchemes"].items()
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    for path, methods in description["paths"].items():
        for method, route in methods.items():
            assert route["security"] == [{name: []}], (method, path)


def test_every_route_has_a_name_of_its_own_that_can_be_read_and_says_who_may_call_it(stranger):
    routes = [
        route for methods in stranger.get("/api/v1/openapi.json").json()["paths"].values() for route in methods.values()
    ]
    names = [route["operationId"] for route in routes]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch("[a-z]+(_[a-z]+)+", name) for name in names)
    assert {"lease_queries", "answer_query", "undo_answer", "list_events", "correct_costs"} <= set(names)
    assert {tag for route in routes for tag in route["tags"]} == {"annotators", "engineers", "reviewers"}


def test_a_page_shows_every_route_with_its_body_and_loads_nothing_from_elsewhere(stranger):
    shown = stranger.get("/docs")
    assert shown.status_code == 200
    assert shown.headers["content-type"].startswith("text/html")
    description = stranger.get("/api/v1/openapi.json").json()
    for path, methods in description["paths"].items():
        for method, route in methods.items():
            assert f"<code>{method.upper()} {path}</code>" in shown.text
            assert f'id="{route["operationId"]}"' in shown.text
    for name, schema in description["components"]["schemas"].items():
        for field in schema.get("properties", {}):
            assert f"<code>{field}</code>" in shown.text, (name, field)
    lease = shown.text[shown.text.index('id="lease_queries"') :].partition("</details>")[0]
    assert "at most 10, for at most 3,600 seconds" in lease
    assert "<code>max_items</code> (optional)" in lease
    assert "<code>Idempotency-Key</code></th><td>string, in the header</td>" in shown.text
    assert not re.search(r'(src|href)="(https?:)?//', shown.text)


@pytest.mark.parametrize("header", ["", "Bearer", "Basic coal_ann", "Bearer coal_nobody"])
def test_a_header_without_a_known_bearer_token_is_refused_with_a_challenge(stranger, header):
    refused = stranger.get(PROJECT, headers={"authorization": header})
    assert is_problem(refused, 401)
    assert refused.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("header", ["Bearer coal_ann", "bearer coal_ann", "BEARER  coal_ann"])
def test_a_bearer_token_may_be_written_as_http_allows(stranger, header):
    assert stranger.get(PROJECT, headers={"authorization": header}).is_success


def test_the_documentation_lists_every_route(stranger):
    routes = stranger.get("/api/v1/openapi.json").json()["paths"]
    plain = {"lease_id": "id", "answer_id": "id"}
    for path, methods in routes.items():
        shown = re.sub(r"{(\w+)}", lambda name: f"{{{plain.get(name[1], name[1])}}}", path.removeprefix("/api/v1"))
        for method in methods:
            assert re.search(rf"`{method.upper()} {re.escape(shown)}[`?]", PAGE), (method, path)


def test_the_documentation_lists_every_reason_and_error():
    assert set(STOPPED) <= set(re.findall(r"^\| `([a-z-]+)` \|", PAGE, re.MULTILINE))
    assert sorted(RESPONSES) == [int(status) for status in re.findall(r"^\| ([0-9]{3}) \|", PAGE, re.MULTILINE)]


def test_the_program_in_the_documentation_runs(address, desk):
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names = {"token": "coal_ann"}
    exec(program.replace("http://127.0.0.1:8137", address), names)
    assert names["receipt"]["learned"]
    assert answers(desk) == [("ann", dict.fromkeys(LABELS, 1.0))]


def test_a_removed_token_gives_no_access(as_eve, as_bob):
    assert as_bob.get(PROJECT).is_success
    assert as_eve.delete(f"{PROJECT}/tokens/bob").status_code == 204
    assert is_problem(as_bob.get(PROJECT), 401)
    assert is_problem(as_eve.delete(f"{PROJECT}/tokens/eve"), 409)


def test_a_new_token_is_shown_once_and_stored_as_a_digest(as_eve, stranger, desk):
    made = as_eve.post(f"{PROJECT}/tokens", json={"name": "cy", "role": "annotator"}).json()
    assert stranger.get(PROJECT, headers={"authorization": f"Bearer {made['token']}"}).is_success
    assert {"name": "cy", "role": "annotator"} in as_eve.get(f"{PROJECT}/tokens").json()["items"]
    assert made["token"] not in repr(desk.access.tokens())


@pytest.mark.parametrize(
    ("path", "name", "length"),
    [
        (f"{PROJECT}/events", "eve", 26),
        (f"{PROJECT}/examples", "eve", 60),
        (f"{PROJECT}/annotators", "eve", 3),
        (f"{PROJECT}/tokens", "eve", 3),
        (f"{PROJECT}/answers", "ann", 4),
    ],
)
def test_pages_of_a_list_hold_every_item_once(address, desk, path, name, length):
    for who in ("bob", *["ann"] * 4, "eve"):
        question = desk.lease(who)
        desk.answer(who, question.id, question.lease_id, dict.fromkeys(LABELS, 1.0), f"{who} {question.id}")
    with client_of(address, name) as client:
        whole = client.get(path, params={"limit": 1000}).json()
        for limit in (2, 3, length):
            seen, page = [], {"next_cursor": ""}
            while page["next_cursor"] is not None:
                page = client.get(path, params={"limit": limit, "cursor": page["next_cursor"]}).json()
                assert 0 < len(page["items"]) <= limit
                seen += page["items"]
            assert {"items": seen, "next_cursor": None} == whole
    assert len(seen) >= length


def test_own_answers_are_listed_newest_first(as_ann):
    for i in range(3):
        (query,) = lease(as_ann)["queries"]
        send(as_ann, query, {"Billing": i}, f"k{i}")
    first = as_ann.get(f"{PROJECT}/answers", params={"limit": 2}).json()
    rest = as_ann.get(f"{PROJECT}/answers", params={"cursor": first["next_cursor"]}).json()
    assert [one["costs"]["Billing"] for one in first["items"] + rest["items"]] == [2, 1, 0]


@pytest.mark.parametrize("body", [{"max_items": 11}, {"ttl_s": 3601}])
def test_annotators_have_lower_lease_limits_than_engineers(as_ann, as_eve, desk, body):
    before = desk.events(limit=1000)
    assert is_problem(as_ann.post(f"{PROJECT}/queries:lease", json=body), 422)
    assert desk.events(limit=1000) == before
    found = lease(as_eve, **body)["queries"]
    assert len(found) == body.get("max_items", 1)
    if "ttl_s" in body:
        mine = lease(as_ann, ttl_s=3600)["queries"][0]["lease_id"]
        assert is_problem(as_ann.post(f"/api/v1/leases/{mine}:renew", json=body), 422)
        assert as_eve.post(f"/api/v1/leases/{found[0]['lease_id']}:renew", json=body).is_success


@pytest.mark.parametrize("body", [{"max_items": True}, {"ttl_s": True}, {"max_items": "1"}, {"ttl_s": "20"}])
def test_a_number_is_a_number(as_ann, desk, body):
    found = as_ann.post(f"{PROJECT}/queries:lease", json=body)
    assert (found.status_code, desk.held("ann")) == (422, [])
    query = lease(as_ann)["queries"][0]
    assert send(as_ann, query, {"Billing": True}, "k1").status_code == 422
    assert as_ann.post(f"{PROJECT}/queries:lease", json={"max_items": 1, "ttl_s": 20}).status_code == 200


def test_without_a_query_the_response_gives_the_reason(tmp_path):
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
def test_an_invalid_answer_is_refused_and_changes_nothing(as_ann, desk, costs, more):
    (query,) = lease(as_ann)["queries"]
    before = desk.events(limit=1000)
    assert is_problem(send(as_ann, query, costs, "k", **more), 422)
    assert desk.events(limit=1000) == before


def test_a_cost_between_two_levels_is_refused_and_the_levels_are_named(as_ann, desk):
    (query,) = lease(as_ann)["queries"]
    refused = send(as_ann, query, {"Billing": 2.5}, "k")
    assert is_problem(refused, 422)
    assert refused.json()["detail"] == (
        "The cost of label 'Billing' must be one of the levels none (0), minor (1), annoying (2), serious (3), "
        "disaster (4), got 2.5."
    )
    assert answers(desk) == []
    assert send(as_ann, query, {"Billing": 3, "Fraud": None}, "k").status_code == 201


def test_a_lease_is_renewed_and_skipped_without_a_body(as_ann):
    (query,) = lease(as_ann)["queries"]
    assert "expires_at" in as_ann.post(f"/api/v1/leases/{query['lease_id']}:renew").raise_for_status().json()
    assert as_ann.post(f"/api/v1/leases/{query['lease_id']}:skip").status_code == 204


def test_a_token_is_that_of_an_annotator_unless_a_role_is_given(as_eve):
    assert as_eve.post(f"{PROJECT}/tokens", json={"name": "zoe"}).raise_for_status().json()["role"] == "annotator"


def test_json_that_cannot_be_read_breaks_a_rule(as_ann):
    headers = {"Idempotency-Key": "k", "content-type": "application/json"}
    assert is_problem(as_ann.post(f"{PROJECT}/answers", content="{", headers=headers), 422)


def test_nan_is_refused(as_ann):
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
def test_an_unknown_path_is_not_found(as_eve, path):
    assert as_eve.get(path).status_code == 404


HALF = "\\ud800"  # in JSON: half of a character, which databases cannot store


@pytest.mark.parametrize(
    "costs",
    [
        f'{{"{HALF}": 1}}',
        f'{{"Billing": 1}}, "note": "{HALF}"',
        f'{{"Billing": 1{"0" * 400}}}',
        '{"Billing": 1e999}',
    ],
    ids=["label", "note", "huge", "infinite"],
)
def test_half_characters_and_infinite_numbers_are_refused_in_an_answer(as_ann, desk, costs):
    (query,) = lease(as_ann)["queries"]
    body = f'{{"query_id": "{query["id"]}", "lease_id": "{query["lease_id"]}", "costs": {costs}}}'
    headers = {"Idempotency-Key": "k", "content-type": "application/json"}
    assert is_problem(as_ann.post(f"{PROJECT}/answers", content=body, headers=headers), 422)
    assert answers(desk) == []


@pytest.mark.parametrize(
    "body",
    [
        f'{{"name": "{HALF}", "role": "annotator"}}',
        f'{{"name": "x", "role": "annotator", "{HALF}": 1}}',
        f'{{"name": "x", "role": "{HALF}"}}',
    ],
)
def test_half_characters_are_refused_in_names(as_eve, body):
    headers = {"content-type": "application/json"}
    assert is_problem(as_eve.post(f"{PROJECT}/tokens", content=body, headers=headers), 422)


@pytest.mark.parametrize(
    "example",
    [f'{{"text": "{HALF}"}}', f'{{"{HALF}": "x"}}', f'{{"id": "{HALF}"}}', f'{{"text": "x", "n": 1{"0" * 400}}}', "7"],
)
@pytest.mark.parametrize("table", [False, True])
def test_half_characters_and_infinite_numbers_do_not_break_predict(tmp_path, example, table):
    folder, headers = tmp_path / "tickets", {"content-type": "application/json"}
    examples = [{"n": 1.0, "s": "a"}, {"n": 2.0, "s": "b"}] if table else [{"text": "a"}, {"text": "b"}]
    desk = Desk(Project.create(folder, examples, LABELS))
    with closing(desk), served(desk) as address, client_of(address, "eve") as eve:
        answer = eve.post(f"{PROJECT}/predict", content=f'{{"examples": [{example}]}}', headers=headers)
    assert answer.status_code in (200, 404, 422), answer.text
    assert answer.is_success or is_problem(answer, answer.status_code)


@pytest.mark.parametrize("name", ["B\u00fccher \u4e66", 'a"b\\c', "a\nb"])
def test_any_folder_name_can_be_exported_and_shown(tmp_path, name):
    examples = [{"text": "a"}, {"text": "b"}]
    desk = Desk(Project.create(tmp_path / name, examples, LABELS))
    with closing(desk), served(desk) as address, client_of(address, "eve") as eve:
        answer = eve.get(f"/api/v1/projects/{quote(name)}/exports/jsonl")
        eve.post("/login", data={"token": "coal_eve"})
        pages = [eve.get(path).status_code for path in ("/label", "/dashboard")]
    assert (answer.status_code, pages) == (200, [200, 200])
    assert unquote(answer.headers["content-disposition"].split("utf-8''")[1]) == f"{name}.jsonl"


def test_exports_are_downloads(as_eve):
    (query,) = lease(as_eve)["queries"]
    send(as_eve, query, dict.fromkeys(LABELS, 3), "k")
    answer = as_eve.get(f"{PROJECT}/exports/csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="tickets.csv"'
    assert query["example_id"] in answer.text
    assert is_problem(as_eve.get(f"{PROJECT}/exports/exe"), 422)
