"""Pipelines of paid calls, against an endpoint of our own: which model to call at each stage."""

import json
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from copy import deepcopy
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

import numpy as np
import pytest

from coalface import CoalClassifier
from coalface.errors import InputError
from coalface.structured import PipelineTask, Reply, SearchLearner


class Endpoint(BaseHTTPRequestHandler):
    """Two models: both rewrite, the small one adds, the large one also multiplies. Some calls fail at first."""

    def do_POST(self):
        stage, model, text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.guard:
            self.server.asked.append((stage, model, text))
            fails = self.server.fails and self.server.asked.count((stage, model, text)) == 1 and "7" in text
        a, b = (int(word) for word in text.split() if word.isdigit())
        solved = str(a + b) if "plus" in text else str(a * b) if model == "large" else "?"
        body = json.dumps([text if stage == "rewrite" else solved, 0.05 if model == "small" else 0.3]).encode()
        self.send_response(503 if fails else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *parts):
        pass


@contextmanager
def endpoint(*, fails=False):
    """A server on this machine, and the function that calls it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    server.asked, server.fails, server.guard = [], fails, Lock()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()

    def call(stage, option, text):
        if option == "as it is":
            return Reply(text)
        with closing(HTTPConnection("127.0.0.1", server.server_port, timeout=60)) as connection:
            connection.request("POST", "/", json.dumps([stage, option, text]))
            answer = connection.getresponse()
            body = answer.read()
        if answer.status != 200:
            raise OSError(f"status {answer.status}")
        return Reply(*json.loads(body))

    try:
        yield server, call
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def sums(n):
    for i in range(n):
        a, b = i % 9, i % 7
        yield f"please {a} plus {b}", str(a + b)
        yield f"now {a} times {b}", str(a * b)


def pipeline(call, **options):
    stages = {"rewrite": ["as it is", "small"], "solve": ["small", "large"]}
    return PipelineTask(stages, call, lambda text, truth: float(text != truth), **options)


def test_it_learns_which_model_to_call_and_buys_no_call_twice():
    with endpoint() as (server, call):
        task = pipeline(call)
        learner = SearchLearner(task).fit(list(sums(30)))
        found = learner.predict(["please 40 plus 2", "now 12 times 12"])
        assert [text for text, _ in found] == ["42", "144"]
        assert [taken for _, taken in found] == [("as it is", "small"), ("as it is", "large")]
        assert len(server.asked) == len(set(server.asked))
        paid = sum(0.05 if model == "small" else 0.3 for _, model, _ in server.asked)
        assert task.spent == pytest.approx(paid)


def test_failed_roll_outs_are_bought_again_and_threads_share_what_was_bought():
    """In the warm-up every option is rolled out before a step takes it, so that only roll-outs meet failures."""
    with endpoint(fails=True) as (server, call), ThreadPoolExecutor(4) as threads:
        learner = SearchLearner(pipeline(call), executor=threads, at_once=4, retries=2, warm_up=100)
        learner.fit(list(sums(12)))
        times = {one: server.asked.count(one) for one in server.asked}
        assert any("7" in text for _, _, text in times)
        assert all(often == (2 if "7" in text else 1) for (_, _, text), often in times.items())


def test_without_retries_a_failed_call_is_an_error_and_what_was_bought_is_kept():
    with endpoint(fails=True) as (server, call):
        learner = SearchLearner(pipeline(call), warm_up=100)
        with pytest.raises(InputError, match=r"Example 14, step 0: the roll-out .* 503"):
            learner.fit(list(sums(12)))
        n_before = len(server.asked)
        assert learner.task.calls > 0
        for _ in range(8):  # each attempt gets one failed call further
            try:
                learner.fit(list(sums(12)))
            except InputError:
                continue
            break
        assert learner.episodes_ == 24
        assert max(server.asked.count(one) for one in server.asked[:n_before]) <= 2


def test_the_loss_is_the_error_and_the_price_of_all_calls():
    task = pipeline(lambda stage, option, _: Reply(f"{stage} by {option}", 0.5), price_weight=2.0)
    state = task.step(task.start(("some text", "solve by large")), "small")
    assert task.reference_loss(state) == 1.0
    assert task.loss(task.step(state, "large")) == 2.0
    assert task.loss(task.step(state, "small")) == 3.0
    assert (task.calls, task.spent) == (3, 1.5)


def test_a_copy_has_the_replies_bought_so_far_and_buys_on_its_own():
    bought = []

    def call(stage, option, text):
        bought.append((stage, option, text))
        return Reply(f"{stage} by {option}", 0.5)

    task = pipeline(call)
    task.step(task.start("some text"), "small")
    twin = deepcopy(task)
    assert (twin.calls, twin.spent, twin.stages) == (1, 0.5, task.stages)
    twin.step(twin.step(twin.start("some text"), "small"), "large")
    assert bought == [("rewrite", "small", "some text"), ("solve", "large", "rewrite by small")]
    assert (task.calls, twin.calls) == (1, 2)


def test_a_learner_of_a_pipeline_can_be_copied():
    learner = SearchLearner(pipeline(lambda stage, *_: Reply(stage))).fit(list(sums(3)))
    twin = deepcopy(learner)
    assert twin.task is not learner.task
    assert twin.predict(["please 1 plus 2"]) == learner.predict(["please 1 plus 2"])


@pytest.mark.parametrize("stages", [{}, {"solve": []}])
def test_a_pipeline_has_options(stages):
    with pytest.raises(InputError, match="stages must have at least one option each"):
        PipelineTask(stages, lambda *_: Reply(""), lambda *_: 0.0)


def test_a_reply_has_a_price():
    task = pipeline(lambda *_: Reply("text", -1.0))
    with pytest.raises(InputError, match="a price of at least 0"):
        task.step(task.start(("text", None)), "small")


@pytest.mark.parametrize(
    "reply", ["t", "text", ("text", "1"), ("text", None), None, {"text": "a", "price": 1.0}, (5, 0.0), ("a", np.inf)]
)
def test_anything_but_a_reply_is_refused_and_not_counted(reply):
    task = pipeline(lambda *_: reply)
    with pytest.raises(InputError, match="call must return a Reply: a text and a price of at least 0, got"):
        task.step(task.start("text"), "small")
    assert (task.calls, task.spent) == (0, 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stages": {"solve": "ab"}}, "options of 'solve' must be a list of texts, got 'ab'"),
        ({"stages": {"solve": [1, 2]}}, "options of 'solve' must be a list of texts"),
        ({"stages": [("solve", ["a"])]}, "stages must map"),
        ({"price_weight": -1}, "price_weight must be a finite number at least 0, got -1"),
        ({"price_weight": np.nan}, "price_weight must be a finite number"),
        ({"scale": 0}, "scale must be a finite number greater than 0, got 0"),
        ({"features": lambda _: [1.0]}, r"features must return a mapping .* got \[1\.0\]"),
        ({"error": lambda *_: -0.5}, r"error must return a number of at least 0, got -0\.5"),
    ],
)
def test_bad_parts_of_a_pipeline_are_refused_in_one_line(change, message):
    parts = {"stages": {"solve": ["a", "b"]}, "call": lambda *_: Reply("text"), "error": lambda *_: 0.0, **change}
    with pytest.raises(InputError, match=message):
        SearchLearner(PipelineTask(**parts)).fit([("text", "truth")])


@pytest.mark.parametrize("example", [5, None, ("text", "truth", "more"), (5, "truth")])
def test_an_example_of_a_pipeline_is_a_text_and_its_truth(example):
    with pytest.raises(InputError, match=r"an example must be \(text, truth\), or a text for predict, got"):
        SearchLearner(pipeline(lambda *_: Reply("text"))).fit([example])


def test_what_was_spent_can_be_read_while_calls_are_bought():
    class Price(float):
        """Once both are bought, adding it buys another call, as a thread may at any moment."""

        def __radd__(self, other):
            if task.calls >= 2:
                task.step(task.start(f"text {task.calls}"), "large")
            return other + float(self)

    task = pipeline(lambda _, option, __: Reply("text", Price(1.0) if option == "small" else 2.0))
    bought = {("rewrite", "small", text) for text in ("one", "two")}
    for wanted in bought:
        task._buy(wanted)
    assert task.spent == 2.0
    assert task.calls == 4


def test_different_truths_have_different_losses_though_they_look_alike():
    """NumPy does not print all numbers of a long array."""
    task = PipelineTask({"solve": ["small", "large"]}, lambda *_: Reply("text"), lambda _, truth: truth.max())
    examples = [("text", np.zeros(3000)), ("text", np.eye(1, 3000, 1500)[0])]
    learner = SearchLearner(task, CoalClassifier(rule="passive"))
    assert [learner.partial_fit([one]).rollouts_ for one in [*examples, *examples]] == [2, 4, 4, 4]
    assert task.key(task.start(("text", lambda: 1))) is None  # nothing is remembered of what cannot be recognised


def test_what_was_spent_can_be_read_when_a_call_fails():
    task = PipelineTask({"solve": ["small", "large"]}, lambda *_: Reply("text", 0.5), lambda *_: 0.0)
    task.step(task.start("text"), "large")
    failed = Future()
    failed.set_exception(OSError("it failed a moment after the calls were listed"))
    task._bought["solve", "small", "text"] = failed
    assert task.spent == 0.5
