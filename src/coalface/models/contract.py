"""``CostModel``: the interface between a learner and the model that predicts its costs, in six methods.

A model sees rows and costs in [0, 1]. It does not know why a cost is asked for: rules, counts and rounds are the same
for every model and are implemented in ``kernels``.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from threading import RLock
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data.near_duplicates import near_duplicates
from coalface.data.rows import Rows
from coalface.errors import InputError
from coalface.files.interrupts import interrupts_put_off
from coalface.kernels import precomputed_ranges
from coalface.kernels.codes import AUTO_MISSES, FIXED_SLACK, NOISE_SCALED, PASSIVE
from coalface.kernels.implied_costs import Implications, no_implications
from coalface.kernels.rounds import price_paid
from coalface.kernels.state import (
    AUDIT,
    LOG_FACTOR,
    NO_ROUNDS,
    ROUND,
    Counted,
    RoundArrays,
    Scratch,
    Settings,
    Told,
    Until,
    lanes_for,
    new_counts,
    new_rounds,
    new_scratch,
)
from coalface.kernels.stopping import saving_is_below
from coalface.kernels.turns import answer_rows
from coalface.models.model_arrays import PER_LABEL, restored_counts, widened
from coalface.models.round_arrays import outlooks
from coalface.models.serving import ServingModel
from coalface.models.values import (
    NO_COSTS,
    NO_GROUPS,
    NO_MASK,
    NO_WEIGHTS,
    Costs,
    FeatureEffects,
    Groups,
    Labels,
    Mask,
    Ranged,
    RunArrays,
    counting,
)
from coalface.sklearn_base import BaseEstimator

__all__ = ["NO_WEIGHTS", "CostModel", "Costs", "FeatureEffects", "Mask", "Ranged"]  # what a model of your own imports

_COUNTERS = {"counters", "tally_counters"}  # where the models of this package keep them
NO_IMPLICATIONS = no_implications(0)


class CostModel(ServingModel, BaseEstimator, ABC):
    """One cost regressor per label. A model of your own implements the six methods up to ``restore``.

    The constructor only stores parameters; ``begin`` returns a model that can learn. The result of learning must not
    depend on how rows are split over calls, because a replay may split them differently.

    >>> class AlwaysHalf(CostModel):
    ...     def predict(self, rows):
    ...         return np.full((len(rows), self.n_labels), 0.5, np.float32)
    ...     def ranges(self, rows, settings, first_round):
    ...         predicted = self.predict(rows)
    ...         return Ranged(predicted, np.zeros_like(predicted), np.ones_like(predicted))
    ...     def learn(self, rows, costs, settings, first_round, weights=NO_WEIGHTS):
    ...         self.count_answers(self.predict(rows), costs, weights)
    ...     def arrays(self):
    ...         return {}
    ...     def restore(self, arrays):
    ...         pass
    >>> from coalface import CoalClassifier
    >>> CoalClassifier(["walk", "fly"], model=AlwaysHalf()).tell([[1.0]], [[0.0, 1.0]]).predict_cost([[1.0]]).tolist()
    [[0.5, 0.5]]
    """

    kinds: ClassVar[dict[str, type["CostModel"]]] = {}  # those of coalface that are imported, as files name them
    learned_with: ClassVar[tuple[str, ...]] = ()  # paths of the learner's parameters that affect replay
    default_miss_rate: float = 0.1  # how often the best label may be missed, if the learner leaves it to the model
    paces_budgets: ClassVar[bool] = False  # whether ``ask`` keeps to the budget in the settings
    reads_label_features: ClassVar[bool] = False  # whether rows have features of labels: see ``data.label_features``
    n_labels: int
    settings: Settings
    state: Counted
    lock: RLock
    scratch: Scratch
    checked: tuple[Any, Settings] | None = None  # the learner's parameters when they were checked last
    active: Mask  # (K,) the labels that are not retired; the learner asks about and predicts no others

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__module__.startswith("coalface."):  # a model of your own is passed to ``load``
            CostModel.kinds[cls.__name__] = cls

    # -- what a model of your own implements ------------------------------------------------------

    @abstractmethod
    def predict(self, rows: Rows) -> Costs:
        """The predicted costs, (n, K)."""

    @abstractmethod
    def ranges(self, rows: Rows, settings: Settings, first_round: int) -> Ranged:
        """Predictions and cost ranges; row r is decided at round ``first_round`` + ``settings.round_step`` x r."""

    @abstractmethod
    def learn(
        self, rows: Rows, costs: Costs, settings: Settings, first_round: int, weights: Costs = NO_WEIGHTS
    ) -> None:
        """Learn the known costs, (n, K), NaN elsewhere; row r was decided at round ``first_round`` + r.

        ``weights`` (n, K) are importance weights; if empty, each cost counts once. A model calls ``count_answers`` with
        its predictions before learning.
        """

    def learn_predicted(
        self, row: Rows, costs: Costs, settings: Settings, round_number: int, weights: Costs, predicted: Costs
    ) -> None:
        """``learn`` one row with a known cost, which the model has just predicted; ``predicted`` saves doing it again.

        The caller puts interrupts off.
        """
        self.learn(row, costs, settings, round_number, weights)

    def check(self, rows: Rows) -> None:
        """Raise an InputError if the model cannot learn these rows; by default it can learn any."""

    def feature_effects(self, label: int) -> FeatureEffects | None:
        """What single features do to the predicted cost of a label; None if the model has no number for them."""
        return None

    @property
    def predicting(self) -> "CostModel":
        """The model that predicts; a committee names its leader."""
        return self

    def grow(self) -> None:
        """Make room for one more label, the last, in what was learned; ``add_label`` does the rest.

        The other labels must keep what they have learned. A model of your own need not implement this.
        """
        raise InputError(
            f"{type(self).__name__} cannot take a new label, because it has no method grow. Start a new learner with "
            "all labels."
        )

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """What was learned as named arrays, to be saved in a file together with the counts of ``state``."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that ``arrays`` returned; a FileFormatError if an array is missing or does not fit."""

    # -- life of a model --------------------------------------------------------------------------

    def begin(self, n_labels: int, settings: Settings) -> Self:
        """A new, untrained model with the same parameters that can learn."""
        begun = type(self)(**self.get_params(deep=False))
        begun.n_labels, begun.settings, begun.lock = n_labels, settings, RLock()
        begun.state, begun.scratch = new_counts(n_labels), new_scratch(n_labels, 0)
        begun.active = np.ones(n_labels, np.bool_)
        return begun

    def add_label(self, first_round: int) -> None:
        """Take in one more label, the last, without answers; it has a warm-up of its own from ``first_round``.

        With 0 it counts as one of the first labels. What the other labels have learned stays as it is.
        """
        with interrupts_put_off(), self.lock:
            self.grow()
            self.n_labels += 1
            self.settings = self.settings._replace(n_labels=self.n_labels)
            lanes = lanes_for(self.n_labels)
            self.state = self.state._replace(**{name: widened(getattr(self.state, name), lanes) for name in PER_LABEL})
            self.state.since[self.n_labels - 1] = first_round
            self.scratch = new_scratch(self.n_labels, 0)
            self.active = np.append(self.active, True)

    def teachers(self) -> NDArray[np.int64]:
        """The columns of the labels that a new label resembles until its first answer: all with an answer in use."""
        return np.flatnonzero((self.state.answered[: self.n_labels] > 0) & self.active)

    def unanswered(self) -> Mask:
        """The labels (K,) whose numbers mean nothing yet, because no answer has taught the model about them."""
        return np.asarray(self.state.answered[: self.n_labels] == 0)

    def set_active(self, active: Mask) -> None:
        """Say which labels, (K,), are not retired: complete examples lack only costs of retired labels."""
        with self.lock:
            self.active = active

    def count_answers(self, predicted: Costs, costs: Costs, weights: Costs = NO_WEIGHTS) -> None:
        """Add known costs and their squared residuals, predictions clipped to [0, 1], to the counts of their labels."""
        known = counting(costs, weights)
        residuals = np.where(known, predicted.clip(0.0, 1.0).astype(np.float64) - costs, 0.0)
        sums = self.state.squared_residuals[: self.n_labels]
        sums[:] = np.cumsum(np.vstack([sums, residuals**2]), axis=0)[-1]  # added row by row, however they are split
        self.state.answered[: self.n_labels] += known.sum(axis=0)

    def saved(self) -> dict[str, NDArray[Any]]:
        """All arrays of a file: the counts, unless ``arrays`` has them, and what was learned."""
        arrays = self.arrays()
        return arrays if _COUNTERS & arrays.keys() else {**self.state._asdict(), **arrays}

    def restore_saved(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Restore what ``saved`` returned."""
        if not _COUNTERS & self.arrays().keys():
            self.state = restored_counts(self.n_labels, saved)
        self.restore(saved)

    def linear_parameters(self) -> dict[str, Any]:
        """The parameters of its regressors that compiled code reads, by path: some of ``models.linear``."""
        return {}

    def plain(self) -> dict[str, Any]:
        """The parameters as JSON values."""
        own = self.get_params(deep=False)
        return {name: value.item() if isinstance(value, np.generic) else value for name, value in own.items()}

    def __getstate__(self) -> dict[str, Any]:
        if not hasattr(self, "state"):
            return {"params": self.get_params(deep=False)}
        with self.lock:  # copies, because a row learned in another thread would change the arrays
            arrays = {name: np.array(array) for name, array in self.saved().items()}
        begun = (self.n_labels, self.settings)
        return {"params": self.get_params(deep=False), "begun": begun, "arrays": arrays, "active": self.active}

    def __setstate__(self, state: dict[str, Any]) -> None:
        model = type(self)(**state["params"])
        if "begun" in state:
            model = model.begin(*state["begun"])
            model.restore_saved(state["arrays"])
            model.set_active(state["active"])
        self.__dict__.update(model.__dict__)

    # -- rounds: the same for every model ---------------------------------------------------------

    def predictions(self, rows: Rows) -> Costs:
        """What ``predict`` gives, checked: compiled code would read beyond the end of a smaller array."""
        return self._checked("predict", "predicted", self.predict(rows), (len(rows), self.n_labels))

    def _checked(self, method: str, name: str, costs: Any, shape: tuple[int, ...]) -> Costs:
        array = np.ascontiguousarray(costs, np.float32)
        if array.shape != shape or not np.isfinite(array).all():
            raise InputError(
                f"{type(self).__name__}.{method} must give finite {name} costs of shape {shape}, got {array.shape}. "
                "Give one row per example and one column per label."
            )
        return array

    def implications_for(self, settings: Settings) -> Implications:
        """The costs that answers imply, which need not be asked for with these settings."""
        return NO_IMPLICATIONS

    def importance(self, rounds: RoundArrays, settings: Settings) -> Costs:
        """The importance weights (n, K) of the answers of rounds; empty: each counts once."""
        return NO_WEIGHTS

    def answer(self, rows: Rows, settings: Settings, candidates: Mask = NO_MASK, offsets: Costs = NO_COSTS) -> Labels:
        """The index of the best label of each row; K stands for abstaining. ``offsets`` are known parts of costs."""
        with self.lock:
            return self.best_of(self.predictions(rows), settings, candidates, offsets)

    def best_of(self, predicted: Costs, settings: Settings, candidates: Mask, offsets: Costs = NO_COSTS) -> Labels:
        """The index of the label with the least predicted cost in each row; K stands for abstaining."""
        best = np.empty(len(predicted), np.int64)
        with self.lock:
            precomputed_ranges.best_answers(settings, self.scratch, candidates, offsets, predicted, best)
        return best

    def ask(
        self, rows: Rows, settings: Settings, rounds: RoundArrays, first_round: int | None = None, outlook: bool = True
    ) -> RoundArrays:
        """Decide which costs to ask for, the first row at ``first_round`` (default: the next); nothing is learned."""
        groups, already_asked, settings = NO_GROUPS, NO_ROUNDS.mask, self.resolved(settings)
        if len(rounds.mask) > 1 and settings.rule != PASSIVE and settings.alike <= 1.0:
            groups = near_duplicates(rows, settings.alike)
            already_asked = np.zeros((int(groups.max()) + 1, self.n_labels), np.bool_)  # of each group
        with self.lock:
            start = int(self.state.counters[ROUND]) if first_round is None else first_round
            self._decide(rows, settings, rounds, start, groups, already_asked)
        return rounds._replace(outlook=outlooks(settings, rounds)) if outlook else rounds

    def quick_savings(self, rows: Rows, settings: Settings) -> NDArray[np.float64] | None:
        """What questions could still save on each row, in [0, 1], if the model knows it without their ranges."""
        return None

    def tell(self, rows: Rows, settings: Settings, rounds: RoundArrays, *, late: bool = False) -> None:
        """Learn the known costs and, unless they are late, close a round per row."""
        candidates, costs, settings = rounds.candidates, rounds.costs, self.resolved(settings)
        known = np.where(candidates, costs, np.float32(np.nan)) if len(candidates) else costs
        with self.lock:
            if late:  # late answers all count as given in the next round
                for row in range(len(rows)):
                    one = np.array([row])
                    self.learn(rows.take(one), known[one], settings, int(self.state.counters[ROUND]))
            else:
                weights = self.importance(rounds._replace(costs=known), settings)
                self.learn(rows, known, settings, int(self.state.counters[ROUND]), weights)
            precomputed_ranges.close_rows(self.state, settings, self.scratch, told_of(rounds), late)

    def simulate(self, rows: Rows, settings: Settings, run: RunArrays, start: int, until: Until, batch: int = 1) -> int:
        """Ask, answer and tell, ``batch`` rows at a time; returns the first position of the order not done."""
        position = start
        with self.lock:
            while position < until.position and not self.reached(settings, until):
                span = slice(position, min(position + batch, len(run.order)))
                self._simulate_batch(rows, settings, run, span)
                position = span.stop
        return position

    def reached(self, settings: Settings, until: Until) -> bool:
        """Whether a simulated run has asked as much as ``until`` says, or could save too little by asking more."""
        counts = self.state
        paid = price_paid(counts.counters, settings.price_of_truth)
        return paid >= until.costs or saving_is_below(counts.saving, until.saving)

    def resolved(self, settings: Settings) -> Settings:
        """The settings with the model's own rate of misses if the learner has none; none with a budget, which paces."""
        if settings.budget < np.inf:
            return settings._replace(miss_rate=FIXED_SLACK)
        if settings.miss_rate != AUTO_MISSES:
            return settings
        return settings._replace(miss_rate=self.default_miss_rate)

    def round_slack(self, settings: Settings, first_round: int, n_rows: int) -> NDArray[np.float64]:
        """How much more summed loss than the best regressor a plausible one may have, (n,), for noise of 1."""
        rounds = np.maximum(first_round + settings.round_step * np.arange(n_rows) - 1.0, 1.0)
        return np.asarray(settings.mellowness * np.log(max(self.n_labels, 2) * rounds))

    def noise(self, settings: Settings) -> NDArray[np.float64]:
        """The factor of each label's slack, (K,)."""
        if settings.slack != NOISE_SCALED:
            return np.ones(self.n_labels)
        squared, answered = self.state.squared_residuals[: self.n_labels], self.state.answered[: self.n_labels]
        return np.asarray((1.0 + squared) / (1.0 + answered))

    def _with_slack(self, settings: Settings) -> Settings:
        """The settings with the slack that audits have led to."""
        if settings.miss_rate > 1.0:
            return settings
        factor = float(np.exp(self.state.calibration[LOG_FACTOR]))
        return settings._replace(mellowness=settings.mellowness * factor, miss_rate=FIXED_SLACK)

    def _decide(
        self, rows: Rows, settings: Settings, rounds: RoundArrays, first_round: int, groups: Groups, already_asked: Mask
    ) -> None:
        found = Ranged(*self.ranges(rows, self._with_slack(settings), first_round))
        buffers = (rounds.predicted, rounds.lowest, rounds.highest)
        for name, costs, buffer in zip(found._fields, found, buffers, strict=True):
            buffer[:] = self._checked("ranges", name, costs, buffer.shape)
        implied = self.implications_for(settings) if len(rounds.costs) else NO_IMPLICATIONS  # of the costs so far
        precomputed_ranges.decide_rows(
            self.state, settings, self.scratch, first_round, rounds, groups, already_asked, implied
        )

    def _simulate_batch(self, rows: Rows, settings: Settings, run: RunArrays, span: slice) -> None:
        """Ask about the rows at these positions as one batch, answer, then tell."""
        picked, given, record = run.order[span], run.given, run.record
        batch, costs = rows.take(picked), given.costs[picked]
        candidates = given.candidates[picked] if len(given.candidates) else None
        first_round = int(self.state.counters[ROUND])
        known_parts = {name: part[picked] for name in ("offsets", "prices") if len(part := getattr(given, name))}
        new = new_rounds(len(batch), settings.n_labels, candidates, **known_parts)
        rounds = self.ask(batch, settings, new, first_round)
        asked, implied = np.empty(costs.shape, np.bool_), self.implications_for(settings)
        answer_rows(self.state, self.resolved(settings), self.scratch, first_round, rounds, costs, asked, implied)
        known = np.where(asked, costs, np.float32(np.nan))
        self.tell(batch, settings, rounds._replace(costs=known, asked=asked))
        if len(record.mask):
            record.mask[span], record.reasons[span], record.propensity[span] = asked, rounds.reasons, rounds.propensity
            record.outlook[span] = rounds.outlook if len(rounds.outlook) else 0.0
            record.truth[span] = rounds.truth


def told_of(rounds: RoundArrays) -> Told:
    """What telling reads of rounds."""
    audited = rounds.reasons == AUDIT if len(rounds.reasons) else NO_ROUNDS.asked
    given = (rounds.candidates, rounds.costs, rounds.asked, rounds.outlook)
    return Told(*given, audited, rounds.truth, rounds.offsets, NO_WEIGHTS)
