"""Programs as annotators: a function, a command and an HTTP endpoint give the same model; failures are retried."""

import json
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from coalface.buying.oracles.programs import AnnotatorError, CommandAnnotator, annotator_of, reply_of
from coalface.desk.annotators.labelling import Labelling
from coalface.desk.service.desk import Desk
from coalface.errors import InputError
from tests.desk.projects import same_bits, small_project

JUDGE = """
import json, sys
for line in sys.stdin:
    question = json.loads(line)
    long = len(question["content"]["text"]) > 20
    costs = {label: float(long == (label == "refund")) for label in question["labels"]}
    print(json.dumps({"costs": costs}), flush=True)
"""


def judge(question):
    long = len(question["content"]["text"]) > 20
    return {label: float(long == (label == "refund")) for label in question["labels"]}


class Endpoint(BaseHTTPRequestHandler):
    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"costs": judge(question), "price": 0.25}).encode())

    def log_message(self, *_):
        pass


@contextmanager
def listening(handler):
    """A server in its own thread; yields its address."""
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def endpoint():
    with listening(Endpoint) as address:
        yield f"{address}/judge"


def labelled(folder, annotator, **settings):
    desk = Desk(small_project(folder, n=40))
    try:
        done = Labelling(desk, annotator, pause=lambda _: None, **settings).run()
        return desk, done
    finally:
        desk.close()


def test_a_function_a_command_and_an_endpoint_give_the_same_model(tmp_path, endpoint):
    (tmp_path / "judge.py").write_text(JUDGE)
    command = annotator_of(f"{sys.executable} {tmp_path / 'judge.py'}")
    results = [
        labelled(tmp_path / "function", judge),
        labelled(tmp_path / "command", command),
        labelled(tmp_path / "http", annotator_of(endpoint)),
    ]
    command.close()
    assert {done.stopped for _, done in results} == {"nothing-worth-asking"}
    assert {done.answers for _, done in results} == {results[0][1].answers}
    first = results[0][0].state.model.learner
    assert all(same_bits(first, desk.state.model.learner) for desk, _ in results[1:])
    assert [done.price for _, done in results] == [0.0, 0.0, 0.25 * results[2][1].answers]


def test_several_workers_ask_each_question_once(tmp_path):
    asked, changed, busy, most = [], threading.Condition(), [0], [0]

    def slow(question):
        with changed:
            asked.append(question["id"])
            busy[0] += 1
            most[0] = max(most[0], busy[0])
            changed.notify_all()
            changed.wait_for(lambda: most[0] > 1, 60)  # the first one waits for a second one
            busy[0] -= 1
        return judge(question)

    desk, done = labelled(tmp_path / "p", slow, workers=4)
    assert len(asked) == len(set(asked)) == done.answers
    assert 1 < most[0] <= 4
    assert desk.state.model.learner.round_ == 41


def test_failures_are_retried_with_growing_pauses(tmp_path):
    pauses, calls = [], [0]

    def moody(question):
        calls[0] += 1
        if calls[0] in (2, 3, 4):
            raise OSError("busy")
        return judge(question)

    desk = Desk(small_project(tmp_path / "p", n=10))
    done = Labelling(desk, moody, backoff=2.0, retries=3, pause=pauses.append).run()
    desk.close()
    assert [pause for pause in pauses if pause >= 2.0] == [2.0, 4.0, 8.0]
    assert done.failures == 0


@pytest.mark.parametrize(("retries", "count"), [(0, "1 time"), (1, "2 times")])
def test_an_annotator_that_always_fails_stops_the_work_and_loses_no_question(tmp_path, retries, count):
    def clueless(_):
        raise KeyError("delivery")

    desk = Desk(small_project(tmp_path / "p", n=10))
    with pytest.raises(AnnotatorError, match=f"failed {count} on example '[^']+': KeyError: 'delivery'$"):
        Labelling(desk, clueless, retries=retries, pause=id).run()
    assert desk.progress().examples == 0
    assert desk.lease("ada").labels
    desk.close()


