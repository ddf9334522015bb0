"""Limits on rates and bodies, and the headers of every response."""

import asyncio

import httpx
import pytest

from coalface.desk.web.service import service_of
from tests.desk.serving import client_of, served
from tests.desk.test_api import PROJECT, is_problem


def test_a_caller_that_is_too_fast_learns_how_long_to_wait(desk, clock):
    with (
        served(desk, per_minute=30, clock=clock) as address,
        client_of(address, "ann") as ann,
        client_of(address, "bob") as bob,
    ):
        answers = [ann.get(PROJECT) for _ in range(22)]
        assert [answer.status_code for answer in answers] == [200] * 20 + [429] * 2
        assert is_problem(answers[-1], 429)
        assert answers[-1].headers["retry-after"] == "3"
        assert bob.get(PROJECT).is_success
        clock.now += 2.0  # at 30 a minute, one request
        assert [ann.get(PROJECT).status_code for _ in range(2)] == [200, 429]


def test_wrong_tokens_slow_down_their_address_only(desk, clock):
    with (
        served(desk, clock=clock) as address,
        client_of(address) as stranger,
        client_of(address, "ann") as ann,
    ):
        statuses = [stranger.post("/login", data={"token": f"guess {i}"}).status_code for i in range(12)]
        assert statuses == [401] * 10 + [429] * 2
        assert ann.get(PROJECT).is_success
        clock.now += 6.0
        assert stranger.post("/login", data={"token": "guess"}).status_code == 401


def test_a_body_with_too_large_a_length_is_refused_unread(as_ann):
    body = b"[" + b" " * (1 << 20) + b"]"
    assert is_problem(as_ann.post(f"{PROJECT}/queries:lease", content=body), 413)


def test_a_body_in_chunks_that_grows_too_large_is_refused(as_ann):
    pieces = (b" " * 65536 for _ in range(17))  # sent in chunks, without a length
    headers = {"content-type": "application/json"}
    assert is_problem(as_ann.post(f"{PROJECT}/queries:lease", content=pieces, headers=headers), 413)


def test_every_response_forbids_foreign_scripts_frames_and_caches(stranger, as_ann):
    answers = [stranger.get("/login"), stranger.get("/static/coalface.js"), as_ann.get(PROJECT), as_ann.get("/none")]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/login", "/static/coalface.css", "/api/v1/openapi.json"])
def test_open_paths_are_limited_by_address(desk, clock, path):
    with (
        served(desk, per_minute=30, clock=clock) as address,
        client_of(address) as stranger,
        client_of(address, "ann") as ann,
    ):
        answers = [stranger.get(path) for _ in range(31)]
        assert [answer.status_code for answer in answers] == [200] * 30 + [429]
        assert ann.get(PROJECT).is_success
        clock.now += 2.0
        assert [stranger.get(path).status_code for _ in range(2)] == [200, 429]


def test_each_address_has_its_own_limit(desk, clock):
    app = service_of(desk, per_minute=1, clock=clock)

    async def ask(*hosts):
        for host in hosts:
            transport = httpx.ASGITransport(app, client=(host, 1))
            async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
                yield (await client.get("/login")).status_code

    async def statuses():
        return [status async for status in ask(*["10.0.0.1"] * 21, "10.0.0.2")]

    assert asyncio.run(statuses()) == [200] * 20 + [429, 200]


def test_limits_are_explained_to_people_on_a_page(desk, clock):
    with served(desk, per_minute=20, clock=clock) as address, client_of(address) as stranger:
        refused = [
            stranger.post("/login", content=b" " * (1 << 20) + b" "),
            *(stranger.get("/login") for _ in range(20)),
        ]
    for answer, status in ((refused[0], 413), (refused[-1], 429)):
        assert answer.status_code == status
        assert answer.headers["content-type"].startswith("text/html")
        assert '<p class="wrong" role="alert">' in answer.text
        assert "default-src 'none'" in answer.headers["content-security-policy"]
