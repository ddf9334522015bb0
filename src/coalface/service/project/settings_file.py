"""A project's settings as TOML that a person can read and edit."""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from coalface.errors import FileFormatError, InputError
from coalface.files.atomic import atomic_write
from coalface.rounds.sql_engines import without_password
from coalface.service.project.ownership import new_id
from coalface.service.project.texts import whole_text

SETTINGS = "project.toml"
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_HEAD = """\
# A coalface project. Edit what you like and start it again; the id, the seed, the labels and the scale's bounds are
# what the answers so far rest on, and stay as they are.
"""
_NOTES = {
    "scale": "# Costs lie within the bounds. With levels, annotators choose one; without, they give any number.",
    "budget": "# Any of: examples, costs, price (with price_per_example and price_per_cost).",
    "learner": '# Parameters of CoalClassifier that differ from its defaults; alike = "none" is its None.',
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
    lines = [_HEAD, *(_line(name, value) for name, value in plain.items())]
    for name, table in settings.items():
        if isinstance(table, Mapping):
            lines += ["", *([_NOTES[name]] if name in _NOTES else []), f"[{_key(name)}]"]
            lines += [_line(key, value) for key, value in table.items()]
    return "\n".join(lines) + "\n"


def write_settings(folder: Path, settings: Mapping[str, Any]) -> None:
    """Write project.toml; where the database takes a password, only its owner may read it."""
    url = str(settings.get("database", ""))
    with atomic_write(folder / SETTINGS, private=without_password(url) != url) as file:
        file.write(settings_text(settings).encode())


def read_settings(folder: Path) -> dict[str, Any]:
    """What project.toml says; a project that has no id yet gets one."""
    path = folder / SETTINGS
    try:
        text = path.read_text(encoding="utf-8")
        settings = tomllib.loads(text)
    except FileNotFoundError:
        raise FileFormatError(f"{folder} is not a project: it has no {SETTINGS}. Make one with init.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise FileFormatError(f"{path} must be TOML ({problem}). Correct it.") from None
    if "id" not in settings:
        settings["id"] = new_id()
        with atomic_write(path) as file:
            file.write(f"{_line('id', settings['id'])}\n{text}".encode())
    return settings


def _line(name: str, value: Any) -> str:
    return f"{_key(name)} = {_value(name, value)}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name, name)


def _value(name: str, value: Any) -> str:
    plain = value.tolist() if isinstance(value, np.generic | np.ndarray) else value
    if isinstance(plain, Mapping):
        return "{" + ", ".join(_line(str(key), item) for key, item in plain.items()) + "}"
    if isinstance(plain, list | tuple):
        items = [_value(name, item) for item in plain]
        nested = any(isinstance(item, Mapping) for item in plain)
        return "[\n  " + ",\n  ".join(items) + ",\n]" if nested else "[" + ", ".join(items) + "]"
    if isinstance(plain, str):
        return _text(name, plain)
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, int | float):
        return repr(plain)  # Python's inf and nan are TOML's
    if plain is None:
        raise InputError(f"The setting {name} must have a value, got None: a file cannot hold that. Leave it out.")
    raise InputError(f"The setting {name} must be a number, a text, a list or a table, got {value!r:.60}.")


def _text(name: str, text: str) -> str:
    quoted = json.dumps(whole_text(f"The setting {name}", text), ensure_ascii=False)
    return quoted.replace("\x7f", "\\u007f")  # JSON's escapes are TOML's, but for one
