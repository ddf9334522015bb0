"""Lets the guides come first in the search: other pages weigh less, and what is described twice is found once.

A word of a title counts a thousand times as much as one of the text, and a whole page two and a half times as much as
one of its sections. So the weights are small.
"""

import importlib
import re
from typing import Any

WEIGHTS = {
    "how-it-works.md": 2.0,  # it explains what other pages mention
    "reference/": 0.05,
    "studies/": 0.05,
    "CHANGELOG.md": 0.02,
    "CONTRIBUTING.md": 0.02,
    "measurements.md": 0.1,
    "comparison.md": 0.2,
    "paper.md": 0.2,
    "stability.md": 0.2,
}
_MEMBER = re.compile(r'(<h\d id="(?P<module>coalface[a-z_.]*)\.(?P<kind>[A-Z]\w*)\.(?P<name>\w+)")')
_described: set[tuple[type, str]] = set()


def weight(page: str) -> float | None:
    """What the scores of a page are multiplied by; None where they stay.

    >>> weight("reference/coalface.md"), weight("data.md")
    (0.05, None)
    """
    return next((weight for start, weight in WEIGHTS.items() if page.startswith(start)), None)


def with_members_once(html: str, described: set[tuple[type, str]]) -> str:
    """A page of the reference whose members are left out of the search if they are ``described`` already.

    >>> page = '<h3 id="coalface.OnlineModel.saved">saved</h3> <h3 id="coalface.RidgeModel.saved">saved</h3>'
    >>> with_members_once(page, set()).count("data-search-exclude")
    1
    """
    return _MEMBER.sub(lambda match: match[0] + ' data-search-exclude="true"' * _again(match, described), html)


def _again(member: re.Match[str], described: set[tuple[type, str]]) -> bool:
    kind = getattr(importlib.import_module(member["module"]), member["kind"])
    origin = next((base for base in kind.__mro__ if member["name"] in vars(base)), kind)
    known = (origin, member["name"]) in described
    described.add((origin, member["name"]))
    return known


def on_pre_build(**_: Any) -> None:
    """Forget what an earlier build described."""
    _described.clear()


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Give the page its weight."""
    found = weight(page.file.src_uri)
    if found is not None:
        page.meta.setdefault("search", {"boost": found})
    return markdown


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Leave repeated members of the reference out of the search."""
    return with_members_once(html, _described) if page.file.src_uri.startswith("reference/") else html
