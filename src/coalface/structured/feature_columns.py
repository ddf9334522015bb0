"""What the policy sees of a decision, as one sparse row: features of its state and, if the task has them, of actions.

Each new name of a feature gets the next free column.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data import BLOCK, MOST_LABELS, Rows, check_row
from coalface.errors import InputError
from coalface.structured.task import Action, Features, SearchTask, has_action_features

_LAST_COLUMN = np.iinfo(np.int32).max


class FeatureColumns:
    """The columns of the features that a learner has learned.

    >>> columns = FeatureColumns()
    >>> columns.row({"length": 3.0, "is last": 1.0}, learn=True).columns
    array([0, 1], dtype=int32)
    >>> columns.row({"is last": 1.0, "never seen": 1.0}).columns
    array([1], dtype=int32)
    """

    def __init__(self, names: Iterable[str] = (), width: int = 1) -> None:
        self.by_name = {name: column for column, name in enumerate(names)}
        self.width = max(width, len(self.by_name))
        self._named = True if self.by_name else False if width > 1 else None  # None: no features yet

    def row(self, features: Features, *, learn: bool = False) -> Rows:
        """One sparse row. An unknown name gets a column if ``learn``; otherwise it is left out."""
        if not isinstance(features, Mapping):
            self._check_kind(named=False, learn=learn)
            return self._dense(features, learn)
        kinds = set(map(type, features))
        if kinds <= {str} or all(issubclass(kind, str) for kind in kinds):
            if features:
                self._check_kind(named=True, learn=learn)
            return self._named_row(features, learn)
        if not all(issubclass(kind, int | np.integer) for kind in kinds):
            shown = list(features)[:5]
            raise InputError(
                f"features must be all names (str) or all column numbers (int), got {shown}. Use one kind."
            )
        self._check_kind(named=False, learn=learn)
        columns = np.fromiter(features, np.int64, len(features))
        if len(columns) and columns.min() < 0:
            raise InputError(f"column numbers of features must not be negative, got {columns.min()}.")
        return self._sparse(columns, _numbers(features.values()), learn)

    def _check_kind(self, *, named: bool, learn: bool) -> None:
        """Raise an InputError if names and numbers mix: a name and a number could mean the same column."""
        if self._named not in (None, named):
            now, before = ("names", "column numbers") if named else ("column numbers", "names")
            raise InputError(f"features must have names in all states or in none, got {now} after {before}.")
        self._named = named if learn else self._named

    def _named_row(self, features: Mapping[Any, Any], learn: bool) -> Rows:
        by_name = self.by_name
        if learn:
            columns = [by_name.setdefault(name, len(by_name)) for name in features]
            return self._sparse(np.array(columns, np.int64), _numbers(features.values()), learn)
        known = [(by_name[name], value) for name, value in features.items() if name in by_name]
        return self._sparse(
            np.array([column for column, _ in known], np.int64), _numbers([value for _, value in known]), learn
        )

    def _dense(self, features: Any, learn: bool) -> Rows:
        try:
            values = np.asarray(features, np.float64)
        except (TypeError, ValueError):
            values = np.empty((0, 0))
        if values.ndim != 1 or not len(values):
            raise InputError(
                f"features must be a mapping or one row of numbers, got {type(features).__name__}. Return "
                "one of the two from task.features."
            )
        columns = np.flatnonzero(values)
        with np.errstate(over="ignore"):
            return self._sparse(columns, values[columns].astype(np.float32), learn, len(values))

    def _sparse(
        self, columns: NDArray[np.int64], values: NDArray[np.float32], learn: bool, least_width: int = 1
    ) -> Rows:
        if np.count_nonzero(columns[1:] <= columns[:-1]):  # counting is faster than any()
            order = columns.argsort()
            columns, values = columns[order], values[order]
        last = int(columns[-1]) if len(columns) else 0
        width = max(self.width, least_width, len(self.by_name), last + 1)
        self.width = width if learn else self.width
        if last < _LAST_COLUMN:
            columns = columns.astype(np.int32)
        return check_row(columns, values, width)

    @property
    def mark(self) -> tuple[int, int, bool | None]:
        """How much is known now, for ``restore``."""
        return len(self.by_name), self.width, self._named

    def restore(self, mark: tuple[int, int, bool | None]) -> None:
        """Forget what was learned after ``mark`` was taken."""
        n_names, self.width, self._named = mark
        while len(self.by_name) > n_names:
            self.by_name.popitem()


def _numbers(values: Collection[Any]) -> NDArray[np.float32]:
    try:
        with np.errstate(over="ignore"):
            return np.fromiter(values, np.float32, len(values))
    except (TypeError, ValueError):
        raise InputError(f"values of features must be numbers, got {list(values)[:5]}.") from None


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
