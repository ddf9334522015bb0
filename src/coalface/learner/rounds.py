"""Rounds over rows: predict, ask, tell and simulate on the inner scale of costs, for one set of regressors.

Each function holds the regressors' lock. A simulated run of the online learner is one compiled loop, stopped for
room to be made when new features appear.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.kernels import online
from coalface.kernels.state import COSTS_QUERIED, N_OUTLOOK, NOT_A_CANDIDATE, ROUND, Settings
from coalface.kernels.stopping import foresee_rows
from coalface.learner.stopping import saves_less_than
from coalface.models.contract import CostRegressors
from coalface.models.online import OnlineRegressors

Candidates = NDArray[np.bool_] | None
NO_MASK = np.zeros((0, 0), np.bool_)
NO_NUMBERS = np.zeros((0, 0))
NO_PREDICTIONS = np.zeros((0, 0), np.float32)
NO_TWINS = np.zeros(0, np.int64)
UNLIMITED = 2**62
NEVER = float("-inf")  # to stop for want of savings


class Decisions(NamedTuple):
    """What ``ask`` found, (n, K) each, on the inner scale."""

    mask: NDArray[np.bool_]
    first: NDArray[np.bool_]
    reasons: NDArray[np.int8]
    propensity: NDArray[np.float64]
    lowest: NDArray[np.float32]
    highest: NDArray[np.float32]
    predicted: NDArray[np.float32]
    first_round: int


def predict(
    regressors: CostRegressors, settings: Settings, rows: Rows, candidates: Candidates, *, with_costs: bool
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The best answer to each row (behind the last label: abstaining), and the predicted costs if wanted."""
    best = np.empty(len(rows), np.int64)
    predicted = np.empty((len(rows), settings.n_labels), np.float32) if with_costs else NO_PREDICTIONS
    with regressors.lock:
        regressors.predict_rows(settings, rows, _or_all(candidates), best, predicted)
    return best, predicted


def paid(best: NDArray[np.int64], costs: NDArray[np.float32], settings: Settings) -> NDArray[np.float64]:
    """What the best answers cost, where ``costs`` (n, K) are the true ones."""
    labels = np.minimum(best, settings.n_labels - 1)
    of_labels = costs[np.arange(len(best)), labels].astype(np.float64)
    return np.where(best < settings.n_labels, of_labels, settings.abstain_cost)


class Answered(NamedTuple):
    """What is known already about the rows in question, and what was asked for, (n, K) each."""

    costs: NDArray[np.float32]
    asked: NDArray[np.bool_]


NOTHING_ANSWERED = Answered(NO_PREDICTIONS, NO_MASK)


def ask(
    regressors: CostRegressors,
    settings: Settings,
    rows: Rows,
    candidates: Candidates,
    answered: Answered = NOTHING_ANSWERED,
    twins: NDArray[np.int64] = NO_TWINS,
    first_round: int | None = None,
) -> Decisions:
    """Decide on each row, as if it were alone but for ``twins``: see ``twins_of``; nothing changes.

    The first row is decided at ``first_round``, by default the model's.
    """
    shape = (len(rows), settings.n_labels)
    with regressors.lock, _at_round(regressors, first_round):
        decisions = Decisions(
            mask=np.empty(shape, np.bool_),
            first=np.empty(shape, np.bool_),
            reasons=np.empty(shape, np.int8),
            propensity=np.empty(shape, np.float64),
            lowest=np.empty(shape, np.float32),
            highest=np.empty(shape, np.float32),
            predicted=np.empty(shape, np.float32),
            first_round=int(regressors.model.counters[ROUND]),
        )
        regressors.ask_rows(
            settings,
            rows,
            _or_all(candidates),
            answered.costs,
            answered.asked,
            twins,
            np.zeros((int(twins.max(initial=-1)) + 1, settings.n_labels), np.bool_),
            *decisions[:7],
        )
    return decisions


