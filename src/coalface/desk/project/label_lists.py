"""The labels of a new project: from a list, a file with one per line, or a column of the examples."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from coalface.data.labels import label_array
from coalface.desk.project.columns import Columns
from coalface.desk.project.settings_file import whole_text
from coalface.desk.project.sources import Source, read_records
from coalface.errors import FileFormatError, InputError


def labels_in(examples: Source, columns: Columns) -> list[str]:
    """The labels that the examples have."""
    if columns.label is None:
        raise InputError("labels must be given, or label, a column of the examples that has them. Pass one of them.")
    return read_labels(columns.labels_of(read_records(examples, columns)))


def read_labels(labels: str | os.PathLike[str] | Sequence[str]) -> list[str]:
    """At least two distinct labels, from a list or a file with one per line.

    >>> read_labels(["refund", "delivery"])
    ['refund', 'delivery']
    """
    if isinstance(labels, str | os.PathLike):
        path = Path(labels)
        if not path.is_file():
            raise FileFormatError(f"There is no file {path}. Write a label per line there.")
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except UnicodeDecodeError as problem:
            raise FileFormatError(f"{path} must be text in UTF-8 ({problem}). Save it as that.") from None
        names = [line.strip() for line in lines if line.strip()]
    else:
        names = [whole_text("A label", str(label)) for label in labels]
    for name in names:
        if "\0" in name:
            raise FileFormatError(f"A label must not have the character of number 0, got {name!r:.80}. Remove it.")
    if len(names) < 2:
        raise InputError(f"There must be at least two labels, got {names!r}.")
    label_array(np.array(names), "labels")
    return names
