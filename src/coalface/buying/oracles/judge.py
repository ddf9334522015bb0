"""An LLM as annotator: one call asks about all labels of an example; replies are checked and their price is recorded.

A reply is written to the project's log before it is used, under the hash of its request. After a crash, the same
request finds it there. So a reply that was received is never bought again.
"""

import hashlib
import json
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from coalface.buying.calls import LOST, PAID, UNPAID, BudgetTooSmallError, Calls
from coalface.buying.oracles.chat import ChatEndpoint, Completion, EndpointBusyError, ReplyLostError
from coalface.buying.oracles.programs import AnnotatorError, NoAnswerError, RunEndedError
from coalface.buying.oracles.prompts import Prompt
from coalface.buying.oracles.reply_forms import CostForm, Form, InvalidReplyError, TruthForm
from coalface.errors import InputError

_LONGEST_WAIT = 300.0  # seconds; an endpoint that wants more is not waited for
_EXTRA_TOKENS = 256  # that endpoints add to the messages, at most


@dataclass(frozen=True)
class Prices:
    """The price of a million tokens, in the unit of the project's budget.

    >>> Prices(2.5, 10.0).of(400, 20)
    0.0012
    """

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """The price of so many tokens."""
        return (self.tokens_in * tokens_in + self.tokens_out * tokens_out) / 1e6


@dataclass(frozen=True)
class Patience:
    """How often a judge tries again and how long it waits: ``backoff`` seconds, then twice as long each time.

    A pause is drawn from the half below its length to its length, so that workers do not return together.
    """

    retries: int = 3
    backoff: float = 1.0
    pause: Callable[[float], object] = time.sleep
    draw: Callable[[], float] = random.random  # from 0 to 1

    def wait(self, attempt: int, wanted: float | None) -> None:
        """Wait after a failed attempt, counted from 0, for as long as the endpoint wants or the rule says."""
        usual = self.backoff * 2.0**attempt * (0.5 + 0.5 * self.draw())
        self.pause(min(usual, _LONGEST_WAIT) if wanted is None else wanted)

    def longest(self, timeout: float) -> float:
        """The seconds that one question takes, unless the endpoint asks for longer pauses or gives invalid replies."""
        return (self.retries + 1) * (timeout + self.backoff * 2.0**self.retries)


