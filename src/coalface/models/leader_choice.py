"""Who leads a committee: compares what the members' answers cost, and changes the leader only on clear evidence."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from coalface.kernels.state import F32, F64, Bool

_SHORTEST_MEMORY, _MEMORY_SHARE = 50.0, 0.5  # rounds remembered: at least so many, and this share of all rounds
_LEAST_CHANCE = 0.05  # limits the weight of an audited cost, which would otherwise be the noise of one answer
_TO_LEAD, _TO_LEAD_BY_ERROR, _TO_DROP = 2.5, 4.0, 6.0  # standard deviations of evidence
_SIMPLEST = 0  # the member that leads if it costs no more and its errors are clearly smaller
_ROUNDS_TO_LEAD, _ROUNDS_TO_DROP = 30, 300
_PRIOR_VARIANCE = 1.0  # of a summed difference of costs
_PRIOR_ERROR = 0.01  # the same of squared errors, whose differences are smaller
_RECENT, _RUN_MEMORY = 50.0, 100.0  # rounds in which a leader that fails, and long runs of one label, are noticed
_LONG_RUNS = 2.5  # standard deviations of the share of rounds that repeat the label before
_FORGOTTEN_SHARE = 0.5  # the weight of what a member has forgotten, beside its latest answers
_ALARM, _LEAST_ALARM = 4.0, 0.02  # standard deviations, and a share of the cost scale


class LeaderChoice(NamedTuple):
    """The progress of all members; an array per fact, so that a file can store it."""

    alive: Bool  # (M,) still learning
    leader: NDArray[np.int64]  # (1,)
    rounds: F64  # (1,)
    weight: F64  # (1,) the discounted number of rounds
    costs: F64  # (M,) discounted sums of estimated costs
    differences: F64  # (M, M) discounted sums of cost[i] - cost[j]
    squares: F64  # (M, M) of the same differences, squared
    error_differences: F64  # (M, M) of squared errors of predicted costs
    error_squares: F64  # (M, M)
    recent: F64  # (1,) the mean cost of the leader's latest answers
    last_best: NDArray[np.int64]  # (1,) the best label of the latest answered round
    repeats: F64  # (2,) the share of the latest rounds whose best label was that of the round before; by chance

    @classmethod
    def of(cls, n_members: int, leader: int) -> Self:
        """The choice before the first round."""
        pairs = (n_members, n_members)
        return cls(
            alive=np.ones(n_members, np.bool_),
            leader=np.array([leader]),
            rounds=np.zeros(1),
            weight=np.zeros(1),
            costs=np.zeros(n_members),
            differences=np.zeros(pairs),
            squares=np.zeros(pairs),
            error_differences=np.zeros(pairs),
            error_squares=np.zeros(pairs),
            recent=np.zeros(1),
            last_best=np.array([-1]),
            repeats=np.array([0.0, 1.0]),
        )

    @property
    def independence(self) -> float:
        """How much a round tells about other examples: less where labels come in longer runs than by chance."""
        repeats, by_chance = self.repeats.tolist()
        excess = repeats - by_chance - _LONG_RUNS * np.sqrt(by_chance * max(1.0 - by_chance, 0.0) / (2.0 * _RUN_MEMORY))
        return 1.0 if excess <= 0.0 else float(1.0 - excess / (1.0 - by_chance))

    def follow(self, best: int, often: NDArray[Any]) -> float:
        """How much a round counts with this best label, where each label (K,) was best so ``often`` before."""
        repeated = best == int(self.last_best[0])
        shares = often / max(float(often.sum()), 1.0)
        self.last_best[0] = best
        self.repeats[0] += (float(repeated) - self.repeats[0]) / _RUN_MEMORY
        self.repeats[1] = shares @ shares
        return self.independence if repeated else 1.0

    def add(self, costs: F64, errors: F64, times: float = 1.0) -> None:
        """Add what the members' answers cost in one round and how far predictions were off, then choose the leader.

        ``errors`` are mean squared errors of predicted costs. The round counts ``times``: more if it is only known
        because of an audit and stands for others, less if it tells little about others.
        """
        keep = 1.0 - 1.0 / max(_SHORTEST_MEMORY, _MEMORY_SHARE * self.rounds[0])
        gap, error_gap = costs[:, None] - costs[None, :], errors[:, None] - errors[None, :]
        for total, more, kept in (
            (self.rounds, 1.0, 1.0),
            (self.weight, times, keep),
            (self.costs, times * costs, keep),
            (self.differences, times * gap, keep),
            (self.squares, times * times * gap * gap, keep * keep),
            (self.error_differences, times * error_gap, keep),
            (self.error_squares, times * times * error_gap * error_gap, keep * keep),
            (self.recent, costs[self.leader[0]] / _RECENT, 1.0 - 1.0 / _RECENT),
        ):
            total *= kept
            total += more
        self._choose()

    def add_again(self, now: F64, before: F64, rounds: float) -> None:
        """Add what answers cost now on earlier rows, and ``before`` these rows were learned; it stands for ``rounds``.

        Where labels come in long runs, a member that follows the latest answers has the least costs in each round, and
        has unlearned the other labels: there, what counts is the cost now. Elsewhere it is what was forgotten.
        """
        dependent = 1.0 - self.independence
        costs = dependent * now + (1.0 - dependent) * _FORGOTTEN_SHARE * (now - before).clip(min=0.0)
        gap = costs[:, None] - costs[None, :]
        for total, more in ((self.costs, costs), (self.differences, gap), (self.squares, gap * gap)):
            total += rounds * more
        self.weight[0] += rounds * dependent
        self._choose()

    def _choose(self) -> None:
        """Let another member lead that costs clearly less, or the simplest if it only predicts better; drop losers."""
        evidence, leader = self._evidence, self.leader[0]
        if self.rounds[0] >= _ROUNDS_TO_LEAD:
            against = np.where(self.alive, evidence[leader], -np.inf)
            if against.max() > _TO_LEAD:
                self.leader[0] = int(against.argmax())
            elif against[_SIMPLEST] >= 0.0:
                spread = np.sqrt(self.error_squares[leader, _SIMPLEST] + _PRIOR_ERROR)
                if self.error_differences[leader, _SIMPLEST] > _TO_LEAD_BY_ERROR * spread:
                    self.leader[0] = _SIMPLEST
        if self.rounds[0] >= _ROUNDS_TO_DROP:
            self.alive[evidence[:, self.leader[0]] > _TO_DROP] = False

    @property
    def _evidence(self) -> F64:
        """The evidence (M, M) that member i costs more than member j, in standard deviations."""
        return np.asarray(self.differences / np.sqrt(self.squares + _PRIOR_VARIANCE))

    @property
    def misses_others(self) -> bool:
        """Whether members were dropped, and one costs less, or the leader's latest answers cost more than before."""
        if self.alive.all():
            return False
        usual = float(self.mean_costs[self.leader[0]])
        deviation = np.sqrt(usual * max(1.0 - usual, 0.0) / (2.0 * _RECENT))
        fails = self.recent[0] > usual + _ALARM * deviation + _LEAST_ALARM
        return bool(fails or self._evidence[self.leader[0], ~self.alive].max() > _TO_LEAD)

    def call_back(self) -> None:
        """Let the members that were dropped learn and be compared again, from equal to the leader on."""
        back, leader = ~self.alive, self.leader[0]
        self.alive[:] = True
        self.costs[back] = self.costs[leader]
        for sums in (self.differences, self.squares, self.error_differences, self.error_squares):
            sums[back, :] = sums[leader, :]
            sums[:, back] = sums[:, [leader]]
        self.recent[0] = self.mean_costs[leader]

    @property
    def mean_costs(self) -> F64:
        """The mean cost of each member's answers over the rounds remembered."""
        return np.asarray(self.costs / max(float(self.weight[0]), 1.0))


