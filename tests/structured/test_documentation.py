"""The tables of docs/learning-to-search.md are complete."""

import inspect
import re
from pathlib import Path

from coalface.structured import SearchLearner, SearchTask
from coalface.structured.policy_choice import ROLL_INS, ROLL_OUTS

PAGE = (Path(__file__).parents[2] / "docs" / "learning-to-search.md").read_text(encoding="utf-8")


def test_every_method_choice_and_parameter_is_explained():
    methods = [name for name, member in vars(SearchTask).items() if inspect.isfunction(member)]
    assert len(methods) == 13
    for name in methods:
        assert f"| `{name}(" in PAGE
    for choice in (*ROLL_INS, *ROLL_OUTS):
        assert f'| `"{choice}"` |' in PAGE
    call = re.sub(r"\s+", " ", PAGE.split("`SearchLearner(task, policy")[1].split("`")[0])
    for name, parameter in inspect.signature(SearchLearner).parameters.items():
        if name not in ("task", "policy"):
            shown = repr(parameter.default).replace("'", '"')
            assert f"{name}={shown}" in call
