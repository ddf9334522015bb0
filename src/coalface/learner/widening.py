"""Costs whose range is not known beforehand: bounds that widen, and what was told, to learn it again on a new scale."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import Bounds, CostScale, as_cost_array, bounds_of, check_cost
from coalface.data.numbers import AUTO
from coalface.data.rows import Rows
from coalface.files.interrupts import interrupts_put_off
from coalface.kernels.state import PREDICTED, REACHABLE, RoundArrays, Settings
from coalface.learner.monitor import warn_of_clipping
from coalface.learner.parameters import settings_for
from coalface.learner.state import LearnerState, scale_of
from coalface.models.choice import model_of
from coalface.models.contract import CostModel
from coalface.models.serving import Served
from coalface.rounds.arrays import ServedLabels


class LabelsThen(NamedTuple):
    """A change of the labels: which are not retired since, and the first round of one that was added."""

    active: NDArray[np.bool_]
    added: int | None

    def teach(self, model: CostModel, _: CostScale, __: float) -> None:
        """Repeat the change."""
        if self.added is not None:
            model.add_label(self.added)
        model.set_active(self.active)


@dataclass(frozen=True)
class Told:
    """Answers as they were given, (n, K), and the scale on which their other numbers are."""

    rows: Rows
    cost: NDArray[np.float64]
    rounds: RoundArrays
    settings: Settings
    scale: CostScale
    late: bool = False
    served: ServedLabels | None = None

    @property
    def known(self) -> NDArray[np.float64]:
        """The answers."""
        return known_costs(self.cost, self.rounds.candidates)

    def teach(self, model: CostModel, scale: CostScale, abstain_cost: float) -> None:
        """Learn the answers on this scale; ``abstain_cost`` is on the internal one."""
        rounds, factor = self.rounds, self.scale.span / scale.span
        unit = np.ascontiguousarray(scale.to_unit(self.cost), np.float32)
        outlook, offsets = outlook_on(scale, rounds.outlook, self.scale), rounds.offsets
        offsets = offsets if factor == 1.0 else np.ascontiguousarray(offsets * factor, np.float32)
        rounds = rounds._replace(costs=unit, outlook=outlook, offsets=offsets)
        settings = self.settings._replace(abstain_cost=abstain_cost)
        teach(model, self.rows, settings, rounds, late=self.late, served=self.served)


def teach(
    model: CostModel,
    rows: Rows,
    settings: Settings,
    rounds: RoundArrays,
    *,
    late: bool = False,
    served: ServedLabels | None = None,
) -> None:
    """Let a model learn the answers of rounds or, if labels were ``served``, their costs."""
    if served is None:
        model.tell(rows, settings, rounds, late=late)
        return
    settings = settings._replace(budget=np.inf, alike=np.inf)
    costs = np.ascontiguousarray(rounds.costs[np.arange(len(rows)), served.labels])
    model.observe(rows, settings, rounds.candidates, Served(*served, costs))


def known_costs(cost: NDArray[Any], candidates: NDArray[np.bool_] | None) -> NDArray[np.float64]:
    """The known costs of labels that are candidates."""
    known = ~np.isnan(cost)
    known = known if candidates is None or not len(candidates) else known & candidates
    return np.asarray(cost[known], np.float64)


def outlook_on(scale: CostScale, outlook: NDArray[np.float64], before: CostScale) -> NDArray[np.float64]:
    """What was foreseen on the scale of ``before``, on another."""
    if scale == before or not before.known or not len(outlook):
        return outlook
    found = outlook.copy()
    for number in (PREDICTED, REACHABLE):
        found[:, number] = (before.from_unit(outlook[:, number]) - scale.floor) / scale.span
    return found


def scale_with(
    learner: LearnerState, cost: Any, n_rows: int, labels: NDArray[Any], candidates: NDArray[np.bool_] | None
) -> CostScale:
    """The scale of costs once these are known, too; an InputError if they are invalid.

    >>> from coalface import CoalClassifier
    >>> learner = CoalClassifier(["walk", "fly"], cost_bounds="auto")
    >>> scale = scale_with(learner, [[20.0, 50.0]], 1, learner.classes, None)
    >>> scale.floor, scale.ceiling
    (20.0, 50.0)
    """
    before = scale_of(learner)
    if not before.open:
        return before
    check_cost(cost, n_rows, labels, before)
    new, told = known_costs(as_cost_array(cost), candidates), learner._told
    if before.known:
        if (before.within(new) == new).all():
            return before
        if told is None:
            warn_of_clipping(learner, before)
            return before
    earlier = [one.known for one in told or () if isinstance(one, Told)]
    return CostScale.of(AUTO, bounds_of(np.concatenate([*earlier, new]), learner._bounds))


def widen(learner: LearnerState, scale: CostScale) -> None:
    """Use this scale from now on: all that was told is learned again, as if it had been known from the beginning."""
    bounds, model = scale.ends if scale.known else None, learner.model_
    if not scale.open or bounds == learner._bounds:
        return
    with model.lock:
        learned = vars(_learned_again(learner, scale, bounds)) if learner._told else vars(model)
        with interrupts_put_off():
            vars(model).update({**learned, "lock": model.lock})
            learner._bounds = bounds


def _learned_again(learner: LearnerState, scale: CostScale, bounds: Bounds | None) -> CostModel:
    """A new model that has learned all that the learner was told, on another scale."""
    told = learner._told or []
    n_labels = len(learner.classes_) - sum(isinstance(one, LabelsThen) and one.added is not None for one in told)
    settings = settings_for(n_labels, {**vars(learner), "_bounds": bounds})
    model = model_of(learner.model).begin(n_labels, settings)
    for one in told:
        one.teach(model, scale, settings.abstain_cost)
    return model


def keep(learner: LearnerState, told: Told | LabelsThen) -> None:
    """Keep what was told, if bounds may widen."""
    if learner._told is not None:
        learner._told.append(told)
