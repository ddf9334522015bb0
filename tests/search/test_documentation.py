"""The examples of docs/learning-to-search.md run, and its tables are complete."""

import inspect
import re
import runpy
from pathlib import Path

import pytest

from coalface.search import SearchLearner, SearchTask
from coalface.search.policy_choice import ROLL_INS, ROLL_OUTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "learning-to-search.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```[^`]*```\n(.*?)```", PAGE, re.DOTALL)  # each with its output


@pytest.mark.parametrize(("block", "printed"), EXAMPLES, ids=["spelling", "parsing"])
def test_an_example_runs_and_says_what_the_page_says(block, printed, tmp_path, capsys):
    path = tmp_path / "example.py"
    path.write_text(block)
    runpy.run_path(str(path))
    assert capsys.readouterr().out == printed


def test_every_method_choice_and_parameter_is_explained():
    methods = [name for name, member in vars(SearchTask).items() if inspect.isfunction(member)]
    assert len(methods) == 11
    for name in methods:
        assert f"| `{name}(" in PAGE
    for choice in (*ROLL_INS, *ROLL_OUTS):
        assert f'| `"{choice}"` |' in PAGE
    call = re.sub(r"\s+", " ", PAGE.split("`SearchLearner(task, policy")[1].split("`")[0])
    for name, parameter in inspect.signature(SearchLearner).parameters.items():
        if name not in ("task", "policy"):
            shown = repr(parameter.default).replace("'", '"')
            assert f"{name}={shown}" in call
