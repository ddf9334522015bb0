"""LLM judges against a fake endpoint: strict replies, retries, and books that agree with the endpoint's ledger."""

import json

import pytest

from coalface.buying.calls import Calls
from coalface.buying.oracles.chat import ChatEndpoint
from coalface.buying.oracles.judge import Judge, Patience, Prices
from coalface.buying.oracles.programs import AnnotatorError
from coalface.buying.oracles.reply_forms import CostForm, InvalidReplyError
from coalface.desk.annotators.labelling import Labelling, plain_question
from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.errors import InputError
from tests.desk.fake_llm import (
    KEY,
    always,
    always_honest,
    asked_labels,
    cut_off,
    fake_llm,
    half_way,
    honest,
    not_json,
    refusing,
    send,
    status,
    too_slow,
    without_usage,
)
from tests.desk.projects import same_bits, small_project

PRICES = Prices(2.5, 10.0)


class Run:
    """A judge of a small project, with recorded pauses."""

    def __init__(self, folder, fake, n=8, retries=2, timeout=5.0, prices=PRICES, make=True, **settings):
        settings = {"learner": {"rule": {"warm_up": 3}}} | settings
        self.desk = Desk(small_project(folder, n=n, **settings) if make else Project.open(folder))
        self.pauses = []
        patience = Patience(retries, backoff=1.0, pause=self.pauses.append, draw=lambda: 1.0)
        endpoint = ChatEndpoint(fake.url, KEY, timeout)
        self.judge = Judge("gpt", "gpt-5", endpoint, Calls(self.desk.state, "gpt"), prices=prices, patience=patience)

    def label(self, **settings):
        settings = {"retries": 0, "pause": lambda _: None} | settings
        return Labelling(self.desk, self.judge, "gpt", **settings).run()

    @property
    def book(self):
        return self.desk.state.counters.calls

    def answers(self):
        return [event.body["costs"] for event in self.desk.state.log.read(kinds=["answered"])]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.judge.close()
        self.desk.close()


def test_the_books_equal_the_endpoint_s_ledger_and_all_labels_of_an_example_take_one_call(tmp_path):
    with fake_llm() as fake, Run(tmp_path / "p", fake, n=14) as run:
        done = run.label(workers=4)
        assert done.stopped == "nothing-worth-asking"
        assert done.answers > run.desk.progress().examples  # some examples took several questions
        assert run.book.replies == len(fake.ledger) == run.desk.progress().examples
        assert run.desk.progress().price == pytest.approx(fake.price(2.5, 10.0), abs=1e-12)
        assert (run.book.price, run.book.possibly_paid) == (pytest.approx(fake.price(2.5, 10.0)), 0)
        sent = fake.requests[0]
        assert (sent["model"], sent["temperature"], sent["seed"]) == ("gpt-5", 0, 0)
        schema = sent["response_format"]["json_schema"]["schema"]
        assert list(schema["properties"]["costs"]["properties"]) == asked_labels(sent)


def test_a_judge_and_a_function_that_say_the_same_teach_the_same_bits(tmp_path):
    def function(question):
        fields = {
            "messages": [{"content": '{"costs": {' + ", ".join(f'"{x}": ...' for x in question["labels"]) + "}}"}]
        }
        fields["messages"].append({"content": f"==========\n{question['content']['text']}\n=========="})
        return json.loads(honest(fields))

    with fake_llm() as fake, Run(tmp_path / "p", fake, n=14) as run:
        run.label()
        twin = Desk(small_project(tmp_path / "q", n=14, learner={"rule": {"warm_up": 3}}))
        Labelling(twin, function).run()
        assert same_bits(run.desk.state.model.learner, twin.state.model.learner)
        twin.close()


TROUBLE = [  # what happens, the pause after it, and whether the call may have been paid
    (status(429, Retry_After="7"), 7.0, False),
    (status(429), 2.0, False),
    (status(500), 4.0, False),
    (status(503, Retry_After="2"), 2.0, False),
    (status(504), 16.0, True),
    (too_slow, 32.0, True),
    (half_way, 64.0, True),
    (not_json, 128.0, True),
]


def test_a_failed_call_is_repeated_after_a_pause_and_booked_as_what_it_was(tmp_path):
    def behave(request, n):
        return TROUBLE[n][0] if n < len(TROUBLE) else honest(request)

    with fake_llm(behave) as fake, Run(tmp_path / "p", fake, n=2, retries=8) as run:
        done = run.label(limit=1)
        assert (done.answers, done.failures) == (1, 0)
        assert run.pauses == [pause for _, pause, _ in TROUBLE]
        assert (run.book.replies, run.book.unpaid, run.book.possibly_paid) == (1, 4, 4)
        assert len(fake.ledger) > 1  # the endpoint charged for replies that the judge never saw
        assert 0 < fake.price(2.5, 10.0) - run.book.price <= run.book.at_risk


