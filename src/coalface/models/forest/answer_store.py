"""The answers that a forest is grown from: a dense table of rows, their costs with what they imply, and when it is due.

Counts, implied costs and due times follow from the rows and their answers, so only these are saved: see ``replay``.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.errors import FileFormatError
from coalface.kernels.forest import KnownCosts
from coalface.kernels.implied_costs import Due, Implications, no_implications, store_until_due
from coalface.kernels.state import MOST_IMPLIED
from coalface.models.model_arrays import copy_saved, more_implications, widened
from coalface.models.values import Costs

_GROWTH = (6, 5)  # of the known costs between two forests, as a fraction
_QUICK_GROWTH = (51, 50)  # the same if the known costs of a label have doubled
_NEVER = int(np.iinfo(np.int64).max)
_SPARE = 8  # a table grows by at least this share of its columns, so that not every new column copies it


class AnswerStore:
    """Rows with their costs. A forest is due when their number has grown by a fifth since it was last due.

    It is also due after the first known cost of a label, or when those of a label have doubled.

    >>> from coalface.data.rows import check_rows
    >>> store, ones = AnswerStore(n_labels=1), np.ones((7, 1), np.float32)
    >>> store.make_room(n_columns=1, n_more=7)
    >>> store.add(check_rows(ones), 0.5 * ones, ones), store.take_due()  # the first answer makes it due
    (slice(0, 1, None), True)
    """

    def __init__(self, n_labels: int) -> None:
        self.table = np.zeros((0, 0), np.float32)  # (columns, room for rows)
        self.costs = np.zeros((0, n_labels), np.float32)  # (room for rows, K) with implied costs, NaN where unknown
        self.importance = np.zeros(
            (0, n_labels), np.float32
        )  # (room for rows, K) weights; 0 where nothing was answered
        self.since = np.zeros(n_labels, np.int64)  # (K,) rows stored before the label was added
        self._forget(n_labels)

    def _forget(self, n_labels: int) -> None:
        self.n_rows = 0
        self.counts = np.zeros(n_labels, np.int64)  # (K,) known costs
        self.due_from = np.zeros(n_labels, np.int64)  # (K,) known costs when a forest was last due
        self.due_rows = 0  # rows at that time
        self.answered = np.zeros(0, np.int64)  # labels with a known cost at that time
        self.implications: Implications = no_implications(n_labels if n_labels <= MOST_IMPLIED else 0)

    def add_label(self) -> None:
        """Add a label, the last; no answer so far says anything about it."""
        n_labels = self.costs.shape[1] + 1
        self.costs = widened(self.costs, n_labels, 1, fill=np.nan)
        self.importance = widened(self.importance, n_labels, 1)
        self.since = np.append(self.since, self.n_rows)
        self._grow_counts()

    def _grow_counts(self) -> None:
        n_labels = len(self.counts) + 1
        self.counts, self.due_from = widened(self.counts, n_labels), widened(self.due_from, n_labels)
        self.implications = more_implications(self.implications)

    # -- adding answers --------------------------------------------------------------------------

    def make_room(self, n_columns: int, n_more: int) -> None:
        """Make room for more rows and columns; a new column is 0 in earlier rows, because it was absent there."""
        before, needed = len(self.table), self.n_rows + n_more
        if n_columns > before or needed > len(self.costs):
            n_columns = max(n_columns, before + before // _SPARE) if n_columns > before else before
            room = max(needed, 2 * self.n_rows)
            table = np.zeros((n_columns, room), np.float32)
            table[:before, : self.n_rows] = self.table[:, : self.n_rows]
            costs, importance = (np.full((room, self.costs.shape[1]), np.nan, np.float32) for _ in range(2))
            costs[: self.n_rows], importance[: self.n_rows] = self.costs[: self.n_rows], self.importance[: self.n_rows]
            self.table, self.costs, self.importance = table, costs, importance

    def add(self, rows: Rows, costs: Costs, weights: Costs, first: int = 0) -> slice:
        """Store rows from ``first``, for which there is room, up to one that makes a forest due; returns which.

        Weights are 0 where the cost is NaN.
        """
        place = self.n_rows
        added = slice(first, first + self._store(costs[first:], weights[first:]))
        self.table[:, place : self.n_rows] = rows.between(added.start, added.stop).dense(len(self.table)).T
        return added

    def _store(self, costs: Costs, weights: Costs) -> int:
        n_labels, span = len(self.counts), slice(self.n_rows, self.n_rows + len(costs))
        filled = np.empty((len(costs), n_labels), np.float32)
        given = np.ascontiguousarray(costs[:, :n_labels])
        stored = store_until_due(self.implications, given, filled, self.counts, self._due())
        self.costs[span, :n_labels][:stored] = filled[:stored]
        self.importance[self.n_rows : self.n_rows + stored] = weights[:stored]
        self.n_rows += stored
        return stored

    def _due(self) -> Due:
        total, doubled = int(self.due_from.sum()), np.where(self.due_from > 0, 2 * self.due_from, _NEVER)
        at, some = (-(-grown * total // of) for grown, of in (_GROWTH, _QUICK_GROWTH))  # rounded up
        return Due(max(at, 1), max(some, 1), doubled, True)

    def take_due(self) -> bool:
        """Whether a forest is due; then it is not due again before the known costs have grown."""
        due, total = self._due(), int(self.counts.sum())
        is_due = total >= due.total or bool(((self.counts > 0) & (self.due_from == 0)).any())
        is_due = is_due or (total >= due.some and bool((self.counts >= due.doubled).any()))
        if is_due:
            self.due_from, self.due_rows = self.counts.copy(), self.n_rows
            self.answered = np.flatnonzero(self.counts)
        return is_due

    def known(self) -> KnownCosts:
        """The known costs when a forest was last due, with labels numbered as in ``answered``.

        An implied cost has the weight 1.
        """
        costs, weights = (of[: self.due_rows, self.answered] for of in (self.costs, self.importance))
        rows, labels = np.nonzero(~np.isnan(costs))
        starts = np.searchsorted(rows, np.arange(self.due_rows + 1))
        given = weights[rows, labels].astype(np.float64)
        return KnownCosts(starts, labels, costs[rows, labels].astype(np.float64), np.where(given > 0, given, 1.0))

    def replay(self, n_rows: int) -> None:
        """Forget all but the first rows, and derive again what follows from their answers.

        A row implies costs of the labels that there were when it was stored.
        """
        weights = self.importance[:n_rows].copy()
        answers = np.where(weights > 0, self.costs[:n_rows], np.float32(np.nan))
        self.costs[:n_rows] = np.nan
        self._forget(int((self.since == 0).sum()))
        for until in [*self.since[len(self.counts) :].tolist(), n_rows]:
            while self.n_rows < min(until, n_rows):
                part = slice(self.n_rows, min(until, n_rows))
                self._store(answers[part], weights[part])
                self.take_due()
            if len(self.counts) < len(self.since):
                self._grow_counts()

    # -- files -----------------------------------------------------------------------------------

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The answers, as named arrays; trailing columns without a value other than 0 are left out."""
        weights = self.importance[: self.n_rows]
        used = np.flatnonzero(self.table[:, : self.n_rows].any(axis=1)).max(initial=-1) + 1
        return {
            "table": self.table[:used, : self.n_rows].copy(),
            "costs": np.where(weights > 0, self.costs[: self.n_rows], np.float32(np.nan)),
            "importance": weights.copy(),
            **({"label_since": self.since} if self.since.any() else {}),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore what ``arrays`` returned, into an empty store; a FileFormatError if it is damaged."""
        table = arrays.get("table", np.zeros(0))
        n_columns, n_rows = table.shape if table.ndim == 2 else (0, 0)
        found = {"table": np.zeros((n_columns, n_rows), np.float32)}
        found |= {name: np.zeros((n_rows, self.costs.shape[1]), np.float32) for name in ("costs", "importance")}
        copy_saved(arrays, found)
        _refuse_damaged(**found)
        self.table, self.costs, self.importance = found.values()
        if "label_since" in arrays:
            copy_saved(arrays, {"label_since": self.since})
            if self.since[0] != 0 or (np.diff(self.since) < 0).any() or self.since[-1] > n_rows:
                raise FileFormatError(
                    "The labels of the model were added in an impossible order; it is damaged. Restore a copy."
                )
        self.replay(n_rows)


def _refuse_damaged(table: NDArray[np.float32], costs: Costs, importance: Costs) -> None:
    """Raise a FileFormatError unless the arrays can be answers; kernels would read beyond the end of an array."""
    answered = ~np.isnan(costs)
    if not np.isfinite(table).all():
        raise FileFormatError("The table of the model has values that are not finite; it is damaged. Restore a copy.")
    if (costs[answered] < 0).any() or (costs[answered] > 1).any():
        raise FileFormatError("The costs of the model do not lie in [0, 1]; it is damaged. Restore a copy.")
    if not np.isfinite(importance).all() or (importance < 0).any() or ((importance > 0) != answered).any():
        raise FileFormatError("The weights of the model do not fit its costs; it is damaged. Restore a copy.")
