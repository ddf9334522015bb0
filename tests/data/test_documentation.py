"""The examples of docs/data.md run, and its tables are complete."""

import re
from inspect import signature
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
    listed = [known.name for known in known_data() if not known.there or "/" not in known.name]  # not every scenario
    assert [name for name in listed if f"`{name}`" not in text] == []


def test_every_option_of_every_reader_is_in_the_table_with_its_default():
    from coalface.data.formats.readers import _READERS

    rows = re.findall(
        r"^\| (`\w+`(?:, `\w+`)*) \| ([\w, ]+) \| `(.+?)` \| .+ \|$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    documented = [
        (reader, option, default)
        for options, readers, default in rows
        for option in re.findall(r"\w+", options)
        for reader in readers.split(", ")
    ]
    real = [
        (format, option.name, repr(option.default))
        for format, reader in _READERS.items()
        for option in list(signature(reader).parameters.values())[1:]
    ]
    assert sorted(documented) == sorted(real)
