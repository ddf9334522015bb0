"""The online model: one linear regressor per label, learned in one pass by scale-free AdaGrad.

Its state is ``kernels.state.Model``. This module allocates these arrays and grows them as new features appear.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.errors import FileFormatError, InputError
from coalface.kernels import online, serving
from coalface.kernels.codes import FIXED_SLACK
from coalface.kernels.features import fill_table
from coalface.kernels.state import (
    COUNT_CLASSES,
    INVERSE_SCALE,
    LEVELS,
    MOST_IMPLIED,
    ROUND,
    SLOTS_USED,
    UNSEEN_INVERSE_SCALE,
    WEIGHT,
    Csr,
    Model,
    RoundArrays,
    Scratch,
    Settings,
    Until,
    lanes_for,
    new_counts,
    new_scratch,
)
from coalface.models.contract import NO_WEIGHTS, CostModel, Costs, FeatureEffects, Mask, Ranged, told_of
from coalface.models.device import DeviceName, is_gpu
from coalface.models.feature_effects import online_effects
from coalface.models.interactions import column_ranges, most_products, plain_interactions
from coalface.models.linear import LINEAR_PARAMETERS
from coalface.models.model_arrays import widened
from coalface.models.online_scoring import OnlineScorer
from coalface.models.serving import Served, ServedRun
from coalface.models.values import NO_COSTS, NO_MASK, Groups, Labels, RunArrays

_LEAST_SPARE, _MOST_SPARE = 1 / 32, 1 / 8  # spare slots, as a share of the slots in use
_INDEX_BYTES = 16  # per slot, in addition to its cells
_PER_SLOT = ("cells", "units", "features")
_NOT_SAVED = ("table", "interactions")  # derived from the features, and from the parameters


class OnlineModel(CostModel):
    """Linear regressors that grow with the features they learn; asking and telling run in compiled loops.

    With ``interactions=2`` the products of any two columns of a row, squares included, are features too. Pairs of
    column ranges name fewer: [((0, 40), (40, 90))] multiplies each of columns 0 to 39 by each of columns 40 to 89.

    >>> from coalface import CoalClassifier
    >>> learner = CoalClassifier(classes=["walk", "fly", "swim"], model=OnlineModel()).tell([[1.0]], [[0.2, 0.9, 0.5]])
    >>> learner.model_.state.cells.shape[1:]
    (3, 8)
    >>> either = OnlineModel(interactions=2)
    >>> learner = CoalClassifier(model=either).fit([[-1, -1], [-1, 1], [1, -1], [1, 1]] * 20, [0, 1, 1, 0] * 20)
    >>> learner.predict([[-1, -1], [-1, 1]]).tolist()
    [0, 1]

    ``device="cuda"`` predicts and computes ranges on a GPU, for large pools; learning stays on the CPU. Files do not
    have it.
    """

    default_miss_rate = FIXED_SLACK
    paces_budgets = True
    state: Model
    scorer: OnlineScorer | None = None

    def __init__(
        self,
        *,
        learning_rate: float | Literal["auto"] = "auto",
        accumulator: Literal["adax", "adagrad"] = "adax",
        sensitivity: Literal["shadow", "seen-only", "derivative"] = "shadow",
        fit_intercept: bool = True,
        interactions: int | Sequence[Any] | NDArray[Any] | None = None,
        device: DeviceName = "cpu",
    ) -> None:
        self.learning_rate = learning_rate
        self.accumulator = accumulator
        self.sensitivity = sensitivity
        self.fit_intercept = fit_intercept
        self.interactions = interactions
        self.device = device

    def begin(self, n_labels: int, settings: Settings) -> Self:
        """An untrained model; if it asks in turn, it also learns which costs answers imply."""
        begun = super().begin(n_labels, settings)
        if is_gpu(self.device):
            if self.interactions is not None:
                raise InputError("device='cuda' knows no interactions. Leave them out, or pass device='cpu'.")
            begun.scorer = OnlineScorer()
        begun.state = _empty_model(
            n_labels, column_ranges(self.interactions), implies=settings.in_turn and n_labels <= MOST_IMPLIED
        )
        begun.scratch = new_scratch(n_labels, 64)
        return begun

    def moved(self, device: str) -> Self:
        """The same model, which predicts on another device: ``learner.model_ = learner.model_.moved("cuda")``."""
        other = type(self)(**{**self.get_params(deep=False), "device": device}).begin(self.n_labels, self.settings)
        with self.lock:
            other.restore_saved(self.saved())
            other.set_active(self.active)
        return other

    def grow(self) -> None:
        """Make room for one more label, which predicts the mean of the others and is as uncertain as an empty model."""
        model, lanes, new = self.state, lanes_for(self.n_labels + 1), self.n_labels
        cells = widened(model.cells, lanes, 2)
        cells[:, INVERSE_SCALE, new:] = UNSEEN_INVERSE_SCALE
        others, used = self.teachers(), slice(int(model.counters[SLOTS_USED]))
        if len(others):
            scales = cells[used, INVERSE_SCALE][:, others].astype(np.float64)
            scale, effects = scales.min(axis=1), cells[used, WEIGHT][:, others] * scales
            cells[used, INVERSE_SCALE, new], cells[used, WEIGHT, new] = scale, effects.mean(axis=1) / scale
        self.state = model._replace(
            cells=cells,
            norm_sum=widened(model.norm_sum, lanes),
            updates=widened(model.updates, lanes),
            implied=widened(model.implied, lanes, 0, 2) if len(model.implied) else model.implied,
        )

    def plain(self) -> dict[str, Any]:
        """The parameters as JSON values, without the device: a file loads on any."""
        interactions = None if self.interactions is None else plain_interactions(self.interactions)
        params = {name: value for name, value in super().plain().items() if name != "device"}
        return {**params, "interactions": interactions}

    def linear_parameters(self) -> dict[str, Any]:
        """The parameters of its regressors that compiled code reads, by path."""
        return {one.path: getattr(self, one.name) for one in LINEAR_PARAMETERS}

    def check(self, rows: Rows) -> None:
        """Raise an InputError if a row has too many interactions."""
        if self.interactions is not None:
            most_products(self.state.interactions, rows.longest)

    def predict(self, rows: Rows) -> Costs:
        """The predicted costs, (n, K)."""
        if self._scores_on_device():
            return self.ranges(rows, self.settings, int(self.state.counters[ROUND])).predicted
        predicted = np.empty((rows.n_rows, self.n_labels), np.float32)
        self._predict(rows, self.settings, NO_MASK, predicted)
        return predicted

    def ranges(self, rows: Rows, settings: Settings, first_round: int) -> Ranged:
        """Predictions, and the ranges within which one more example could move them."""
        if self._scores_on_device():
            assert self.scorer is not None
            with self.lock:
                return self.scorer.ranges(rows, self.state, self._with_slack(settings), first_round)
        found = Ranged(*(np.empty((rows.n_rows, self.n_labels), np.float32) for _ in range(3)))
        with self.lock:
            online.range_rows(self.state, settings, self.scratch_for(rows.longest), rows.csr, first_round, *found)
        return found

    def quick_savings(self, rows: Rows, settings: Settings) -> NDArray[np.float64] | None:
        """The possible savings, if a GPU computes them."""
        if not self._scores_on_device() or settings.price_of_truth < np.inf:
            return None
        assert self.scorer is not None
        with self.lock:
            round_number = int(self.state.counters[ROUND])
            return self.scorer.savings(rows, self.state, self._with_slack(self.resolved(settings)), round_number)

    def learn(
        self, rows: Rows, costs: Costs, settings: Settings, first_round: int, weights: Costs = NO_WEIGHTS
    ) -> None:
        """Learn the known costs, (n, K), row by row."""

        def run_from(csr: Csr, scratch: Scratch, done: int) -> int:
            return online.learn_rows(self.state, settings, scratch, csr, costs, weights, done)

        self._run_growing(rows, run_from)

    def answer(self, rows: Rows, settings: Settings, candidates: Mask = NO_MASK, offsets: Costs = NO_COSTS) -> Labels:
        """The index of the best label of each row; K stands for abstaining. ``offsets`` are known parts of costs."""
        if self._scores_on_device():
            return self.best_of(self.predict(rows), settings, candidates, offsets)
        return self._predict(rows, settings, candidates, NO_COSTS, offsets)

    def tell(self, rows: Rows, settings: Settings, rounds: RoundArrays, *, late: bool = False) -> None:
        """Learn the known costs and, unless they are late, close a round per row."""
        told, settings = told_of(rounds), self.resolved(settings)
        if settings.audits_by_loss and len(rounds.propensity):
            told = told._replace(weights=_audit_weights(rounds.propensity))

        def run_from(csr: Csr, scratch: Scratch, done: int) -> int:
            return online.tell_rows(self.state, settings, scratch, csr, told, late, done)

        self._run_growing(rows, run_from)

    def simulate(self, rows: Rows, settings: Settings, run: RunArrays, start: int, until: Until, batch: int = 1) -> int:
        """Ask, answer and tell in one compiled loop; returns the first position of the order not done."""
        if batch > 1:
            return super().simulate(rows, settings, run, start, until, batch)
        (order, given, record), settings = run, self.resolved(settings)
        with self.lock:
            scratch = self.scratch_for(rows.longest)
            while True:
                start = online.simulate_rows(
                    self.state, settings, scratch, rows.csr, given, record, order, start, until
                )
                if start == until.position or self.reached(settings, until):
                    return start
                self.make_room(int(scratch.unseen[0]))

    def _ranges_to_serve(self, rows: Rows, settings: Settings, first_round: int) -> Ranged:
        return self.ranges(rows, settings, first_round)  # the kernel applies the slack that audits have led to

    def observe(self, rows: Rows, settings: Settings, candidates: Mask, served: Served) -> None:
        """Learn the costs of the served labels, and what they imply, and close a round per row."""
        settings = self.resolved(settings)

        def run_from(csr: Csr, scratch: Scratch, done: int) -> int:
            return serving.observe_rows(
                self.state, settings, scratch, csr, candidates, served.labels, served.costs, done
            )

        self._run_growing(rows, run_from)

    def serve(self, rows: Rows, settings: Settings, run: ServedRun, start: int, stop: int) -> int:
        """Choose labels and learn their costs in one compiled loop; returns the first position not done."""
        settings = self.resolved(settings)
        with self.lock:
            scratch = self.scratch_for(rows.longest)
            while start < stop:
                span, (order, given, labels, chances, exploration) = (start, stop), run
                start = serving.serve_rows(
                    self.state, settings, scratch, rows.csr, given, order, span, exploration, labels, chances
                )
                if start < stop:
                    self.make_room(int(scratch.unseen[0]))
        return start

    def feature_effects(self, label: int) -> FeatureEffects | None:
        """The weight of each feature times its typical size, the root mean square over the rows learned."""
        return online_effects(self.state, self.settings, label)

    def _scores_on_device(self) -> bool:
        """Whether a GPU predicts; a label that was added later has ranges that only the CPU knows."""
        return self.scorer is not None and not self.state.since.any()

    def scratch_for(self, longest_row: int, *, only_ones: bool = False) -> Scratch:
        """Scratch memory for rows of up to ``longest_row`` non-zeros; ``only_ones`` as in ``Settings``."""
        longest = self.most_features(longest_row)
        if self.scratch.slots.shape[0] <= longest or (only_ones and len(self.scratch.inverse_roots) <= longest):
            self.scratch = new_scratch(self.n_labels, longest + longest // 4, only_ones=only_ones)
        return self.scratch

    def most_features(self, n_columns: int) -> int:
        """The most features that a row with so many non-zeros can have, interactions included."""
        return n_columns if self.interactions is None else n_columns + most_products(self.state.interactions, n_columns)

    def _predict(
        self,
        rows: Rows,
        settings: Settings,
        candidates: Mask,
        predicted: Costs,
        offsets: Costs = NO_COSTS,
    ) -> Labels:
        best = np.empty(rows.n_rows, np.int64)
        with self.lock:
            scratch = self.scratch_for(rows.longest)
            online.predict_rows(self.state, settings, scratch, rows.csr, candidates, offsets, best, predicted)
        return best

    def _decide(
        self, rows: Rows, settings: Settings, rounds: RoundArrays, first_round: int, groups: Groups, already_asked: Mask
    ) -> None:
        if self._scores_on_device():
            super()._decide(rows, settings, rounds, first_round, groups, already_asked)
            return
        csr, longest = rows.csr, rows.longest
        online.ask_rows(
            self.state, settings, self.scratch_for(longest), csr, first_round, rounds, groups, already_asked
        )

    def _run_growing(self, rows: Rows, run_from: Callable[[Csr, Scratch, int], int]) -> None:
        """Call a kernel until all rows are done, making room whenever it stops at a row whose features do not fit."""
        csr, longest, n_rows, done = rows.csr, rows.longest, rows.n_rows, 0
        with self.lock:
            scratch = self.scratch_for(longest)
            while done < n_rows:
                done = run_from(csr, scratch, done)
                if done < n_rows:
                    self.make_room(int(scratch.unseen[0]))

    def make_room(self, n_features: int) -> None:
        """Make room for this many more features, and few spare ones, so that memory follows the features seen."""
        model = self.state
        used = int(model.counters[SLOTS_USED])
        needed = used + n_features
        if needed > model.features.shape[0]:
            slots = needed + int(used * self._spare)
            for _, array in self._per_slot():
                array.resize((slots, *array.shape[1:]), refcheck=False)
        if needed * 4 > model.table.shape[0] * 3:
            table = np.zeros(needed * 3 // 2 + 8, np.int32)  # two thirds full; has_room allows three quarters
            fill_table(table, model.features, used)
            self.state = model._replace(table=table)

    def reserve(self, n_features: int) -> None:
        """Move an empty model to memory for this many features; memory that is not used stays untouched.

        A model that grows in small steps is moved often, and its memory then consists of small pages.
        """
        model = self.state
        if int(model.counters[SLOTS_USED]) > 1:
            return
        moved = {name: np.empty((n_features + 1, *array.shape[1:]), array.dtype) for name, array in self._per_slot()}
        for name, array in self._per_slot():
            moved[name][:1] = array[:1]
        self.state = model._replace(**moved)

    def _per_slot(self) -> list[tuple[str, NDArray[Any]]]:
        """The arrays with a row per slot, by name."""
        return [(name, getattr(self.state, name)) for name in _PER_SLOT]

    @property
    def _spare(self) -> float:
        """The share of spare slots that keeps the model within 1.2 times its cells, index included."""
        index_share = _INDEX_BYTES / (12.0 * lanes_for(self.n_labels))
        return min(_MOST_SPARE, max(_LEAST_SPARE, 0.17 - index_share))

    @property
    def nbytes(self) -> int:
        """The memory of the model in bytes."""
        return sum(array.nbytes for array in self.state)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The model as named arrays, without spare slots."""
        used = int(self.state.counters[SLOTS_USED])
        named = self.state._asdict()
        return {
            name: array[:used] if name in _PER_SLOT else array
            for name, array in named.items()
            if name not in _NOT_SAVED
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that ``arrays`` returned."""
        implies = len(arrays.get("implied", ())) > 0
        fresh = _empty_model(self.n_labels, self.state.interactions, implies=implies)._asdict()
        for name, array in fresh.items():
            if name in _NOT_SAVED:
                continue
            saved = arrays.get(name)
            shape = array.shape[1:] if name in _PER_SLOT else array.shape
            if saved is None or saved.dtype != array.dtype or saved.shape[-len(shape) or saved.ndim :] != shape:
                raise FileFormatError(
                    f"The model has no usable array {name!r}; it was not saved by coalface. Restore a copy."
                )
            fresh[name] = np.array(saved)
        slots = {len(fresh[name]) for name in _PER_SLOT} | {int(fresh["counters"][SLOTS_USED])}
        if len(slots) > 1 or (fresh["counters"] < 0).any() or len(fresh["features"]) == 0:
            raise FileFormatError(
                f"The arrays of the model have different lengths, {sorted(slots)}; it is damaged. Restore a copy."
            )
        self.state = Model(**fresh)
        self.make_room(0)
        table = np.zeros_like(self.state.table)
        fill_table(table, self.state.features, int(self.state.counters[SLOTS_USED]))
        self.state = self.state._replace(table=table)


def _audit_weights(propensity: NDArray[np.float64]) -> Costs:
    """How many answers each counts as (n, K), given the probability that it was asked for; 0 counts as certain."""
    weights = np.empty(propensity.shape, np.float32)
    online.weigh_answers(propensity, weights)
    return weights


def _empty_model(n_labels: int, interactions: NDArray[np.int64], *, implies: bool) -> Model:
    lanes = lanes_for(n_labels)
    cells = np.zeros((1, 3, lanes), np.float32)  # the slot of the unseen feature
    cells[:, INVERSE_SCALE] = UNSEEN_INVERSE_SCALE
    return Model(
        cells=cells,
        units=np.ones(1, np.float32),
        features=np.full(1, np.iinfo(np.int32).min, np.int32),
        table=np.zeros(8, np.int32),
        norm_sum=np.zeros(lanes),
        updates=np.zeros(lanes),
        row_sizes=np.zeros(2),
        implied=np.zeros((lanes if implies else 0, LEVELS, lanes, 2), np.float32),
        trust=np.zeros((LEVELS, COUNT_CLASSES, 2)),
        interactions=interactions,
        **new_counts(n_labels)._asdict(),
    )
