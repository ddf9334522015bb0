"""The ridge model: one regressor per label, the exact regularised least-squares solution after every cost.

In addition to its weights, each label stores their uncertainty in every direction: on the CPU in 2 x features^2 bytes
(``regression``), on a GPU in 4 x features^2 bytes (``root_regression``). This module turns rows into tables, a
block at a time. Features come from a ``FeatureMap``: the rows, or a Gaussian kernel.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data.numbers import AUTO, choice, finite_number, whole_number
from coalface.data.rows import Rows
from coalface.errors import FileFormatError, InputError, shortened
from coalface.files.interrupts import interrupts_put_off
from coalface.kernels.state import Settings
from coalface.models import device as devices
from coalface.models.contract import CostModel
from coalface.models.linear import FIT_INTERCEPT
from coalface.models.model_arrays import copy_saved
from coalface.models.ridge.feature_maps import FeatureMap, LinearMap
from coalface.models.ridge.landmarks import GaussianMap
from coalface.models.ridge.regression import FactorRegression, Regression, Table, columns_for
from coalface.models.ridge.root_regression import RootRegression
from coalface.models.values import NO_WEIGHTS, Costs, Ranged, counting

_LINEAR, _GAUSSIAN = range(2)
_KERNELS = {"linear": _LINEAR, "rbf": _GAUSSIAN}
LIGHT = "light"
_PENALTIES = {LIGHT: (0.5, 0.1), AUTO: (1.0, 1.0)}  # of each kernel, in examples, as both scale rows to length 1
_MOST_COMPONENTS = 10_000  # a factor of 0.8 GB
_GIGABYTE = 1e9
OF_A_MACHINE = ("device", "precision")  # parameters that a file does not have: it can be loaded on any machine


class RidgeModel(CostModel):
    """Exact ridge regression for embeddings of up to some 2,000 numbers; the intercept is the first column.

    ``regularization`` is the penalty on squared weights. With "light", rows are divided by the length of the first row
    learned, and the penalty is 0.5: it weighs as much as half an example, whatever the scale of the data. "auto" weighs
    as much as one example.

    With ``kernel="rbf"``, predictions are smooth functions of the row: kernel ridge regression with a Gaussian kernel,
    on at most ``n_components`` of the rows learned. "light" is then a penalty of 0.1.

    ``device="cuda"`` keeps the state on a GPU and computes there, in 32 bits; ``precision="tf32"`` uses its tensor
    cores, which read 11 bits. Files are the same: each device loads what the other saved.

    >>> from coalface import CoalClassifier
    >>> learner = CoalClassifier(classes=range(100), model=RidgeModel(regularization=1.0))
    >>> learner.tell([[0.1] * 384], [[0.5] * 100]).model_.nbytes // 1_000_000
    33
    """

    learned_with = ("random_state", "audits.rate", "rule.miss_rate")
    penalty: float
    features: FeatureMap
    regression: Regression

    def __init__(
        self,
        regularization: float | Literal["light", "auto"] = "light",
        kernel: Literal["linear", "rbf"] = "linear",
        n_components: int = 500,
        fit_intercept: bool = True,
        device: devices.DeviceName = "cpu",
        precision: devices.Precision = "single",
    ) -> None:
        self.regularization = regularization
        self.kernel = kernel
        self.n_components = n_components
        self.fit_intercept = fit_intercept
        self.device = device
        self.precision = precision

    def begin(self, n_labels: int, settings: Settings) -> Self:
        """An untrained model."""
        begun = super().begin(n_labels, settings)
        kernel, n_components = choice("kernel", self.kernel, _KERNELS), _n_components(self.n_components)
        begun.penalty = _penalty(self.regularization, kernel)
        begun._forget()
        if kernel == _GAUSSIAN:
            begun.features = GaussianMap(n_components, n_labels)
        else:
            given = {} if isinstance(self.regularization, str) else {"unit": 1.0}
            begun.features = LinearMap(**given, arrays=begun.regression.arrays_used)
        return begun

    def _forget(self) -> None:
        """Return to the state before the first cost, counts and feature map aside."""
        precision = choice("precision", self.precision, devices.PRECISIONS)
        if devices.is_gpu(self.device):
            arrays_used = devices.CudaArrays()
            self.regression = RootRegression(self.n_labels, self.penalty, arrays_used, precision)
        elif precision != devices.SINGLE:
            raise InputError(f"precision must be 'single' on the CPU, got {self.precision!r}. Pass device='cuda'.")
        else:
            self.regression = FactorRegression(self.n_labels, self.penalty)
        self.regression.make_room(columns_for(0))

    def grow(self) -> None:
        """Make room for one more label, which predicts the mean of the others and is as uncertain as an empty model."""
        self.features.first.add_label()
        self.regression.add_label(self.teachers())

    def moved(self, device: devices.DeviceName, precision: devices.Precision = "single") -> Self:
        """The same model on another device."""
        params = {**self.get_params(deep=False), "device": device, "precision": precision}
        model = type(self)(**params).begin(self.n_labels, self.settings)
        with self.lock:
            model.restore_saved(self.saved())
            model.set_active(self.active)
        return model

    # -- predictions and ranges ------------------------------------------------------------------

    def predict(self, rows: Rows) -> Costs:
        """The predicted costs, (n, K)."""
        predicted = np.empty((rows.n_rows, self.n_labels), np.float32)
        for span, table, _ in self._blocks(rows):
            predicted[span] = self.regression.costs(table)
        return predicted

    def ranges(self, rows: Rows, settings: Settings, first_round: int) -> Ranged:
        """Predictions and ranges in closed form: see ``Regression.ranged``."""
        found = Ranged(*(np.empty((len(rows), self.n_labels), np.float32) for _ in range(3)))
        slack, noise = self.round_slack(settings, first_round, len(rows)), self.noise(settings)
        for span, table, unseen in self._blocks(rows):
            for array, part in zip(found, self.regression.ranged(table, unseen, slack[span], noise), strict=True):
                array[span] = part
        return found

    # -- learning --------------------------------------------------------------------------------

    def learn(
        self, rows: Rows, costs: Costs, settings: Settings, first_round: int, weights: Costs = NO_WEIGHTS
    ) -> None:
        """Learn the known costs, (n, K).

        On the CPU, the result is bit-identical however the rows are split over calls; on a GPU, it differs by rounding.
        """
        taught = np.flatnonzero(counting(costs, weights).any(axis=1))
        with interrupts_put_off():  # features, their columns and the counts must agree
            self._learn(rows.take(taught), costs[taught], weights[taught] if len(weights) else weights)

    def learn_predicted(
        self, row: Rows, costs: Costs, settings: Settings, round_number: int, weights: Costs, predicted: Costs
    ) -> None:
        """Learn one row with a known cost."""
        self._learn(row, costs, weights)

    def _learn(self, rows: Rows, costs: Costs, weights: Costs) -> None:
        n_early = min(self.features.first.n_missing, len(costs))
        for row in range(n_early):
            self._learn_early(rows.between(row, row + 1), costs[row : row + 1], weights[row : row + 1])
        if n_early < len(costs):
            later = rows.between(n_early, len(costs)) if n_early else rows
            self._learn_taught(later, costs[n_early:], weights[n_early:], self.state.squared_residuals)
        self.state.answered[: self.n_labels] += counting(costs, weights).sum(axis=0)

    def _learn_taught(self, rows: Rows, costs: Costs, weights: Costs, squared_residuals: NDArray[np.float64]) -> None:
        intercept = float(self.settings.intercept)
        for span, part in self._parts(rows):
            features = self.features.learned(part)
            self.regression.make_room(columns_for(features.shape[1]))
            table = self.regression.table(features, intercept)
            self.regression.learn(table, costs[span], weights[span], squared_residuals)

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
        most, columns = self.features.most_features(rows.width), self.regression.n_columns
        if columns_for(most) <= columns:
            return
        available = self.regression.arrays_used.available_bytes()
        needed = self.bytes_for(most) + self.features.bytes_for(rows.width)
        if available is not None and needed > available:
            raise InputError(
                f"{self.features.memory_rule}, got {most:,} features and {self.n_labels:,} labels, which take "
                f"{needed / _GIGABYTE:,.1f} GB, but {available / _GIGABYTE:,.1f} GB are available. "
                f"{self.features.memory_remedy}"
            )

    # -- memory ----------------------------------------------------------------------------------

    @property
    def nbytes(self) -> int:
        """The memory of the model in bytes."""
        return self.regression.nbytes + self.features.nbytes

    def bytes_for(self, n_features: int) -> int:
        """The memory of a model of ``n_features`` in bytes."""
        return self.regression.bytes_for(columns_for(n_features))

    def _blocks(self, rows: Rows) -> Iterator[tuple[slice, Table, Any]]:
        """The rows as dense tables, a block at a time, with the part of the spread due to features never learned."""
        for span, part in self._parts(rows):
            features, unseen = self.features.of(part, self.regression.n_columns - 1, self.penalty)
            yield span, self.regression.table(features, float(self.settings.intercept)), unseen

    def _parts(self, rows: Rows) -> Iterator[tuple[slice, Rows]]:
        """The rows a block at a time."""
        if rows.n_rows == 1:
            yield slice(1), rows
            return
        for first in range(0, rows.n_rows, self.regression.block):
            span = slice(first, min(first + self.regression.block, rows.n_rows))
            yield span, rows.between(first, span.stop)

    # -- files -----------------------------------------------------------------------------------

    def linear_parameters(self) -> dict[str, Any]:
        """Whether there is an intercept."""
        return {FIT_INTERCEPT: self.fit_intercept}

    def plain(self) -> dict[str, Any]:
        """The parameters as JSON values, without those of the machine."""
        return {name: value for name, value in super().plain().items() if name not in OF_A_MACHINE}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The state as named arrays; the names of the counts begin with "tally_"."""
        counts = {f"tally_{name}": array for name, array in self.state._asdict().items()}
        return {**self.features.arrays(), **self.regression.arrays(), **counts}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that ``arrays`` returned."""
        self.features.restore(arrays)
        self.regression.restore(arrays)
        copy_saved(arrays, {f"tally_{name}": array for name, array in self.state._asdict().items()})
        n_features = self.regression.n_columns - 1
        if self.features.n_landmarks > n_features:  # compiled code would write beyond the end of a row
            raise FileFormatError(
                f"The model has weights for {n_features} features but {self.features.n_landmarks} landmarks; "
                "it is damaged. Restore a copy."
            )


def _penalty(regularization: Any, kernel: int) -> float:
    if not isinstance(regularization, str):
        return finite_number("regularization", regularization, 1e-12, 1e12)
    if regularization not in _PENALTIES:
        raise InputError(
            f"regularization must be {LIGHT!r}, {AUTO!r} or a number, got {shortened(regularization)}. Choose one."
        )
    return _PENALTIES[regularization][kernel]


def _n_components(value: Any) -> int:
    wanted = whole_number("n_components", value, least=1)
    if wanted > _MOST_COMPONENTS:
        raise InputError(
            f"n_components must be at most {_MOST_COMPONENTS:,}, got {shortened(value)}. Use fewer landmarks."
        )
    return wanted
