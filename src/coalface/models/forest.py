"""The forest model: one forest of randomised regression trees per label, for tables of numbers of any scale.

All answers are stored. A label's forest is grown again when its answers have grown by a fifth, so the total time is
about six times that of growing the last forest. Costs that the answers imply count as answers: see ``kernels.fill_in``.
"""

import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data.numbers import whole_number
from coalface.data.rows import Rows
from coalface.errors import FileFormatError, InputError
from coalface.kernels.fill_in import Implications, no_implications, store_until_due
from coalface.kernels.forest import Sample, Trees, grow, read
from coalface.kernels.state import MOST_IMPLIED, Settings
from coalface.models.contract import NO_WEIGHTS, CostModel, Costs, Ranged, copy_saved

_GROWTH = 6 / 5  # of a label's answers between two forests
_TRIED_SHARE = 1 / 3  # of the columns, per split
_MOST_DRAWN = 20_000  # answers per tree, which bounds its time and memory
_SLACK_SHARE = 0.5  # brings the slack on the footing of the other models
_UNKNOWN_COST = 0.5  # of a label without answers
_PARALLEL_SIZE = 100_000  # numbers read to grow a forest; for fewer, starting threads takes longer
_MOST_COLUMNS = 1_000_000
_BLOCK = 4096  # rows at a time, to bound the working memory


