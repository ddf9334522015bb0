"""The page about Vowpal Wabbit names only parameters that exist."""

import re

import pytest

from coalface import CoalClassifier, OnlineModel
from coalface.data.formats.vw_text import read_vw_text
from tests.documentation.blocks import PAGES

PAGE = PAGES["from-vw.md"]
ROWS = PAGE[PAGE.index("## Options") : PAGE.index("## What differs")].splitlines()[6:]


@pytest.mark.parametrize("row", [row for row in ROWS if row.startswith("|")])
def test_each_parameter_of_the_table_exists(row):
    known = {*CoalClassifier().get_params(), *OnlineModel().get_params(), *read_vw_text.__annotations__}
    here = row.split("|")[2]
    named = set(re.findall(r"\b(\w+)=", here)) - {"checkpoints", "order", "cost", "interactions", "classes"}
    assert named <= known
