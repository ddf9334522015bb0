"""The class model: learns which label is best, by logistic regression, where all the costs of an example are known.

A row whose costs are all known, asked for, told or implied, is an example of the class of its cheapest label; costs of
retired labels may be unknown. The predicted cost of a label is its mean cost over the examples of each class, weighted
by the class's probability. So rows can be learned from true labels alone. All examples are stored, and the regression
is fitted again when they have grown by a tenth.
"""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.errors import FileFormatError
from coalface.files.interrupts import interrupts_put_off
from coalface.kernels.classes import cost_ranges
from coalface.kernels.implied_costs import Due, Implications, no_implications, store_until_due
from coalface.kernels.state import MOST_IMPLIED, RoundArrays, Settings
from coalface.models.class_fit import ClassFit
from coalface.models.contract import CostModel
from coalface.models.model_arrays import copy_saved, more_implications, widened
from coalface.models.round_arrays import rounds_stood_for
from coalface.models.values import NO_WEIGHTS, Costs, Ranged, counting

_GROWTH = (11, 10)  # of the examples between two fits, as a fraction
_QUICK_GROWTH = (33, 32)  # the same if the examples of a rare class have grown by half
_RARE_SHARE = 0.1  # of its even share of the examples: a class with less is rare
_LAPLACE_SHARE = 3e-4  # of the variance of a logit: weights are not independent, and the approximation is too wide
_FEW_EXAMPLES, _PRIOR_EXAMPLES = 1.0, 0.15  # variance of a class's logit, whatever the row: 1 / (0.15 + its examples)
_UNKNOWN_COST = 0.5  # before the first example
_NEVER = int(np.iinfo(np.int64).max)
_DTYPES = {"indptr": np.int64, "columns": np.int32, "values": np.float32, "costs": np.float32, "importance": np.float32}


