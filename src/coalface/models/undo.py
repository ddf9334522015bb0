"""Takes back what an online model has learned since some moment, without a copy of the whole model.

Learning a row changes the cells of its features and the small arrays that belong to no feature. The log copies the
small arrays once and the cells of each row before it is learned, so it grows with the rows and not with the model.
"""

import numpy as np

from coalface.data.rows import Rows
from coalface.kernels.features import fill_table
from coalface.kernels.state import SLOTS_USED, Settings
from coalface.kernels.undo import known_slots
from coalface.models.online import OnlineModel

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
        self._model = model
        self._small = {name: array.copy() for name, array in model.state._asdict().items() if name not in _OF_FEATURES}
        self._cells: list[tuple[np.ndarray, np.ndarray]] = []

    def before(self, rows: Rows, settings: Settings) -> None:
        """Copy the cells that learning these rows will change."""
        model = self._model
        with model.lock:
            scratch = model.scratch_for(rows.longest)
            for row in range(len(rows)):
                n_known = known_slots(model.state, settings, scratch, rows.csr, row)
                slots = scratch.slots[:n_known].copy()
                self._cells.append((slots, model.state.cells[slots]))

    def undo(self) -> None:
        """Restore the state; the log can be used again."""
        model = self._model
        with model.lock:
            state = model.state
            for slots, cells in reversed(self._cells):
                state.cells[slots] = cells
            self._cells.clear()
            for name, array in self._small.items():
                getattr(state, name)[...] = array
            state.table[:] = 0
            fill_table(state.table, state.features, int(state.counters[SLOTS_USED]))
