"""What every page that we write must be."""

import re

NAMESPACES = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def assert_needs_nothing_else(page):
    """The page has no script and refers to nothing outside itself."""
    assert "<script" not in page
    assert "<link" not in page
    assert set(re.findall(r"https?://[^\s\"'<]+", page)) <= NAMESPACES
    assert all(target.startswith("#") for target in re.findall(r"(?:href=\"|src=\"|url\()([^\")]*)", page))
