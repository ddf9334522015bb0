"""``openai:MODEL``: a judge at an OpenAI-compatible endpoint, whose address and key come from the environment."""

import os
from collections.abc import Mapping
from typing import Any

from coalface.buying.oracles.chat import DEFAULT_URL, ChatEndpoint
from coalface.buying.oracles.judge import Judge, Patience, Prices, messages_about
from coalface.buying.oracles.prompts import Prompt
from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.errors import InputError


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
    patience: Patience,
    timeout: float = 60.0,
    max_tokens: int = 2000,
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
    return Judge(
        name,
        model,
        _endpoint_from(os.environ, timeout),
        desk.calls(name),
        prompt=prompt,
        prices=prices,
        patience=patience,
        seed=desk.project.seed,
        max_tokens=max_tokens,
    )


def shown_prompt(project: Project, prompt: Prompt) -> str:
    """The messages about the first example of a project, with all labels, as a judge would get them."""
    place = int(project.pool.order[0])
    question: dict[str, Any] = {
        "content": project.pool.content(place),
        "labels": project.offered,
        "question": project.question,
        "guidelines": project.guidelines,
        "levels": [vars(level) for level in project.levels],
        "cost_bounds": list(project.cost_bounds),
        "true_label": project.true_label,
    }
    messages = messages_about(question, prompt)
    return "\n\n".join(f"[{message['role']}]\n{message['content']}" for message in messages)
