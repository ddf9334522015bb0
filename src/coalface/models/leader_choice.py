"""Who leads a committee: compares what the members' answers cost, and changes the leader only on clear evidence."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from coalface.kernels.state import F32, F64, Bool

_SHORTEST_MEMORY, _MEMORY_SHARE = 50.0, 0.5  # rounds remembered: at least so many, and this share of all rounds
_LEAST_CHANCE = 0.05  # limits the weight of an audited cost, which would otherwise be the noise of one answer
_TO_LEAD, _TO_DROP = 2.5, 6.0  # standard deviations of evidence
_ROUNDS_TO_LEAD, _ROUNDS_TO_DROP = 30, 300
_PRIOR_VARIANCE = 1.0  # of a summed difference


class LeaderChoice(NamedTuple):
    """The progress of all members; an array per fact, so that a file can store it."""

    alive: Bool  # (M,) still learning
    leader: NDArray[np.int64]  # (1,)
    rounds: F64  # (1,)
    weight: F64  # (1,) the discounted number of rounds
    costs: F64  # (M,) discounted sums of estimated costs
    differences: F64  # (M, M) discounted sums of cost[i] - cost[j]
    squares: F64  # (M, M) of the same differences, squared

    @classmethod
    def of(cls, n_members: int, leader: int) -> Self:
        """The choice before the first round."""
        pairs = (n_members, n_members)
        return cls(
            np.ones(n_members, np.bool_),
            np.array([leader]),
            np.zeros(1),
            np.zeros(1),
            np.zeros(n_members),
            np.zeros(pairs),
            np.zeros(pairs),
        )

    def add(self, costs: F64, times: float = 1.0) -> None:
        """Add the estimated costs of the members' answers in one round, then choose the leader and drop losers.

        The round counts ``times``: those that are only known because of an audit stand for others that are not known.
        """
        keep = 1.0 - 1.0 / max(_SHORTEST_MEMORY, _MEMORY_SHARE * self.rounds[0])
        gap = costs[:, None] - costs[None, :]
        for total, more, kept in (
            (self.rounds, 1.0, 1.0),
            (self.weight, times, keep),
            (self.costs, times * costs, keep),
            (self.differences, times * gap, keep),
            (self.squares, times * times * gap * gap, keep * keep),
        ):
            total *= kept
            total += more
        evidence = self.differences / np.sqrt(self.squares + _PRIOR_VARIANCE)  # that i costs more than j
        if self.rounds[0] >= _ROUNDS_TO_LEAD:
            against = np.where(self.alive, evidence[self.leader[0]], -np.inf)
            if against.max() > _TO_LEAD:
                self.leader[0] = int(against.argmax())
        if self.rounds[0] >= _ROUNDS_TO_DROP:
            self.alive[evidence[:, self.leader[0]] > _TO_DROP] = False

    @property
    def mean_costs(self) -> F64:
        """The mean cost of each member's answers over the rounds remembered."""
        return np.asarray(self.costs / max(float(self.weight[0]), 1.0))


def estimated_costs(
    predicted: F32,
    candidates: Bool,
    answers: F32,
    chances: F64,
    offset: NDArray[Any] | float = 0.0,
    expected: F64 | None = None,
) -> F64:
    """What the answers of the members cost on one example, each chosen before the example was learned.

    ``predicted`` (M, K) are their predictions, ``answers`` (K,) the known costs, NaN elsewhere, and ``chances`` (K,)
    the probabilities with which they were asked for. A cost that was not asked for counts as what the members predict
    on average, or as ``expected`` (K,); a known one corrects this by the inverse of its probability. ``offset`` (K,) is
    the known part of each cost.

    >>> predicted = np.array([[0.1, 0.9], [0.8, 0.3]], np.float32)
    >>> estimated_costs(predicted, np.array([True, True]), np.array([0.0, np.nan], np.float32), np.ones(2)).round(2)
    array([0. , 0.6])
    """
    inside = predicted.clip(0.0, 1.0).astype(np.float64)
    agreed = inside.mean(axis=0) if expected is None else expected.clip(0.0, 1.0)
    surprise = np.where(np.isnan(answers), 0.0, answers - agreed)
    estimate = agreed + surprise / np.maximum(chances, _LEAST_CHANCE)
    chosen = np.where(candidates, predicted + offset, np.inf).argmin(axis=1)
    return np.asarray((estimate + offset)[chosen], np.float64)
