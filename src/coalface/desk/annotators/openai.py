"""Judges at an OpenAI-compatible endpoint: ``openai:MODEL`` asks it one question at a time, a batch many in a file.

The address and the key come from the environment. In the files of OpenAI's batch endpoint, a line is a request or a
response.
"""

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from coalface.buying import (
    DEFAULT_URL,
    ChatEndpoint,
    CostForm,
    InvalidReplyError,
    Judge,
    Prices,
    Prompt,
    TruthForm,
    form_of,
    messages_about,
)
from coalface.desk.annotators.batches import BatchAnswer
from coalface.desk.annotators.labelling import plain_project
from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.errors import InputError, in_one_line

_URL = "/v1/chat/completions"


def _endpoint_from(environment: Mapping[str, str], timeout: float) -> ChatEndpoint:
    """The endpoint at OPENAI_BASE_URL with the key in OPENAI_API_KEY; a local endpoint may need no key."""
    url, key = environment.get("OPENAI_BASE_URL", "").strip(), environment.get("OPENAI_API_KEY", "").strip()
    if not url and not key:
        raise InputError(
            "An LLM judge needs the key of its endpoint in OPENAI_API_KEY, or the address of one in OPENAI_BASE_URL. "
            "Set one of them."
        )
    return ChatEndpoint(url or DEFAULT_URL, key, timeout)


def judge_of(
    desk: Desk,
    name: str,
    model: str,
    prompt: Prompt,
    *,
    price_in: float | None = None,
    price_out: float | None = None,
    timeout: float = 60.0,
    **more: Any,
) -> Judge:
    """A judge of a project's questions; prices that are not given are those of the project's budget."""
    limits = desk.project.limits
    if desk.project.pool.kind == "image":
        raise InputError("An LLM judge reads texts and tables, but the project's examples are images. Use a program.")
    prices = Prices(
        limits.price_in if price_in is None else price_in, limits.price_out if price_out is None else price_out
    )
    if limits.price is not None and prices == Prices():
        raise InputError(
            "The project has a budget in money, so an LLM judge needs the prices of a million tokens. "
            "Pass --price-in and --price-out."
        )
    endpoint, seed = _endpoint_from(os.environ, timeout), desk.project.seed
    return Judge(name, model, endpoint, desk.calls(name), prompt=prompt, prices=prices, seed=seed, **more)


def shown_prompt(project: Project, prompt: Prompt) -> str:
    """The messages about the first example of a project, with all labels, as a judge would get them."""
    place = int(project.pool.order[0])
    question = {"content": project.pool.content(place), "labels": project.offered, **plain_project(project)}
    messages = messages_about(question, prompt)
    return "\n\n".join(f"[{message['role']}]\n{message['content']}" for message in messages)


class OpenAIForm:
    """Requests with the prompt of an LLM judge; "custom_id" names the question and its lease."""

    def __init__(
        self,
        project: Project,
        model: str,
        prompt: Prompt | None = None,
        *,
        prices: Prices | None = None,
        max_tokens: int = 2000,
    ) -> None:
        self._project, self._model, self._prompt = project, model, prompt or Prompt()
        limits = project.limits
        self._prices = prices or Prices(limits.price_in, limits.price_out)
        self._max_tokens = max_tokens

    def line(self, question: dict[str, Any], lease_id: str) -> dict[str, Any]:
        """The request about a question."""
        schema = {"name": "reply", "strict": True, "schema": form_of(question).schema}
        body = {
            "model": self._model,
            "messages": messages_about(question, self._prompt),
            "temperature": 0,
            "seed": self._project.seed,
            "max_tokens": self._max_tokens,
            "response_format": {"type": "json_schema", "json_schema": schema},
        }
        return {"custom_id": f"{question['id']}/{lease_id}", "method": "POST", "url": _URL, "body": body}

    def answer(self, line: dict[str, Any], asked: Callable[[str, str], list[str]]) -> BatchAnswer | None:
        """The answer in a response; an InputError if the model gave no valid one."""
        question_id, slash, lease_id = str(line.get("custom_id", "")).partition("/")
        if not slash:
            raise InputError('a line must have the "custom_id" of its request. Keep it as it was.')
        if "response" not in line and "error" not in line:
            return None  # a request
        labels, (text, usage) = asked(question_id, lease_id), _said(line)
        try:
            reply = self._form(text).read(text)
        except InvalidReplyError as problem:
            raise InputError(f"the reply about question {question_id} is invalid: {in_one_line(problem)}") from None
        if "costs" in reply:
            missing = [label for label in labels if label not in reply["costs"]]
            if missing:
                raise InputError(
                    f"the reply about question {question_id} has no cost of {missing[0]!r}. It can be sent again."
                )
            reply = {"costs": {label: reply["costs"][label] for label in labels}}
        if self._prices != Prices():
            tokens = (usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0)
            reply["price"] = self._prices.of(*tokens)
        return question_id, lease_id, reply

    def _form(self, text: str) -> CostForm | TruthForm:
        """The form of a reply: a true label, or costs of the labels that it has; first names stay valid."""
        project = self._project
        labels = tuple(dict.fromkeys((*project.labels, *project.first_labels)))
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if project.true_label or (isinstance(found, dict) and "label" in found):
            return TruthForm(labels)
        costs = found.get("costs") if isinstance(found, dict) else None
        given = tuple(label for label in labels if isinstance(costs, dict) and label in costs)
        levels = {level.name: float(level.cost) for level in project.levels}
        return CostForm(given or labels, levels, project.cost_bounds)


def _said(line: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The text of a response and the tokens it took."""
    name = line["custom_id"]
    response = line.get("response") or {}
    if line.get("error") or response.get("status_code") != 200:
        said = json.dumps(line.get("error") or response.get("body") or response)[:200]
        raise InputError(f"request {name} failed: {said}. It can be sent again.")
    try:
        body = response["body"]
        message = body["choices"][0]["message"]
        if message.get("refusal"):
            raise InputError(f"the model refused request {name}: {str(message['refusal'])[:200]}")
        return str(message.get("content") or ""), dict(body.get("usage") or {})
    except (KeyError, IndexError, TypeError, AttributeError):
        raise InputError(f"the response to request {name} is not a chat completion. It can be sent again.") from None
