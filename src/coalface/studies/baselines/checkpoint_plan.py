"""When a run is looked at, and the curve that comes of it, by the rules of ``simulate``.

All rivals know which examples they ask about before anybody looks at their predictions, so the moments can be
planned: wherever a budget, or a doubling of the common axis, is first reached, and at the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coalface.studies.checkpoint_costs import last_doubling
from coalface.studies.curve import Curve


@dataclass(frozen=True, eq=False)
class Looks:
    """The plan for a run that asks for ``asked[i]`` costs at step i and pays ``paid[i]`` for them.

    ``paid`` is None where asking has no price. ``pool`` is the number of examples that a learner sees all at once; None
    for one that goes from row to row.

    >>> looks = Looks(np.array([2, 0, 2, 1]), budgets=np.array([3, 4, 9]), n_labels=2, n_examples=4)
    >>> looks.steps
    array([3, 4])
    >>> print(looks.curve([0.5, 0.25], seconds=0.1))
    5 costs on 3 of 4 examples, test cost 0.2500
    """

    asked: NDArray[np.int64]
    budgets: NDArray[np.int64]
    n_labels: int
    n_examples: int
    pool: int | None = None
    paid: NDArray[np.float64] | None = None

    @cached_property
    def steps(self) -> NDArray[np.int64]:
        """How many steps are done at each look, increasing; the last look is at the end."""
        return np.unique(np.concatenate([self._reached(self.budgets), self._reached(self._doublings), self._end]))

    def curve(self, test_costs: Sequence[float], seconds: float) -> Curve:
        """The curve of a run with this test cost at each look."""
        seen = dict(zip(self.steps.tolist(), test_costs, strict=True))
        shown = np.unique(np.concatenate([self._reached(self.budgets), self._end]))
        doublings = self._reached(self._doublings).tolist()
        missed = len(self._doublings) - len(doublings)
        return Curve(
            budgets=self.budgets,
            costs_queried=self._costs[shown - 1],
            examples_queried=np.cumsum(self.asked > 0)[shown - 1],
            rounds=shown if self.pool is None else np.full(len(shown), self.pool),
            test_cost=np.array([seen[step] for step in shown.tolist()], np.float64),
            at_doublings=np.array([seen[step] for step in doublings] + [test_costs[-1]] * missed, np.float64),
            seconds=seconds,
            spent=None if self.paid is None else np.cumsum(self.paid)[shown - 1],
        )

    def _reached(self, budgets: NDArray[np.int64]) -> NDArray[np.int64]:
        """The steps after which these budgets are first reached, without those that never are."""
        steps = np.searchsorted(self._costs, budgets) + 1
        return steps[steps <= len(self.asked)]

    @cached_property
    def _costs(self) -> NDArray[np.int64]:
        return np.cumsum(self.asked, dtype=np.int64)

    @property
    def _doublings(self) -> NDArray[np.int64]:
        return 10 * self.n_labels * 2 ** np.arange(last_doubling(self.n_examples) + 1)

    @property
    def _end(self) -> NDArray[np.int64]:
        return np.array([len(self.asked)])
