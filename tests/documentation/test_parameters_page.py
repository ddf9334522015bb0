"""The table of parameters names every parameter of every owner with its default."""

import inspect
import re
import tomllib

import pytest

from coalface import (
    Abstain,
    Audits,
    Coal,
    CoalClassifier,
    CommitteeModel,
    ForestModel,
    OnlineModel,
    RidgeModel,
    SharedModel,
)
from tests.documentation.blocks import PAGES, items

PAGE = PAGES["parameters.md"]
TABLE = PAGE[PAGE.index("| owner |") : PAGE.index("`ClassModel` and")]
OWNERS = (CoalClassifier, Coal, Audits, Abstain, OnlineModel, CommitteeModel, RidgeModel, ForestModel, SharedModel)


def shown(owner):
    """The defaults by parameter that the table gives an owner, as the page writes them."""
    found, current = {}, ""
    for line in TABLE.strip().splitlines()[2:]:
        of, name, default = (cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:4])
        current = re.sub(r".*=(\w+)\(.*", r"\1", of).replace("the learner", "CoalClassifier") if of else current
        if current == owner.__name__:
            found[name.strip("`")] = default.strip("`")
    return found


@pytest.mark.parametrize("owner", OWNERS)
def test_every_parameter_is_in_the_table_with_its_default(owner):
    parameters = list(inspect.signature(owner).parameters.values())
    defaults = {one.name: "" if one.default is one.empty else repr(one.default).replace("'", '"') for one in parameters}
    assert shown(owner) == defaults


def test_the_mappings_of_the_file_make_a_learner():
    (block,) = [item.text for item in items("parameters.md") if item.kind == "toml"]
    learner = CoalClassifier(["walk", "fly"], **tomllib.loads(block)["lines"]["careful"])
    assert learner.ask([[1.0, 0.0]]).costs_asked == 2
