"""The examples of docs/data.md run."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "data.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=[str(number) for number in range(len(EXAMPLES))])
def test_an_example_prints_what_its_comment_says(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(example, str(PAGE), "exec"), {})
    printed = capsys.readouterr().out
    for said in re.findall(r"^print\(.*\)  # ([(\[].*)$", example, re.MULTILINE):
        assert said in printed


def test_every_known_name_is_explained():
    from coalface.data import known_data

    text = PAGE.read_text(encoding="utf-8")
    assert [known.name for known in known_data() if f"`{known.name}`" not in text and "aslib/" not in known.name] == []
