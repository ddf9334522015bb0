"""The form of a judge's reply: the instruction and JSON schema that ask for it, and the strict check of what comes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coalface.data.numbers import is_number

_LONGEST_SHOWN = 80


class InvalidReplyError(ValueError):
    """A reply that breaks its form; the message tells the judge what is wrong."""


@dataclass(frozen=True)
class CostForm:
    """A cost for each label: one of the ``levels`` (name -> cost) or, without levels, a number within ``bounds``.

    >>> form = CostForm(("billing", "refund"), {}, (0.0, 1.0))
    >>> form.read('{"costs": {"billing": 0.5, "refund": null}}')
    {'costs': {'billing': 0.5, 'refund': None}}
    >>> form.read('{"costs": {"billing": 7, "refund": null}}')
    Traceback (most recent call last):
    ...
    coalface.buying.oracles.reply_forms.InvalidReplyError: The cost of "billing" must lie from 0 to 1, got 7.
    """

    labels: tuple[str, ...]
    levels: Mapping[str, float]
    bounds: tuple[float, float]

    @property
    def instruction(self) -> str:
        """What the judge is told about the reply."""
        low, high = self.bounds
        rule = f"a number from {low:g} to {high:g}"
        if self.levels:
            rule = f"one of the levels {', '.join(json.dumps(name, ensure_ascii=False) for name in self.levels)}"
        form = ", ".join(f"{json.dumps(label, ensure_ascii=False)}: ..." for label in self.labels)
        return (
            "You judge how bad each label would be for one example. Reply with one JSON object and nothing else: "
            f'{{"costs": {{{form}}}}}. Give every label exactly once. Each cost is {rule}, or null if you can\'t tell.'
        )

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the reply."""
        one: dict[str, Any] = {"type": ["number", "null"]}
        if self.levels:
            one = {"type": ["string", "null"], "enum": [*self.levels, None]}
        return _object({"costs": _object(dict.fromkeys(self.labels, one))})

    def read(self, text: str) -> dict[str, Any]:
        """The costs in a reply; an InvalidReplyError says what is wrong."""
        costs = _only(text, "costs")
        if not isinstance(costs, dict):
            raise InvalidReplyError(f'"costs" must be a JSON object of label: cost, got {_shown(costs)}.')
        unknown = [label for label in costs if label not in self.labels]
        missing = [label for label in self.labels if label not in costs]
        if unknown:
            raise InvalidReplyError(f'"costs" must have only the labels asked about, got {_shown(unknown[0])}.')
        if missing:
            raise InvalidReplyError(f'"costs" must have every label asked about, {_shown(missing[0])} is missing.')
        return {"costs": {label: self._cost(label, costs[label]) for label in self.labels}}

    def _cost(self, label: str, value: Any) -> float | None:
        if value is None:
            return None
        if self.levels:
            if not isinstance(value, str) or value not in self.levels:
                listed = ", ".join(map(_shown, self.levels))
                raise InvalidReplyError(
                    f"The cost of {_shown(label)} must be null or one of {listed}, got {_shown(value)}."
                )
            return self.levels[value]
        if not is_number(value):
            raise InvalidReplyError(f"The cost of {_shown(label)} must be a number or null, got {_shown(value)}.")
        low, high = self.bounds
        if not low <= value <= high:
            raise InvalidReplyError(
                f"The cost of {_shown(label)} must lie from {low:g} to {high:g}, got {_shown(value)}."
            )
        return float(value)


@dataclass(frozen=True)
class TruthForm:
    """The true label.

    >>> TruthForm(("billing", "refund")).read('{"label": "refund"}')
    {'label': 'refund'}
    """

    labels: tuple[str, ...]

    @property
    def instruction(self) -> str:
        """What the judge is told about the reply."""
        return (
            "You choose the right label of one example. Reply with one JSON object and nothing else: "
            '{"label": "..."}. The label is one of those listed, or null if you can\'t tell.'
        )

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the reply."""
        return _object({"label": {"type": ["string", "null"], "enum": [*self.labels, None]}})

    def read(self, text: str) -> dict[str, Any]:
        """The label in a reply; an InvalidReplyError says what is wrong."""
        label = _only(text, "label")
        if label is not None and (not isinstance(label, str) or label not in self.labels):
            raise InvalidReplyError(f'"label" must be null or one of the labels listed, got {_shown(label)}.')
        return {"label": label}


Form = CostForm | TruthForm


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _only(text: str, name: str) -> Any:
    """The one value of the JSON object in a text; a fence of a code block around it is allowed."""
    try:
        found = json.loads(_without_fence(text), object_pairs_hook=_without_doubles, parse_constant=_no_constant)
    except (ValueError, RecursionError) as problem:
        if isinstance(problem, InvalidReplyError):
            raise
        raise InvalidReplyError(f"The reply must be one JSON object, got {_shown(text)}.") from None
    if not isinstance(found, dict) or list(found) != [name]:
        raise InvalidReplyError(f'The reply must be a JSON object with only "{name}", got {_shown(text)}.')
    return found[name]


def _without_fence(text: str) -> str:
    lines = text.strip().splitlines()
    fenced = len(lines) > 2 and lines[0] in ("```", "```json") and lines[-1] == "```"
    return "\n".join(lines[1:-1]) if fenced else text


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InvalidReplyError("The reply must give every label exactly once, got one twice.")
    return found


def _no_constant(text: str) -> Any:
    raise InvalidReplyError(f"A cost must be a number or null, got {text}.")


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
