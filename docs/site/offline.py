"""Keeps the network out of the pages: the theme loads one script from elsewhere, which assets/worker.js replaces."""

from typing import Any

from mkdocs.utils import get_relative_url

_ELSEWHERE = "https://unpkg.com/iframe-worker/shim"


def on_post_template(output_content: str, **_: Any) -> str:
    """The page for addresses that do not exist lies in the top folder."""
    return output_content.replace(_ELSEWHERE, "assets/worker.js")


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Load our own script instead."""
    return output.replace(_ELSEWHERE, get_relative_url("assets/worker.js", page.url))
