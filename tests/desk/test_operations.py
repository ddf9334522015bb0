"""What operators need: health, metrics, request ids, logs; and work that does not keep annotators waiting."""

import io
import json
import logging
import threading
import time

import pytest

from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.desk.service.messages import NoQuestion
from coalface.desk.service.project_state import SteadyClock
from coalface.errors import FileFormatError
from coalface.web.logs import configure_logs
from tests.desk.desks import open_desk
from tests.desk.projects import Clock, same_bits, small_project, work
from tests.desk.test_api import PROJECT, lease, send


def is_the_log_without_snapshots(desk):
    """Whether a desk opened without the snapshots has the same model."""
    learner = desk.state.model.learner
    desk.close()
    for snapshot in desk.project.folder.glob("snapshot-*"):
        snapshot.unlink()
    again = Desk(Project.open(desk.project.folder))
    same = same_bits(learner, again.state.model.learner)
    again.close()
    return same


def test_health_needs_no_token_and_metrics_need_an_engineers(stranger, as_ann, as_eve, desk):
    assert (stranger.get("/healthz").text, stranger.get("/healthz").status_code) == ("ok\n", 200)
    assert stranger.get("/readyz").json() == {"ready": True, "problems": []}
    assert stranger.get("/metrics").status_code == 401
    assert as_ann.get("/metrics").status_code == 403
    send(as_ann, lease(as_ann)["queries"][0], {"Billing": 1}, "k1")
    page = as_eve.get("/metrics")
    assert page.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = dict(line.rsplit(" ", 1) for line in page.text.splitlines() if not line.startswith("#"))
    assert float(lines['coalface_asked_examples{project="tickets"}']) == 1
    answers = 'coalface_requests_total{method="POST",route="/api/v1/projects/{project}/answers",status="201"}'
    assert float(lines[answers]) == 1
    assert float(lines['coalface_request_seconds_count{route="/api/v1/projects/{project}/answers"}']) == 1
    (desk.project.folder / "project.db").rename(desk.project.folder / "away.db")
    found = stranger.get("/readyz")
    (desk.project.folder / "away.db").rename(desk.project.folder / "project.db")
    assert (found.status_code, found.json()["ready"]) == (503, False)


def test_programs_get_errors_as_json_and_people_get_pages(stranger, as_ann, as_eve):
    replies = [
        (stranger.get("/metrics"), 401),
        (as_ann.get("/metrics"), 403),
        (stranger.post("/healthz"), 405),
        (stranger.put("/readyz"), 405),
        (stranger.get("/label-studio/health"), 401),
        (stranger.get("/projects/tickets/label-studio/health"), 401),
    ]
    for reply, status in replies:
        assert (reply.status_code, reply.headers["content-type"]) == (status, "application/problem+json")
        assert reply.json()["status"] == status
    assert "text/html" in as_eve.get("/nowhere").headers["content-type"]


@pytest.mark.parametrize("path", ["/login", "/healthz", f"{PROJECT}/progress", f"{PROJECT}/exports/jsonl", "/nowhere"])
def test_head_is_answered_like_get_without_the_body(as_eve, path):
    whole, head = as_eve.get(path), as_eve.head(path)
    assert (head.status_code, head.content) == (whole.status_code, b"")
    assert head.headers.get("content-type") == whole.headers.get("content-type")


def test_every_response_has_an_id_and_keeps_that_of_a_proxy(stranger):
    ids = {stranger.get("/healthz").headers["x-request-id"] for _ in range(3)}
    assert len(ids) == 3
    kept = stranger.get("/healthz", headers={"x-request-id": "proxy-00001234"})
    assert kept.headers["x-request-id"] == "proxy-00001234"
    forged = stranger.get("/healthz", headers={"x-request-id": "<script>alert(1)</script>"})
    assert "script" not in forged.headers["x-request-id"]


@pytest.fixture
def logged():
    """The log of the service as it is written."""
    names = ("coalface", "uvicorn", "py.warnings")
    before = {name: (*logging.getLogger(name).handlers,) for name in names}
    stream = io.StringIO()
    yield stream
    for name in names:
        logger = logging.getLogger(name)
        logger.handlers[:], logger.propagate = before[name], True
        logger.setLevel(logging.NOTSET)


def test_log_lines_have_time_level_and_the_id_of_the_request(logged, as_ann, stranger):
    configure_logs("json", "info", logged)
    stranger.get("/api/v1/projects", headers={"x-request-id": "proxy-00001234", "authorization": "Bearer coal_wrong"})
    as_ann.get(f"{PROJECT}/progress")
    deadline = time.monotonic() + 30.0
    while logged.getvalue().count("coalface.requests") < 2 and time.monotonic() < deadline:
        time.sleep(0.01)  # a request is logged after its response was sent
    lines = [json.loads(line) for line in logged.getvalue().splitlines()]
    refused, fine = (line for line in lines if line["logger"] == "coalface.requests")
    assert refused["time"].endswith("Z")
    assert (refused["level"], refused["status"], refused["request_id"]) == ("warning", 401, "proxy-00001234")
    assert (fine["level"], fine["method"], fine["path"]) == ("info", "GET", f"{PROJECT}/progress")
    assert "coal_" not in logged.getvalue()  # no token is logged