class Judge:
    """An LLM that answers questions; call it with a question as plain values, as programs get it."""

    def __init__(
        self,
        name: str,
        model: str,
        endpoint: ChatEndpoint,
        calls: Calls,
        *,
        prompt: Prompt | None = None,
        prices: Prices | None = None,
        patience: Patience | None = None,
        seed: int = 0,
        max_tokens: int = 2000,
    ) -> None:
        self._name, self._model, self._endpoint, self._calls = name, model, endpoint, calls
        self._prompt, self._prices = prompt or Prompt(), prices or Prices()
        self._patience, self._seed, self._max_tokens = patience or Patience(), seed, max_tokens
        self._lock, self._asking = threading.Lock(), dict[str, threading.Lock]()
        self.invalid = 0  # replies that broke the form
        self.refusals = 0

    def close(self) -> None:
        """Close all connections."""
        self._endpoint.close()

    def __call__(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer, at no further price: each call is booked on its own."""
        form, messages = form_of(question), messages_about(question, self._prompt)
        bought, problem = False, ""
        for _ in range(self._patience.retries + 1):
            said, fresh = self._said(question["example_id"], messages, form)
            bought = bought or fresh
            try:
                reply = _read(said, form)
            except InvalidReplyError as invalid:
                problem = str(invalid)
                self._count(said, fresh)
                messages = [*messages, *_told(said, problem)]
                continue
            if "costs" in reply:
                reply = {"costs": {label: reply["costs"][label] for label in question["labels"]}}
            return reply | {"price": 0.0}
        times = "1 time" if self._patience.retries == 0 else f"{self._patience.retries + 1} times"
        raise NoAnswerError(
            f"{self._model} gave no valid answer about {question['example_id']!r}, asked {times}: {problem}",
            bought=bought,
        )

    def _count(self, said: Completion, fresh: bool) -> None:
        with self._lock:
            self.refusals += fresh and bool(said.refusal)
            self.invalid += fresh and not said.refusal

    def _said(self, example_id: str, messages: list[dict[str, str]], form: Form) -> tuple[Completion, bool]:
        """The model's reply, and whether it was bought now; a reply on record is used again."""
        key = json.dumps([self._name, self._model, self._seed, messages, form.schema])
        request = hashlib.sha256(key.encode()).hexdigest()
        with self._lock:
            lock = self._asking.setdefault(request, threading.Lock())
        with lock:
            known = self._calls.reply(request)
            if known is not None:
                return Completion(**known), False
            return self._buy(request, example_id, messages, form), True

    def _buy(self, request: str, example_id: str, messages: list[dict[str, str]], form: Form) -> Completion:
        sent = {"model": self._model, "messages": messages, "temperature": 0, "seed": self._seed}
        sent |= {"max_tokens": self._max_tokens, "schema": form.schema}
        size = len(json.dumps(sent, ensure_ascii=False).encode())  # a token has at least one byte
        at_most = self._prices.of(size + _EXTRA_TOKENS, self._max_tokens)
        attempt = 0
        while True:
            try:
                return self._call(request, example_id, sent, at_most)
            except (EndpointBusyError, ReplyLostError) as problem:
                wanted = problem.wait if isinstance(problem, EndpointBusyError) else None
                if attempt >= self._patience.retries or (wanted or 0.0) > _LONGEST_WAIT:
                    raise
                self._patience.wait(attempt, wanted)
                attempt += 1

    def _call(self, request: str, example_id: str, sent: Mapping[str, Any], at_most: float) -> Completion:
        """One call, booked before and after."""
        try:
            call = self._calls.begin(request, example_id, at_most)
        except BudgetTooSmallError as problem:
            raise RunEndedError(str(problem), "budget-too-small") from None
        started = time.monotonic()
        try:
            said = self._endpoint.complete(sent)
        except AnnotatorError as problem:
            self._calls.end(call, LOST if isinstance(problem, ReplyLostError) else UNPAID, problem=str(problem))
            raise
        used = {"tokens_in": said.tokens_in, "tokens_out": said.tokens_out}
        booked: dict[str, Any] = {name: count for name, count in used.items() if count is not None}
        if said.tokens_in is not None and said.tokens_out is not None:
            booked["price"] = self._prices.of(said.tokens_in, said.tokens_out)
        elif at_most == 0.0:
            booked["price"] = 0.0
        self._calls.end(call, PAID, request, time.monotonic() - started, reply=asdict(said), **booked)
        return said


def form_of(question: Mapping[str, Any]) -> Form:
    """The form of the reply to a question: about the labels asked now and those that may follow."""
    if question.get("true_label"):
        return TruthForm(tuple(question["labels"]))
    levels = {level["name"]: float(level["cost"]) for level in question.get("levels", ())}
    low, high = question["cost_bounds"]
    return CostForm(tuple(_labels_of(question)), levels, (low, high))


def messages_about(question: Mapping[str, Any], prompt: Prompt) -> list[dict[str, str]]:
    """The messages of the first call about a question."""
    return [
        {"role": "system", "content": form_of(question).instruction},
        {"role": "user", "content": prompt.filled(question, _labels_of(question))},
    ]


def model_in(spec: str) -> str | None:
    """The model in ``openai:MODEL``; None for the specification of another annotator.

    >>> model_in("openai:llama3:8b"), model_in("judges:severity")
    ('llama3:8b', None)
    """
    provider, _, model = spec.partition(":")
    if provider != "openai":
        return None
    if not model.strip():
        raise InputError("--annotator must name a model, as in openai:gpt-4o-mini, got 'openai:'.")
    return model.strip()


def _labels_of(question: Mapping[str, Any]) -> list[str]:
    return list(question["labels"] if question.get("true_label") else question.get("askable") or question["labels"])


def _read(said: Completion, form: Form) -> dict[str, Any]:
    if said.refusal:
        raise InvalidReplyError(f"It refused ({said.refusal[:200]}).")
    if said.cut_off:
        raise InvalidReplyError("The reply was cut off; it must be short. Raise --max-tokens if the model needs more.")
    return form.read(said.text)


def _told(said: Completion, problem: str) -> list[dict[str, str]]:
    """The invalid reply and what is wrong with it, as further messages."""
    told = f"{problem} Reply again in the required form. Use null where you can't tell."
    return [
        {"role": "assistant", "content": said.text or said.refusal or "(no text)"},
        {"role": "user", "content": told},
    ]