def test_a_command_that_hangs_is_killed(tmp_path):
    hanging = CommandAnnotator(f'{sys.executable} -c "import time; time.sleep(60)"', timeout=0.2)
    with pytest.raises(AnnotatorError, match=r"within 0\.2 seconds"):
        hanging({"labels": []})
    hanging.close()
    ended = CommandAnnotator(f'{sys.executable} -c "pass"', timeout=20)
    with pytest.raises(AnnotatorError, match="gave no valid reply: it ended"):
        ended({"labels": []})
    ended.close()


@pytest.mark.parametrize("raw", [None, 3, [1], "x"])
def test_replies_must_be_mappings(raw):
    with pytest.raises(AnnotatorError, match="mapping"):
        reply_of(raw)


def test_wrong_names_are_refused():
    for spec in ("no_such_module:judge", "json:judge", ""):
        with pytest.raises(InputError):
            annotator_of(spec)
    with pytest.raises(InputError, match="cannot be run"):
        annotator_of("no-such-command-anywhere --fast")({})


def test_a_limit_is_kept(tmp_path):
    _, done = labelled(tmp_path / "p", judge, limit=5)
    assert (done.answers, done.stopped) == (5, "limit")


@pytest.mark.parametrize("limit", [1, 2, 7])
def test_several_workers_keep_the_limit_and_release_their_questions(tmp_path, limit):
    lock, asked = threading.Lock(), []

    def slow(question):
        with lock:
            asked.append(question["id"])
        threading.Event().wait(0.01)
        return dict.fromkeys(question["labels"], 1.0)

    desk = Desk(small_project(tmp_path / "p", n=40, learner={"rule": {"warm_up": 0}}))
    done = Labelling(desk, slow, workers=5, limit=limit, pause=lambda _: threading.Event().wait(0.001)).run()
    try:
        assert (done.answers, len(asked), done.stopped) == (limit, limit, "limit")
        assert desk.held("program") == []
    finally:
        desk.close()


def test_a_failure_does_not_count_towards_the_limit(tmp_path):
    calls = [0]

    def moody(question):
        calls[0] += 1
        if calls[0] == 2:
            raise OSError("busy")
        return judge(question)

    _, done = labelled(tmp_path / "p", moody, limit=4, workers=3, retries=0)
    assert (done.answers, done.failures, done.stopped) == (4, 1, "limit")


def test_workers_wait_while_the_pool_is_scanned(tmp_path, monkeypatch):
    monkeypatch.setattr("coalface.desk.service.queue._MOST_SCANNED", 1)
    _, done = labelled(tmp_path / "p", lambda question: dict.fromkeys(question["labels"], 0.5))
    assert done.stopped == "nothing-worth-asking"


def test_a_command_that_does_not_read_is_killed(tmp_path):
    deaf = CommandAnnotator(f'{sys.executable} -c "import time; time.sleep(60)"', timeout=0.3)
    started = time.monotonic()
    with pytest.raises(AnnotatorError, match=r"within 0\.3 seconds"):
        deaf({"content": "x" * 1_000_000})  # more than a pipe holds
    assert time.monotonic() - started < 50  # not the minute of the command
    deaf.close()


def test_a_long_question_and_a_long_reply_pass_at_the_same_time(tmp_path):
    echo = CommandAnnotator(f"{sys.executable} -uc 'import sys\nfor line in sys.stdin: print(line, end=str())'")
    question = {"content": "x" * 500_000}
    assert echo(question) == question
    assert echo({"labels": []}) == {"labels": []}
    echo.close()


def test_an_endpoint_that_sends_too_slowly_times_out(dripping):
    with pytest.raises(AnnotatorError, match=r"within 0\.3 seconds"):  # the server sends until the test ends
        annotator_of(dripping, timeout=0.3)({"labels": []})


@pytest.fixture
def dripping():
    """A server that sends single bytes, each before the timeout of a socket."""
    over = threading.Event()

    class Drip(BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_response(200)
            self.end_headers()
            while not over.wait(0.05):
                try:
                    self.wfile.write(b" ")
                except OSError:
                    return

        def log_message(self, *_):
            pass

    with listening(Drip) as address:
        yield f"{address}/"
        over.set()
