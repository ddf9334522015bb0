"""Requests to a running service that change its pool: new examples, known costs, and examples that are retired."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coalface.desk.annotators.label_requests import project_address, sent

_MOST_BYTES, _MOST_ITEMS = 500_000, 1000  # in one request


class RemotePool:
    """The pool of the project at an address, such as http://127.0.0.1:8137/tickets."""

    def __init__(self, url: str, token: str) -> None:
        self._place, self._token = project_address(url), token

    def add(self, examples: Sequence[Mapping[str, Any]], *, first: bool) -> dict[str, int]:
        """Add examples; how many were added and how many were known."""
        return self._sum("examples", "examples", examples, first=first)

    def import_costs(self, records: Sequence[Mapping[str, Any]], *, gold: bool = False) -> dict[str, int]:
        """Import known costs; how many examples were settled and how many were known."""
        return self._sum("costs", "items", records, gold=gold)

    def retire(self, ids: Sequence[str], reason: str) -> dict[str, int]:
        """Retire examples; how many were changed."""
        return self._sum("examples:retire", "ids", ids, reason=reason)

    def restore(self, ids: Sequence[str], reason: str) -> dict[str, int]:
        """Bring examples back; how many were changed."""
        return self._sum("examples:restore", "ids", ids, reason=reason)

    def _sum(self, route: str, name: str, items: Sequence[Any], **more: Any) -> dict[str, int]:
        """Send the items in parts that a request may hold, and add up the counts."""
        total: dict[str, int] = {}
        for part in _parts(items):
            for key, count in sent(f"{self._place}/{route}", self._token, {name: part, **more}).items():
                total[key] = total.get(key, 0) + count
        return total


def _parts(items: Sequence[Any]) -> Iterator[list[Any]]:
    part, size = list[Any](), 0
    for item in items:
        n = len(json.dumps(item))
        if part and (size + n > _MOST_BYTES or len(part) >= _MOST_ITEMS):
            yield part
            part, size = [], 0
        part.append(item)
        size += n
    if part:
        yield part
