"""What the labels of VW text mean: costs of candidates, or true classes as in an ordinary multiclass file."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.errors import FileFormatError, InputError

TARGETS = ("auto", "costs", "classes")


def are_classes(path: Path, targets: str, indptr: NDArray[np.int64], costs: NDArray[np.float32], n_labels: int) -> bool:
    """Whether each line lists its true class; a guess is said in a warning.

    Without ``targets``, that is so if each labelled line lists one label and no label of the file has a cost.
    """
    if targets == "costs":
        return False
    n_listed = np.diff(indptr)
    lonely = bool(len(costs)) and bool(np.isnan(costs).all()) and int(n_listed.max(initial=0)) == 1
    if targets == "classes" and len(costs) and not lonely:
        raise FileFormatError(
            f'{path}: with targets="classes" every line must have one label without a cost. Use targets="costs".'
        )
    if targets == "auto" and lonely and n_labels > 1:
        warnings.warn(
            f"{path} has one label per line and no costs, so these are read as true labels: they cost 0, the others 1. "
            'Pass targets="classes" (--reader targets=classes) to confirm that, or targets="costs" if they are '
            "candidates.",
            UserWarning,
            stacklevel=5,
        )
    return lonely and n_labels > 1


def class_costs(indptr: NDArray[np.int64], columns: NDArray[np.int64], n_labels: int) -> dict[str, Any]:
    """The fields of a dataset whose lines list the columns of their true labels; NaN for lines without a label."""
    labelled = np.diff(indptr) > 0
    if labelled.all():
        return {"truth": columns, "cost_matrix": 1.0 - np.eye(n_labels)}
    cost = np.full((len(labelled), n_labels), np.nan, np.float32)
    cost[labelled] = 1.0
    cost[np.flatnonzero(labelled), columns] = 0.0
    return {"cost": cost}


def check_targets(targets: str) -> None:
    """Raise an InputError if ``targets`` is not a choice."""
    if targets not in TARGETS:
        raise InputError(f"targets must be one of {', '.join(map(repr, TARGETS))}, got {targets!r}. Choose one.")
