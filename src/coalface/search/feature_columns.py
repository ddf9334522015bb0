"""Turns a state's features into one sparse row; each new feature name gets the next free column."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from coalface.data.dataset_fields import Examples
from coalface.errors import InputError
from coalface.search.task import Features


class FeatureColumns:
    """The columns of the features that a learner has learned.

    >>> columns = FeatureColumns()
    >>> columns.row({"length": 3.0, "is last": 1.0}, learn=True).indices
    array([0, 1])
    >>> columns.row({"is last": 1.0, "never seen": 1.0}).indices
    array([1])
    """

    def __init__(self, names: Iterable[str] = (), width: int = 1) -> None:
        self.by_name = {name: column for column, name in enumerate(names)}
        self.width = max(width, len(self.by_name))
        self._named = True if self.by_name else False if width > 1 else None  # None: no features yet

    def row(self, features: Features, *, learn: bool = False) -> Examples:
        """One sparse row. An unknown name gets a column if ``learn``; otherwise it is left out."""
        if not isinstance(features, Mapping):
            self._check_kind(named=False, learn=learn)
            return self._dense(features, learn)
        if all(isinstance(name, str) for name in features):
            if features:
                self._check_kind(named=True, learn=learn)
            pairs = self._named_pairs(features, learn)
        elif all(isinstance(name, int | np.integer) for name in features):
            self._check_kind(named=False, learn=learn)
            pairs = [(int(column), value) for column, value in features.items()]
        else:
            shown = list(features)[:5]
            raise InputError(f"features must be all names (str) or all column numbers (int), got {shown}.")
        pairs.sort()
        columns = np.array([column for column, _ in pairs], np.int64)
        if len(columns) and columns[0] < 0:
            raise InputError(f"column numbers of features must not be negative, got {columns[0]}.")
        return self._sparse(columns, np.array([value for _, value in pairs], np.float64), learn)

    def _check_kind(self, *, named: bool, learn: bool) -> None:
        """Raise an InputError if names and numbers mix: a name and a number could mean the same column."""
        if self._named not in (None, named):
            now, before = ("names", "column numbers") if named else ("column numbers", "names")
            raise InputError(f"features must have names in all states or in none, got {now} after {before}.")
        self._named = named if learn else self._named

    def _named_pairs(self, features: Mapping[Any, Any], learn: bool) -> list[tuple[int, Any]]:
        by_name = self.by_name
        if learn:
            for name in features:
                by_name.setdefault(name, len(by_name))
        return [(by_name[name], value) for name, value in features.items() if name in by_name]

    def _dense(self, features: Any, learn: bool) -> Examples:
        try:
            values = np.asarray(features, np.float64)
        except (TypeError, ValueError):
            values = np.empty((0, 0))
        if values.ndim != 1 or not len(values):
            raise InputError(f"features must be a mapping or one row of numbers, got {type(features).__name__}.")
        columns = np.flatnonzero(values)
        return self._sparse(columns, values[columns], learn, len(values))

    def _sparse(self, columns: Any, values: Any, learn: bool, least_width: int = 1) -> Examples:
        last = int(columns[-1]) if len(columns) else 0
        width = max(self.width, least_width, len(self.by_name), last + 1)
        self.width = width if learn else self.width
        row: Examples = csr_array((values, columns, [0, len(columns)]), shape=(1, width))
        return row

    @property
    def mark(self) -> tuple[int, int, bool | None]:
        """How much is known now, for ``restore``."""
        return len(self.by_name), self.width, self._named

    def restore(self, mark: tuple[int, int, bool | None]) -> None:
        """Forget what was learned after ``mark`` was taken."""
        n_names, self.width, self._named = mark
        while len(self.by_name) > n_names:
            self.by_name.popitem()