def test_pauses_double_and_a_judge_that_keeps_failing_ends_the_run(tmp_path):
    with fake_llm(always(status(500))) as fake, Run(tmp_path / "p", fake, retries=3) as run:
        with pytest.raises(AnnotatorError, match="status 500"):
            run.label()
        assert run.pauses == [1.0, 2.0, 4.0] * 3
        assert (run.book.replies, run.desk.progress().price, run.answers()) == (0, 0.0, [])


BAD = [
    "The cost is low.",
    '{"costs": {"refund": 0, "delivery": 0, "other": 0, "spam": 1}}',
    '{"costs": {"refund": 0}}',
    '{"costs": {"refund": 7, "delivery": 0, "other": 0}}',
    '{"costs": {"refund": -0.01, "delivery": 0, "other": 0}}',
    '{"costs": {"refund": 1e999, "delivery": 0, "other": 0}}',
    '{"costs": {"refund": "0", "delivery": 0, "other": 0}}',
    '{"costs": {"refund": true, "delivery": 0, "other": 0}}',
    '{"costs": {"refund": NaN, "delivery": 0, "other": 0}}',
    '{"costs": {"refund": 0, "refund": 1, "delivery": 0, "other": 0}}',
    '{"costs": {"refund": 0, "delivery": 0, "other": 0}, "sure": true}',
    '{"costs": [0, 0, 0]}',
    "[0, 0, 0]",
    "[" * 100_000,
    "",
]


@pytest.mark.parametrize("bad", BAD)
def test_a_reply_that_breaks_the_form_in_any_way_is_no_answer(bad):
    with pytest.raises(InvalidReplyError):
        CostForm(("refund", "delivery", "other"), {}, (0.0, 1.0)).read(bad)


def test_invalid_replies_are_paid_for_and_asked_again_with_their_errors(tmp_path):
    bad = ["The cost is low.", BAD[1], BAD[3], refusing, cut_off]

    def behave(request, n):
        return bad[n] if n < len(bad) else honest(request)

    with fake_llm(behave) as fake, Run(tmp_path / "p", fake, n=2, retries=5) as run:
        assert run.label(limit=1).failures == 0
        first, last = fake.requests[0], fake.requests[-1]
        assert last["messages"][:2] == first["messages"]
        told = [message["content"] for message in last["messages"][2:] if message["role"] == "user"]
        signs = ["one JSON object", "spam", "from 0 to 1", "refused", "cut off"]
        assert all(sign in text for sign, text in zip(signs, told, strict=True))
        assert (run.judge.invalid, run.judge.refusals) == (4, 1)
        assert (run.book.replies, run.pauses) == (6, [])
        assert run.book.price == pytest.approx(fake.price(2.5, 10.0), abs=1e-12)
        assert run.answers() == [json.loads(honest(first))["costs"]]


def test_can_t_tell_is_an_answer(tmp_path):
    def behave(request, n):
        return json.dumps({"costs": dict.fromkeys(asked_labels(request))})

    with fake_llm(behave) as fake, Run(tmp_path / "p", fake, n=2) as run:
        run.label()
        assert {cost for costs in run.answers() for cost in costs.values()} == {None}


def test_an_example_without_a_valid_answer_is_released_counted_and_never_bought_again(tmp_path):
    first = []

    def behave(request, n):
        first.append(request["messages"][1]) if not first else None
        return refusing if request["messages"][1] == first[0] else honest(request)

    with fake_llm(behave) as fake:
        with Run(tmp_path / "p", fake, n=12) as run:
            done = run.label()
            assert (done.failures, done.stopped) == (1, "unanswerable")
            assert run.judge.refusals == 3
            assert run.desk.held("gpt") == []
            bought = len(fake.ledger)
            assert run.book.replies == bought
        with Run(tmp_path / "p", fake, make=False) as run:
            done = run.label()
            assert (done.answers, done.failures, done.stopped) == (0, 1, "unanswerable")
            assert len(fake.ledger) == bought
            assert run.desk.lease("ada").labels  # a person can still answer


def test_a_reply_received_before_a_crash_is_used_and_not_bought_again(tmp_path):
    with fake_llm() as fake:
        with Run(tmp_path / "p", fake, n=3) as run:
            question = run.desk.lease("gpt", 3600)
            run.judge(plain_question(run.desk.project, question))  # the process ends before the answer is stored
            run.judge._calls.begin("a request", question.example_id, 0.25)  # and while another call is under way
            assert run.answers() == []
        with Run(tmp_path / "p", fake, make=False) as run:
            run.label(limit=1)
            assert len(fake.ledger) == len(run.answers()) == 1
            (answered,) = run.desk.recent("gpt")
            assert answered.question_id == question.id  # the question that it still held comes first
            assert (run.book.possibly_paid, run.book.at_risk) == (1, 0.25)
            assert run.desk.progress().price == run.book.price == pytest.approx(fake.price(2.5, 10.0))


