"""The forest model: randomised regression trees that predict the costs of all labels, for tables of any scale.

All answers are stored. The forest is grown again when they have grown by a fifth, so the total time is about six times
that of growing the last forest. Costs that the answers imply count as answers: see ``kernels.implied_costs``. Where the
costs of a row resemble each other, the forest is grown twice: see ``row_effects``. How much leaves are shrunk towards
their parents is chosen whenever it is grown: see ``shrinkage``.
"""

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data.numbers import whole_number
from coalface.data.rows import Rows
from coalface.errors import InputError, counted
from coalface.files.interrupts import interrupts_put_off
from coalface.kernels.forest import (
    LEAF,
    UNKNOWN_COST,
    GrownTree,
    KnownCosts,
    draw_rows,
    grow_tree,
    new_tree_scratch,
    varying_columns,
)
from coalface.kernels.implied_costs import Implications
from coalface.kernels.state import F64, Settings
from coalface.kernels.tree_reading import Trees, read, read_left_out
from coalface.long_work import LongWork
from coalface.models.contract import CostModel
from coalface.models.feature_effects import split_shares
from coalface.models.forest.answer_store import AnswerStore
from coalface.models.forest.row_effects import label_means, row_effects, shared_error, without_row_effects
from coalface.models.forest.shrinkage import STRENGTHS, best_strength
from coalface.models.model_arrays import copy_saved
from coalface.models.values import NO_WEIGHTS, Costs, FeatureEffects, Mask, Ranged, counting

_TRIED_IN = 3  # per split, a third of the columns
_MOST_DRAWN = 20_000  # rows per tree, which bounds its time and memory
_MOST_TREES = 10_000  # nodes are numbered by 32 bits: 2 x answers per tree x trees
_SLACK_SHARE = 0.65  # brings the slack on the footing of the other models
_SHARED_SLACK = 0.5  # the same where the errors of a row are shared
_FIRST_IN = 3  # a third of the trees is grown first, to estimate row effects
_LEAST_SHARED = 0.02  # of the errors of a row's costs: less is noise
_LARGE = 10_000  # answered costs from which growing a forest may take seconds, and the log says so
_PARALLEL_SIZE = 100_000  # numbers read to grow a forest; for fewer, starting threads takes longer
_MOST_COLUMNS = 1_000_000
_BLOCK_SIZE = 2**22  # numbers of a dense table at a time, to bound the working memory


