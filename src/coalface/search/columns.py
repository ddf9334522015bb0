"""What a task says about a state as one row of numbers; features known by name get columns in the order they come."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from coalface.data.dataset_fields import Examples
from coalface.errors import InputError
from coalface.search.task import Features


class Columns:
    """The columns of the features that a learner has seen.

    >>> columns = Columns()
    >>> columns.row({"length": 3.0, "is last": 1.0}, learn=True).indices
    array([0, 1])
    >>> columns.row({"is last": 1.0, "never seen": 1.0}).indices
    array([1])
    """

    def __init__(self, names: Iterable[str] = (), width: int = 1) -> None:
        self.of_name = {name: column for column, name in enumerate(names)}
        self.width = max(width, len(self.of_name))
        self._named_so_far = True if self.of_name else False if width > 1 else None  # None: no features yet

    def row(self, features: Features, *, learn: bool = False) -> Examples:
        """One sparse row; names that were never seen get a column if they are to be learned, else they are left out."""
        if not isinstance(features, Mapping):
            self._check_kind(named=False, learn=learn)
            return self._dense(features, learn)
        if all(isinstance(name, str) for name in features):
            if features:
                self._check_kind(named=True, learn=learn)
            pairs = self._named(features, learn)
        elif all(isinstance(name, int | np.integer) for name in features):
            self._check_kind(named=False, learn=learn)
            pairs = [(int(column), value) for column, value in features.items()]
        else:
            raise InputError("features must have names or numbers of columns, one kind only; some are of another kind.")
        pairs.sort()
        columns = np.array([column for column, _ in pairs], np.int64)
        if len(columns) and columns[0] < 0:
            raise InputError(f"features must have columns from 0 on, got {columns[0]}.")
        return self._sparse(columns, np.array([value for _, value in pairs], np.float64), learn)

    def _check_kind(self, *, named: bool, learn: bool) -> None:
        """A name and a number could mean the same column: all states must agree."""
        if self._named_so_far not in (None, named):
            now, before = ("names", "numbers of columns") if named else ("numbers of columns", "names")
            raise InputError(f"features must have names in all states or in none, got {now} after {before}.")
        self._named_so_far = named if learn else self._named_so_far

    def _named(self, features: Mapping[Any, Any], learn: bool) -> list[tuple[int, Any]]:
        of_name = self.of_name
        if learn:
            for name in features:
                of_name.setdefault(name, len(of_name))
        return [(of_name[name], value) for name, value in features.items() if name in of_name]

    def _dense(self, features: Any, learn: bool) -> Examples:
        try:
            values = np.asarray(features, np.float64)
        except (TypeError, ValueError):
            values = np.empty((0, 0))
        if values.ndim != 1 or not len(values):
            raise InputError(f"features must be a mapping or one row of numbers, got {type(features).__name__}.")
        columns = np.flatnonzero(values)
        return self._sparse(columns, values[columns], learn, len(values))

    def _sparse(self, columns: Any, values: Any, learn: bool, at_least: int = 1) -> Examples:
        last = int(columns[-1]) if len(columns) else 0
        width = max(self.width, at_least, len(self.of_name), last + 1)
        self.width = width if learn else self.width
        row: Examples = csr_array((values, columns, [0, len(columns)]), shape=(1, width))
        return row

    @property
    def mark(self) -> tuple[int, int, bool | None]:
        """How much is known now, for ``back_to``."""
        return len(self.of_name), self.width, self._named_so_far

    def back_to(self, mark: tuple[int, int, bool | None]) -> None:
        """Forget what came after the mark was made."""
        n_names, self.width, self._named_so_far = mark
        while len(self.of_name) > n_names:
            self.of_name.popitem()
