"""The joint model: linear regressors whose errors are related, so that each answer also tells about the other labels.

All answered rows are stored, the last 20,000 of them, as ``random_projection`` gives them. The regressors are fitted
again when the answers have grown by a fifth.

If questions are asked one after another, a second label is asked about where the first one cost much. Its answers are
then no fair sample, but which costs are missing depends only on the row and on the answers about it. So the regressors
of greatest likelihood are right as long as the errors of all labels are modelled together. The EM algorithm finds them:
it fills in each missing cost with what the answers of the row let expect, and then fits all labels to the full table.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.errors import FileFormatError
from coalface.files.interrupts import interrupts_put_off
from coalface.kernels.state import F32, F64, I64, Bool, Settings
from coalface.models.contract import CostModel
from coalface.models.model_arrays import copy_saved
from coalface.models.random_projection import MOST_PLACES, n_places, projected
from coalface.models.values import NO_WEIGHTS, Costs, Ranged, counting

_GROWS_IN = 5  # fitted again when there are a fifth more answers
_ROWS_BEFORE = 10.0  # that a label's first mean counts as seen in advance
_STEPS = 10  # of EM per fit, which begins with the last one
_MOST_ROWS = 20_000  # stored; a fifth more until the oldest ones are dropped
_BLOCK = 4096  # rows of a dense table at a time
_LARGEST = float(np.finfo(np.float32).max)
_MOST, _FARTHEST = _LARGEST / 4, _LARGEST / 2  # prediction and reach: their sum is finite
PENALTY, INTERCEPT_PENALTY = 10.0, 0.5  # of squared weights, in rows of average length
_PRIOR_ROWS, _PRIOR_SHARED = 20.0, 0.5  # rows added in advance, whose errors have this correlation
_FIRST_VARIANCE, _LEAST_VARIANCE = 0.15, 1e-4


class _Joint(NamedTuple):
    """The regressors of K labels, the intercept first, and the covariance of their errors."""

    weights: F64  # (columns, K)
    covariance: F64  # (K, K)


def first_joint(n_columns: int, n_labels: int) -> _Joint:
    """What is assumed before the first answer."""
    return _Joint(np.zeros((n_columns, n_labels)), _FIRST_VARIANCE * _prior(n_labels))


def inverse_of(table: F64, times: F64) -> F64:
    """The inverse of the penalised sum of squares and products of the rows, each counted ``times``, (n,)."""
    penalty = np.full(table.shape[1], PENALTY)
    penalty[0] = INTERCEPT_PENALTY
    return np.asarray(np.linalg.inv(table.T @ (times[:, None] * table) + np.diag(penalty)))


def fitted(table: F64, costs: F64, times: F64, inverse: F64, start: _Joint, n_steps: int) -> _Joint:
    """The regressors after some steps of EM; ``table`` (n, columns) begins with ones, unknown ``costs`` are NaN."""
    known = ~np.isnan(costs)
    patterns = _patterns(known)
    weights, covariance = start
    n_labels, total = costs.shape[1], float(times.sum())
    projection = inverse @ (times[:, None] * table).T
    for _ in range(n_steps):
        full, uncertainty = _completed(table @ weights, costs, times, covariance, patterns)
        weights = projection @ full
        errors = full - table @ weights
        products = errors.T @ (times[:, None] * errors) + uncertainty
        variance = max(float(np.trace(products)) / n_labels / total, _LEAST_VARIANCE)
        covariance = (products + _PRIOR_ROWS * variance * _prior(n_labels)) / (total + _PRIOR_ROWS)
    return _Joint(weights, covariance)


def completed(predicted: F64, costs: F64, covariance: F64) -> F64:
    """The known costs (n, K), and in place of unknown ones their expectations, given predictions made without them.

    >>> completed(np.array([[0.5, 0.5]]), np.array([[1.0, np.nan]]), np.array([[0.2, 0.1], [0.1, 0.2]])).tolist()
    [[1.0, 0.75]]
    """
    return _completed(predicted, costs, np.ones(len(costs)), covariance, _patterns(~np.isnan(costs)))[0]


def _prior(n_labels: int) -> F64:
    return (1.0 - _PRIOR_SHARED) * np.eye(n_labels) + _PRIOR_SHARED


def _patterns(known: Bool) -> list[tuple[Bool, I64]]:
    """The distinct sets of known labels, each with its rows."""
    _, first, number = np.unique(np.packbits(known, axis=1), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(number.ravel(), kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(number.ravel()))[:-1])
    return [(known[one], of_pattern) for one, of_pattern in zip(first, rows, strict=True)]


def _completed(
    predicted: F64, costs: F64, times: F64, covariance: F64, patterns: list[tuple[Bool, I64]]
) -> tuple[F64, F64]:
    """The costs with the expected ones in place of unknown ones, and the summed covariance of these expectations."""
    full, uncertainty = np.where(np.isnan(costs), predicted, costs), np.zeros_like(covariance)
    for known, rows in patterns:
        if known.all():
            continue
        there, missing = np.flatnonzero(known), np.flatnonzero(~known)
        cross = covariance[np.ix_(there, missing)]
        slopes = np.linalg.solve(covariance[np.ix_(there, there)], cross)
        surprise = costs[np.ix_(rows, there)] - predicted[np.ix_(rows, there)]
        full[np.ix_(rows, missing)] += surprise @ slopes
        left = covariance[np.ix_(missing, missing)] - cross.T @ slopes
        uncertainty[np.ix_(missing, missing)] += times[rows].sum() * left
    return full, uncertainty


class JointModel(CostModel):
    """Regressors for all labels together, for labels that succeed and fail on the same examples, such as models.

    It learns without bias from questions asked one after another, where a label is asked about if others have failed.
    Rows may have any width: beyond 512 columns, they are projected.

    >>> from coalface import CoalClassifier
    >>> learner = CoalClassifier(classes=["small", "large"], model=JointModel())
    >>> learner.tell([[1.0, 0.0], [0.0, 1.0]] * 50, [[0.0, 0.2], [0.9, 0.2]] * 50).predict([[2.0, 0.0], [0.0, 2.0]])
    array(['small', 'large'], dtype='<U5')
    """

    learned_with = ("audits.rate", "rule.miss_rate")
    table: F32  # (room, places) the rows learned
    costs: F64  # (room, K) NaN where unknown
    times: F64  # (room,) how many rows each counts as
    progress: NDArray[np.int64]  # (4,) rows stored, rows fitted, answers, answers from which the next fit is due
    joint: _Joint
    scale: float  # 1 / the average length of the rows fitted
    inverse: F64

    def begin(self, n_labels: int, settings: Settings) -> Self:
        """An untrained model."""
        begun = super().begin(n_labels, settings)
        begun.table, begun.costs, begun.times = np.zeros((0, 0), np.float32), np.zeros((0, n_labels)), np.zeros(0)
        begun.progress, begun.joint = np.array([0, 0, 0, 1]), first_joint(1, n_labels)
        begun._prepare()
        return begun

    # -- predictions and ranges ------------------------------------------------------------------

    def predict(self, rows: Rows) -> Costs:
        """The predicted costs, (n, K)."""
        predicted = np.empty((len(rows), self.n_labels), np.float32)
        for span, each, _ in self._blocks(rows):
            predicted[span] = (each @ self.joint.weights)[:, 0].clip(-_MOST, _MOST)
        return predicted

    def ranges(self, rows: Rows, settings: Settings, first_round: int) -> Ranged:
        """Predictions, and ranges as ridge regression gives them, as if a label's answers were a random sample."""
        predicted, spread = self.predict(rows), np.empty(len(rows))
        for span, each, unseen in self._blocks(rows):
            spread[span] = (each @ self.inverse @ each.transpose(0, 2, 1))[:, 0, 0] + unseen
        slack = self.round_slack(settings, first_round, len(rows))
        answered = (~np.isnan(self.costs[: self.progress[1]])).sum(axis=0)
        times = np.where(answered > 0, self.progress[1] / np.maximum(answered, 1), np.inf)
        reach = np.sqrt(slack[:, None] * self.noise(settings) * np.maximum(spread[:, None] * times, 0.0))
        reach = np.where(answered > 0, np.minimum(reach, _FARTHEST), 1.0).astype(np.float32)
        return Ranged(predicted, (predicted - reach).clip(0.0, 1.0), (predicted + reach).clip(0.0, 1.0))

    def expected(self, predicted: Costs, known: Costs) -> F64:
        """The known costs, (n, K), and in place of unknown ones what the model expects, given those of the row."""
        return completed(predicted.astype(np.float64), known.astype(np.float64), self.joint.covariance)

    def _blocks(self, rows: Rows) -> Iterator[tuple[slice, F64, F64]]:
        """The rows as tables (n, 1, columns), a block at a time, and the spread due to columns never learned (n,).

        Each row is a table of its own, so that the bits of its costs do not depend on the other rows.
        """
        n_learned = len(self.joint.weights) - 1
        for first in range(0, len(rows), _BLOCK):
            part = rows.between(first, min(first + _BLOCK, len(rows)))
            table = projected(part, max(n_places(part), n_learned))
            unseen = np.square(self.scale * table[:, n_learned:].astype(np.float64)).sum(axis=1) / PENALTY
            yield slice(first, first + len(part)), self._with_intercept(table[:, :n_learned])[:, None], unseen

    def _with_intercept(self, table: F32) -> F64:
        return np.concatenate([np.ones((len(table), 1)), self.scale * table.astype(np.float64)], axis=1)

    # -- learning --------------------------------------------------------------------------------

    def learn(
        self, rows: Rows, costs: Costs, settings: Settings, first_round: int, weights: Costs = NO_WEIGHTS
    ) -> None:
        """Store the known costs, (n, K), and fit again when due.

        Which row triggers a fit does not depend on batching.
        """
        for row in np.flatnonzero(counting(costs, weights).any(axis=1)).tolist():
            one, taught = slice(row, row + 1), rows.between(row, row + 1)
            with interrupts_put_off():  # rows and counts must agree
                self.learn_predicted(taught, costs[one], settings, first_round, weights[one], self.predict(taught))

    def learn_predicted(
        self, row: Rows, costs: Costs, settings: Settings, round_number: int, weights: Costs, predicted: Costs
    ) -> None:
        """Learn one row with a known cost."""
        known = counting(costs, weights)
        cost = np.where(known, costs, np.float32(np.nan))
        self.count_answers(predicted, cost)
        self._store(row, cost[0], float(weights[known].mean()) if len(weights) else 1.0)
        self.progress[2] += np.count_nonzero(known)
        if self.progress[2] >= self.progress[3]:
            self._fit()

    def _store(self, row: Rows, cost: Costs, times: float) -> None:
        n, length = int(self.progress[0]), max(n_places(row), self.table.shape[1])
        if n == len(self.table) or length > self.table.shape[1]:
            room = 2 * n + 8 if n == len(self.table) else len(self.table)
            more = room - len(self.table)
            self.table = np.pad(self.table, ((0, more), (0, length - self.table.shape[1])))
            self.costs = np.pad(self.costs, ((0, more), (0, 0)), constant_values=np.nan)
            self.times = np.pad(self.times, (0, more))
        self.table[n], self.costs[n], self.times[n] = projected(row, length)[0], cost, times
        self.progress[0] = n + 1

    def _fit(self) -> None:
        """Fit to all rows stored, from the last fit on; labels new in it begin with the mean of their answers.

        Steps of EM are small for a label that is unknown in most rows.
        """
        is_new = np.isnan(self.costs[: self.progress[1]]).all(axis=0) & (self.progress[1] > 0)
        if self.progress[0] > _MOST_ROWS + _MOST_ROWS // _GROWS_IN:
            kept = slice(int(self.progress[0]) - _MOST_ROWS, int(self.progress[0]))
            self.table, self.costs, self.times = self.table[kept], self.costs[kept], self.times[kept]
            self.progress[0] = _MOST_ROWS
        self.progress[1] = self.progress[0]
        self.progress[3] = self.progress[2] + max(int(self.progress[2]) // _GROWS_IN, 1)
        n, before, (weights, covariance) = int(self.progress[1]), self.scale, self.joint
        weights = np.pad(weights, ((0, 1 + self.table.shape[1] - len(weights)), (0, 0)))
        self.joint = _Joint(weights, covariance)
        self._prepare()
        weights[1:] *= before / self.scale
        table = self._with_intercept(self.table[:n])
        for label in np.flatnonzero(is_new & ~np.isnan(self.costs[:n]).all(axis=0)):
            known = ~np.isnan(self.costs[:n, label])
            errors = self.costs[:n, label][known] - table[known] @ weights[:, label]
            weights[0, label] += self.times[:n][known] @ errors / (self.times[:n][known].sum() + _ROWS_BEFORE)
        self.joint = fitted(table, self.costs[:n], self.times[:n], self.inverse, self.joint, _STEPS)

    def _prepare(self) -> None:
        """Compute what follows from the rows of the last fit alone."""
        n, n_learned = int(self.progress[1]), len(self.joint.weights) - 1
        table = self.table[:n, :n_learned]
        length = float(np.sqrt(np.square(table.astype(np.float64)).sum(axis=1).mean())) if n else 0.0
        self.scale = 1.0 / length if length > 0.0 else 1.0
        self.inverse = inverse_of(self._with_intercept(table), self.times[:n])

    def grow(self) -> None:
        """Make room for one more label, which is predicted as the mean of the others, with errors of its own."""
        weights, covariance = self.joint
        others = self.teachers() if len(self.teachers()) else np.arange(self.n_labels)
        shared = covariance[:, others].mean(axis=1)
        fresh = first_joint(1, self.n_labels + 1).covariance
        fresh[:-1, :-1], fresh[-1, :-1], fresh[:-1, -1] = covariance, shared, shared
        fresh[-1, -1] += shared[others].mean()
        mean = weights[:, others].mean(axis=1, keepdims=True)
        self.joint = _Joint(np.concatenate([weights, mean], axis=1), fresh)
        self.costs = np.pad(self.costs, ((0, 0), (0, 1)), constant_values=np.nan)

    # -- files -----------------------------------------------------------------------------------

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The rows and answers, and the last fit."""
        n = int(self.progress[0])
        stored = {"joint_rows": self.table[:n], "joint_costs": self.costs[:n], "joint_times": self.times[:n]}
        return {**stored, "progress": self.progress, **self.joint._asdict()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that ``arrays`` returned."""
        copy_saved(arrays, {"progress": self.progress})
        n, n_fitted = (int(number) for number in self.progress[:2])
        shapes = {name: np.shape(arrays.get(name, ())) for name in ("joint_rows", "weights")}
        if not 0 <= n_fitted <= n or any(len(shape) != 2 for shape in shapes.values()):
            raise FileFormatError("The model has no usable rows; it was not saved by coalface. Restore a copy.")
        self.table, self.costs, self.times = (
            np.empty((n, shapes["joint_rows"][1]), np.float32),
            np.empty((n, self.n_labels)),
            np.empty(n),
        )
        weights = np.empty((shapes["weights"][0], self.n_labels))
        self.joint = _Joint(weights, np.empty((self.n_labels, self.n_labels)))
        stored: dict[str, NDArray[Any]] = {"joint_rows": self.table, "joint_costs": self.costs}
        stored["joint_times"] = self.times
        copy_saved(arrays, {**stored, **self.joint._asdict()})
        if not self._could_be():
            raise FileFormatError("The rows or weights of the joint model cannot be; it is damaged. Restore a copy.")
        self._prepare()

    def _could_be(self) -> bool:
        """Whether learning could have led to these rows, answers and weights."""
        known = ~np.isnan(self.costs)
        finite = (self.table, self.costs[known], self.times, *self.joint)
        if not all((np.abs(array) <= _LARGEST).all() for array in finite):  # NaN is not, either
            return False
        costs_fit = known.any(axis=1).all() and ((self.costs[known] >= 0) & (self.costs[known] <= 1)).all()
        columns_fit = 1 <= len(self.joint.weights) <= 1 + self.table.shape[1] <= 1 + MOST_PLACES
        in_order = 0 <= self.progress[2] < self.progress[3]
        return bool(
            costs_fit
            and columns_fit
            and in_order
            and (self.times >= 0).all()
            and np.linalg.eigvalsh(self.joint.covariance).min() > 0
        )