class ForestModel(CostModel):
    """A forest of ``n_trees`` randomised trees for all labels; ranges follow from the disagreement of the trees.

    It stores a dense table of the answered rows and suits up to some 2,000 columns, some hundreds of labels and 100,000
    rows. Only ``random_state`` and ``mellowness`` of the learner's parameters about learning and ranges matter to it.

    >>> from coalface import CoalClassifier
    >>> X, cost = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 5, [[0, 1], [1, 0], [1, 0], [0, 1]] * 5
    >>> learner = CoalClassifier(classes=["same", "differ"], model=ForestModel(n_trees=20)).tell(X, cost)
    >>> learner.predict(X[:4]).tolist()
    ['same', 'differ', 'differ', 'same']
    """

    learned_with = ("random_state", "audits.rate", "rule.miss_rate")
    answers: AnswerStore
    seed: NDArray[np.int64]  # (1,)
    trees: Trees | None  # of the labels in ``answers.answered``
    errors_are_shared: bool  # whether the costs of a row resembled each other when the trees were grown

    def __init__(self, n_trees: int = 50) -> None:
        self.n_trees = n_trees

    def begin(self, n_labels: int, settings: Settings) -> Self:
        """An untrained model."""
        begun = super().begin(n_labels, settings)
        begun.n_trees = whole_number("n_trees", self.n_trees, least=2)
        if begun.n_trees > _MOST_TREES:
            raise InputError(f"n_trees must be at most {_MOST_TREES:,}, got {begun.n_trees:,}. Use fewer.")
        begun.answers, begun.seed, begun.trees = AnswerStore(n_labels), np.array([settings.seed]), None
        begun.errors_are_shared = False
        return begun

    def implications_for(self, settings: Settings) -> Implications:
        """The costs that answers imply, which count as answers and need not be asked for."""
        return self.answers.implications

    def grow(self) -> None:
        """Make room for one more label, of which the trees know nothing yet."""
        self.answers.add_label()

    # -- predictions and ranges ------------------------------------------------------------------

    def predict(self, rows: Rows) -> Costs:
        """The predicted costs, (n, K)."""
        return self._read(rows)[0]

    def ranges(self, rows: Rows, settings: Settings, first_round: int) -> Ranged:
        """Predictions, and ranges as wide as the trees disagree; few answers widen them too, none to [0, 1].

        The trees may agree about which label is better but not about how costly the row is. Such disagreement does not
        count, because it decides nothing.
        """
        predicted, variance = self._read(rows)
        share = _SHARED_SLACK if self.errors_are_shared else _SLACK_SHARE
        narrowed = settings._replace(mellowness=share * settings.mellowness)
        slack = self.round_slack(narrowed, first_round, len(rows))
        reach = np.sqrt(slack[:, None] * (variance + 1.0 / (1.0 + self.answers.counts))).astype(np.float32)
        reach[:, self.answers.counts == 0] = 1.0
        return Ranged(predicted, np.maximum(predicted - reach, 0.0), np.minimum(predicted + reach, 1.0))

    def feature_effects(self, label: int) -> FeatureEffects | None:
        """The share of the splits that each column has, which is the same for all labels."""
        return split_shares(self.trees if self.answers.due_from[label] else None)

    def _read(self, rows: Rows) -> tuple[Costs, Costs]:
        """The mean of the trees and their variance, (n, K) each."""
        shape = rows.n_rows, self.n_labels
        mean, variance = np.full(shape, UNKNOWN_COST, np.float32), np.ones(shape, np.float32)
        if self.trees is None:
            return mean, variance
        n_columns, answered = max(len(self.answers.table), 1), self.answers.answered
        at_once = max(_BLOCK_SIZE // n_columns, 1)
        for first in range(0, rows.n_rows, at_once):
            span = slice(first, min(first + at_once, rows.n_rows))
            found = [np.empty((span.stop - first, len(answered)), np.float32) for _ in range(2)]
            read(self.trees, rows.between(first, span.stop).dense(n_columns), *found)
            mean[span, answered], variance[span, answered] = found
        return mean, variance

    # -- learning --------------------------------------------------------------------------------

    def learn(
        self, rows: Rows, costs: Costs, settings: Settings, first_round: int, weights: Costs = NO_WEIGHTS
    ) -> None:
        """Store the known costs, (n, K), and regrow the forest when due.

        Which row triggers it does not depend on batching. If this is interrupted, nothing is learned.
        """
        known = counting(costs, weights)
        taught = np.flatnonzero(known.any(axis=1))
        given = weights if len(weights) else np.ones(costs.shape, np.float32)
        weights, costs = np.where(known, given, np.float32(0.0)), np.where(known, costs, np.float32(np.nan))
        self._learn(rows.take(taught), costs[taught], weights[taught])

    def learn_predicted(
        self, row: Rows, costs: Costs, settings: Settings, round_number: int, weights: Costs, predicted: Costs
    ) -> None:
        """Learn one row with a known cost."""
        given = weights if len(weights) else np.ones(costs.shape, np.float32)
        self._learn(row, costs, np.where(np.isnan(costs), np.float32(0.0), given), predicted)

    def _learn(self, rows: Rows, costs: Costs, weights: Costs, predicted: Costs | None = None) -> None:
        """Learn rows that have a known cost each; weights are 0 where the cost is NaN."""
        n_rows, grown, counts = self.answers.n_rows, (self.trees, self.errors_are_shared), self._counts()
        try:
            self._store(rows, costs, weights, predicted)
        except BaseException:
            with interrupts_put_off():
                self.answers.replay(n_rows)
                self.trees, self.errors_are_shared = grown
                self.state.answered[:], self.state.squared_residuals[:] = counts
            raise

    def _counts(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """What ``count_answers`` changes."""
        return self.state.answered.copy(), self.state.squared_residuals.copy()

    def _store(self, rows: Rows, costs: Costs, weights: Costs, predicted: Costs | None) -> None:
        done, answers = 0, self.answers
        if len(costs):
            answers.make_room(rows.width, len(costs))
        while done < len(costs):
            added = answers.add(rows, costs, weights, done)
            if predicted is None or len(costs) > 1:
                predicted = self.predict(rows.between(added.start, added.stop))
            self.count_answers(predicted, costs[added])
            if answers.take_due():
                self._grow()
            done = added.stop

    def _grow(self) -> None:
        """Grow the forest from the known costs when it was last due, and from nothing later."""
        known = self.answers.known()
        what = f"growing a forest from {counted(len(known.costs), 'answered cost')}"
        with LongWork(what, after=3.0) if len(known.costs) >= _LARGE else nullcontext():
            self._grow_from(known)

    def _grow_from(self, known: KnownCosts) -> None:
        n_labels = len(self.answers.answered)
        shared = shared_error(known, label_means(known, n_labels))
        first = range(-(-self.n_trees // _FIRST_IN))
        strengths = np.array(STRENGTHS)
        trees, drawn = self._grown(known, n_labels, shared, strengths, first)
        left_out, doubt = self._left_out(trees, drawn, len(strengths))
        self.errors_are_shared = shared_error(known, left_out[:, 0]) > _LEAST_SHARED
        best = 0 if self.errors_are_shared else best_strength(known, left_out, doubt)
        if self.errors_are_shared:
            known, first, trees = without_row_effects(known, row_effects(known, left_out[:, 0])), range(0), []
        kept = slice(best * n_labels, (best + 1) * n_labels)
        trees = [tree._replace(values=tree.values[:, kept]) for tree in trees]
        rest = range(len(first), self.n_trees)
        more, _ = self._grown(known, n_labels, shared, strengths[best : best + 1], rest)
        self.trees = _joined(trees + more)

    def _left_out(self, trees: list[GrownTree], drawn: Mask, n_strengths: int) -> tuple[F64, F64]:
        """The means of the trees grown without each row, (n, strengths, K), and their variance; NaN without trees."""
        shape = self.answers.due_rows, n_strengths, len(self.answers.answered)
        mean, variance = (np.empty((shape[0], shape[1] * shape[2])) for _ in range(2))
        read_left_out(_joined(trees), self.answers.table, drawn, mean, variance)
        return mean.reshape(shape), variance.reshape(shape)

    def _grown(
        self, known: KnownCosts, n_labels: int, shared: float, strengths: F64, numbers: range
    ) -> tuple[list[GrownTree], Mask]:
        """The trees with these numbers, and which rows each was grown from, (trees, n).

        A leaf has K estimates for each strength of shrinkage.
        """
        table, n_rows = self.answers.table, self.answers.due_rows
        varying = varying_columns(table, n_rows)
        n_drawn, n_tried = min(n_rows, _MOST_DRAWN), -(-len(varying) // _TRIED_IN)
        drawn = np.empty((len(numbers), n_rows), np.bool_)

        def grown(number: int) -> GrownTree:
            times = np.empty(n_rows, np.int64)
            random = draw_rows(n_rows, n_drawn, int(self.seed[0]), number, times)
            was_drawn = np.greater(times, 0, out=drawn[number - numbers.start])
            n = int(was_drawn.sum())
            room = GrownTree(
                np.empty(2 * n, np.int32),
                np.empty(2 * n, np.float32),
                np.empty(2 * n, np.int32),
                np.empty((2 * n, n_labels * len(strengths)), np.float32),
            )
            scratch = new_tree_scratch(varying, n, n_labels)
            n_nodes = grow_tree(table, known, times, n_tried, shared, strengths, scratch, random, room)
            return _only_leaves(room, n_nodes)

        if len(known.costs) * len(varying) > _PARALLEL_SIZE:
            with ThreadPoolExecutor(_n_cores()) as pool:
                return list(pool.map(grown, numbers)), drawn
        return [grown(number) for number in numbers], drawn

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
        if len(self.answers.answered):
            self._grow()


def _only_leaves(tree: GrownTree, n_nodes: int) -> GrownTree:
    """The first nodes, with the estimates of leaves only; ``left`` of a leaf is their place."""
    columns, left = tree.columns[:n_nodes].copy(), tree.left[:n_nodes].copy()
    is_leaf = columns == LEAF
    left[is_leaf] = np.arange(is_leaf.sum())
    return GrownTree(columns, tree.numbers[:n_nodes].copy(), left, tree.values[:n_nodes][is_leaf])


def _joined(trees: list[GrownTree]) -> Trees:
    """All trees one after the other."""
    nodes, leaves = (np.cumsum([0, *(len(tree[part]) for tree in trees)])[:-1] for part in (0, 3))
    left = []
    for tree, first_node, first_leaf in zip(trees, nodes, leaves, strict=True):
        inner = np.where(tree.left < 0, tree.left - first_node, tree.left + first_node)
        left.append(np.where(tree.columns == LEAF, tree.left + first_leaf, inner))
    columns, numbers, values = (np.concatenate([tree[part] for tree in trees]) for part in (0, 1, 3))
    return Trees(nodes.astype(np.int32), columns, numbers, np.concatenate(left).astype(np.int32), values)


def _n_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