@contextmanager
def _at_round(regressors: CostRegressors, first_round: int | None) -> Iterator[None]:
    """A block in which the model is at another round; nobody sees it, for its lock is held."""
    counters = regressors.model.counters
    own = int(counters[ROUND])
    counters[ROUND] = own if first_round is None else first_round
    try:
        yield
    finally:
        counters[ROUND] = own


def outlook(settings: Settings, decisions: Decisions) -> NDArray[np.float64] | None:
    """What the decided rows look like before their answers come, for ``tell``; None where nothing is audited."""
    if settings.audit_rate == 0.0:
        return None
    found = np.empty((len(decisions.mask), N_OUTLOOK))
    candidates = decisions.reasons != NOT_A_CANDIDATE
    foresee_rows(settings, candidates, decisions.predicted, decisions.lowest, decisions.propensity, found)
    return found


def tell(
    regressors: CostRegressors,
    settings: Settings,
    rows: Rows,
    candidates: Candidates,
    costs: NDArray[np.float32],
    asked: NDArray[np.bool_],
    outlook: NDArray[np.float64] | None = None,
    *,
    late: bool,
) -> None:
    """Learn the known costs and close a round per row."""
    seen = NO_NUMBERS if outlook is None else outlook
    with regressors.lock:
        regressors.tell_rows(settings, rows, _or_all(candidates), costs, asked, seen, late)


class Run(ABC):
    """A simulated run over rows whose costs are all at hand, played piece by piece.

    If ``record`` is set, ``asked``, ``propensity`` and ``outlook`` hold, per position, what was asked. The run ends
    early once more asking would save less than ``stop_saving``.
    """

    def __init__(
        self,
        regressors: CostRegressors,
        settings: Settings,
        rows: Rows,
        candidates: Candidates,
        costs: NDArray[np.float32],
        order: NDArray[np.int64],
        *,
        record: bool = False,
        stop_saving: float = NEVER,
    ) -> None:
        self.done = 0
        self.order = order
        shape = (len(order), settings.n_labels)
        self.asked = np.zeros(shape if record else (0, 0), np.int8)  # NOT_ASKED, ASKED or ASKED_AS_AUDIT
        self.propensity = np.zeros(shape) if record else NO_NUMBERS
        self.outlook = np.zeros((len(order), N_OUTLOOK)) if record else NO_NUMBERS
        self.stop_saving = stop_saving
        self.rows, self.costs, self.candidates = rows, costs, candidates
        self._regressors, self._settings = regressors, settings

    @property
    def stopped(self) -> bool:
        """Whether more asking would save too little."""
        return saves_less_than(self._regressors.model, self.stop_saving)

    @abstractmethod
    def play(self, n_rows: int, budget: int = UNLIMITED) -> None:
        """Go on for so many rows, or until ``budget`` costs have been asked for in all."""


class CompiledRun(Run):
    """A run of the online learner, in which every row is asked about and learned before the next one."""

    _regressors: OnlineRegressors

    def play(self, n_rows: int, budget: int = UNLIMITED) -> None:
        """Go on for at most ``n_rows`` rows, or until ``budget`` costs have been asked for in all."""
        regressors, rows = self._regressors, self.rows
        stop = min(self.done + n_rows, len(self.order))
        with regressors.lock:
            scratch = regressors.scratch_for(rows.longest)
            while True:
                self.done = online.simulate_rows(
                    regressors.model,
                    self._settings,
                    scratch,
                    rows.csr,
                    _or_all(self.candidates),
                    self.costs,
                    self.order,
                    self.done,
                    stop,
                    budget,
                    self.stop_saving,
                    self.asked,
                    self.propensity,
                    self.outlook,
                )
                if self.done == stop or regressors.model.counters[COSTS_QUERIED] >= budget or self.stopped:
                    return
                regressors.make_room(int(scratch.unseen[0]))


def _or_all(candidates: Candidates) -> NDArray[np.bool_]:
    return NO_MASK if candidates is None else candidates
