"""The pages of reviewers work as plain forms: search, history, correction, agreement and likely wrong answers."""

import re
from contextlib import contextmanager

import pytest

from tests.desk.desks import open_desk
from tests.desk.projects import work
from tests.desk.serving import client_of, served


@pytest.fixture
def desk(tmp_path):
    with open_desk(tmp_path, overlap=2, budget={}) as found:
        yield found


@contextmanager
def logged_in(address, name):
    with client_of(address) as client:
        assert client.post("/login", data={"token": f"coal_{name}"}).status_code == 303
        yield client


def field(page, name):
    return re.search(rf'name="{name}" value="([^"]*)"', page.text)[1]


def test_a_reviewer_settles_disagreements_one_after_the_other(desk):
    work(desk, "ann", n=6, costs=lambda question: dict.fromkeys(question.labels, 1.0))
    work(desk, "bob", n=6, costs=lambda question: dict.fromkeys(question.labels, 4.0))
    desk.access.add_token("rae", "reviewer", "coal_rae")
    with served(desk) as address, logged_in(address, "rae") as rae:
        queue = rae.get("/review?only=disagreement&order=disagreement")
        names = re.findall(r"reviewed\?id=([^&\"]+)&amp;queue=1", queue.text)
        assert len(names) == len(desk.reviews.disagreements()) > 1
        page = rae.get(f"/reviewed?id={names[0]}&queue=1")
        assert page.text.count("<strong>answered</strong>") == 2
        form = {name: field(page, name) for name in ("csrf", "key", "example_id", "queue", "label-0")}
        refused = rae.post("/reviewed", data=form | {"cost-0": "2", "reason": " "})
        assert (refused.status_code, "needs a reason" in refused.text) == (422, True)
        then = rae.post("/reviewed", data=form | {"cost-0": "2", "reason": "<b>as in the guide</b>"})
        assert then.status_code == 303
        shown = rae.get(f"/{then.headers['location']}")
        assert "Corrected." in shown.text
        assert field(shown, "example_id") != form["example_id"]
        about = rae.get(f"/reviewed?id={names[0]}")
        assert "&lt;b&gt;as in the guide&lt;/b&gt;" in about.text
        twice = rae.post("/reviewed", data=form | {"cost-0": "2", "reason": "<b>as in the guide</b>"})
        assert "notice=same" in twice.headers["location"]
        assert len([event for event in desk.events(limit=1000) if event.kind == "settled"]) == 1
        forged = rae.post("/reviewed", data=form | {"cost-0": "2", "reason": "x", "csrf": "0"})
        assert forged.status_code == 403


def test_only_reviewers_and_engineers_see_the_pages(desk):
    with served(desk) as address, logged_in(address, "eve") as eve, logged_in(address, "ann") as ann:
        for path in ("review", "agreement", "surprises", "reviewed?id=ticket/3"):
            assert eve.get(f"/{path}").status_code == 200
            assert ann.get(f"/{path}").status_code == 403
        found = eve.get("/review?text=no+such+words")
        assert "No example fits." in found.text
        assert eve.get("/review?only=nonsense").status_code == 422
        assert eve.get("/reviewed?id=nothing").status_code == 404
        assert 'href="review"' not in ann.get("/label").text
