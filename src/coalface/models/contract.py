"""``CostModel``: what a learner needs of whatever predicts its costs, in six methods.

A model knows the rows and the costs, which lie in [0, 1] here. It does not know why a cost is asked for: the rules, the
counts and the rounds are the same for every model and live in ``kernels``.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from threading import RLock
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from coalface.data.near_duplicates import near_duplicates
from coalface.data.rows import Rows
from coalface.errors import FileFormatError
from coalface.kernels import precomputed_ranges
from coalface.kernels.near_duplicates import ALONE
from coalface.kernels.state import (
    COSTS_QUERIED,
    N_OUTLOOK,
    NO_ROUNDS,
    NOT_A_CANDIDATE,
    PASSIVE,
    ROUND,
    Counted,
    Counts,
    RoundArrays,
    Scratch,
    Settings,
    Until,
    new_counts,
    new_rounds,
    new_scratch,
)
from coalface.kernels.stopping import foresee_rows, saves_less
from coalface.kernels.turns import answer_rows

Costs = NDArray[np.float32]
Mask = NDArray[np.bool_]
Groups = NDArray[np.int64]
NO_WEIGHTS = np.zeros((0, 0), np.float32)
NO_GROUPS = np.zeros(0, np.int64)


class Ranged(NamedTuple):
    """Predicted, lowest and highest costs, (n, K) each."""

    predicted: Costs
    lowest: Costs
    highest: Costs


class Play(NamedTuple):
    """A simulated run: the order of the rows, what is known of them, and where the questions are recorded."""

    order: NDArray[np.int64]
    given: RoundArrays  # candidates and costs of every row
    record: RoundArrays  # mask, reasons, propensity and outlook by position; missing: not recorded


class CostModel(BaseEstimator, ABC):  # type: ignore[misc]
    """One cost regressor per label. A model of your own writes the six methods up to ``restore``.

    An instance made by its constructor only holds parameters; ``begin`` makes one that can learn. Learning must not
    depend on how rows are split over calls, because a replay may split them differently.
    """

    learned_with: ClassVar[tuple[str, ...]] = ("fit_intercept",)  # the learner's parameters that affect replay
    n_labels: int
    settings: Settings
    state: Counted
    lock: RLock
    scratch: Scratch

    # -- what a model of your own writes ----------------------------------------------------------

    @abstractmethod
    def predict(self, rows: Rows) -> Costs:
        """The predicted costs, (n, K)."""

    @abstractmethod
    def ranges(self, rows: Rows, settings: Settings, first_round: int) -> Ranged:
        """Predictions and what each cost may still be; row r is decided at round ``first_round`` + r."""

    @abstractmethod
    def learn(
        self, rows: Rows, costs: Costs, settings: Settings, first_round: int, weights: Costs = NO_WEIGHTS
    ) -> None:
        """Learn the known costs, (n, K), NaN elsewhere; row r was decided at round ``first_round`` + r.

        ``weights`` (n, K) says how much each cost counts; without rows, each counts once. The squared residual before
        learning is added to ``state.squared_residuals``, the number of costs to ``state.answered``.
        """

    def check(self, rows: Rows) -> None:
        """Raise an InputError if the model cannot learn such rows; most can learn all."""

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that was learned as named arrays, for a file."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what ``arrays`` gave; a FileFormatError if that cannot be it."""

    # -- life of a model --------------------------------------------------------------------------

    def begin(self, n_labels: int, settings: Settings) -> Self:
        """A model with the same parameters that can learn and has learned nothing."""
        begun = type(self)(**self.get_params(deep=False))
        begun.n_labels, begun.settings, begun.lock = n_labels, settings, RLock()
        begun.state, begun.scratch = new_counts(n_labels), new_scratch(n_labels, 0)
        return begun

    def plain(self) -> dict[str, Any]:
        """The parameters as JSON values."""
        return dict(self.get_params(deep=False))

    def __getstate__(self) -> dict[str, Any]:
        if not hasattr(self, "state"):
            return {"params": self.get_params(deep=False)}
        with self.lock:  # copies: a row learned meanwhile would change the arrays under the reader
            arrays = {name: np.array(array) for name, array in self.arrays().items()}
        begun = (self.n_labels, self.settings)
        return {"params": self.get_params(deep=False), "begun": begun, "arrays": arrays}

    def __setstate__(self, state: dict[str, Any]) -> None:
        model = type(self)(**state["params"])
        if "begun" in state:
            model = model.begin(*state["begun"])
            model.restore(state["arrays"])
        self.__dict__.update(model.__dict__)

    # -- rounds: the same for every model ---------------------------------------------------------

    def answer(self, rows: Rows, settings: Settings, candidates: Mask = NO_ROUNDS.candidates) -> NDArray[np.int64]:
        """The best label of each row, by its number; K stands for abstaining."""
        best = np.empty(len(rows), np.int64)
        with self.lock:
            precomputed_ranges.best_answers(settings, self.scratch, candidates, self.predict(rows), best)
        return best

    def ask(self, rows: Rows, settings: Settings, rounds: RoundArrays, first_round: int | None = None) -> RoundArrays:
        """Decide on each row, the first at ``first_round``, by default the next; nothing is learned."""
        groups = NO_GROUPS
        if len(rows) > 1 and settings.rule != PASSIVE and settings.alike <= 1.0:
            groups = near_duplicates(rows, settings.alike)
        with self.lock:
            start = int(self.state.counters[ROUND]) if first_round is None else first_round
            self._decide(rows, settings, rounds, start, groups)
        return rounds._replace(outlook=_foreseen(settings, rounds))

    def tell(self, rows: Rows, settings: Settings, rounds: RoundArrays, *, late: bool = False) -> None:
        """Learn the known costs and, unless they come late, close a round per row."""
        candidates, costs = rounds.candidates, rounds.costs
        known = np.where(candidates, costs, np.float32(np.nan)) if len(candidates) else costs
        with self.lock:
            if late:  # all of them belong to the round that is next
                for row in range(len(rows)):
                    one = np.array([row])
                    self.learn(rows.take(one), known[one], settings, int(self.state.counters[ROUND]))
            else:
                self.learn(rows, known, settings, int(self.state.counters[ROUND]))
            precomputed_ranges.close_rows(self.state, settings, self.scratch, rounds, late)

    def simulate(self, rows: Rows, settings: Settings, play: Play, start: int, until: Until, batch: int = 1) -> int:
        """Ask, answer and tell, ``batch`` rows at a time; the first position of the order that is not done."""
        position = start
        with self.lock:
            while position < until.position and self.state.counters[COSTS_QUERIED] < until.costs:
                if saves_less(self.state.saving, until.saving):
                    break
                span = slice(position, min(position + batch, len(play.order)))
                self._play_batch(rows, settings, play, span)
                position = span.stop
        return position

    def _decide(self, rows: Rows, settings: Settings, rounds: RoundArrays, first_round: int, groups: Groups) -> None:
        rounds.predicted[:], rounds.lowest[:], rounds.highest[:] = self.ranges(rows, settings, first_round)
        taken = none_taken(groups, self.n_labels)
        precomputed_ranges.decide_rows(self.state, settings, self.scratch, first_round, rounds, groups, taken)

    def _play_batch(self, rows: Rows, settings: Settings, play: Play, span: slice) -> None:
        """Ask about the rows at these positions together, answer, then tell."""
        picked, given, record = play.order[span], play.given, play.record
        batch, costs = rows.take(picked), given.costs[picked]
        candidates = given.candidates[picked] if len(given.candidates) else None
        first_round = int(self.state.counters[ROUND])
        rounds = self.ask(batch, settings, new_rounds(len(batch), settings.n_labels, candidates), first_round)
        asked = np.empty(costs.shape, np.bool_)
        answer_rows(self.state, settings, self.scratch, first_round, rounds, costs, asked)
        known = np.where(asked, costs, np.float32(np.nan))
        self.tell(batch, settings, rounds._replace(costs=known, asked=asked))
        if len(record.mask):
            record.mask[span], record.reasons[span], record.propensity[span] = asked, rounds.reasons, rounds.propensity
            record.outlook[span] = rounds.outlook if len(rounds.outlook) else 0.0


