"""The forest model: one forest of randomised regression trees per label, for tables of numbers of any scale.

All answers are stored. A label's forest is grown again when its answers have grown by a fifth, so the total time is
about six times that of growing the last forest. Costs that the answers imply count as answers: see ``kernels.fill_in``.
"""

import logging
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data.numbers import whole_number
from coalface.data.rows import Rows
from coalface.errors import InputError, counted
from coalface.files.interrupts import interrupts_put_off
from coalface.kernels.fill_in import Implications
from coalface.kernels.forest import Trees, grow, read, varying_columns
from coalface.kernels.state import Settings
from coalface.models.answer_store import AnswerStore, dense
from coalface.models.contract import NO_WEIGHTS, CostModel, Costs, FeatureEffects, Ranged, copy_saved
from coalface.models.effects import split_shares

_TRIED_IN = 3  # per split, a third of the columns
_MOST_DRAWN = 20_000  # answers per tree, which bounds its time and memory
_MOST_TREES = 10_000  # nodes are numbered by 32 bits: 2 x answers per tree x trees
_SLACK_SHARE = 0.5  # brings the slack on the footing of the other models
_UNKNOWN_COST = 0.5  # of a label without answers
_LARGE = 10_000  # answered costs from which growing forests takes seconds and is logged
_PARALLEL_SIZE = 100_000  # numbers read to grow a forest; for fewer, starting threads takes longer
_MOST_COLUMNS = 1_000_000
_BLOCK_SIZE = 2**22  # numbers of a dense table at a time, to bound the working memory


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

    learned_with = ("random_state", "audit_rate", "miss_rate")
    answers: AnswerStore
    seed: NDArray[np.int64]  # (1,)
    trees: list[Trees | None]

    def __init__(self, n_trees: int = 50) -> None:
        self.n_trees = n_trees

    def begin(self, n_labels: int, settings: Settings) -> Self:
        """An untrained model."""
        begun = super().begin(n_labels, settings)
        begun.n_trees = whole_number("n_trees", self.n_trees, least=2)
        if begun.n_trees > _MOST_TREES:
            raise InputError(f"n_trees must be at most {_MOST_TREES:,}, got {begun.n_trees:,}.")
        begun.answers, begun.seed, begun.trees = AnswerStore(n_labels), np.array([settings.seed]), [None] * n_labels
        return begun

    def implications_for(self, settings: Settings) -> Implications:  # noqa: ARG002
        """The costs that answers imply, which count as answers and need not be asked for."""
        return self.answers.implications

    def grow(self) -> None:
        """Make room for one more label, which has no forest yet."""
        self.answers.add_label()
        self.trees.append(None)

    # -- predictions and ranges ------------------------------------------------------------------

    def predict(self, rows: Rows) -> Costs:
        """The predicted costs, (n, K)."""
        return self._read(rows)[0]

    def ranges(self, rows: Rows, settings: Settings, first_round: int) -> Ranged:
        """Predictions, and ranges as wide as the trees disagree; few answers widen them too, none to [0, 1]."""
        predicted, variance = self._read(rows)
        rounds = np.maximum(first_round + settings.round_step * np.arange(len(rows)) - 1.0, 1.0)
        slack = _SLACK_SHARE * settings.mellowness * np.log(self.n_labels * rounds)
        reach = np.sqrt(slack[:, None] * (variance + 1.0 / (1.0 + self.answers.counts))).astype(np.float32)
        reach[:, self.answers.counts == 0] = 1.0
        return Ranged(predicted, np.maximum(predicted - reach, 0.0), np.minimum(predicted + reach, 1.0))

    def feature_effects(self, label: int) -> FeatureEffects | None:
        """The share of the label's splits that each column has."""
        return split_shares(self.trees[label])

    def _read(self, rows: Rows) -> tuple[Costs, Costs]:
        """The mean of the trees and their variance, (n, K) each."""
        mean, variance = (np.empty((self.n_labels, len(rows)), np.float32) for _ in range(2))
        n_columns = max(len(self.answers.table), 1)
        at_once = max(_BLOCK_SIZE // n_columns, 1)
        for first in range(0, len(rows), at_once):
            span = slice(first, min(first + at_once, len(rows)))
            table = dense(rows, span, n_columns)
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
        """Store the known costs, (n, K), and grow the forests that are due, each after the same row as ever.

        If this is interrupted, nothing is learned.
        """
        known = ~np.isnan(costs) & (weights > 0) if len(weights) else ~np.isnan(costs)
        taught = np.flatnonzero(known.any(axis=1))
        given = weights if len(weights) else np.ones(costs.shape, np.float32)
        weights, costs = np.where(known, given, np.float32(0.0)), np.where(known, costs, np.float32(np.nan))
        n_rows, trees, counts = self.answers.n_rows, list(self.trees), self._counts()
        try:
            self._learn(rows.take(taught), costs[taught], weights[taught])
        except BaseException:
            with interrupts_put_off():
                self.answers.replay(n_rows)
                self.trees = trees
                self.state.answered[:], self.state.squared_residuals[:] = counts
            raise

    def _counts(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """What ``count_answers`` changes."""
        return self.state.answered.copy(), self.state.squared_residuals.copy()

    def _learn(self, rows: Rows, costs: Costs, weights: Costs) -> None:
        """Learn rows that have a known cost each; weights are 0 where the cost is NaN."""
        done, answers = 0, self.answers
        if len(rows):
            answers.make_room(rows.width, len(rows))
        while done < len(rows):
            added = answers.add(rows, costs, weights, done)
            part = rows.take(np.arange(added.start, added.stop))
            self.count_answers(self.predict(part), costs[added], weights[added])
            self._grow(answers.take_due())
            done = added.stop

    def _grow(self, labels: NDArray[np.int64]) -> None:
        """Grow the forests of these labels from their known costs."""
        sizes = self.answers.due_from[labels]
        if sizes.sum(initial=0) >= _LARGE:
            logging.getLogger("coalface").info(
                "growing %s from %s", counted(len(labels), "forest"), counted(int(sizes.sum()), "answered cost")
            )
        if len(labels) > 1 and int(sizes.sum()) * len(self.answers.table) > _PARALLEL_SIZE:
            with ThreadPoolExecutor(_n_cores()) as pool:
                grown = list(pool.map(self._grown, labels))
        else:
            grown = [self._grown(label) for label in labels]
        for label, trees in zip(labels, grown, strict=True):
            self.trees[label] = trees

    def _grown(self, label: int) -> Trees:
        """The forest of a label, which depends on the known costs when it was last due, and on nothing later."""
        table, sample = self.answers.table, self.answers.sample(label)
        varying = varying_columns(table, sample.rows)
        n_drawn, n_tried = min(len(sample.rows), _MOST_DRAWN), -(-len(varying) // _TRIED_IN)
        room = 2 * n_drawn * self.n_trees
        trees = Trees(
            np.empty(self.n_trees, np.int32),
            np.empty(room, np.int32),
            np.empty(room, np.float32),
            np.empty(room, np.int32),
        )
        n_nodes = grow(table, sample, varying, n_drawn, n_tried, int(self.seed[0]), int(label), trees)
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
        return {**self.answers.arrays(), "seed": self.seed}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that ``arrays`` returned."""
        copy_saved(arrays, {"seed": self.seed})
        self.answers = AnswerStore(self.n_labels)
        self.answers.restore(arrays)
        self._grow(np.flatnonzero(self.answers.due_from))


def _n_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
