"""Several projects in one service: each person sees their own, with one token; sessions are random ids."""

import re
from contextlib import contextmanager

import pytest
from starlette.requests import Request

from coalface.desk.service.desk import Desk
from coalface.desk.web.auth import Authenticator, Desks, cookie_of
from coalface.desk.web.service import service_of
from coalface.errors import InputError
from tests.desk.desks import answers, make_project, open_desk
from tests.desk.projects import small_project
from tests.desk.serving import client_of, served
from tests.desk.test_review_pages import field, logged_in


@pytest.fixture
def two(tmp_path):
    desks = [Desk(make_project(tmp_path)), Desk(small_project(tmp_path / "mail", n=30))]
    yield desks
    for desk in desks:
        desk.close()


@contextmanager
def one_only_in(desks, name, role="annotator"):
    """Serve both; a person has access to the second project only."""
    desks[1].store.add_token(name, role, f"coal_{name}")
    with served(desks) as address:
        yield address


def test_the_api_leases_and_answers_in_the_project_that_the_address_names(two):
    with served(two) as address, client_of(address, "ann") as ann:
        assert [one["name"] for one in ann.get("/api/v1/projects").json()] == ["tickets", "mail"]
        receipts = {}
        for name in ("tickets", "mail"):
            (query,) = ann.post(f"/api/v1/projects/{name}/queries:lease", json={}).json()["queries"]
            assert ann.post(f"/api/v1/leases/{query['lease_id']}:renew", json={}).status_code == 200
            body = {"query_id": query["id"], "lease_id": query["lease_id"], "costs": dict.fromkeys(query["labels"], 1)}
            key = {"idempotency-key": "one"}
            other = "mail" if name == "tickets" else "tickets"
            assert ann.post(f"/api/v1/projects/{other}/answers", json=body, headers=key).status_code in (404, 422)
            receipts[name] = ann.post(f"/api/v1/projects/{name}/answers", json=body, headers=key).json()
        assert [len(answers(desk)) for desk in two] == [1, 1]
        number = receipts["mail"]["answer_id"]
        assert ann.delete(f"/api/v1/projects/mail/answers/{number}").status_code == 200
        assert [len(answers(desk)) for desk in two] == [1, 0]
        assert ann.get("/api/v1/projects/nothing/progress").status_code == 404


def test_a_person_sees_only_the_projects_in_which_they_have_a_role(two):
    with one_only_in(two, "zoe") as address, client_of(address, "zoe") as zoe:
        assert [one["name"] for one in zoe.get("/api/v1/projects").json()] == ["mail"]
        assert zoe.get("/api/v1/projects/mail/progress").status_code == 200
        for path in ("", "/progress", "/overview", "/review", "/tokens", "/events"):
            assert zoe.get(f"/api/v1/projects/tickets{path}").status_code == 404
        (query,) = zoe.post("/api/v1/projects/mail/queries:lease", json={}).json()["queries"]
        assert zoe.post(f"/api/v1/leases/{query['lease_id']}:release").status_code == 204
        with logged_in(address, "zoe") as browser:
            assert "/projects/mail/" in browser.get("/projects/").text
            assert "/projects/tickets/" not in browser.get("/projects/").text
            assert browser.get("/projects/mail/label").status_code == 200
            assert browser.get("/projects/tickets/label").status_code == 404
            assert browser.get("/projects/mail/dashboard").status_code == 403


def test_a_role_holds_in_its_project_only(two):
    with one_only_in(two, "zoe", "engineer") as address, logged_in(address, "zoe") as zoe:
        two[0].access.admit("zoe", "annotator", two[1].access.tokens()[-1][2])
        assert zoe.get("/projects/mail/people").status_code == 200
        assert zoe.get("/projects/tickets/people").status_code == 403
        page = zoe.get("/projects/mail/people")
        csrf = {"csrf": field(page, "csrf")}
        own = zoe.post("/projects/tickets/people", data=csrf | {"do": "role", "name": "ann", "role": "engineer"})
        assert own.status_code == 403
        assert ("ann", "annotator") in [row[:2] for row in two[0].access.tokens()]


def test_pages_of_a_project_stay_in_it(two):
    with served(two) as address, logged_in(address, "ann") as ann:
        assert ann.get("/").headers["location"] == "/projects/"
        assert ann.get("/projects/mail").headers["location"] == "/projects/mail/"
        assert ann.get("/projects/mail/").headers["location"] == "/projects/mail/label"
        page = ann.get("/projects/mail/label")
        assert 'action="label"' in page.text
        fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text))
        sent = ann.post("/projects/mail/label", data=fields | {"cost-0": "1"})
        assert (sent.status_code, sent.headers["location"]) == (303, "/projects/mail/label")
        assert [len(answers(desk)) for desk in two] == [0, 1]
        undone = ann.post("/projects/mail/undo", data={"csrf": fields["csrf"]})
        assert undone.headers["location"].startswith("/projects/mail/label")
        assert ann.get("/label").status_code == 404


