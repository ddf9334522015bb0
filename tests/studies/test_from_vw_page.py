"""The page for people who come from Vowpal Wabbit: no option is missing."""

from pathlib import Path

import pytest

from coalface.studies.vw_command.options import OPTIONS

PAGE = (Path(__file__).parents[2] / "docs" / "from-vw.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_every_option_is_in_the_table(option):
    table = PAGE[PAGE.index("## Options") : PAGE.index("## What differs")]
    assert f"`--{option.name}`" in table or f"`-{option.letter}`" in table
    refused = [row for row in table.splitlines() if f"`--{option.name}`" in row and "refused" in row]
    assert bool(refused) == (option.fate == "refused") or option.name in ("passes", "holdout_off")