def squared_errors(predicted: F32, answers: F32) -> F64:
    """The mean squared error of the predictions (M, K) of known costs (K,), NaN elsewhere."""
    known = ~np.isnan(answers)
    return np.asarray(((predicted[:, known].clip(0.0, 1.0) - answers[known]) ** 2).mean(axis=1), np.float64)


def estimated_costs(
    predicted: F32,
    candidates: Bool,
    answers: F32,
    chances: F64,
    offset: NDArray[Any] | float = 0.0,
    expected: F64 | None = None,
) -> F64:
    """What the answers of the members cost on an example, or on each of several.

    ``predicted`` (M, K) or (M, n, K) are their predictions, ``answers`` (K,) or (n, K) the known costs, NaN elsewhere,
    and ``chances`` the probabilities with which they were asked for. A cost that was not asked for counts as what the
    members predict on average, or as ``expected``; a known one corrects this by the inverse of its probability.
    ``offset`` is the known part of each cost.

    >>> predicted = np.array([[0.1, 0.9], [0.8, 0.3]], np.float32)
    >>> estimated_costs(predicted, np.array([True, True]), np.array([0.0, np.nan], np.float32), np.ones(2)).round(2)
    array([0. , 0.6])
    """
    inside = predicted.clip(0.0, 1.0).astype(np.float64)
    agreed = inside.mean(axis=0) if expected is None else expected.clip(0.0, 1.0)
    surprise = np.where(np.isnan(answers), 0.0, answers - agreed)
    estimate = agreed + surprise / np.maximum(chances, _LEAST_CHANCE)
    chosen = np.where(candidates, predicted + offset, np.inf).argmin(axis=-1)
    found = np.take_along_axis((estimate + offset)[None], chosen[..., None], axis=-1)[..., 0]
    return np.asarray(found, np.float64)
