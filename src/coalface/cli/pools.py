"""What predict and rank share for pools of many files."""

from collections.abc import Sequence
from glob import has_magic
from pathlib import Path
from typing import Any

from coalface.cli.option_groups import ReaderOptions
from coalface.errors import InputError

_OF_POOLS = {"id", "ignore", "label"}


def is_pool(data: Sequence[Path]) -> bool:
    """Whether these are several files, or a pattern.

    >>> is_pool([Path("new.csv")]), is_pool([Path("pool/*.csv")])
    (False, True)
    """
    return len(data) > 1 or has_magic(str(data[0]))


def pool_columns(reading: ReaderOptions) -> dict[str, Any]:
    """The columns of ids and of what is not a feature, from the options of a reader; other options are refused.

    >>> pool_columns(ReaderOptions(id="ticket", label="team"))
    {'id': 'ticket', 'ignore': ['team']}
    """
    given = reading.given()
    for name in given:
        if name not in _OF_POOLS:
            raise InputError(f"{name} cannot be used with a pool: only id, ignore and label can. Leave it out.")
    label = [given["label"]] if "label" in given else []
    return {"id": given.get("id"), "ignore": [*given.get("ignore", ()), *label]}
