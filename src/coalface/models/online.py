"""Online least squares: one linear regressor per label, learned in one pass by scale-free AdaGrad.

The numbers live in the arrays of ``kernels.state.Model``; this module makes them, grows them with the
features that appear, and names the settings. Costs are in [0, 1] here.
"""

from collections.abc import Mapping
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.errors import FileFormatError
from coalface.kernels import online
from coalface.kernels.features import fill_table
from coalface.kernels.state import (
    COUNT_CLASSES,
    INVERSE_SCALE,
    LEVELS,
    MOST_IMPLIED,
    N_COUNTERS,
    N_SAVING,
    ROUND,
    SLOTS_USED,
    UNSEEN_INVERSE_SCALE,
    Model,
    Scratch,
    Settings,
    lanes_for,
    new_scratch,
)

_LEAST_SPARE, _MOST_SPARE = 1 / 32, 1 / 8  # room made in advance, as a share of the slots in use
_INDEX_BYTES = 16  # of a slot beside its cells
_PER_SLOT = ("cells", "units", "features")
_NEW = ("saving",)  # not in the models of version 0.1, which start with none


class OnlineRegressors:
    """The state of all labels' regressors, growing with the features that are learned.

    >>> regressors = OnlineRegressors(n_labels=3)
    >>> regressors.make_room(100)
    >>> regressors.model.cells.shape[1:]
    (3, 8)
    """

    def __init__(self, n_labels: int, *, in_turn: bool = False) -> None:
        self.n_labels = n_labels
        self.lock = RLock()  # arrays move when they grow: one thread at a time
        self.model = _empty_model(lanes_for(n_labels), implies=in_turn and n_labels <= MOST_IMPLIED)
        self.scratch = new_scratch(n_labels, 64)

    def scratch_for(self, longest_row: int) -> Scratch:
        """Scratch memory for rows of up to ``longest_row`` non-zeros."""
        if self.scratch.slots.shape[0] <= longest_row:
            self.scratch = new_scratch(self.n_labels, longest_row + longest_row // 4)
        return self.scratch

    def predict_rows(
        self,
        settings: Settings,
        rows: Rows,
        candidates: NDArray[np.bool_],
        best: NDArray[np.int64],
        predicted: NDArray[np.float32],
    ) -> None:
        """The best answer to each row and, if ``predicted`` has rows, the predicted costs."""
        scratch = self.scratch_for(rows.longest)
        online.predict_rows(self.model, settings, scratch, rows.csr, candidates, best, predicted)

    def ask_rows(self, settings: Settings, rows: Rows, *arrays: NDArray[Any]) -> None:
        """Decide on each row; the arrays are those of the kernel."""
        online.ask_rows(self.model, settings, self.scratch_for(rows.longest), rows.csr, *arrays)

    def tell_rows(
        self,
        settings: Settings,
        rows: Rows,
        candidates: NDArray[np.bool_],
        costs: NDArray[np.float32],
        asked: NDArray[np.bool_],
        outlook: NDArray[np.float64],
        late: bool,
    ) -> None:
        """Learn the known costs and close a round per row."""
        done, scratch = 0, self.scratch_for(rows.longest)
        while done < len(rows):
            done = online.tell_rows(
                self.model, settings, scratch, rows.csr, candidates, costs, asked, outlook, late, done
            )
            if done < len(rows):
                self.make_room(int(scratch.unseen[0]))

    def make_room(self, n_features: int) -> None:
        """Make room for this many more features, with little to spare: memory follows what was seen."""
        model = self.model
        used = int(model.counters[SLOTS_USED])
        needed = used + n_features
        if needed > model.features.shape[0]:
            slots = needed + int(used * self._spare)
            for name in _PER_SLOT:
                array = getattr(model, name)
                array.resize((slots, *array.shape[1:]), refcheck=False)
        if needed * 4 > model.table.shape[0] * 3:
            table = np.zeros(needed * 3 // 2 + 8, np.int32)  # two thirds full now, three quarters at most
            fill_table(table, model.features, used)
            self.model = model._replace(table=table)

    @property
    def _spare(self) -> float:
        """As much as keeps the model within 1.2 times its cells: few labels leave less, beside the index."""
        index_share = _INDEX_BYTES / (12.0 * lanes_for(self.n_labels))
        return min(_MOST_SPARE, max(_LEAST_SPARE, 0.17 - index_share))

    @property
    def nbytes(self) -> int:
        """Bytes that the model occupies."""
        return sum(array.nbytes for array in self.model)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The model as named arrays, without spare room, for a file."""
        used = int(self.model.counters[SLOTS_USED])
        named = self.model._asdict()
        del named["table"]
        return {name: array[:used] if name in _PER_SLOT else array for name, array in named.items()}

    @classmethod
    def from_arrays(cls, n_labels: int, arrays: Mapping[str, NDArray[Any]]) -> "OnlineRegressors":
        """The regressors whose ``arrays`` were saved."""
        regressors = cls(n_labels, in_turn=len(arrays.get("implied", ())) > 0)
        fresh = regressors.model._asdict()
        for name, array in fresh.items():
            if name == "table":
                continue
            if name in _NEW and name not in arrays:
                continue
            saved = arrays.get(name)
            shape = array.shape[1:] if name in _PER_SLOT else array.shape
            if saved is None or saved.dtype != array.dtype or saved.shape[-len(shape) or saved.ndim :] != shape:
                raise FileFormatError(f"The model has no usable array {name!r}; it was not saved by coalface.")
            fresh[name] = np.array(saved)
        slots = {len(fresh[name]) for name in _PER_SLOT} | {int(fresh["counters"][SLOTS_USED])}
        if len(slots) > 1 or (fresh["counters"] < 0).any() or len(fresh["features"]) == 0:
            raise FileFormatError(f"The arrays of the model are of different lengths, {sorted(slots)}; it is damaged.")
        regressors.model = Model(**fresh)
        regressors.make_room(0)
        table = np.zeros_like(regressors.model.table)
        fill_table(table, regressors.model.features, int(regressors.model.counters[SLOTS_USED]))
        regressors.model = regressors.model._replace(table=table)
        return regressors

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:  # copies: a row learned meanwhile would move the arrays under the reader
            arrays = {name: array.copy() for name, array in self.arrays().items()}
        return {"n_labels": self.n_labels, "arrays": arrays}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(OnlineRegressors.from_arrays(state["n_labels"], state["arrays"]).__dict__)


def _empty_model(lanes: int, *, implies: bool) -> Model:
    cells = np.zeros((1, 3, lanes), np.float32)  # the slot of the unseen feature
    cells[:, INVERSE_SCALE] = UNSEEN_INVERSE_SCALE
    counters = np.zeros(N_COUNTERS, np.int64)
    counters[ROUND] = counters[SLOTS_USED] = 1
    return Model(
        cells=cells,
        units=np.ones(1, np.float32),
        features=np.full(1, np.iinfo(np.int32).min, np.int32),
        table=np.zeros(8, np.int32),
        norm_sum=np.zeros(lanes),
        updates=np.zeros(lanes),
        squared_residuals=np.zeros(lanes),
        answered=np.zeros(lanes, np.int64),
        asked=np.zeros(lanes, np.int64),
        counters=counters,
        recent_regret=np.zeros(2),
        row_sizes=np.zeros(2),
        was_best=np.zeros(lanes, np.int64),
        implied=np.zeros((lanes if implies else 0, LEVELS, lanes, 2), np.float32),
        trust=np.zeros((LEVELS, COUNT_CLASSES, 2)),
        saving=np.zeros(N_SAVING),
    )
