"""Beam decoding: several partial outputs are kept, and the complete one with the least predicted total cost is taken.

The total is the sum of the predicted costs of all actions, each clipped to [0, 1]. The output that the greedy policy
builds is always kept, so the total never exceeds that of greedy decoding.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.structured.task import Action, SearchTask, too_long

Costs = NDArray[np.float64]
PredictedCosts = Callable[[Sequence[Any]], list[tuple[Sequence[Action], Costs]]]  # of the valid actions of some states


@dataclass(frozen=True)
class _Hypothesis:
    """A partial output, its predicted total cost, and the sum of the same costs without clipping, which breaks ties."""

    state: Any
    total: float = 0.0
    unclipped: float = 0.0
    is_greedy: bool = True  # whether every action had the least predicted cost

    @property
    def rank(self) -> tuple[float, float]:
        """What orders hypotheses: the least is the best."""
        return self.total, self.unclipped

    def after(self, state: Any, cost: float, *, is_greedy: bool) -> "_Hypothesis":
        """The hypothesis after one more action."""
        total, unclipped = self.total + min(max(cost, 0.0), 1.0), self.unclipped + cost
        return _Hypothesis(state, total, unclipped, self.is_greedy and is_greedy)


def best_of_beam(task: SearchTask[Any, Any], start: Any, costs_in: PredictedCosts, width: int) -> _Hypothesis:
    """The best complete output that a beam of this width finds; a width of 1 is greedy decoding."""
    beam = [_Hypothesis(start)]
    for _ in range(task.longest + 1):
        unfinished = [one for one in beam if not task.finished(one.state)]
        if not unfinished:
            return min(beam, key=lambda one: one.rank)
        grown = [one for one in beam if task.finished(one.state)]
        for one, (actions, costs) in zip(unfinished, costs_in([each.state for each in unfinished]), strict=True):
            grown += _continued(task, one, actions, costs, width)
        beam = _pruned(grown, width)
    raise too_long(task)


def _continued(
    task: SearchTask[Any, Any], one: _Hypothesis, actions: Sequence[Action], costs: Costs, width: int
) -> list[_Hypothesis]:
    """The best continuations of a hypothesis; no more than ``width`` of them can stay in the beam."""
    best = np.argsort(costs, kind="stable")[:width].tolist()
    return [
        one.after(task.step(one.state, actions[k]), float(costs[k]), is_greedy=place == 0)
        for place, k in enumerate(best)
    ]


def _pruned(grown: list[_Hypothesis], width: int) -> list[_Hypothesis]:
    """The greedy hypothesis, and the best of the others."""
    greedy = [one for one in grown if one.is_greedy]
    others = sorted((one for one in grown if not one.is_greedy), key=lambda one: one.rank)
    return greedy + others[: width - 1]
