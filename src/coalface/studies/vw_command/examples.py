"""Reads the file of a command, and refuses files of another kind than its options say."""

from pathlib import Path
from typing import Any

import numpy as np

from coalface.data.dataset import CostDataset
from coalface.data.formats.text_lines import TextLines, read_lines
from coalface.data.formats.vw_text import read_vw_text
from coalface.errors import FileFormatError, InputError
from coalface.studies.vw_command.checks import ECT, OAA
from coalface.studies.vw_command.translation import VwCommand


def read_training(command: VwCommand) -> tuple[CostDataset, dict[str, Any]]:
    """The training examples of a command, with as many labels as it says, and the options of the reader."""
    reading = {**targets_of(command), **command.reading}
    dataset = read_vw_text(command.data, **reading)
    if _has_a_line_per_label(dataset, command.data):
        raise FileFormatError(
            f"{command.data} has one line per label and blank lines between examples (label-dependent features), "
            "which has no counterpart. Write one line per example, such as 1:0.5 2:1.0 | features."
        )
    if np.isnan(dataset.cost).all():
        raise FileFormatError(
            f"{command.data} must have costs such as 1:0.5 2:1.0 | features for --{command.reduction}, got none. "
            "For class labels such as 2 | features, pass --oaa K."
        )
    least = np.nanmin(dataset.cost)
    if least < 0:
        raise FileFormatError(
            f"{command.data} must have no negative costs, got {least:g}. Add {-least:g} to all costs: VW predicts 0 at "
            "first, so that the result would change."
        )
    labels = _labels(dataset, command)
    if len(labels) == len(dataset.classes):
        return dataset, reading
    reading["classes"] = labels
    return read_vw_text(command.data, **reading), reading


def targets_of(command: VwCommand) -> dict[str, Any]:
    """How the reader takes labels without costs; it sees for itself if the command does not say."""
    if command.reduction is None:
        return {}
    return {"targets": "classes" if command.reduction in (OAA, ECT) else "costs"}


def tags(path: Path) -> list[str]:
    r"""The tag of each line, "" for none; VW repeats it after the prediction.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.vw").write_text("1:0 'one | a\n2:0 | b\n3:1 three| c")
    ...     tags(Path(folder, "a.vw"))
    ['one', '', 'three']
    """
    return [_tag(line) for line in read_lines(path) if line.strip()]


def _tag(line: str) -> str:
    before = line.partition("|")[0]
    word = before.split()[-1] if before.split() else ""
    return word.removeprefix("'") if word.startswith("'") or before.endswith(word or " ") else ""


def _has_a_line_per_label(dataset: CostDataset, path: Path) -> bool:
    if dataset.candidates is None or len(dataset) < 2 or (dataset.candidates.sum(axis=1) > 1).any():
        return False
    lines = TextLines.open(path)
    line_ends = np.cumsum(lines.buffer == ord("\n"))
    return bool((line_ends[lines.starts[1:]] - line_ends[lines.ends[:-1] - 1] > 1).any())  # a blank line in between


def _labels(dataset: CostDataset, command: VwCommand) -> range:
    """The labels 1 to K, or 0 to K - 1 if there is a label 0."""
    found = dataset.classes
    if found.dtype.kind not in "iu":
        raise InputError(f"{command.data} must have numbers as labels for coalface vw, got {found[0]!r}. Number them.")
    first = int(found.min() > 0)
    labels = range(first, first + command.n_labels)
    if found.max() not in labels:
        raise InputError(
            f"{command.data} must have labels from {labels[0]} to {labels[-1]} for --{command.reduction} "
            f"{command.n_labels}, got {found.max()}. Raise K."
        )
    return labels
