"""Where the keys of a TOML file stand, so that a complaint can name the line."""

import re
import tomllib
from typing import Any

Place = tuple[str, ...]
_NAME = r"""(?:"[^"]*"|'[^']*'|[\w-]+)"""
_KEY = re.compile(rf"\s*({_NAME}(?:\s*\.\s*{_NAME})*)\s*=")
_TABLE = re.compile(r"\s*\[{1,2}[^\[\]]+\]{1,2}\s*(?:#.*)?$")


def places(text: str) -> dict[Place, int]:
    r"""The line of every table and key.

    >>> places('name = "x"\n[lines.coal]\nwarm_up = 10\n')
    {('name',): 1, ('lines', 'coal'): 2, ('lines', 'coal', 'warm_up'): 3}
    """
    found: dict[Place, int] = {}
    table: Place = ()
    for number, line in enumerate(_without_long_texts(text).splitlines(), start=1):
        key = _KEY.match(line)
        if _TABLE.match(line):
            table = _path(line)
            found.setdefault(table, number)
        elif key:
            found.setdefault((*table, *_path(f"{key[1]} = 0")), number)
    return found


def _without_long_texts(text: str) -> str:
    """The file with its texts of several lines emptied, line by line: they may look like anything."""
    return re.sub(r'"{3}.*?"{3}|\'{3}.*?\'{3}', lambda long: "0" + "\n" * long[0].count("\n"), text, flags=re.DOTALL)


def line_of(found: dict[Place, int], place: Place) -> int:
    """The line of a key, or of the nearest table around it.

    >>> line_of({("lines",): 4}, ("lines", "coal"))
    4
    """
    while place and place not in found:
        place = place[:-1]
    return found.get(place, 1)


def _path(line: str) -> Place:
    try:
        value: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:  # an element of a list of lists may look like a table
        return ()
    names: list[str] = []
    while isinstance(value, dict) and value:
        name = next(iter(value))
        names.append(name)
        value = value[name]
    return tuple(names)
