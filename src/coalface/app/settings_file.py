"""A project's settings as TOML that a person can read and edit."""

import json
from collections.abc import Mapping
from typing import Any

from coalface.errors import InputError

_HEAD = """\
# A coalface project. Edit what you like and start it again; the seed, the labels and the scale's bounds are what the
# answers so far rest on, and stay as they are.
"""
_NOTES = {
    "scale": "# Costs lie within the bounds. With levels, annotators choose one; without, they give any number.",
    "budget": "# Any of: examples, costs, price (with price_per_example and price_per_cost).",
    "learner": "# Parameters of CoalClassifier that differ from its defaults.",
}


def settings_text(settings: Mapping[str, Any]) -> str:
    """The text of project.toml.

    >>> print(settings_text({"title": "Mail", "scale": {"bounds": [0, 1]}}).split("stay as they are.")[1].strip())
    title = "Mail"
    <BLANKLINE>
    # Costs lie within the bounds. With levels, annotators choose one; without, they give any number.
    [scale]
    bounds = [0, 1]
    """
    plain = {name: value for name, value in settings.items() if not isinstance(value, Mapping)}
    lines = [_HEAD, *(f"{name} = {_value(value)}" for name, value in plain.items())]
    for name, table in settings.items():
        if isinstance(table, Mapping):
            lines += ["", *([_NOTES[name]] if name in _NOTES else []), f"[{name}]"]
            lines += [f"{key} = {_value(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        items = [_value(item) for item in value]
        nested = any(isinstance(item, Mapping) for item in value)
        return "[\n  " + ",\n  ".join(items) + ",\n]" if nested else "[" + ", ".join(items) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace(
            "\x7f", "\\u007f"
        )  # JSON's escapes are TOML's, but for one
    if value is None:
        raise InputError("A setting of a project must have a value, got None: a file cannot hold that. Leave it out.")
    return json.dumps(value)
