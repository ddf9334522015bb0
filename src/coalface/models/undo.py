"""Takes back what an online model has learned since some moment, without a copy of the whole model.

Learning a row changes the cells of its features and the small arrays that belong to no feature. The log copies the
small arrays once and the cells of each row before it is learned, so it grows with the rows and not with the model.
"""

import numpy as np

from coalface.data.rows import Rows
from coalface.kernels.features import fill_table
from coalface.kernels.state import SLOTS_USED, Settings
from coalface.kernels.undo import SavedCells, restore_cells, save_cells
from coalface.models.online import OnlineModel

_CELLS_PER_BLOCK = 1_000
_OF_FEATURES = ("cells", "units", "features", "table", "interactions")


class UndoLog:
    """The state of a model now; call ``before`` with all rows that it learns from now on.

    >>> from coalface import CoalClassifier
    >>> learner = CoalClassifier(["walk", "fly"], model="online").tell([[1.0]], [[0.2, 0.9]])
    >>> log, settings = UndoLog(learner.model_), learner.settings_for()
    >>> rows = learner.encoded([[1.0]])[0]
    >>> log.before(rows, settings)
    >>> before = learner.predict_cost([[1.0]])
    >>> changed = learner.tell([[1.0]], [[0.9, 0.1]]).predict_cost([[1.0]])
    >>> log.undo()
    >>> bool((changed != before).any()), bool((learner.predict_cost([[1.0]]) == before).all()), learner.round_
    (True, True, 2)
    """

    def __init__(self, model: OnlineModel) -> None:
        self.model = model
        self._blocks: list[SavedCells] = []  # the memory for cells, which is never copied
        self.restart()

    def restart(self) -> None:
        """Move to the present state of the model; the memory for cells is used again."""
        named = self.model.state._asdict().items()
        self._small = {name: array.copy() for name, array in named if name not in _OF_FEATURES}
        self._used = [0]  # cells in each block that is in use

    def before(self, rows: Rows, settings: Settings) -> None:
        """Copy the cells that learning these rows will change."""
        model = self.model
        with model.lock:
            scratch, csr = model.scratch_for(rows.longest), rows.csr
            for row, n_columns in enumerate(np.diff(rows.indptr).tolist()):
                block = self._block_for(model.most_features(n_columns) + 1)  # with the intercept
                self._used[-1] = save_cells(model.state, settings, scratch, csr, row, block, self._used[-1])

    def undo(self) -> None:
        """Restore the state; the log can be used again."""
        model = self.model
        with model.lock:
            state = model.state
            for block, used in reversed(list(zip(self._blocks, self._used, strict=False))):
                restore_cells(state.cells, block, used)
            self._used = [0]
            for name, array in self._small.items():
                getattr(state, name)[...] = array
            state.table[:] = 0
            fill_table(state.table, state.features, int(state.counters[SLOTS_USED]))

    def _block_for(self, n_cells: int) -> SavedCells:
        """The block in use, or the next one if it has no room for this many more cells."""
        while True:
            number = len(self._used) - 1
            if number == len(self._blocks):
                size, shape = max(n_cells, _CELLS_PER_BLOCK), self.model.state.cells.shape[1:]
                self._blocks.append(SavedCells(np.empty(size, np.int64), np.empty((size, *shape), np.float32)))
            if self._used[-1] + n_cells <= len(self._blocks[number].slots):
                return self._blocks[number]
            self._used.append(0)
