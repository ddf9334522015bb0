"""The examples of a class model: sparse rows whose costs are all known, the class of each, and its costs.

A label that was retired, or not yet added, when an example was stored may have an unknown cost there, NaN.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.errors import FileFormatError
from coalface.models.growth import widened
from coalface.models.saved_arrays import copy_saved
from coalface.models.values import Costs

_DTYPES = {"indptr": np.int64, "columns": np.int32, "values": np.float32, "costs": np.float32, "importance": np.float32}


class ClassExamples:
    """Rows in CSR form with all their costs; the class of a row is its cheapest label, the first of equals.

    >>> from coalface.data.rows import check_rows
    >>> examples = ClassExamples(n_labels=2)
    >>> examples.add(check_rows([[0.0, 3.0]]), np.array([[1.0, 0.0]], np.float32), np.ones(1, np.float32))
    >>> len(examples), examples.counts.tolist()
    (1, [0, 1])
    """

    def __init__(self, n_labels: int) -> None:
        self._parts: dict[str, list[NDArray[Any]]] = {name: [] for name in _DTYPES}  # of the rows not joined yet
        empty = {"costs": (0, n_labels), "indptr": (1,)}
        self._joined = {name: np.zeros(empty.get(name, (0,)), dtype) for name, dtype in _DTYPES.items()}
        self.counts = np.zeros(n_labels, np.int64)  # (K,) examples of each class
        self._width = 0

    def __len__(self) -> int:
        return int(self.counts.sum())

    def add(self, rows: Rows, costs: Costs, importance: NDArray[np.float32]) -> None:
        """Add rows with all their costs, (n, K), and a weight each."""
        stored = rows.values != 0
        of_rows = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))
        lengths = np.bincount(of_rows[stored], minlength=len(rows))  # a stored zero is a zero
        added = (lengths, rows.columns[stored], rows.values[stored], costs, importance)
        for part, array in zip(self._parts.values(), added, strict=True):
            part.append(array)
        self.counts += np.bincount(np.nanargmin(costs, axis=1), minlength=len(self.counts))
        self._width = max(self._width, rows.width)

    def add_label(self) -> None:
        """Add a label, the last, whose cost is unknown in all rows so far."""
        n_labels = len(self.counts) + 1
        joined = self._join()
        joined["costs"] = widened(joined["costs"], n_labels, 1, fill=np.nan)
        self.counts = widened(self.counts, n_labels)

    def first(self, n_rows: int) -> tuple[Rows, NDArray[np.float64], NDArray[np.float64]]:
        """The first rows, their costs (n, K) and their weights (n,)."""
        joined = self._join()
        indptr = joined["indptr"][: n_rows + 1]
        rows = Rows(indptr, joined["columns"][: indptr[-1]], joined["values"][: indptr[-1]], self._width)
        return rows, joined["costs"][:n_rows].astype(np.float64), joined["importance"][:n_rows].astype(np.float64)

    def _join(self) -> dict[str, NDArray[Any]]:
        """All rows as one array each."""
        if self._parts["indptr"]:
            lengths = np.concatenate(self._parts["indptr"])
            self._parts["indptr"] = [self._joined["indptr"][-1] + np.cumsum(lengths)]
            for name, parts in self._parts.items():
                self._joined[name] = np.concatenate([self._joined[name], *parts])
                self._parts[name] = []
        return self._joined

    # -- files -----------------------------------------------------------------------------------

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All rows as named arrays."""
        return {f"example_{name}": array.copy() for name, array in self._join().items()}

    @classmethod
    def restored(cls, n_labels: int, arrays: Mapping[str, NDArray[Any]]) -> "ClassExamples":
        """The examples that ``arrays`` returned; a FileFormatError if they are damaged."""
        saved = {name: arrays.get(f"example_{name}", np.zeros(0)) for name in _DTYPES}
        n_rows, n_values = max(len(saved["indptr"]) - 1, 0), len(saved["columns"])
        shapes = {"indptr": n_rows + 1, "columns": n_values, "values": n_values, "importance": n_rows}
        found = {name: np.zeros(shapes.get(name, (n_rows, n_labels)), dtype) for name, dtype in _DTYPES.items()}
        copy_saved(arrays, {f"example_{name}": array for name, array in found.items()})
        _refuse_damaged(found)
        examples = cls(n_labels)
        examples._joined = found
        if n_rows:
            examples.counts += np.bincount(np.nanargmin(found["costs"], axis=1), minlength=n_labels)
        examples._width = int(found["columns"].max(initial=-1)) + 1
        return examples


def _refuse_damaged(found: Mapping[str, NDArray[Any]]) -> None:
    """Raise a FileFormatError unless the arrays can be examples; kernels would read beyond the end of an array."""
    indptr, columns, costs, importance = (found[name] for name in ("indptr", "columns", "costs", "importance"))
    ends = indptr[0] == 0 and indptr[-1] == len(columns) and (np.diff(indptr) >= 0).all()
    if not ends or (columns < 0).any() or not np.isfinite(found["values"]).all():
        raise FileFormatError("The examples of the model are not rows of numbers; it is damaged.")
    known = ~np.isnan(costs)
    impossible = (costs[known] < 0).any() or (costs[known] > 1).any() or not known.any(axis=1).all()
    if impossible or not (np.isfinite(importance) & (importance > 0)).all():
        raise FileFormatError("The costs or weights of the model's examples are impossible; it is damaged.")
