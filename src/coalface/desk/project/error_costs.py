"""What errors cost in a project: by a tree of labels, or by a matrix with a row per true label."""

import csv
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.formats.cost_matrix import read_cost_matrix
from coalface.data.trees import tree_cost_matrix
from coalface.errors import FileFormatError, InputError


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
        raise InputError(f"A tree must be a mapping of child: parent, got {tree!r:.60}.")
    return tree_cost_matrix(parents, labels)


def write_error_costs(path: Path, labels: list[str], matrix: NDArray[np.float64]) -> None:
    """Write the costs of errors as a CSV file, which ``read_cost_matrix`` reads."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["", *labels])
        writer.writerows([label, *map(repr, row)] for label, row in zip(labels, matrix.tolist(), strict=True))
