"""Ready-made tasks: multiclass, entities and relations, and pipelines of paid calls against an endpoint of our own."""

import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from copy import deepcopy
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface import CoalClassifier
from coalface.errors import InputError
from coalface.search import MentionSentence, MulticlassTask, PipelineTask, RelationTask, Reply, SearchLearner

# -- multiclass ------------------------------------------------------------------------------------


def blobs(n=120, n_labels=5, seed=0):
    random = np.random.default_rng(seed)
    centres, truth = 2 * np.random.default_rng(9).normal(size=(n_labels, 4)), random.integers(n_labels, size=n)
    return centres[truth] + random.normal(size=(n, 4)), truth


def test_one_decision_per_example_is_the_classifier_itself():
    X, truth = blobs()
    learner = SearchLearner(MulticlassTask(range(5)), warm_up=0).fit(list(zip(X, truth.tolist(), strict=True)))
    classifier = CoalClassifier(range(5), model="online", warm_up=0)
    classifier.interview(X, lambda i, label: float(label != truth[i]))
    ours, theirs = learner.policy_.model_.arrays(), classifier.model_.arrays()
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
    assert learner.rollouts_ == classifier.costs_queried_ < 600
    assert learner.predict(list(X[:20])) == classifier.model_labels(X[:20]).tolist()


@pytest.mark.parametrize("n_labels", [2, 3, 5, 8])
def test_every_label_has_a_path_and_the_reference_finds_it(n_labels):
    task = MulticlassTask([f"label {k}" for k in range(n_labels)], binary=True)
    for label in task.labels.tolist():
        state = task.start(([1.0], label))
        while not task.finished(state):
            state = task.step(state, task.reference(state))
        assert (task.output(state), task.loss(state)) == (label, 0.0)


@given(seed=st.integers(0, 1000), taken=st.lists(st.sampled_from("01"), max_size=3))
def test_roll_outs_reach_the_least_cost_below_a_node(seed, taken):
    """Against walking to every label by hand."""
    costs = np.random.default_rng(seed).random((6, 6))
    task, truth = MulticlassTask(range(6), costs, binary=True), seed % 6
    state = task.start(([1.0], truth))
    for action in taken[:2]:
        state = task.step(state, action) if action in task.allowed(state) else state
    finished = [""]
    for _ in range(3 - len(state.taken)):
        finished = [path + bit for path in finished for bit in "01"]
    paths = ["".join(state.taken) + path for path in finished]
    losses = [costs[truth, int(path, 2)] for path in paths if int(path, 2) < 6]
    assert task.reference_loss(state) == pytest.approx(min(losses))
    found = {action: task.rollout(state, action) for action in task.allowed(state)}
    assert min(found.values()) == pytest.approx(min(losses))
    assert found[task.reference(state)] == pytest.approx(min(losses))


def test_binary_decisions_learn_what_words_tell_apart():
    random = np.random.default_rng(2)
    truth = random.integers(5, size=400).tolist()
    rows = [{f"word {label}": 1.0, f"noise {random.integers(9)}": 1.0} for label in truth]
    examples = list(zip(rows, truth, strict=True))
    learner = SearchLearner(MulticlassTask(range(5), binary=True)).fit(examples[:300])
    assert 1 + learner.score(examples[300:]) > 0.95
    assert learner.rollouts_ < 600  # of some 1,400


@pytest.mark.parametrize("costs", [np.zeros((2, 3)), -np.eye(3), np.full((3, 3), np.nan), [[0], [1, 2]], "costs"])
def test_a_bad_cost_matrix_is_refused(costs):
    with pytest.raises(InputError, match="cost_matrix must have 3 rows and columns"):
        MulticlassTask(range(3), costs)


# -- entities and relations ------------------------------------------------------------------------

TYPES, RELATIONS = ["person", "firm", "town"], ["works for", "lives in"]
RULES = {"works for": [("person", "firm")], "lives in": [("person", "town")]}


