"""Limits on rates and bodies, and the headers of every answer."""

import asyncio

import pytest

from coalface.service.web.middleware import AddressLimit, RateLimit
from tests.service.serving import client_of, served
from tests.service.test_api import PROJECT, is_problem


def test_who_comes_too_often_is_told_when_to_come_again(desk):
    with served(desk, per_minute=30) as address, client_of(address, "ann") as ann, client_of(address, "bob") as bob:
        answers = [ann.get(PROJECT) for _ in range(25)]
        assert [answer.status_code for answer in answers[:20]] == [200] * 20
        assert is_problem(answers[-1], 429)
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 3
        assert bob.get(PROJECT).is_success


def test_who_guesses_tokens_must_wait_and_others_need_not(as_ann, stranger):
    statuses = [stranger.post("/login", data={"token": f"guess {i}"}).status_code for i in range(12)]
    assert statuses == [401] * 10 + [429] * 2
    assert as_ann.get(PROJECT).is_success


def test_a_body_that_says_it_is_too_large_is_refused_unread(as_ann):
    body = b"[" + b" " * (1 << 20) + b"]"
    assert is_problem(as_ann.post(f"{PROJECT}/queries:lease", content=body), 413)


def test_a_body_that_turns_out_too_large_is_refused(as_ann):
    pieces = (b" " * 65536 for _ in range(17))  # without a length: it comes in chunks
    headers = {"content-type": "application/json"}
    assert is_problem(as_ann.post(f"{PROJECT}/queries:lease", content=pieces, headers=headers), 413)


def test_every_answer_forbids_foreign_scripts_frames_and_caches(stranger, as_ann):
    answers = [stranger.get("/login"), stranger.get("/static/coalface.js"), as_ann.get(PROJECT), as_ann.get("/none")]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/login", "/static/coalface.css", "/api/v1/openapi.json"])
def test_who_asks_too_often_for_what_needs_no_token_must_wait(desk, path):
    with served(desk, per_minute=30) as address, client_of(address) as stranger, client_of(address, "ann") as ann:
        answers = [stranger.get(path) for _ in range(35)]
        assert {answer.status_code for answer in answers[:30]} == {200}
        assert is_problem(answers[-1], 429)
        assert ann.get(PROJECT).is_success


def test_one_address_does_not_wait_for_another():
    limit = RateLimit(per_minute=60, burst=1, clock=lambda: 0.0)
    seen = []

    async def app(scope, receive, send):
        seen.append(scope["client"][0])

    async def ask(*addresses):
        for address in addresses:
            scope = {"type": "http", "path": "/login", "client": (address, 1)}
            await AddressLimit(app, limit, ("/login",))(scope, None, ignored)

    async def ignored(_):
        pass

    asyncio.run(ask("10.0.0.1", "10.0.0.1", "10.0.0.2"))
    assert seen == ["10.0.0.1", "10.0.0.2"]
