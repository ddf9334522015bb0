"""A project's settings in project.toml, which people may edit; their comments survive when the program rewrites it."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from coalface.desk.log.ownership import new_id
from coalface.errors import FileFormatError, InputError
from coalface.files import atomic_write
from coalface.learner import ParameterGroup, plain_group
from coalface.models import CostModel, described_model
from coalface.rounds import without_password

try:
    import tomlkit
    from tomlkit.items import Item, Null, Table, Whitespace
except ModuleNotFoundError:  # pragma: no cover
    raise InputError("Projects need tomlkit. Run: pip install 'coalface[app]'") from None

SETTINGS = "project.toml"
_HEAD = (
    "A coalface project. Edit the settings and start the service again. The answers depend on the id, the seed, the",
    "labels and the bounds of the scale: do not change those.",
)
_NOTES = {
    "scale": "Costs lie within the bounds. With levels, annotators choose one; without, they give any number.",
    "budget": "Any of: examples, costs, price (with price_per_example, price_per_cost; price_in, price_out of LLMs). "
    "price_per_cost is a number, or a table of label = price.",
    "learner": "Parameters of CoalClassifier, such as rule = {warm_up = 10}, audits = {rate = 0.2}; "
    'model is "online" unless set; write None as "none".',
}
_NONE = "none"  # how TOML spells None
_TEXT = "label"  # of abstaining, which may be any text
_ADDRESS = re.compile("sqlite|postgres", re.IGNORECASE)


def settings_text(settings: Mapping[str, Any]) -> str:
    """The text of a new project.toml.

    >>> print(settings_text({"title": "Mail", "scale": {"bounds": [0, 1]}}).split("do not change those.")[1].strip())
    title = "Mail"
    <BLANKLINE>
    # Costs lie within the bounds. With levels, annotators choose one; without, they give any number.
    [scale]
    bounds = [0, 1]
    """
    document = tomlkit.document()
    for line in _HEAD:
        document.add(tomlkit.comment(line))
    document.add(tomlkit.nl())
    for name, value in settings.items():
        if not isinstance(value, Mapping):
            document.add(name, _item(name, value))
    for name, values in settings.items():
        if isinstance(values, Mapping):
            table = tomlkit.table()
            for key, value in values.items():
                table.add(str(key), _item(str(key), value))
            document.add(tomlkit.nl())
            if name in _NOTES:
                document.add(tomlkit.comment(_NOTES[name]))
            document.add(name, table)
    return tomlkit.dumps(document)


def changed_text(text: str, changes: Mapping[str, str | None]) -> str:
    """The text of a project.toml with other values, which come first if they are new; None removes a value.

    >>> print(changed_text("seed = 0  # chosen by dice", {"id": "a1", "title": None}))
    id = "a1"
    seed = 0  # chosen by dice
    """
    document = tomlkit.parse(text)
    new = {name: value for name, value in changes.items() if value is not None and name not in document}
    for name, value in changes.items():
        if value is None:
            document.pop(name, None)
        elif name not in new:
            document[name] = value
    return "".join(f"{name} = {_item(name, value).as_string()}\n" for name, value in new.items()) + document.as_string()


def without_addresses(text: str) -> str:
    """The text of a project.toml without its id, its database and the comments that may hold another address."""
    document = tomlkit.parse(changed_text(text, {"id": None, "database": None}))
    for item in _items(document.body):
        if _ADDRESS.search(item.trivia.comment):
            item.trivia.comment = ""
    return document.as_string()


def write_settings(folder: Path, text: str) -> None:
    """Write project.toml; if the address of the database has a password, only the owner may read the file."""
    url = str(tomllib.loads(text).get("database", ""))
    with atomic_write(folder / SETTINGS, private=without_password(url) != url) as file:
        file.write(text.encode())


def read_settings(folder: Path) -> dict[str, Any]:
    """The settings in project.toml; a project without an id gets one."""
    path = folder / SETTINGS
    try:
        text = path.read_text(encoding="utf-8")
        settings = tomllib.loads(text)
    except FileNotFoundError:
        raise FileFormatError(f"{folder} is not a project: it has no {SETTINGS}. Create one with init.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise FileFormatError(f"{path} must be TOML ({problem}). Correct it.") from None
    if "id" not in settings:
        settings["id"] = new_id()
        write_settings(folder, changed_text(text, {"id": settings["id"]}))
    return settings


def written_plain(value: Any) -> Any:
    """Parameters of a learner as the settings spell them: tables for objects, and "none" for None.

    >>> from coalface import Abstain
    >>> written_plain({"rule": {"warm_up": 10, "alike": None}, "audits": None, "abstain": Abstain(0.3)})
    {'rule': {'warm_up': 10, 'alike': 'none'}, 'audits': 'none', 'abstain': {'cost': 0.3}}
    """
    if isinstance(value, CostModel):
        value = described_model(value)
    if isinstance(value, ParameterGroup):
        value = plain_group(value)
    if isinstance(value, Mapping):
        return {name: written_plain(part) for name, part in value.items() if part is not None or name != _TEXT}
    return _NONE if value is None else value


def read_plain(value: Any) -> Any:
    """The parameters that ``written_plain`` wrote."""
    if isinstance(value, Mapping):
        return {name: part if name == _TEXT else read_plain(part) for name, part in value.items()}
    return None if value == _NONE else value


def _items(body: list[tuple[Any, Item]]) -> Iterator[Item]:
    for _, item in body:
        if not isinstance(item, Whitespace | Null):  # these cannot have comments
            yield item
        if isinstance(item, Table):
            yield from _items(item.value.body)


def _item(name: str, value: Any) -> Item:
    plain = value.tolist() if isinstance(value, np.generic | np.ndarray) else value
    if isinstance(plain, Mapping):
        table = tomlkit.inline_table()
        table.update({str(key): _item(str(key), item) for key, item in plain.items()})
        return table
    if isinstance(plain, list | tuple):
        array = tomlkit.array().multiline(any(isinstance(item, Mapping) for item in plain))
        array.extend(_item(name, item) for item in plain)
        return array
    if isinstance(plain, str):
        text = whole_text(f"The setting {name}", plain)
        return tomlkit.string(text, multiline="\n" in text and "\r" not in text)
    if isinstance(plain, bool | int | float):
        return tomlkit.item(plain)
    if plain is None:
        raise InputError(f"The setting {name} must have a value, got None, which TOML cannot hold. Leave it out.")
    raise InputError(f"The setting {name} must be a number, a text, a list or a table, got {value!r:.60}.")


def whole_text(what: str, text: str) -> str:
    r"""The text, unless it has half a surrogate pair, which UTF-8 cannot encode.

    >>> whole_text("A label", "Grüße")
    'Grüße'
    >>> whole_text("A label", "\ud83d")
    Traceback (most recent call last):
    ...
    coalface.errors.InputError: A label must be text of whole characters, got '\ud83d' (a lone surrogate). Read its ...
    """
    try:
        text.encode()
    except UnicodeEncodeError as problem:
        near = text[max(problem.start - 10, 0) : problem.start + 10]
        raise InputError(
            f"{what} must be text of whole characters, got {near!r} (a lone surrogate). Read its source as UTF-8."
        ) from None
    return text
