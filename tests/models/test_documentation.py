"""The examples of docs/which-model.md print what the page says, and it names every model."""

import re
from pathlib import Path

from coalface.models.choice import MODELS

PAGE = (Path(__file__).parents[2] / "docs" / "which-model.md").read_text(encoding="utf-8")


def test_the_examples_print_what_the_page_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    blocks = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == PAGE.count("```python")
    for code, printed in blocks:
        exec(compile(code, "docs/which-model.md", "exec"), names)
        assert capsys.readouterr().out == printed


def test_every_model_is_in_the_table():
    assert [name for name in MODELS if not re.search(rf'^\|.*\| `"{name}"', PAGE, re.MULTILINE)] == []
