"""Adds pages that the navigation of mkdocs.yml does not name to the how-to guides, so that none is hard to find."""

from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]
GUIDES = "How-to guides"


def named(entries: list[Any]) -> list[str]:
    """The pages of a navigation.

    >>> named([{"Home": "index.md"}, {"More": [{"Data": "data.md"}]}])
    ['index.md', 'data.md']
    """
    values = [value for entry in entries for value in entry.values()]
    return [page for value in values for page in (named(value) if isinstance(value, list) else [value])]


def complete(entries: list[Any], pages: list[str]) -> list[Any]:
    """The navigation with the other pages among the guides; their titles are their own.

    >>> complete([{"How-to guides": [{"Data": "data.md"}]}], ["data.md", "gpu.md"])
    [{'How-to guides': [{'Data': 'data.md'}, 'gpu.md']}]
    """
    missing = sorted(set(pages) - set(named(entries)))
    return [{GUIDES: [*entry[GUIDES], *missing]} if GUIDES in entry else entry for entry in entries]


def on_config(config: Any) -> Any:
    """Complete the navigation."""
    pages = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    config.nav = complete(config.nav, pages)
    return config
