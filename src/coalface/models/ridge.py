"""The ridge model: one regressor per label, the exact regularised least-squares solution after every cost.

In addition to its weights, each label stores their uncertainty in every direction, in 2 x features^2 bytes, as
described in ``kernels.ridge``. This module allocates these arrays, grows them as new features appear, and computes
predictions and ranges, a block of rows at a time. Features come from a ``FeatureMap``: the rows, or a Gaussian kernel.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data.numbers import AUTO, choice, finite_number, whole_number
from coalface.data.rows import Rows
from coalface.errors import FileFormatError, InputError, shortened
from coalface.files.interrupts import interrupts_put_off
from coalface.kernels.ridge import WIDE, fill_panels, learn_costs, spread_of, starts_of
from coalface.kernels.state import NOISE_SCALED, Settings
from coalface.models.available_memory import available_bytes
from coalface.models.contract import NO_WEIGHTS, CostModel, Costs, Ranged, copy_saved
from coalface.models.feature_maps import FeatureMap, LinearMap
from coalface.models.growth import widened
from coalface.models.landmarks import GaussianMap

_BLOCK = 1024  # rows at a time, to bound the working memory
_PANEL = 128  # columns of a label in a matrix product
_PRODUCT_SIZE = 2**21  # numbers of all labels in a matrix product; for smaller ones, starting threads takes longer
_FEW = 4  # up to this many rows, reading each column once per row is faster than matrix products
_LINEAR, _GAUSSIAN = range(2)
_KERNELS = {"linear": _LINEAR, "rbf": _GAUSSIAN}
LIGHT = "light"
_PENALTIES = {LIGHT: (0.5, 0.1), AUTO: (1.0, 1.0)}  # of each kernel, in examples, as both scale rows to length 1
_MOST_COMPONENTS = 10_000  # a factor of 0.8 GB
_GIGABYTE = 1e9


class RidgeModel(CostModel):
    """Exact ridge regression for embeddings of up to some 2,000 numbers; the intercept is the first column.

    ``regularization`` is the penalty on squared weights. With "light", rows are divided by the length of the first row
    learned, and the penalty is 0.5: it weighs as much as half an example, whatever the scale of the data. "auto", the
    default of earlier versions, weighs as much as one example.

    With ``kernel="rbf"``, predictions are smooth functions of the row: kernel ridge regression with a Gaussian kernel,
    on at most ``n_components`` of the rows learned. "light" is then a penalty of 0.1.

    >>> from coalface import CoalClassifier
    >>> learner = CoalClassifier(classes=range(100), model=RidgeModel(regularization=1.0))
    >>> learner.tell([[0.1] * 384], [[0.5] * 100]).model_.nbytes // 1_000_000
    33
    """

    learned_with = ("fit_intercept", "random_state", "audit_rate", "miss_rate")
    penalty: float
    features: FeatureMap
    factors: NDArray[np.float32]  # (K, packed columns)
    variances: NDArray[np.float64]  # (K, columns)
    weights: NDArray[np.float64]  # (K, columns)
    _starts: NDArray[np.int64]

    def __init__(self, regularization: float | str = LIGHT, kernel: str = "linear", n_components: int = 500) -> None:
        self.regularization = regularization
        self.kernel = kernel
        self.n_components = n_components

    def begin(self, n_labels: int, settings: Settings) -> Self:
        """An untrained model."""
        begun = super().begin(n_labels, settings)
        kernel, n_components = choice(vars(self), "kernel", _KERNELS), _n_components(self.n_components)
        begun.penalty = _penalty(self.regularization, kernel)
        if kernel == _GAUSSIAN:
            begun.features = GaussianMap(n_components, n_labels)
        else:
            begun.features = LinearMap() if isinstance(self.regularization, str) else LinearMap(unit=1.0)
        begun._forget()
        return begun

    def _forget(self) -> None:
        """Return to the state before the first cost, counts and feature map aside."""
        self.factors = np.zeros((self.n_labels, 0), np.float32)
        self.variances = np.zeros((self.n_labels, 0))
        self.weights = np.zeros((self.n_labels, 0))
        self._make_room(0)

    def grow(self) -> None:
        """Make room for one more label, whose weights are 0 and as uncertain as before the first cost."""
        n_labels, columns = self.n_labels + 1, np.arange(self._n_columns)
        self.features.first.add_label()
        self.factors = widened(self.factors, n_labels)
        self.factors[-1, self._starts[columns] + columns] = 1.0
        self.variances = widened(self.variances, n_labels, fill=1.0 / self.penalty)
        self.weights = widened(self.weights, n_labels)

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
            slack = self._slack(settings, first_round + settings.round_step * np.arange(span.start, span.stop))
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
        n_early = min(self.features.first.n_missing, len(rows))
        with interrupts_put_off():  # features, their columns and the counts must agree
            for row in range(n_early):
                self._learn_early(rows.take(np.array([row])), costs[row : row + 1], weights[row : row + 1])
            later = rows.take(np.arange(n_early, len(rows))) if n_early else rows
            self._learn_taught(later, costs[n_early:], weights[n_early:], self.state.squared_residuals)
            self.state.answered[: self.n_labels] += counted.sum(axis=0)

    def _learn_taught(self, rows: Rows, costs: Costs, weights: Costs, squared_residuals: NDArray[np.float64]) -> None:
        for span, part in _parts(rows):
            features = self.features.learned(part)
            self._make_room(features.shape[1])
            state = (self.factors, self.variances, self.weights, self._starts)
            learn_costs(*state, self._with_intercept(features), costs[span], weights[span], squared_residuals)

    def _learn_early(self, row: Rows, costs: Costs, weights: Costs) -> None:
        """Learn one of the first rows; the feature map may then choose again, and all rows before it are relearned."""
        first = self.features.first
        if first.keep(row, costs, weights if len(weights) else np.ones_like(costs)):
            self.features.choose()
            self._forget()
            self._learn_taught(*first.earlier(), np.zeros(self.n_labels))
        self._learn_taught(row, costs, weights, self.state.squared_residuals)

    def check(self, rows: Rows) -> None:
        """Raise an InputError if the rows are too wide for this machine's memory, or their values too large."""
        self.features.check(rows)
        most, available = self.features.most_features(rows.width), available_bytes()
        needed = self.bytes_for(most) + self.features.bytes_for(rows.width)
        if _columns_for(most) > self._n_columns and available is not None and needed > available:
            raise InputError(
                f"{self.features.memory_rule}, got {most:,} features and {self.n_labels:,} labels, which take "
                f"{needed / _GIGABYTE:,.1f} GB, but {available / _GIGABYTE:,.1f} GB are available. "
                f"{self.features.memory_remedy}"
            )

    # -- memory ----------------------------------------------------------------------------------

    @property
    def nbytes(self) -> int:
        """The memory of the model in bytes."""
        return int(self.factors.nbytes + self.variances.nbytes + self.weights.nbytes + self.features.nbytes)

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
        for span, part in _parts(rows):
            features, unseen = self.features.of(part, self._n_columns - 1, self.penalty)
            yield span, self._with_intercept(features), unseen

    def _with_intercept(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        table = np.zeros((len(features), self._n_columns), np.float32)
        table[:, 0] = self.settings.intercept
        table[:, 1 : 1 + features.shape[1]] = features
        return table

    # -- files -----------------------------------------------------------------------------------

    def plain(self) -> dict[str, Any]:
        """The parameters as JSON values; those of the kernel only if there is one, as in files of earlier versions."""
        params = super().plain()
        return {"regularization": params["regularization"]} if self.kernel == "linear" else params

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The state as named arrays; the names of the counts begin with "tally_"."""
        counts = {f"tally_{name}": array for name, array in self.state._asdict().items()}
        own = {"factors": self.factors, "variances": self.variances, "weights": self.weights}
        return {**self.features.arrays(), **own, **counts}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that ``arrays`` returned."""
        self.features.restore(arrays)
        saved = arrays.get("weights", np.zeros((0, 0)))
        if saved.ndim == 2 and 0 < saved.shape[1] <= np.iinfo(np.int32).max:
            self._make_room(saved.shape[1] - 1)
        copy_saved(arrays, self.arrays())
        if self.features.n_landmarks >= self._n_columns:  # compiled code would write beyond the end of a row
            raise FileFormatError(
                f"The model has weights for {self._n_columns - 1} features but {self.features.n_landmarks} landmarks; "
                "it is damaged."
            )


def _columns_for(n_features: int) -> int:
    """The number of columns for features and intercept, a multiple of ``WIDE``."""
    return -(-(n_features + 1) // WIDE) * WIDE


def _penalty(regularization: Any, kernel: int) -> float:
    if not isinstance(regularization, str):
        return finite_number("regularization", regularization, 1e-12, 1e12)
    if regularization not in _PENALTIES:
        raise InputError(f"regularization must be {LIGHT!r}, {AUTO!r} or a number, got {shortened(regularization)}.")
    return _PENALTIES[regularization][kernel]


def _n_components(value: Any) -> int:
    wanted = whole_number("n_components", value, least=1)
    if wanted > _MOST_COMPONENTS:
        raise InputError(
            f"n_components must be at most {_MOST_COMPONENTS:,}, got {shortened(value)}. Use fewer landmarks."
        )
    return wanted


def _parts(rows: Rows) -> Iterator[tuple[slice, Rows]]:
    """The rows a block at a time."""
    for first in range(0, len(rows), _BLOCK):
        span = slice(first, min(first + _BLOCK, len(rows)))
        yield span, rows if span.stop - first == len(rows) else rows.take(np.arange(first, span.stop))
