"""When a run is looked at: at every budget of its own, and at the doublings of the axis that all runs share."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from coalface.learner.simulating import UNLIMITED
from coalface.studies.checkpoint_costs import budgets_for, last_doubling
from coalface.studies.curve import Curve


class Look(NamedTuple):
    """Where a run stands at a checkpoint."""

    costs_queried: int
    examples_queried: int
    rounds: int
    test_cost: float
    spent: float = 0.0


class Checkpoints:
    """The looks at a run over ``n_rounds`` examples, taken by ``look`` as the run passes its budgets.

    >>> asked = 0
    >>> looks = Checkpoints([2, 4], n_labels=1, n_rounds=5, look=lambda: Look(asked, asked, asked, 1.0 / (1 + asked)))
    >>> while asked < 5:
    ...     asked = min(asked + 1, looks.pass_by(asked))
    >>> looks.curve(seconds=0.1).test_cost.round(2).tolist()
    [0.33, 0.2, 0.17]
    """

    def __init__(self, budgets: Any, n_labels: int, n_rounds: int, look: Callable[[], Look]) -> None:
        self.budgets = budgets_for(budgets, n_labels, n_rounds)
        self._doublings = 10 * n_labels * 2 ** np.arange(last_doubling(n_rounds) + 1)
        self._look = look
        self._seen: list[Look] = []
        self._at_doublings: list[float] = []
        self._wanted = 0  # the first budget that was not reached

    def pass_by(self, asked: int) -> int:
        """Look if a budget has been reached since the last time; the budget to stop at next."""
        wanted = int(np.searchsorted(self.budgets, asked, side="right"))
        doubling = int(np.searchsorted(self._doublings, asked, side="right"))
        if wanted > self._wanted or doubling > len(self._at_doublings):
            seen = self._look()
            if wanted > self._wanted:
                self._seen.append(seen)
            self._at_doublings += [seen.test_cost] * (doubling - len(self._at_doublings))
            self._wanted = wanted
        ahead = np.concatenate([self.budgets[wanted : wanted + 1], self._doublings[doubling : doubling + 1]])
        return int(ahead.min(initial=UNLIMITED))

    def curve(self, seconds: float, *, interrupted: bool = False, stopped: bool = False, priced: bool = False) -> Curve:
        """The curve of the run, which ends here."""
        last = self._look()
        missed = [last.test_cost] * (len(self._doublings) - len(self._at_doublings))
        seen = self._seen if self._seen and self._seen[-1][:3] == last[:3] else [*self._seen, last]
        costs, examples, done, test_cost, spent = zip(*seen, strict=True)
        return Curve(
            budgets=self.budgets,
            costs_queried=np.array(costs, np.int64),
            examples_queried=np.array(examples, np.int64),
            rounds=np.array(done, np.int64),
            test_cost=np.array(test_cost, np.float64),
            at_doublings=np.array([*self._at_doublings, *missed], np.float64),
            seconds=seconds,
            interrupted=interrupted,
            stopped=stopped,
            spent=np.array(spent, np.float64) if priced else None,
        )