def test_nobody_forges_a_line_of_the_log(logged):
    configure_logs("text", "info", logged)
    logging.getLogger("coalface").info("hello %s", "there\n2026-01-01T00:00:00.000Z error forged")
    (line,) = logged.getvalue().splitlines()
    assert " info hello there\\n2026" in line


def test_annotators_do_not_wait_for_the_overview(tmp_path, monkeypatch):
    with open_desk(tmp_path) as desk:
        entered, go_on, looking = threading.Event(), threading.Event(), threading.Thread(target=desk.overview)
        learner = type(desk.state.model.learner)
        forecast = learner.forecast

        def slow(self, *given, **more):
            if threading.current_thread() is looking:
                entered.set()
                assert go_on.wait(240)
            return forecast(self, *given, **more)

        monkeypatch.setattr(learner, "forecast", slow)
        looking.start()
        assert entered.wait(120)
        leased = []
        worker = threading.Thread(target=lambda: leased.append(desk.lease("ann")))
        worker.start()
        worker.join(60)  # it waited for the overview before
        waited = worker.is_alive()
        go_on.set()
        worker.join()
        looking.join()
        assert not waited
        assert not isinstance(leased[0], NoQuestion)


def test_an_undo_folds_from_the_newest_snapshot_that_is_still_valid(tmp_path, monkeypatch):
    desk = Desk(small_project(tmp_path / "mail", n=200))
    work(desk, n=20)
    desk.state._snapshots.write()
    receipts, _ = work(desk, n=10)
    started = []
    fold = type(desk.state.model)._fold
    monkeypatch.setattr(
        type(desk.state.model), "_fold", lambda self, learner, last: started.append(last) or fold(self, learner, last)
    )
    desk.undo("ada", receipts[-1].answer_id)
    desk.settle()
    assert min(started) > 0  # it was 0: the whole log
    assert is_the_log_without_snapshots(desk)


def test_an_undo_of_what_every_snapshot_knows_folds_the_whole_log(tmp_path):
    desk = Desk(small_project(tmp_path / "mail", n=200))
    receipts, _ = work(desk, n=20)
    desk.state._snapshots.write()
    desk.undo("ada", receipts[0].answer_id)
    desk.settle()
    assert is_the_log_without_snapshots(desk)


def test_a_clock_that_is_set_back_stretches_no_lease(tmp_path, caplog):
    day, even = Clock(), Clock()
    desk = Desk(small_project(tmp_path / "mail", n=60), clock=SteadyClock(day, even))
    held = desk.lease("ada", ttl=600.0)
    day.now -= 7200.0  # two hours back, and ten minutes pass
    day.now, even.now = day.now + 601.0, even.now + 601.0
    assert desk.held("ada") == []
    assert "jumped by -7200 s" in caplog.text
    desk.renew(held.lease_id, "ada", ttl=600.0)
    desk.close()
    again = Desk(Project.open(tmp_path / "mail"), clock=SteadyClock(day, even))  # now it is two hours earlier
    even.now += 601.0
    assert again.held("ada") == []
    again.close()


def test_an_export_has_the_answers_of_unfinished_questions(desk_of):
    desk = desk_of()
    first = desk.lease("ada")
    receipt = desk.answer("ada", first.id, first.lease_id, {first.labels[0]: 0.5}, "a")
    assert receipt.follow_up is not None
    other = desk.lease("bob")
    undone = desk.answer("bob", other.id, other.lease_id, {other.labels[0]: 0.5}, "b")
    desk.undo("bob", undone.answer_id)
    (line,) = [json.loads(line) for line in desk.export("jsonl")]
    assert (line["id"], line["finished"], line["costs"]) == (first.example_id, False, {first.labels[0]: 0.5})
    assert [answer["who"] for answer in line["answers"]] == ["ada"]
    question = receipt.follow_up
    while question is not None:
        question = desk.answer("ada", question.id, question.lease_id, {}, f"a{question.id}").follow_up
    (line,) = [json.loads(line) for line in desk.export("jsonl")]
    assert (line["id"], line["finished"]) == (first.example_id, True)


def test_an_error_about_an_image_names_the_users_file(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "holiday.png").write_bytes(b"no image")
    with pytest.raises(FileFormatError) as caught:
        Project.create(tmp_path / "pets", tmp_path / "photos", ["cat", "dog"])
    assert "photos/holiday.png must be an image" in str(caught.value)
    assert ".part" not in str(caught.value)
