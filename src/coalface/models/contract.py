"""What a learner needs of its regressors, whatever they are."""

from threading import RLock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.kernels.state import Model, Scratch, Settings

Mask = NDArray[np.bool_]
Costs = NDArray[np.float32]


class CostRegressors(Protocol):
    """One cost regressor per label, with the counts of what was asked and told, on the inner scale of costs.

    Results go into arrays of the caller. An empty array stands for "no restriction", "nothing known" or "not wanted".
    """

    n_labels: int
    lock: RLock
    model: Model  # the counts; what else is in it is the regressors' own matter

    def scratch_for(self, longest_row: int) -> Scratch:
        """Memory for the row at hand."""

    def predict_rows(
        self, settings: Settings, rows: Rows, candidates: Mask, best: NDArray[np.int64], predicted: Costs
    ) -> None:
        """The best answer to each row and the predicted costs."""

    def ask_rows(
        self,
        settings: Settings,
        rows: Rows,
        candidates: Mask,
        known: Costs,
        asked: Mask,
        twins: NDArray[np.int64],
        taken: Mask,
        mask: Mask,
        first: Mask,
        reasons: NDArray[np.int8],
        propensity: NDArray[np.float64],
        lowest: Costs,
        highest: Costs,
        predicted: Costs,
    ) -> None:
        """Decide on each row; see ``kernels.online.ask_rows``."""

    def tell_rows(
        self,
        settings: Settings,
        rows: Rows,
        candidates: Mask,
        costs: Costs,
        asked: Mask,
        outlook: NDArray[np.float64],
        late: bool,
    ) -> None:
        """Learn the known costs and close a round per row; see ``kernels.online.tell_rows``."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything as named arrays, for a file."""