def _foreseen(settings: Settings, rounds: RoundArrays) -> NDArray[np.float64]:
    """The outlook of decided rows; without rows where nothing is audited."""
    if settings.audit_rate == 0.0:
        return NO_ROUNDS.outlook
    found, candidates = np.empty((len(rounds.mask), N_OUTLOOK)), rounds.reasons != NOT_A_CANDIDATE
    foresee_rows(settings, candidates, rounds.predicted, rounds.lowest, rounds.propensity, found)
    return found


def none_taken(groups: Groups, n_labels: int) -> Mask:
    """For each group of near-duplicates, that nothing was asked about it yet."""
    return np.zeros((int(groups.max(initial=ALONE)) + 1, n_labels), np.bool_)


def restored_counts(n_labels: int, arrays: Mapping[str, NDArray[Any]]) -> Counts:
    """The counts among saved arrays; a FileFormatError if one is missing or cannot be it."""
    counts = new_counts(n_labels)
    for name, array in counts._asdict().items():
        saved = arrays.get(name)
        if saved is None or saved.dtype != array.dtype or saved.shape != array.shape:
            raise FileFormatError(f"The model has no usable array {name!r}; it was not saved by coalface.")
        array[...] = saved
    if (counts.counters < 0).any():
        raise FileFormatError("The counters of the model are negative; it is damaged.")
    return counts