class ForestModel(CostModel):
    """A forest of ``n_trees`` randomised trees per label; ranges follow from the disagreement of the trees.

    It stores a dense table of the answered rows and suits up to some 2,000 columns, some hundreds of labels and 100,000
    rows. Only ``random_state`` and ``mellowness`` of the learner's parameters about learning and ranges matter to it.

    >>> from coalface import CoalClassifier
    >>> X, cost = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 5, [[0, 1], [1, 0], [1, 0], [0, 1]] * 5
    >>> learner = CoalClassifier(classes=["same", "differ"], model=ForestModel(n_trees=20)).tell(X, cost)
    >>> learner.predict(X[:4]).tolist()
    ['same', 'differ', 'differ', 'same']
    """

    learned_with = ("random_state",)
    table: NDArray[np.float32]  # (columns, room for rows)
    costs: NDArray[np.float32]  # (room for rows, K) with implied costs, NaN where unknown
    importance: NDArray[np.float32]  # (room for rows, K)
    n_rows: int
    counts: NDArray[np.int64]  # (K,) known costs
    grown_from: NDArray[np.int64]  # (K,) known costs when the label's forest was grown
    implications: Implications
    seed: NDArray[np.int64]  # (1,)
    trees: list[Trees | None]

    def __init__(self, n_trees: int = 50) -> None:
        self.n_trees = n_trees

    def begin(self, n_labels: int, settings: Settings) -> Self:
        """An untrained model."""
        begun = super().begin(n_labels, settings)
        whole_number("n_trees", self.n_trees, least=2)
        begun.n_rows, begun.seed = 0, np.array([settings.seed])
        begun.table = np.zeros((0, 0), np.float32)
        begun.costs, begun.importance = (np.zeros((0, n_labels), np.float32) for _ in range(2))
        begun.counts, begun.grown_from = (np.zeros(n_labels, np.int64) for _ in range(2))
        begun.implications = no_implications(n_labels if n_labels <= MOST_IMPLIED else 0)
        begun.trees = [None] * n_labels
        return begun

    # -- predictions and ranges ------------------------------------------------------------------

    def predict(self, rows: Rows) -> Costs:
        """The predicted costs, (n, K)."""
        return self._read(rows)[0]

    def ranges(self, rows: Rows, settings: Settings, first_round: int) -> Ranged:
        """Predictions, and ranges as wide as the trees disagree; few answers widen them too."""
        predicted, variance = self._read(rows)
        rounds = np.maximum(first_round + np.arange(len(rows)) - 1.0, 1.0)
        slack = _SLACK_SHARE * settings.mellowness * np.log(self.n_labels * rounds)
        reach = np.sqrt(slack[:, None] * (variance + 1.0 / (1.0 + self.counts))).astype(np.float32)
        return Ranged(predicted, np.maximum(predicted - reach, 0.0), np.minimum(predicted + reach, 1.0))

    def _read(self, rows: Rows) -> tuple[Costs, Costs]:
        """The mean of the trees and their variance, (n, K) each."""
        mean, variance = (np.empty((self.n_labels, len(rows)), np.float32) for _ in range(2))
        for first in range(0, len(rows), _BLOCK):
            span = slice(first, min(first + _BLOCK, len(rows)))
            table = _dense(rows, span, max(len(self.table), 1))
            for k, trees in enumerate(self.trees):
                if trees is None:
                    mean[k, span], variance[k, span] = _UNKNOWN_COST, 1.0
                else:
                    read(trees, table, mean[k, span], variance[k, span])
        return np.ascontiguousarray(mean.T), np.ascontiguousarray(variance.T)

    # -- learning --------------------------------------------------------------------------------

    def learn(
        self,
        rows: Rows,
        costs: Costs,
        settings: Settings,  # noqa: ARG002
        first_round: int,  # noqa: ARG002
        weights: Costs = NO_WEIGHTS,
    ) -> None:
        """Store the known costs, (n, K), and grow the forests that are due, each after the same row as ever."""
        known = ~np.isnan(costs) & (weights > 0) if len(weights) else ~np.isnan(costs)
        taught = np.flatnonzero(known.any(axis=1))
        rows, costs = rows.take(taught), np.where(known, costs, np.float32(np.nan))[taught]
        weights = weights[taught] if len(weights) else np.ones(costs.shape, np.float32)
        if len(rows):
            self._make_room(rows.width, len(rows))
        done = 0
        while done < len(rows):
            stored = self._store(costs[done:], weights[done:])
            span = slice(done, done + stored)
            part = rows.take(np.arange(span.start, span.stop))
            self.count_answers(self.predict(part), costs[span], weights[span])
            self.table[: rows.width, self.n_rows : self.n_rows + stored] = _dense(part, slice(0, stored), rows.width).T
            self.n_rows += stored
            done += stored
            self._grow(np.flatnonzero(self.counts >= self._due_at()))

    def _store(self, costs: Costs, weights: Costs) -> int:
        """Store answers after the last row, up to one that makes a label due; returns how many rows."""
        filled = self.costs[self.n_rows : self.n_rows + len(costs)]
        stored = store_until_due(self.implications, costs, filled, self.counts, self._due_at())
        self.importance[self.n_rows : self.n_rows + stored] = weights[:stored]
        return stored

    def _due_at(self) -> NDArray[np.int64]:
        grown: NDArray[np.int64] = np.ceil(_GROWTH * self.grown_from).astype(np.int64)
        return np.asarray(np.maximum(grown, self.grown_from + 1), np.int64)

    def _make_room(self, n_columns: int, n_more: int) -> None:
        """Make room for more rows and columns; a new column is 0 in earlier rows, because it was absent there."""
        n_columns, needed = max(n_columns, len(self.table)), self.n_rows + n_more
        if n_columns > len(self.table) or needed > len(self.costs):
            room = max(needed, 2 * self.n_rows)
            table = np.zeros((n_columns, room), np.float32)
            table[: len(self.table), : self.n_rows] = self.table[:, : self.n_rows]
            costs, importance = (np.full((room, self.n_labels), np.nan, np.float32) for _ in range(2))
            costs[: self.n_rows], importance[: self.n_rows] = self.costs[: self.n_rows], self.importance[: self.n_rows]
            self.table, self.costs, self.importance = table, costs, importance

    # -- growing ---------------------------------------------------------------------------------

    def _grow(self, labels: Iterable[int]) -> None:
        """Grow the forests of these labels from all their known costs."""
        due = list(labels)
        self.grown_from[due] = self.counts[due]
        if len(due) > 1 and int(self.counts[due].sum()) * len(self.table) > _PARALLEL_SIZE:
            with ThreadPoolExecutor(_n_cores()) as pool:
                grown = list(pool.map(self._grown, due))
        else:
            grown = [self._grown(label) for label in due]
        for label, trees in zip(due, grown, strict=True):
            self.trees[label] = trees

    def _grown(self, label: int) -> Trees:
        """The forest of a label, grown from the first ``grown_from`` of its known costs."""
        known = np.flatnonzero(~np.isnan(self.costs[: self.n_rows, label]))[: self.grown_from[label]]
        answers = Sample(known, self.costs[known, label], _answer_weights(self.importance[known, label]))
        n_drawn, n_columns = min(len(known), _MOST_DRAWN), len(self.table)
        room = 2 * n_drawn * self.n_trees
        trees = Trees(
            np.empty(self.n_trees, np.int32),
            np.empty(room, np.int32),
            np.empty(room, np.float32),
            np.empty(room, np.int32),
        )
        n_tried = max(-(-n_columns // round(1 / _TRIED_SHARE)), 1)
        n_nodes = grow(self.table, answers, n_drawn, n_tried, int(self.seed[0]), label, trees)
        _, columns, numbers, left = trees
        return Trees(trees.roots, columns[:n_nodes].copy(), numbers[:n_nodes].copy(), left[:n_nodes].copy())

    def check(self, rows: Rows) -> None:
        """Raise an InputError if the rows are too wide for a dense table."""
        if rows.width > _MOST_COLUMNS:
            raise InputError(
                f"X must have at most {_MOST_COLUMNS:,} columns, because a forest stores a dense table, got "
                f'{rows.width:,}. Use model="online".'
            )

    # -- files -----------------------------------------------------------------------------------

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The answers; the trees follow from them and are grown again by ``restore``."""
        implications = {f"implied_{name}": array for name, array in self.implications._asdict().items()}
        return {
            "table": np.ascontiguousarray(self.table[:, : self.n_rows]),
            "costs": self.costs[: self.n_rows],
            "importance": self.importance[: self.n_rows],
            "known": self.counts,
            "grown_from": self.grown_from,
            "seed": self.seed,
            **implications,
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that ``arrays`` returned."""
        table = arrays.get("table", np.zeros(0))
        if table.ndim == 2 and table.dtype == np.float32:
            self._make_room(*table.shape)
            self.n_rows = table.shape[1]
        copy_saved(arrays, self.arrays())
        self.table[:, : self.n_rows] = table
        known = (~np.isnan(self.costs[: self.n_rows])).sum(axis=0)
        if (known != self.counts).any() or (self.grown_from > known).any() or (self.grown_from < 0).any():
            raise FileFormatError("The counts of the model do not fit its answers; it is damaged.")
        grown = np.flatnonzero(self.grown_from)
        for label in grown:
            self.trees[label] = self._grown(int(label))


def _answer_weights(importance: NDArray[np.float32]) -> NDArray[np.float32]:
    """Weights of known costs; a cost that was implied has the weight 1."""
    return np.where(importance > 0, importance, np.float32(1.0))


def _dense(rows: Rows, span: slice, n_columns: int) -> NDArray[np.float32]:
    """Some rows as a dense table; columns beyond ``n_columns`` were never learned and are left out."""
    part = rows.indptr[span.start : span.stop + 1]
    places = slice(part[0], part[-1])
    of_row = np.repeat(np.arange(len(part) - 1), np.diff(part))
    columns, values = rows.columns[places], rows.values[places]
    seen = columns < n_columns
    table = np.zeros((len(part) - 1, n_columns), np.float32)
    table[of_row[seen], columns[seen]] = values[seen]
    return table


def _n_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
