"""What the policy sees of a decision: the features of the state and, if the task has them, those of each action."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from coalface.data.label_features import BLOCK, MOST_LABELS
from coalface.data.rows import Rows
from coalface.errors import InputError
from coalface.structured.feature_columns import FeatureColumns
from coalface.structured.task import Action, SearchTask, has_action_features


def decision_row(
    task: SearchTask[Any, Any], columns: FeatureColumns, state: Any, actions: Sequence[Action], *, learn: bool = False
) -> Rows:
    """One row for the choice between some actions; see ``data.label_features`` for where their features are.

    Names of features are the same for states and actions. Unknown ones get a column if ``learn``.

    >>> from coalface.structured import SequenceTask
    >>> task = SequenceTask(["D", "N"])
    >>> row = decision_row(task, FeatureColumns(), task.start((["the"], ["D"])), ["D", "N"], learn=True)
    >>> len(row)  # of the state alone, because tags have no features
    1
    """
    of_state = columns.row(task.features(state), learn=learn)
    if not has_action_features(task):
        return of_state
    if len(task.actions) > MOST_LABELS:
        raise InputError(f"At most {MOST_LABELS:,} actions may have features, got {len(task.actions):,}.")
    block_of = {action: block for block, action in enumerate(task.actions, 1)}
    parts = [(0, of_state), *((block_of[one], _features_of(task, columns, state, one, learn)) for one in actions)]
    if columns.width > BLOCK:
        raise InputError(f"Where actions have features, there may be {BLOCK:,} names, got {columns.width:,}.")
    cells = np.concatenate([part.columns + np.int32(BLOCK * block) for block, part in parts])
    values = np.concatenate([part.values for _, part in parts])
    return Rows(np.array([0, len(cells)]), cells.astype(np.int32), values, BLOCK * (len(task.actions) + 1))


def _features_of(task: SearchTask[Any, Any], columns: FeatureColumns, state: Any, action: Action, learn: bool) -> Rows:
    features = task.action_features(state, action)
    if features is None:
        raise InputError(f"task.action_features must give features of every allowed action, got None for {action!r}.")
    return columns.row(features, learn=learn)