class _ClassExamples:
    """Rows in CSR form with all their costs; the class of a row is its cheapest label, the first of equals.

    >>> from coalface.data.rows import check_rows
    >>> examples = _ClassExamples(n_labels=2)
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
    def restored(cls, n_labels: int, arrays: Mapping[str, NDArray[Any]]) -> "_ClassExamples":
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
        raise FileFormatError("The examples of the model are not rows of numbers; it is damaged. Restore a copy.")
    known = ~np.isnan(costs)
    impossible = (costs[known] < 0).any() or (costs[known] > 1).any() or not known.any(axis=1).all()
    if impossible or not (np.isfinite(importance) & (importance > 0)).all():
        raise FileFormatError(
            "The costs or weights of the model's examples are impossible; it is damaged. Restore a copy."
        )


class ClassModel(CostModel):
    """Multinomial logistic regression of the best label, for true labels, sparse rows and rare labels.

    It learns from rows whose costs are all known. Only ``mellowness`` of the learner's parameters about learning and
    ranges matters to it. Ranges follow from a Laplace approximation of the logits.

    >>> from coalface import CoalClassifier
    >>> X, cost = [[0.0, 1.0], [1.0, 0.0]] * 10, [[0.0, 1.0], [0.2, 0.0]] * 10
    >>> learner = CoalClassifier(classes=["yes", "no"], model=ClassModel()).tell(X, cost)
    >>> learner.predict(X[:2]).tolist()
    ['yes', 'no']
    """

    learned_with = ("audits.rate", "rule.miss_rate")
    examples: _ClassExamples
    implications: Implications
    n_fitted: NDArray[np.int64]  # (1,) examples of the last fit
    fit: ClassFit | None
    _counts_fitted: NDArray[np.int64]  # (K,) by class

    def begin(self, n_labels: int, settings: Settings) -> Self:
        """An untrained model."""
        begun = super().begin(n_labels, settings)
        begun.examples, begun.fit = _ClassExamples(n_labels), None
        begun.implications = no_implications(n_labels if n_labels <= MOST_IMPLIED else 0)
        begun.n_fitted, begun._counts_fitted = np.zeros(1, np.int64), np.zeros(n_labels, np.int64)
        return begun

    def grow(self) -> None:
        """Make room for one more label, whose cost is unknown in all examples so far, and fit them again with it."""
        self.examples.add_label()
        self.implications = more_implications(self.implications)
        self._counts_fitted = np.append(self._counts_fitted, 0)
        if self.fit is not None:
            self._fit(int(self.n_fitted[0]))

    def implications_for(self, settings: Settings) -> Implications:
        """The costs that answers imply, which count as answers and need not be asked for."""
        return self.implications

    def importance(self, rounds: RoundArrays, settings: Settings) -> Costs:
        """Weights of answers: an audit stands for examples like it that were not asked about.

        It counts as the square root of their number: the full weight of a few audits would be mostly noise.
        """
        times = np.sqrt(rounds_stood_for(rounds, settings)).astype(np.float32)
        return NO_WEIGHTS if (times == 1.0).all() else np.repeat(times[:, None], self.n_labels, axis=1)

    # -- predictions and ranges ------------------------------------------------------------------

    def predict(self, rows: Rows) -> Costs:
        """The predicted costs, (n, K)."""
        if self.fit is None:
            return np.full((len(rows), self.n_labels), _UNKNOWN_COST, np.float32)
        return self.fit.costs(self.fit.probabilities(rows)).astype(np.float32)

    def ranges(self, rows: Rows, settings: Settings, first_round: int) -> Ranged:
        """Predictions, and ranges from the uncertainty of the logits; everything is possible before the first example.

        A rare class is never certain: its probability may be 0, so that examples of it are found and asked about.
        """
        lowest, highest = (np.full((len(rows), self.n_labels), end, np.float32) for end in (0.0, 1.0))
        if self.fit is None:
            return Ranged(self.predict(rows), lowest, highest)
        chances, variances = self.fit.with_variances(rows)
        slack = self.round_slack(settings, first_round, len(rows))
        few = _FEW_EXAMPLES / (_PRIOR_EXAMPLES + self.examples.counts)
        up = np.sqrt(2.0 * slack[:, None] * (_LAPLACE_SHARE * variances + few))
        down = np.where((slack[:, None] > 0) & self._rare(self.examples.counts), np.inf, up)
        expected = self.fit.costs(chances)
        cost_ranges(chances, up, down, self.fit.means, expected, lowest, highest)
        return Ranged(expected.astype(np.float32), lowest.clip(0.0, 1.0), highest.clip(0.0, 1.0))

    def _rare(self, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.asarray(self.n_labels * counts < _RARE_SHARE * counts.sum())

    # -- learning --------------------------------------------------------------------------------

    def learn(
        self, rows: Rows, costs: Costs, settings: Settings, first_round: int, weights: Costs = NO_WEIGHTS
    ) -> None:
        """Store the rows whose costs are all known, and fit them again when due.

        Which row triggers a fit does not depend on batching.
        """
        self._learn(rows, costs, weights)

    def learn_predicted(
        self, row: Rows, costs: Costs, settings: Settings, round_number: int, weights: Costs, predicted: Costs
    ) -> None:
        """Learn one row with a known cost."""
        self._learn(row, costs, weights, predicted)

    def _learn(self, rows: Rows, costs: Costs, weights: Costs, predicted: Costs | None = None) -> None:
        known = counting(costs, weights)
        given = np.where(known, weights, np.float32(1.0)) if len(weights) else np.ones(costs.shape, np.float32)
        taught = np.flatnonzero(known.any(axis=1))
        told = np.where(known, costs, np.float32(np.nan))[taught]
        filled = np.empty_like(told)
        with interrupts_put_off():  # examples, implications and the fit must agree
            counts = np.zeros(self.n_labels, np.int64)
            store_until_due(self.implications, told, filled, counts, Due(_NEVER, _NEVER, counts, False))
            taught_rows = rows if len(told) == len(costs) else rows.take(taught)
            self._store(taught_rows, told, filled.clip(0.0, 1.0), given[taught].mean(axis=1), predicted)

    def _store(
        self, rows: Rows, told: Costs, filled: Costs, importance: NDArray[np.float32], predicted: Costs | None
    ) -> None:
        complete = ~np.isnan(filled[:, self.active]).any(axis=1)
        first = 0
        for row in np.flatnonzero(complete).tolist():
            one = slice(row, row + 1)
            self.examples.add(rows.between(row, row + 1), filled[one], importance[one])
            if self._is_due():
                self._count(rows, told, slice(first, row + 1), predicted)
                self._fit(len(self.examples))
                first = row + 1
        self._count(rows, told, slice(first, len(told)), predicted)

    def _count(self, rows: Rows, told: Costs, span: slice, predicted: Costs | None) -> None:
        if span.start == span.stop:
            return
        if predicted is None:
            predicted = self.predict(rows.between(span.start, span.stop))
        self.count_answers(predicted, told[span])

    def _is_due(self) -> bool:
        """Whether the examples have grown by a tenth, or those of a rare class by half."""
        n_now, n_fitted, counts = len(self.examples), int(self.n_fitted[0]), self.examples.counts
        if n_now * _GROWTH[1] >= n_fitted * _GROWTH[0]:
            return True
        grown = (counts > self._counts_fitted) & (2 * counts >= 3 * self._counts_fitted)
        return n_now * _QUICK_GROWTH[1] >= n_fitted * _QUICK_GROWTH[0] and bool((grown & self._rare(counts)).any())

    def _fit(self, n_rows: int) -> None:
        rows, costs, importance = self.examples.first(n_rows)
        self.fit = ClassFit.of(rows, costs, importance)
        self.n_fitted[0] = n_rows
        self._counts_fitted = np.bincount(np.nanargmin(costs, axis=1), minlength=costs.shape[1])

    # -- files -----------------------------------------------------------------------------------

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The examples and what answers imply; the fit follows from the examples and is repeated by ``restore``."""
        implied = {f"implied_{name}": array for name, array in self.implications._asdict().items()}
        return {**self.examples.arrays(), **implied, "n_fitted": self.n_fitted}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that ``arrays`` returned."""
        copy_saved(arrays, {f"implied_{name}": array for name, array in self.implications._asdict().items()})
        copy_saved(arrays, {"n_fitted": self.n_fitted})
        self.examples = _ClassExamples.restored(self.n_labels, arrays)
        n_fitted, n_rows = int(self.n_fitted[0]), len(self.examples)
        if not 0 <= n_fitted <= n_rows or (n_fitted == 0) != (n_rows == 0):
            raise FileFormatError("The model was not fitted to its examples; it is damaged. Restore a copy.")
        if n_fitted:
            self._fit(n_fitted)
