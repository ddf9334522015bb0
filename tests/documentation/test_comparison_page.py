"""Every entry of the comparison names what shows it."""

import re

import pytest

from tests.documentation.blocks import PAGES

PAGE = PAGES["comparison.md"]
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("|")]
SOURCES = {int(number) for number in re.findall(r"^(\d+)\. ", PAGE, re.MULTILINE)}


def cited(text):
    """The numbers in brackets.

    >>> sorted(cited("labels [6, 7], spaCy [9]"))
    [6, 7, 9]
    """
    return {int(number) for group in re.findall(r"\[([\d, ]+)\]", text) for number in group.split(",")}


@pytest.mark.parametrize("row", ROWS[2:], ids=lambda row: row[0])
def test_every_entry_has_a_source_or_is_a_dash(row):
    assert len(row) == len(ROWS[0])
    for entry in row[1:]:
        assert entry == "\N{EN DASH}" or cited(entry), entry


def test_every_source_is_listed_and_used():
    assert cited("".join(map("".join, ROWS))) == SOURCES
