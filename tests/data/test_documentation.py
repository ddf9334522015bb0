"""The tables of docs/data.md are complete."""

import re
from inspect import signature
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "data.md"


def test_every_known_name_is_explained():
    from coalface.studies.known import known_data

    text = PAGE.read_text(encoding="utf-8")
    assert [known.name for known in known_data() if f"`{known.name}`" not in text] == []


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
