"""Webhooks: signed, in order, and no event is lost."""

import base64
import hashlib
import hmac
import json

import pytest

from coalface.desk.web.webhooks import Messenger, new_secret
from coalface.errors import FileFormatError, InputError
from tests.desk.desks import open_desk

SECRET = new_secret()


class Endpoint:
    """Accepts messages, or returns the given statuses first."""

    def __init__(self, *statuses):
        self.statuses, self.taken = list(statuses), []

    def __call__(self, _, body, headers):
        status = self.statuses.pop(0) if self.statuses else 200
        if status == 200:
            self.taken.append((body, headers))
        return status

    def answers(self):
        return [event["event"] for body, _ in self.taken for event in json.loads(body)["data"]["events"]]


@pytest.fixture
def desk(tmp_path):
    with open_desk(tmp_path) as found:
        for i in range(3):
            question = found.lease("ann")
            found.answer("ann", question.id, question.lease_id, {"Billing": 1.0}, f"k{i}")
        yield found


def answered(desk):
    """The numbers of the events to deliver, in order."""
    return [event.id for event in desk.events(limit=1000) if event.kind == "answered"]


def messenger(desk, endpoint, tmp_path):
    return Messenger(desk, "https://hooks.example/coal", SECRET, tmp_path / "told", endpoint)


def test_every_answer_is_delivered_in_order_and_signed(desk, tmp_path):
    endpoint = Endpoint()
    assert messenger(desk, endpoint, tmp_path).deliver()
    assert endpoint.answers() == answered(desk)
    for body, headers in endpoint.taken:
        text = b".".join([headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body])
        key = base64.b64decode(SECRET.split("_")[1])
        expected = base64.b64encode(hmac.digest(key, text, hashlib.sha256)).decode()
        assert headers["webhook-signature"] == f"v1,{expected}"
        assert json.loads(body)["type"] == "events.created"
        assert {event["type"] for event in json.loads(body)["data"]["events"]} == {"answer.created"}


def test_events_that_wait_go_together_so_that_a_slow_endpoint_keeps_up(desk, tmp_path):
    endpoint = Endpoint()
    sender = messenger(desk, endpoint, tmp_path)
    assert sender.waiting == desk.events(limit=1000)[-1].id
    sender.deliver()
    assert len(endpoint.taken) == 1  # was one message, one connection and one synced file per event
    assert (endpoint.answers(), sender.waiting) == (answered(desk), 0)


def test_a_message_names_its_event_whatever_the_body_holds(tmp_path):
    with open_desk(tmp_path, budget={"examples": 1}) as desk:
        question = desk.lease("ann")
        desk.answer("ann", question.id, question.lease_id, dict.fromkeys(question.labels, 1.0), "k")
        desk.lease("ann")
        with desk.state.recording() as record:
            record.add("snapshot", {"event": 1, "round": 2, "who": "nobody"})  # the same names as in the message
        endpoint = Endpoint()
        assert messenger(desk, endpoint, tmp_path).deliver()
        events = [event for event in desk.events(limit=1000) if event.kind in ("answered", "stopped", "snapshot")]
    sent = [event for body, _ in endpoint.taken for event in json.loads(body)["data"]["events"]]
    assert {json.loads(body)["data"]["project"] for body, _ in endpoint.taken} == {"tickets"}
    assert [one["type"] for one in sent] == ["answer.created", "labelling.stopped", "model.updated"]
    for one, event in zip(sent, events, strict=True):
        assert (one["event"], one["who"], one["body"]) == (event.id, event.who, event.body)
    assert sent[1]["body"] == {"reason": "budget-spent"}


def test_an_endpoint_that_fails_gets_every_event_later_and_once(desk, tmp_path):
    endpoint = Endpoint(500, 0)
    sender = messenger(desk, endpoint, tmp_path)
    assert [sender.deliver() for _ in range(4)] == [False, False, True, True]
    assert endpoint.answers() == answered(desk)


def test_a_restart_continues_after_the_last_event_delivered(desk, tmp_path):
    messenger(desk, Endpoint(), tmp_path).deliver()
    question = desk.lease("ann")
    desk.answer("ann", question.id, question.lease_id, {"Billing": 1.0}, "later")
    messenger(desk, Endpoint(500), tmp_path).deliver()
    endpoint = Endpoint()
    messenger(desk, endpoint, tmp_path).deliver()
    assert endpoint.answers() == answered(desk)[3:]


def test_no_two_projects_send_the_same_id(desk, tmp_path):
    endpoint = Endpoint()
    with open_desk(tmp_path / "more") as other:
        question = other.lease("ann")
        other.answer("ann", question.id, question.lease_id, {"Billing": 1.0}, "k")
        messenger(other, endpoint, tmp_path / "more").deliver()
    messenger(desk, endpoint, tmp_path).deliver()
    assert len({headers["webhook-id"] for _, headers in endpoint.taken}) == len(endpoint.taken) == 2


@pytest.mark.parametrize("text", ["", "many", "-1", "\u00b2"], ids=["nothing", "a word", "negative", "no digit"])
def test_a_damaged_progress_file_is_reported_in_one_line(desk, tmp_path, text):
    (tmp_path / "told").write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match="told must hold the number of the last event") as caught:
        messenger(desk, Endpoint(), tmp_path)
    assert "\n" not in str(caught.value)
    (tmp_path / "told").write_text(f"{answered(desk)[1]}\n")  # with a newline, as an editor writes it
    endpoint = Endpoint()
    messenger(desk, endpoint, tmp_path).deliver()
    assert endpoint.answers() == answered(desk)[2:]


def test_an_endpoint_that_is_gone_is_left_alone(desk, tmp_path):
    assert messenger(desk, Endpoint(410), tmp_path).deliver() is None


@pytest.mark.parametrize(
    ("url", "secret"),
    [("ftp://x", SECRET), ("https://x", "secret"), ("https://x", "whsec_c2hvcnQ=")],
    ids=["no web address", "no secret of this form", "too short"],
)
def test_an_address_or_secret_that_cannot_work_is_refused(desk, tmp_path, url, secret):
    with pytest.raises(InputError):
        Messenger(desk, url, secret, tmp_path / "told")
