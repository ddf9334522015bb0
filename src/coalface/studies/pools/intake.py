"""Turns the cells of a batch into the rows that a model learned from, and finds the ids of the examples."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.encoding.cells import as_text, numbers_in
from coalface.data.encoding.columns import NumberColumn
from coalface.data.encoding.encoder import ID
from coalface.data.encoding.table import Table
from coalface.data.formats.raw_table import COST_PREFIX
from coalface.errors import InputError
from coalface.learner.classifiers import CoalClassifier
from coalface.learner.named_learner import NamedLearner

_CELLS = 2**22  # numbers of a batch, in the cells of the rows or the costs of the labels
_LEAST, _MOST = 256, 2**15  # rows of a batch
_SHOWN = 5


@dataclass(frozen=True)
class Columns:
    """The columns that the user named: that of the ids, and those that are not features."""

    id: str | None = None
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True)
class Intake:
    """A model and the columns of the pool that it needs.

    >>> learner = CoalClassifier(["no", "yes"]).tell([[3.0, 1.0]], [[0.0, 1.0]])
    >>> intake = Intake(NamedLearner(learner, ("size", "weight")), Columns())
    >>> table = Table({"weight": [1, 2], "id": ["a", "b"], "size": [3, 4]}, 2)
    >>> intake.examples(table).tolist(), intake.ids(table)
    ([[3.0, 1.0], [4.0, 2.0]], ['a', 'b'])
    """

    named: NamedLearner
    columns: Columns

    @property
    def learner(self) -> CoalClassifier:
        """The learner."""
        return self.named.learner

    @property
    def batch_size(self) -> int:
        """How many rows are read at a time, so that a batch takes little memory."""
        widest = max(len(self.learner.classes_), len(self._features or ()), 1)
        return max(_LEAST, min(_MOST, _CELLS // widest))

    @cached_property
    def _features(self) -> frozenset[str] | None:
        """The names of the columns that the model learned from; None if they have no names."""
        encoder = self.named.encoder
        if encoder is not None:
            return frozenset(encoder.groups)
        return None if self.named.feature_names is None else frozenset(self.named.feature_names)

    @cached_property
    def _numbers(self) -> frozenset[str] | None:
        encoder = self.named.encoder
        if encoder is None:
            return self._features
        return frozenset(column.name for column in encoder.columns or () if isinstance(column, NumberColumn))

    def wants(self, name: str) -> bool:
        """Whether the model needs this column, or it may have the ids."""
        if self._features is None:
            return name not in self.columns.ignore
        return name in self._features or self._may_be_id(name)

    def as_numbers(self, name: str) -> bool:
        """Whether the model takes the numbers of this column as they are."""
        return (self._numbers is None or name in self._numbers) and not self._may_be_id(name)

    def _may_be_id(self, name: str) -> bool:
        if name in (self.columns.id, self.named.encoder and self.named.encoder.id):
            return True
        return name.lower() == ID and name not in (self._features or ())

    def id_column(self, names: Any) -> str | None:
        """The column of the ids: the one that was named, that of the encoder, or "id"; None if there is none."""
        named = self.columns.id
        if named is not None and named not in names:
            listed = ", ".join(map(repr, list(names)[:20]))
            raise InputError(f"there is no column {named!r} for the ids. The columns are {listed}. Name one of them.")
        return named or next((name for name in names if self._may_be_id(name)), None)

    def ids(self, table: Table, places: NDArray[np.int64] | None = None) -> list[str] | None:
        """The ids of the examples, or of those at some places, as texts; None if no column has them."""
        column = self.id_column(table.columns)
        if column is None:
            return None
        cells = list(table.columns[column])
        if None in cells:
            raise InputError(f"the id, in column {column!r}, is missing in row {cells.index(None)}. Add it.")
        picked = cells if places is None else [cells[place] for place in places.tolist()]
        return [cell if cell.__class__ is str else as_text(cell) for cell in picked]

    def examples(self, table: Table) -> Any:
        """The rows of the examples, as the model takes them."""
        encoder = self.named.encoder
        if encoder is None:
            return self._table_of_numbers(table)
        known = {name: cells for name, cells in table.columns.items() if name in encoder.groups}
        return encoder.transform(table._replace(columns=known))

    def _table_of_numbers(self, table: Table) -> NDArray[np.float64]:
        names = self.named.feature_names
        if names is None:
            left = {self.id_column(table.columns), *self.columns.ignore}
            names = tuple(name for name in table.columns if name not in left and not name.startswith(COST_PREFIX))
        missing = [name for name in names if name not in table.columns]
        if missing:
            more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
            shown = ", ".join(map(repr, missing[:_SHOWN]))
            raise InputError(f"the pool must have every column that the model learned from, missing {shown}{more}.")
        found = [numbers_in(table.columns[name], name) for name in names]
        return np.column_stack(found) if found else np.zeros((table.n_rows, 0))