def test_refusals_on_record_do_not_end_a_later_run(tmp_path):
    """Five of six examples are refused; the sixth is answered although five failures come before it."""

    with fake_llm(always(refusing)) as fake:
        with Run(tmp_path / "p", fake, n=6, retries=0) as run, pytest.raises(AnnotatorError, match="refused"):
            run.label()
        fake.behave = always_honest
        with Run(tmp_path / "p", fake, retries=0, make=False) as run:
            done = run.label()
            assert (done.failures, done.stopped) == (3, "unanswerable")
            assert done.answers >= 3


def test_an_endpoint_without_json_schema_or_a_parameter_is_asked_in_a_plainer_form(tmp_path):
    def behave(request, n):
        if request.get("response_format", {}).get("type") == "json_schema":
            return status(400, b'{"error": "unsupported"}')
        if "max_tokens" in request:
            return status(400, b"\"Unsupported parameter: 'max_tokens'. Use max_completion_tokens.\"")
        if "temperature" in request:
            return status(422, b'"temperature does not support 0"')
        return honest(request)

    with fake_llm(behave) as fake, Run(tmp_path / "p", fake, n=4) as run:
        run.label()
        assert len(fake.requests) == len(fake.ledger) + 3  # the plainer form is remembered
        assert fake.requests[-1]["response_format"] == {"type": "json_object"}
        assert fake.requests[-1]["max_completion_tokens"] == 2000
        assert run.book.price == pytest.approx(fake.price(2.5, 10.0), abs=1e-12)


def test_a_wrong_key_ends_the_run_at_once_and_the_key_is_stored_nowhere(tmp_path):
    def echo(_, handler, __):
        send(handler, f"wrong key: {handler.headers['Authorization']}".encode(), 401)

    with fake_llm(always(echo)) as fake, Run(tmp_path / "p", fake) as run:
        with pytest.raises(AnnotatorError, match=r"OPENAI_API_KEY") as caught:
            run.label(workers=2)
        assert KEY not in str(caught.value)
        assert run.pauses == []
        fake.behave = lambda request, n: f"You sent {KEY}" if n % 2 else honest(request)
        run.label()
    assert fake.headers[-1]["Authorization"] == f"Bearer {KEY}"
    for file in (tmp_path / "p").rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes()


def test_a_budget_in_money_is_never_passed(tmp_path):
    budget = {"price": 0.03, "price_in": 2.5, "price_out": 10.0}
    with fake_llm() as fake, Run(tmp_path / "p", fake, n=40, budget=budget, learner={"mellowness": 0.9}) as run:
        done = run.label(workers=4)
        assert done.stopped in ("budget-too-small", "budget-spent")
        assert 0.005 < run.desk.progress().price == pytest.approx(fake.price(2.5, 10.0), abs=1e-12)
        assert run.desk.progress().price <= 0.03


def test_a_reply_without_usage_counts_as_possibly_paid(tmp_path):
    with fake_llm(always(without_usage)) as fake, Run(tmp_path / "p", fake, n=3) as run:
        run.label(limit=1)
        assert (run.book.replies, run.book.possibly_paid, run.book.price) == (1, 1, 0.0)
        assert run.book.at_risk >= fake.price(2.5, 10.0)


def test_levels_are_given_by_name_and_true_labels_as_labels(tmp_path):
    levels = [{"name": "right", "cost": 0}, {"name": "harmful", "cost": 3, "anchor": "It insults."}]

    def by_name(request, n):
        assert "- harmful: It insults." in request["messages"][1]["content"]
        return json.dumps({"costs": dict.fromkeys(asked_labels(request), "harmful" if n else "annoying")})

    with fake_llm(by_name) as fake, Run(tmp_path / "p", fake, n=2, levels=levels) as run:
        run.label()
        assert run.judge.invalid == 1
        assert {cost for costs in run.answers() for cost in costs.values()} == {3.0}
    with fake_llm(always('{"label": "other"}')) as fake, Run(tmp_path / "q", fake, n=2, true_label=True) as run:
        run.label()
        assert run.answers()[0] == {"refund": 1.0, "delivery": 1.0, "other": 0.0}


@pytest.mark.parametrize("url", ["", "localhost:80", "ftp://host/v1", "https://ada:secret@host/v1", "http://[::1"])
def test_wrong_addresses_are_refused(url):
    with pytest.raises(InputError, match="OPENAI_BASE_URL"):
        ChatEndpoint(url, KEY)
