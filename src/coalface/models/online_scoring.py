"""Predictions and ranges of the online model on a GPU, for large pools; learning stays on the CPU."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.errors import InputError
from coalface.kernels.cuda.device import CudaDevice, Device
from coalface.kernels.cuda.layout import FIELDS, POINTERS, PROBLEM, SETTINGS, TRAINED, TRAINED_ARRAYS, stride_for
from coalface.kernels.features import INTERCEPT
from coalface.kernels.state import INVERSE_SCALE, ROUND, SLOTS_USED, UNSEEN_INVERSE_SCALE, Model, Settings
from coalface.models.values import Ranged

_ROWS_AT_ONCE = 2**18  # rows whose ranges are on the device together


class OnlineScorer:
    """Scores rows on a device, which keeps a copy of the model until the model has learned more."""

    def __init__(self, device: Device | None = None) -> None:
        self.device = CudaDevice() if device is None else device
        self._key: Any = None
        self._copied: dict[str, Any] = {}

    def ranges(self, rows: Rows, model: Model, settings: Settings, first_round: int) -> Ranged:
        """Predictions and ranges; row r is decided at round ``first_round`` + ``settings.round_step`` x r."""
        shape = (len(rows), settings.n_labels)
        found = Ranged(*(np.empty(shape, np.float32) for _ in range(3)))
        self._fill("score_rows", found, rows, model, settings, first_round)
        return found

    def savings(self, rows: Rows, model: Model, settings: Settings, first_round: int) -> NDArray[np.float64]:
        """What questions could still save on each row, in [0, 1], if every label is a candidate."""
        found = np.empty(len(rows), np.float64)
        self._fill("save_rows", (found,), rows, model, settings, first_round)
        return found

    def _fill(
        self,
        function: str,
        tables: Sequence[NDArray[Any]],
        rows: Rows,
        model: Model,
        settings: Settings,
        first_round: int,
    ) -> None:
        """Call a function of ``score.cuh`` block by block; every table gets a row for each of the rows."""
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            stop = min(start + _ROWS_AT_ONCE, len(rows))
            block, own_round = rows.between(start, stop), first_round + settings.round_step * start
            written = [self.device.empty(table[start:stop].size, table.dtype.type) for table in tables]
            self._score(function, written, block, model, settings, own_round)
            for table, part in zip(tables, written, strict=True):
                table[start:stop] = self.device.get(part).reshape(table[start:stop].shape)

    def _score(
        self, function: str, written: Sequence[Any], rows: Rows, model: Model, settings: Settings, first_round: int
    ) -> None:
        device, rows = self.device, rows.without_zeros()
        copied, n_features = self._copy(model, rows.width), self._key[-1]
        shape = device.shape_for(settings.n_labels, rows.longest)
        n_blocks = min(device.n_blocks(shape), len(rows))
        problem, record, trained = np.zeros(1, PROBLEM), np.zeros(1, SETTINGS), np.zeros(1, TRAINED)
        problem["n_features"], problem["longest"], problem["n_rows"] = n_features, rows.longest, len(rows)
        buffers = {name: device.put(array) for name, array in rows.csr._asdict().items()}
        if shape.row_capacity == 1:
            buffers |= {name: device.empty(2 * n_blocks * (rows.longest + 1)) for name in ("row_slots", "row_values")}
        for name in POINTERS:
            problem[name] = device.address({**copied, **buffers}.get(name))
        for name in FIELDS:
            record[name] = getattr(settings, name)
        for name in TRAINED_ARRAYS:
            trained[name] = device.address(copied[name])
        trained["first_round"], trained["round_step"] = first_round, settings.round_step
        trained["slots_used"] = model.counters[SLOTS_USED]
        given = (device.put(array.view(np.uint8)) for array in (problem, record, trained))
        device.score(function, shape, n_blocks, *given, *written)

    def _copy(self, model: Model, width: int) -> dict[str, Any]:
        """The model on the device, where the slot of a feature is its column plus 1."""
        used = int(model.counters[SLOTS_USED])
        features = model.features[1:used]
        n_features = max(width, int(features.max(initial=-1)) + 1)
        key = (int(model.counters[ROUND]), used, int(model.answered.sum()), float(model.updates.sum()), n_features)
        if key == self._key:
            return self._copied
        self._copied, slots = {}, n_features + 2
        needed, free = 4 * slots * (stride_for(model.cells.shape[2]) + 1), self.device.memory
        if needed > free:
            raise InputError(
                f"The model needs {needed / 1e9:.1f} GB for {n_features:,} features, and {self.device.name} has "
                f"{free / 1e9:.1f} GB free. Pass device='cpu'."
            )
        places = np.where(features == INTERCEPT, n_features, features) + 1
        n_parts, lanes = model.cells.shape[1:]
        padded, units = np.zeros((slots, stride_for(lanes)), np.float32), np.zeros(slots, np.float32)
        cells = padded[:, : n_parts * lanes].reshape(slots, n_parts, lanes)  # a view
        cells[:, INVERSE_SCALE] = UNSEEN_INVERSE_SCALE
        cells[places], units[places] = model.cells[1:used], model.units[1:used]
        arrays = {"cells": padded, "units": units, **{name: getattr(model, name) for name in TRAINED_ARRAYS}}
        self._copied, self._key = {name: self.device.put(array) for name, array in arrays.items()}, key
        return self._copied
