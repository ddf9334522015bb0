"""Every link of a page to another file of the repository leads to a file, and to a heading that it has."""

import re
from pathlib import Path

import pytest

from tests.documentation.blocks import ROOT

PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md", "studies/*.md")
    for path in ROOT.glob(pattern)
)
MADE = {"docs/reference/python.md", "docs/reference/command-line.md"}  # by the build of the site
_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\((?!\w+:)(?P<file>[^)#\s]*)(?:#(?P<heading>[^)\s]*))?\)")
_HEADING = re.compile(r"^#+ +(?P<text>.+)$", re.MULTILINE)


def _headings(path):
    """The anchors of a page: its headings in small letters, without punctuation, with hyphens for blanks."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    found = [re.sub(r"\]\([^)]*\)", "]", heading["text"]) for heading in _HEADING.finditer(text)]
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip()) for heading in found}


def dead_links(page, text):
    """The links of a page that lead nowhere."""
    dead = []
    for link in _LINK.finditer(_CODE.sub("", text)):
        target = (ROOT / page).parent / link["file"] if link["file"] else ROOT / page
        target = target / "README.md" if target.is_dir() and link["heading"] else target
        made = Path(target).resolve().relative_to(ROOT).as_posix() in MADE
        there = made or target.exists()
        if not there or (link["heading"] and not made and link["heading"] not in _headings(target)):
            dead.append(link[0])
    return dead


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_to_a_file_and_a_heading(page):
    assert dead_links(page, (ROOT / page).read_text(encoding="utf-8")) == []


def test_a_dead_link_is_found():
    text = "[a](docs/nowhere.md) [b](docs/theory.md#nowhere) [c](#nowhere) [d](docs/theory.md) `[e](f.md)`"
    assert dead_links("README.md", text) == ["](docs/nowhere.md)", "](docs/theory.md#nowhere)", "](#nowhere)"]
