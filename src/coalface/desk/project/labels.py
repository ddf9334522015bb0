"""The labels of a new project, and what errors between them cost: by a tree of labels, or by a matrix."""

import csv
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data import label_array, read_cost_matrix, read_lines, tree_cost_matrix
from coalface.desk.project.settings_file import whole_text
from coalface.errors import FileFormatError, InputError


def read_labels(labels: str | os.PathLike[str] | Sequence[str]) -> list[str]:
    """At least two distinct labels, from a list or a file with one per line.

    >>> read_labels(["refund", "delivery"])
    ['refund', 'delivery']
    """
    if isinstance(labels, str | os.PathLike):
        lines = (line for text in read_lines(Path(labels)) for line in text.splitlines())
        names = [line.strip() for line in lines if line.strip()]
    else:
        names = [whole_text("A label", str(label)) for label in labels]
    for name in names:
        if "\0" in name:
            raise FileFormatError(f"A label must not have the character of number 0, got {name!r:.80}. Remove it.")
    if len(names) < 2:
        raise InputError(f"There must be at least two labels, got {names!r}. Add one.")
    label_array(np.array(names), "labels")
    return names


def error_costs(labels: list[str], tree: Any, cost_matrix: Any) -> NDArray[np.float64] | None:
    """The cost of each label (column) by the true label (row), from a tree or a matrix; None without both."""
    if tree is not None and cost_matrix is not None:
        raise InputError("Costs must come from a tree or from a cost matrix, got both. Leave one out.")
    if cost_matrix is not None:
        matrix = read_cost_matrix(cost_matrix, np.array(labels))
        if (matrix < 0).any():
            raise InputError(f"A cost matrix must hold non-negative costs, got {matrix.min():g}. Add a constant to it.")
        return matrix
    if tree is None:
        return None
    if isinstance(tree, str | os.PathLike):
        try:
            tree = json.loads(Path(tree).read_text(encoding="utf-8"))
        except (OSError, ValueError) as problem:
            raise FileFormatError(f"{tree} must be a JSON object of child: parent ({problem}). Correct it.") from None
    parents = tree.get("parent") if isinstance(tree, dict) and isinstance(tree.get("parent"), dict) else tree
    if not isinstance(parents, Mapping):
        raise InputError(f"A tree must be a mapping of child: parent, got {tree!r:.60}. Correct it.")
    return tree_cost_matrix(parents, labels)


def write_error_costs(path: Path, labels: list[str], matrix: NDArray[np.float64]) -> None:
    """Write the costs of errors as a CSV file, which ``read_cost_matrix`` reads."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["", *labels])
        writer.writerows([label, *map(repr, row)] for label, row in zip(labels, matrix.tolist(), strict=True))
