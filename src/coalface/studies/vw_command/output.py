"""Writes the files that a command of VW names, in VW's formats; the model is one of ours."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from coalface.data.labels import label_texts
from coalface.files.atomic import atomic_write
from coalface.studies.vw_command.examples import tags
from coalface.studies.vw_command.learning import VwRun
from coalface.studies.vw_command.progressive import Predictions


def write_files(run: VwRun) -> None:
    """Write the model (``-f``), the predicted labels (``-p``) and the predicted costs (``-r``), as far as named."""
    command = run.command
    if command.model_out is not None:
        run.named.save(command.model_out)
    if command.predictions is None and command.raw_predictions is None:
        return
    after = [f" {tag}" if tag else "" for tag in tags(command.data)]
    if command.predictions is not None:
        _write(command.predictions, _label_lines(run), after)
    if command.raw_predictions is not None:
        _write(command.raw_predictions, _cost_lines(run), after)


def _label_lines(run: VwRun) -> list[str]:
    labels = label_texts(run.dataset.classes)
    return [labels[column] for column in run.chosen.tolist()]


def _cost_lines(run: VwRun) -> list[str]:
    """The costs of the listed labels, such as ``1:0.25 2:0.5``."""
    labels, n_rows = label_texts(run.dataset.classes), len(run.dataset)
    listed = Predictions(run.raw[:n_rows], run.dataset).listed
    return [
        " ".join(f"{labels[column]}:{costs[column]:.6g}" for column in np.flatnonzero(listed[row % n_rows]).tolist())
        for row, costs in enumerate(run.raw)
    ]


def _write(path: Path, lines: Sequence[str], after: Sequence[str]) -> None:
    """Write the lines of all passes; ``after`` is what follows each line of one pass."""
    text = "".join(f"{line}{after[number % len(after)]}\n" for number, line in enumerate(lines))
    with atomic_write(path) as file:
        file.write(text.encode())