def sentences(n=60):
    people, firms, towns = ["Ada", "Bo", "Cy"], ["Acme", "Bolt"], ["Rome", "Oslo", "Bonn"]
    for i in range(n):
        who, firm, town = people[i % 3], firms[i % 2], towns[(i // 3) % 3]
        pair = [(0, 1), (3, 4)]
        yield MentionSentence(f"{who} works for {firm} .".split(), pair, ["person", "firm"], {(0, 1): "works for"})
        yield MentionSentence(f"{who} lives in {town} .".split(), pair, ["person", "town"], {(0, 1): "lives in"})
        three = [(0, 1), (2, 3), (4, 5)]
        yield MentionSentence(f"{firm} of {town} met {who} .".split(), three, ["firm", "town", "person"])


def errors(truth, found):
    """The loss from its definition."""
    pairs = itertools.permutations(range(len(truth.mentions)), 2)
    wrong = sum(a != b for a, b in zip(truth.types, found.types, strict=True))
    return wrong + sum(truth.relations.get(pair) != found.relations.get(pair) for pair in pairs)


def test_types_and_relations_are_learned_from_few_roll_outs():
    examples = list(sentences())
    learner = SearchLearner(RelationTask(TYPES, RELATIONS, RULES)).fit(examples)
    found = learner.predict([MentionSentence(one.words, one.mentions) for one in examples[-30:]])
    assert np.mean([errors(*pair) for pair in zip(examples[-30:], found, strict=True)]) < 0.1
    assert learner.score(examples[-30:]) == -np.mean([errors(*p) for p in zip(examples[-30:], found, strict=True)])
    decisions = sum(3 * len(one.mentions) ** 2 for one in examples)
    assert learner.rollouts_ < decisions / 4


def test_predictions_keep_to_the_rules():
    examples = list(sentences(2))  # too few to learn much
    learner = SearchLearner(RelationTask(TYPES, RELATIONS, RULES)).fit(examples)
    for beam in (1, 3):
        for found in learner.predict(list(sentences(20)), beam=beam):
            for (i, j), relation in found.relations.items():
                assert (found.types[i], found.types[j]) in RULES[relation]


def test_the_loss_of_any_labelling_is_its_number_of_errors():
    task, truth = RelationTask(TYPES, RELATIONS), list(sentences(1))[2]
    random = np.random.default_rng(1)
    for _ in range(20):
        state = task.start(truth)
        while not task.finished(state):
            allowed = task.allowed(state)
            state = task.step(state, allowed[random.integers(len(allowed))])
        assert task.loss(state) == errors(truth, task.output(state))


def related(relations):
    sentence = MentionSentence(["x", "and", "y"], [(0, 1), (2, 3)], ["a", "a"], relations)
    return RelationTask(["a"], ["r"]).start(sentence)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RelationTask(["a", "b"], ["a"]), "types and relations"),
        (lambda: RelationTask(["a"], ["r"], {"s": [("a", "a")]}), "rules must be about the types .* got 's'"),
        (lambda: RelationTask(["a"], ["r"], {"r": [("a", "c")]}), "rules must be about the types .* got 'c'"),
        (
            lambda: RelationTask(["a"], ["r"], wrong_relation=0),
            "wrong_relation must be a finite number greater than 0, got 0",
        ),
        (lambda: RelationTask(["a"], ["r"]).start(MentionSentence(["x"], [(0, 2)])), "within the 1 words"),
        (lambda: RelationTask(["a"], ["r"]).start(MentionSentence(["x"], [(0, 1)], ["b"])), "types must be among 'a'"),
        (lambda: RelationTask(["a"], ["r"]).start(MentionSentence(["x"], [(0, 1)], [])), "one per mention, 1, got 0"),
        (lambda: RelationTask(["a"], ["r"], wrong_relation="1 or so"), "wrong_relation must be .* got '1 or so'"),
        (lambda: RelationTask(["a"], ["r"], {"r": ("a", "a")}), "rules of 'r' must be a list of pairs"),
        (lambda: RelationTask(["a"], ["r"], {"r": [("a", "a", "a")]}), "rules of 'r' must be a list of pairs"),
        (lambda: RelationTask(["a"], ["r"], [("r", "a", "a")]), "rules must map each relation"),
        (lambda: RelationTask(["a"], ["r"]).start(("x", "y")), "an example must be a MentionSentence"),
        (lambda: RelationTask(["a"], ["r"]).start(MentionSentence("x y", [(0, 1)])), "words must be a list of texts"),
        (lambda: RelationTask(["a"], ["r"]).start(MentionSentence(["x"], [0])), r"a mention must be \(start, end\)"),
        (lambda: RelationTask(["a"], ["r"]).start(MentionSentence(["x"], [(0.0, 1.0)])), "a mention must be .* whole"),
        (lambda: related({(0, 2): "r"}), r"between two of the 2 mentions, .* got \(0, 2\)"),
        (lambda: related({(0, -1): "r"}), r"between two of the 2 mentions, .* got \(0, -1\)"),
        (lambda: related({(1, 1): "r"}), r"between two of the 2 mentions, .* got \(1, 1\)"),
        (lambda: related([((0, 1), "r")]), "relations must map pairs of mentions"),
        (lambda: related(None), "relations must map pairs of mentions"),
    ],
)
def test_bad_relations_are_refused_in_one_line(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize("features", ["words", ["a", "b"], None, np.ones((2, 2)), {"size": "large"}])
def test_bad_features_are_refused_alike_with_one_decision_or_several(features):
    for binary in (False, True):
        with pytest.raises(InputError, match=r"Example 0, step 0: .*must be"):
            SearchLearner(MulticlassTask(range(4), binary=binary)).fit([(features, 1)])


def test_a_text_is_not_a_flag():
    with pytest.raises(InputError, match="binary must be True or False, got 'no'"):
        MulticlassTask(range(4), binary="no")


# -- pipelines -------------------------------------------------------------------------------------


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
