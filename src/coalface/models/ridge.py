"""The ridge model: one linear regressor per label, the exact regularised least-squares solution after every cost.

In addition to its weights, each label stores their uncertainty in every direction, in 2 x features^2 bytes, as
described in ``kernels.ridge``. This module allocates these arrays, grows them as new features appear, and computes
predictions and ranges, a block of rows at a time.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data.numbers import AUTO, auto_or, number
from coalface.data.rows import Rows
from coalface.errors import InputError
from coalface.kernels.ridge import WIDE, fill_panels, learn_costs, spread_of, starts_of
from coalface.kernels.state import LARGEST_VALUE, NOISE_SCALED, Settings
from coalface.models.contract import NO_WEIGHTS, CostModel, Costs, Ranged, copy_saved

_BLOCK = 1024  # rows at a time, to bound the working memory
_PANEL = 128  # columns of a label in a matrix product
_PRODUCT_SIZE = 2**21  # numbers of all labels in a matrix product; for smaller ones, starting threads takes longer
_FEW = 4  # up to this many rows, reading each column once per row is faster than matrix products
_AUTO_PENALTY = 1.0  # weighs as much as one example, because rows are scaled to length 1
_NO_UNIT = 0.0  # before the first row
_GIGABYTE = 1e9


class RidgeModel(CostModel):
    """Exact ridge regression for embeddings of up to some 2,000 numbers; the intercept is the first column.

    ``regularization`` is the penalty on squared weights. With "auto", rows are divided by the length of the first row
    learned, and the penalty is 1: it weighs as much as one example, whatever the scale of the data.

    >>> from coalface import CoalClassifier
    >>> learner = CoalClassifier(classes=range(100), model=RidgeModel(regularization=1.0))
    >>> learner.tell([[0.1] * 384], [[0.5] * 100]).model_.nbytes // 1_000_000
    33
    """

    learned_with = ("fit_intercept",)
    penalty: float
    unit: NDArray[np.float32]  # (1,) the length of the first row; 0: unknown yet
    factors: NDArray[np.float32]  # (K, packed columns)
    variances: NDArray[np.float64]  # (K, columns)
    weights: NDArray[np.float64]  # (K, columns)
    _starts: NDArray[np.int64]

    def __init__(self, regularization: float | str = AUTO) -> None:
        self.regularization = regularization

    def begin(self, n_labels: int, settings: Settings) -> Self:
        """An untrained model."""
        begun = super().begin(n_labels, settings)
        given = auto_or(vars(self), "regularization", None, _penalty)
        begun.penalty = _AUTO_PENALTY if given is None else given
        begun.unit = np.full(1, _NO_UNIT if given is None else 1.0, np.float32)
        begun.factors = np.zeros((n_labels, 0), np.float32)
        begun.variances = np.zeros((n_labels, 0))
        begun.weights = np.zeros((n_labels, 0))
        begun._make_room(0)
        return begun

    # -- predictions and ranges ------------------------------------------------------------------

    def predict(self, rows: Rows) -> Costs:
        """The predicted costs, (n, K)."""
        predicted = np.empty((len(rows), self.n_labels), np.float32)
        for span, table, _ in self._blocks(rows):
            predicted[span] = self._predicted(table)
        return predicted

    def ranges(self, rows: Rows, settings: Settings, first_round: int) -> Ranged:
        """Predictions and ranges in closed form.

        The regressors whose penalised loss exceeds the least one by at most the slack form an ellipsoid. Their
        predictions differ from the best regressor's by at most sqrt(slack x spread).
        """
        predicted, reach = (np.empty((len(rows), self.n_labels), np.float32) for _ in range(2))
        for span, table, unseen in self._blocks(rows):
            predicted[span] = self._predicted(table)
            slack = self._slack(settings, first_round + np.arange(span.start, span.stop))
            reach[span] = np.sqrt(slack * (self._spread(table) + unseen[:, None]))
        inside = np.clip(predicted, 0.0, 1.0)
        lowest, highest = np.maximum(inside - reach, np.float32(0.0)), np.minimum(inside + reach, np.float32(1.0))
        return Ranged(predicted, lowest, highest)

    def _predicted(self, table: NDArray[np.float32]) -> Costs:
        if len(table) <= _FEW:  # single-threaded: starting the threads of a matrix product would take longer
            return np.asarray(np.einsum("rc,kc->rk", table, self.weights), np.float32)
        return (table.astype(np.float64) @ self.weights.T).astype(np.float32)

    def _slack(self, settings: Settings, rounds: NDArray[np.int64]) -> NDArray[np.float64]:
        """How much more summed loss than the best regressor a plausible one may have, per row and label."""
        slack = settings.mellowness * np.log(self.n_labels * np.maximum(rounds - 1.0, 1.0))
        if settings.slack != NOISE_SCALED:
            return np.broadcast_to(slack[:, None], (len(rounds), self.n_labels))
        squared, answered = self.state.squared_residuals[: self.n_labels], self.state.answered[: self.n_labels]
        return np.outer(slack, (1.0 + squared) / (1.0 + answered))

    def _spread(self, table: NDArray[np.float32]) -> Costs:
        """The uncertainty of each prediction, (n, K): see ``kernels.ridge.spread_of``."""
        spread = np.zeros((len(table), self.n_labels), np.float32)
        if len(table) <= _FEW:
            spread_of(self.factors, self.variances, self._starts, table, spread)
            return spread
        for first in range(0, self._n_columns, _PANEL):
            stop = min(first + _PANEL, self._n_columns)  # also the height of the tallest of these columns
            together = max(_PRODUCT_SIZE // ((stop - first) * stop), 1)
            for label in range(0, self.n_labels, together):
                labels = slice(label, min(label + together, self.n_labels))
                panels = np.empty((labels.stop - label, stop - first, stop), np.float32)
                fill_panels(self.factors[labels], self.variances[labels], self._starts, first, panels)
                along = (table[:, :stop] @ panels.reshape(-1, stop).T).reshape(len(table), *panels.shape[:2])
                spread[:, labels] += np.einsum("rkc,rkc->rk", along, along)
        return spread

    # -- learning --------------------------------------------------------------------------------

    def learn(
        self,
        rows: Rows,
        costs: Costs,
        settings: Settings,  # noqa: ARG002
        first_round: int,  # noqa: ARG002
        weights: Costs = NO_WEIGHTS,
    ) -> None:
        """Learn the known costs, (n, K); the result is bit-identical however the rows are split over calls."""
        counted = ~np.isnan(costs) & (weights > 0) if len(weights) else ~np.isnan(costs)
        taught = np.flatnonzero(counted.any(axis=1))
        rows, costs, weights = rows.take(taught), costs[taught], weights[taught] if len(weights) else weights
        self._make_room(int(rows.columns[rows.values != 0.0].max(initial=-1)) + 1)
        self.unit[0] = self._unit_with(rows)
        residuals = self.state.squared_residuals
        for span, table, _ in self._blocks(rows):
            state = (self.factors, self.variances, self.weights, self._starts)
            learn_costs(*state, table, costs[span], weights[span], residuals)
        self.state.answered[: self.n_labels] += counted.sum(axis=0)

    def _unit_with(self, rows: Rows) -> np.float32:
        """The unit or, if it is unknown yet, the length of the first row that is not all zeros."""
        if self.unit[0] != _NO_UNIT or not rows.values.any():
            return np.float32(self.unit[0])
        first = np.searchsorted(rows.indptr, np.argmax(rows.values != 0.0), side="right") - 1
        return np.float32(np.linalg.norm(rows.row(int(first))[1].astype(np.float64)))

    def check(self, rows: Rows) -> None:
        """Raise an InputError if the rows are too wide for this machine's memory, or their values too large."""
        largest, unit = np.abs(rows.values).max(initial=0.0), self._unit_with(rows) or np.float32(1.0)
        if largest > LARGEST_VALUE:
            raise InputError(f"X must lie within {LARGEST_VALUE:g} of 0, got {largest:g}. Scale the features.")
        if largest > LARGEST_VALUE * unit:
            raise InputError(
                f"X must lie within {LARGEST_VALUE * unit:g} of 0, because the first row learned has the length "
                f"{unit:g}, got {largest:g}. Pass a number as regularization, or learn another row first."
            )
        needed, available = self.bytes_for(rows.width), available_bytes()
        if _columns_for(rows.width) > self._n_columns and available is not None and needed > available:
            raise InputError(
                f"X must have few enough features for 2 x labels x features^2 bytes to fit into memory, got "
                f"{rows.width:,} features and {self.n_labels:,} labels, which take {needed / _GIGABYTE:,.1f} GB, but "
                f"{available / _GIGABYTE:,.1f} GB are available. Project X to fewer features, or use CoalClassifier."
            )

    # -- memory ----------------------------------------------------------------------------------

    @property
    def nbytes(self) -> int:
        """The memory of the model in bytes."""
        return int(self.factors.nbytes + self.variances.nbytes + self.weights.nbytes)

    def bytes_for(self, n_features: int) -> int:
        """The memory of a model of ``n_features`` in bytes."""
        vectors = _columns_for(n_features) // WIDE
        return self.n_labels * WIDE * (4 * WIDE * vectors * (vectors + 1) // 2 + 16 * vectors)

    @property
    def _n_columns(self) -> int:
        return int(self.weights.shape[1])

    def _make_room(self, n_features: int) -> None:
        """Add the missing columns, untrained, because their features were zero in all rows so far."""
        n_columns, before = _columns_for(n_features), self._n_columns
        if n_columns <= before:
            return
        starts = starts_of(n_columns)
        factors = np.zeros((self.n_labels, starts[-1]), np.float32)
        factors[:, : self.factors.shape[1]] = self.factors
        added = np.arange(before, n_columns)
        factors[:, starts[added] + added] = 1.0
        wider = ((0, 0), (0, len(added)))
        self.factors, self._starts = factors, starts
        self.variances = np.pad(self.variances, wider, constant_values=1.0 / self.penalty)
        self.weights = np.pad(self.weights, wider)

    def _blocks(self, rows: Rows) -> Iterator[tuple[slice, NDArray[np.float32], NDArray[np.float64]]]:
        """The rows as dense tables, a block at a time, with the part of the spread due to features never learned."""
        unit = self.unit[0] or np.float32(1.0)
        for first in range(0, len(rows), _BLOCK):
            span = slice(first, min(first + _BLOCK, len(rows)))
            part = rows.indptr[first : span.stop + 1]
            places = slice(part[0], part[-1])
            of_row = np.repeat(np.arange(len(part) - 1), np.diff(part))
            columns = rows.columns[places].astype(np.int64) + 1
            values = (rows.values[places] / np.float64(unit)).clip(-LARGEST_VALUE, LARGEST_VALUE).astype(np.float32)
            seen = columns < self._n_columns
            table = np.zeros((len(part) - 1, self._n_columns), np.float32)
            table[:, 0] = self.settings.intercept
            table[of_row[seen], columns[seen]] = values[seen]
            squares = np.where(seen, 0.0, values.astype(np.float64) ** 2) / self.penalty
            yield span, table, np.bincount(of_row, squares, len(table)).astype(np.float64)

    # -- files -----------------------------------------------------------------------------------

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The state as named arrays; the names of the counts begin with "tally_"."""
        counts = {f"tally_{name}": array for name, array in self.state._asdict().items()}
        own = {"unit": self.unit, "factors": self.factors, "variances": self.variances, "weights": self.weights}
        return {**own, **counts}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that ``arrays`` returned."""
        saved = arrays.get("weights", np.zeros((0, 0)))
        if saved.ndim == 2 and 0 < saved.shape[1] <= np.iinfo(np.int32).max:
            self._make_room(saved.shape[1] - 1)
        copy_saved(arrays, self.arrays())


def _columns_for(n_features: int) -> int:
    """The number of columns for features and intercept, a multiple of ``WIDE``."""
    return -(-(n_features + 1) // WIDE) * WIDE


def _penalty(params: Mapping[str, Any]) -> float:
    return number(params, "regularization", 1e-12, 1e12)


_MEMINFO = Path("/proc/meminfo")
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))  # of a container


def available_bytes() -> int | None:
    """Bytes that can be allocated without swapping; all physical memory if the system does not tell, None if unknown.

    >>> available_bytes() > 0
    True
    """
    known = [free for free in (_machine(), *map(_limit, _LIMITS)) if free is not None]
    return min(known, default=None)


def _machine() -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in _MEMINFO.read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _limit(file: Path) -> int | None:
    """A container's limit. Its current use is not subtracted, because much of that is file cache that can be freed."""
    try:
        return int(file.read_text())
    except (OSError, ValueError):  # ValueError: it says "max"
        return None
