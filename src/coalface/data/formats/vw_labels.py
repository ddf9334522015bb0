"""The labels of VW text: what they are called, and what they mean.

They have costs, as candidates, or are the true classes of an ordinary multiclass file.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.formats.text_lines import TextLines, spells_number
from coalface.data.formats.vw_options import VwOptions
from coalface.data.labels import label_array, label_texts, later_labels
from coalface.errors import FileFormatError
from coalface.kernels import vw_text as kernels

_MOST_NUMBERED = 1_000_000  # labels; larger numbers are probably identifiers


def are_classes(path: Path, targets: str, indptr: NDArray[np.int64], costs: NDArray[np.float32], n_labels: int) -> bool:
    """Whether each line lists its true class; a guess gives a warning.

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
            stacklevel=7,
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


def label_columns(
    source: TextLines,
    names: list[str],
    spans: NDArray[np.int64],
    options: VwOptions,
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The labels, and the column of each name in the file."""
    if "shared" in names:
        rule = "lines with 'shared' and label-dependent features are not supported"
        start = int(spans[names.index("shared"), 3])
        raise source.error(start, "shared", rule, "Write one line per example with all labels")
    labels, first_label = options.labels, options.first_label
    if options.classes is not None:
        known = label_array(options.classes)
        column = {text: place for place, text in enumerate(label_texts(known))}
        for text, span in zip(names, spans, strict=True):
            if text not in column:
                shown = ", ".join(repr(label) for label in list(column)[:20])
                advice = later_labels(options.decided_by)
                problem = source.error(int(span[3]), text, f"labels must be among {shown}", advice)
                problem.remedy = {"add_label": text} if options.decided_by is None else {"classes": None}
                raise problem
        return known, np.array([column[text] for text in names], dtype=np.int64)
    numbered = [text.isascii() and text.isdigit() for text in names]
    if labels == "named" or (labels == "auto" and not all(numbered)):
        return _named(source, names, spans), np.arange(len(names))
    for text, fits, span in zip(names, numbered, spans, strict=True):
        if not fits or int(text) > _MOST_NUMBERED:
            rule = f"numbered labels must be integers up to {_MOST_NUMBERED}"
            raise source.error(int(span[3]), text, rule, 'Use labels="named"')
    numbers = np.array([int(text) for text in names], dtype=np.int64)
    first = first_label if first_label is not None else int(0 not in numbers)
    if len(numbers) == 0:
        raise FileFormatError(f"{source.path} must list labels in some line, got none. Pass classes=[...].")
    if numbers.min() < first:
        raise source.error(int(spans[numbers.argmin(), 3]), "0", "labels must start at 1", "Use first_label=0")
    return np.arange(first, numbers.max() + 1), numbers - first


def _named(source: TextLines, names: list[str], spans: NDArray[np.int64]) -> NDArray[Any]:
    for text, span in zip(names, spans, strict=True):
        after = int(span[3] + span[2])
        lonely = after == len(source.buffer) or source.buffer[after] != ord(":")
        if lonely and "." in text and spells_number(text):
            rule = "example weights are not part of the cost-sensitive format"
            raise source.error(int(span[3]), text, rule, "Remove the weight")
    return np.array(names, dtype=str)


def cost_table(
    source: TextLines,
    indptr: NDArray[np.int64],
    columns: NDArray[np.int64],
    costs: NDArray[np.float32],
    known: NDArray[Any],
) -> tuple[NDArray[np.float32], NDArray[np.bool_] | None]:
    """Costs (n, K), and the candidates if some lines list only some of the labels."""
    cost = np.full((len(indptr) - 1, len(known)), np.nan, dtype=np.float32)
    n_listed = np.diff(indptr)
    partly = bool(((n_listed > 0) & (n_listed < len(known))).any())
    listed = np.zeros(cost.shape if partly else (0, len(known)), dtype=bool)
    twice = kernels.fill_costs(indptr, columns, costs, cost, listed)
    if twice >= 0:
        start, end = int(source.starts[twice]), int(source.ends[twice])
        text = source.text(start, min(end, start + 60))
        raise source.error(start, text, "a line must list each label once", "Remove the repeated label")
    if partly:
        listed[n_listed == 0] = True
    return cost, listed if partly else None