def test_two_projects_of_one_name_are_refused(tmp_path, two):
    other = Desk(small_project(tmp_path / "elsewhere" / "mail", n=5))
    with pytest.raises(InputError, match="distinct names, got 'mail' twice"):
        service_of([*two, other])
    other.close()


def test_a_cookie_holds_a_random_session_that_ends_at_log_out_and_with_the_token(tmp_path):
    with (
        open_desk(tmp_path) as desk,
        served(desk) as address,
        logged_in(address, "ann") as ann,
        logged_in(address, "ann") as twin,
    ):
        cookies = [client.cookies[cookie_of(desk.project)] for client in (ann, twin)]
        assert cookies[0] != cookies[1]
        assert not any("coal_ann" in cookie for cookie in cookies)
        stored = (tmp_path / "tickets/project.db").read_bytes() + (tmp_path / "tickets/project.db-wal").read_bytes()
        assert not any(cookie.encode() in stored for cookie in cookies)
        csrf = field(ann.get("/label"), "csrf")
        assert ann.post("/logout", data={"csrf": csrf}).status_code == 303
        ann.cookies.set(cookie_of(desk.project), cookies[0])  # somebody has kept the cookie
        assert ann.get("/label").headers["location"] == "/login"
        assert twin.get("/label").status_code == 200
        assert ann.get("/label", headers={"cookie": f"{cookie_of(desk.project)}=coal_ann"}).status_code == 303
        desk.access.remove_token("ann")
        assert twin.get("/label").headers["location"] == "/login"


def test_a_session_ends_after_a_month(tmp_path):
    with open_desk(tmp_path) as desk:
        desk.access.add_token("ann", "annotator", "coal_ann")
        now = [1000.0]
        authenticator = Authenticator(Desks([desk]), 1000.0, today=lambda: now[0])
        session = authenticator.begin_session("coal_ann")
        page = Request({"type": "http", "path_params": {}, "client": ("here", 1)})
        assert authenticator.resume(page, session).name == "ann"
        now[0] += 31 * 86400.0
        with pytest.raises(Exception, match="Unknown token"):
            authenticator.resume(page, session)


def test_people_and_roles_are_managed_in_the_page(two):
    with served(two) as address, logged_in(address, "eve") as eve:
        page = eve.get("/projects/tickets/people")
        form = {"csrf": field(page, "csrf")}
        made = eve.post("/projects/tickets/people", data=form | {"do": "add", "name": "a/b", "role": "annotator"})
        token = re.search(r'<code id="token">(coal_[^<]+)</code>', made.text)[1]
        assert token not in eve.get("/projects/tickets/people").text
        with client_of(address) as made_now:
            headers = {"authorization": f"Bearer {token}"}
            assert made_now.get("/api/v1/projects/tickets/progress", headers=headers).status_code == 200
            assert made_now.get("/api/v1/projects/mail/progress", headers=headers).status_code == 404
            admitted = form | {"do": "admit", "name": "a/b", "role": "reviewer"}
            assert eve.post("/projects/mail/people", data=admitted).headers["location"] == "/projects/mail/people"
            assert made_now.get("/api/v1/projects/mail/review", headers=headers).status_code == 200
            eve.post("/projects/mail/people", data=form | {"do": "role", "name": "a/b", "role": "annotator"})
            assert made_now.get("/api/v1/projects/mail/review", headers=headers).status_code == 403
            eve.post("/projects/mail/people", data=form | {"do": "revoke", "name": "a/b"})
            assert made_now.get("/api/v1/projects/mail/progress", headers=headers).status_code == 404
        assert eve.post("/projects/mail/people", data=form | {"do": "revoke", "name": "eve"}).status_code == 409
        assert eve.post("/projects/mail/people", data={"do": "revoke", "name": "ann"}).status_code == 403


def test_a_token_with_a_slash_in_its_name_can_be_deleted(tmp_path):
    place = "/api/v1/projects/tickets"
    with open_desk(tmp_path) as desk, served(desk) as address, client_of(address, "eve") as eve:
        assert eve.post(f"{place}/tokens", json={"name": "a/b", "role": "annotator"}).status_code == 201
        assert eve.delete(f"{place}/tokens/a/b").status_code == 204
        assert "a/b" not in [one["name"] for one in eve.get(f"{place}/tokens").json()["items"]]
