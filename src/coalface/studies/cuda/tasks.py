"""Which cells of a sweep a GPU can run: those of the online model, one row at a time, with known costs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.dataset import TrainTest
from coalface.errors import CoalfaceError
from coalface.kernels.cuda.layout import FIELDS, SETTINGS
from coalface.kernels.state import Settings
from coalface.models.online import OnlineModel
from coalface.studies import learners
from coalface.studies.cells import Cell

MOST_LABELS = 1000
_LINEAR = "coal"


@dataclass(frozen=True)
class Task:
    """One run for the device: what the kernel reads, and the unit of its costs."""

    settings: Settings
    permutation: int
    checkpoints: Any
    cost_bounds: tuple[float, float]


def task_of(cell: Cell, problem: TrainTest) -> Task | None:
    """The task of a cell; None if only a CPU can run it.

    A CPU runs other learners and models, batches, prices of questions, true labels as questions, early stopping and
    invalid settings, whose error it reports.
    """
    settings, n_labels = dict(cell.settings), len(problem.train.classes)
    if cell.learner != _LINEAR or settings.get("batch", 1) != 1 or settings.get("stop_saving") is not None:
        return None
    if problem.train.price is not None or not 1 < n_labels <= MOST_LABELS:
        return None
    try:
        learner = learners.new_classifier(cell.learner, settings, problem.train, cell.permutation)
        model = learner.begin().model_
        resolved = model.resolved(learner.settings_for())
    except CoalfaceError:
        return None
    if not isinstance(model, OnlineModel) or model.interactions is not None or not _fits(resolved, learner):
        return None
    return Task(
        resolved, cell.permutation, cell.checkpoints, (float(learner.cost_bounds[0]), float(learner.cost_bounds[1]))
    )


def _fits(settings: Settings, learner: Any) -> bool:
    """Whether the kernel knows all that these settings ask of it."""
    unpaced = learner.budget is not None and not settings.budget < np.inf
    plain = settings.price_of_truth == np.inf and settings.rounds_before_budget == 0 and not settings.audits_by_loss
    return not unpaced and plain


def packed(tasks: list[Task]) -> tuple[NDArray[Any], list[int]]:
    """The settings of tasks as the kernel reads them, and the distinct permutations that their orders name."""
    permutations = sorted({task.permutation for task in tasks})
    place = {permutation: number for number, permutation in enumerate(permutations)}
    records = np.zeros(len(tasks), SETTINGS)
    for record, task in zip(records, tasks, strict=True):
        for name in FIELDS:
            record[name] = getattr(task.settings, name)
        record["order"] = place[task.permutation]
    return records, permutations
