"""Regressors that can say what each cost may still be; the rounds around that are the same for all of them."""

from abc import ABC, abstractmethod
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.kernels import precomputed_ranges as given
from coalface.kernels.state import ROUND, Model, Scratch, Settings, new_scratch
from coalface.models.contract import Costs, Mask
from coalface.models.online import OnlineRegressors


class RangedRegressors(ABC):
    """The base of regressors that ``predict``, ``bound`` and ``learn`` whole rows.

    Learning must not depend on how the rows are split over calls: a replay may split them otherwise.
    """

    def __init__(self, n_labels: int) -> None:
        self.n_labels = n_labels
        self.lock = RLock()
        self.model: Model = OnlineRegressors(n_labels).model  # for its counts
        self.scratch = new_scratch(n_labels, 0)

    @abstractmethod
    def predict(self, rows: Rows) -> Costs:
        """The predicted costs, (n, K)."""

    @abstractmethod
    def bound(self, rows: Rows, settings: Settings, first_round: int) -> tuple[Costs, Costs, Costs]:
        """Predicted, lowest and highest costs, (n, K) each; row r is decided at round ``first_round`` + r."""

    @abstractmethod
    def learn(self, rows: Rows, costs: Costs, settings: Settings, first_round: int) -> None:
        """Learn the known costs, (n, K), NaN elsewhere, and add them to ``squared_residuals`` and ``answered``.

        Row r was decided at round ``first_round`` + r; late answers come with the round that is next.
        """

    def scratch_for(self, longest_row: int) -> Scratch:  # noqa: ARG002 (rows are the regressors' own matter)
        """Memory for the row at hand."""
        return self.scratch

    def predict_rows(
        self, settings: Settings, rows: Rows, candidates: Mask, best: NDArray[np.int64], predicted: Costs
    ) -> None:
        """The best answer to each row and, if ``predicted`` has rows, the predicted costs."""
        found = self.predict(rows)
        given.answer_given(settings, self.scratch, candidates, found, best)
        if len(predicted):
            predicted[:] = found

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
        """Decide on each row, as if it were alone but for its twins."""
        predicted[:], lowest[:], highest[:] = self.bound(rows, settings, int(self.model.counters[ROUND]))
        given.decide_given(
            self.model,
            settings,
            self.scratch,
            candidates,
            known,
            asked,
            twins,
            taken,
            mask,
            first,
            reasons,
            propensity,
            lowest,
            highest,
            predicted,
        )

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
        """Learn the known costs and close a round per row."""
        learned = np.where(candidates, costs, np.float32(np.nan)) if len(candidates) else costs
        self.learn(rows, learned, settings, int(self.model.counters[ROUND]))
        given.count_given(self.model, settings, self.scratch, candidates, costs, asked, outlook, late)
