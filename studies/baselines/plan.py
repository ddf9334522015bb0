"""The checkpoints of a run whose questions are known before its predictions."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coalface.evaluate import Checkpoint, CheckpointRecorder, Curve, doubling_costs


@dataclass(frozen=True, eq=False)
class CheckpointPlan:
    """The checkpoints of a run whose questions are known before its predictions: ``asked[i]`` costs at step i.

    ``paid[i]`` is the price of these costs; None where asking has no price. ``pool`` is the number of examples that
    a learner sees all at once; None for one that goes from row to row. ``is_new[i]`` says whether step i is the first
    one that asks about its example; None where no two steps share an example.

    >>> plan = CheckpointPlan(np.array([2, 0, 2, 1]), checkpoints=np.array([3, 4, 9]), n_labels=2, n_examples=4)
    >>> plan.steps
    array([3, 4])
    >>> print(plan.curve([0.5, 0.25], seconds=0.1))
    5 costs on 3 of 4 examples, test cost 0.2500
    """

    asked: NDArray[np.int64]
    checkpoints: NDArray[np.int64]
    n_labels: int
    n_examples: int
    pool: int | None = None
    paid: NDArray[np.float64] | None = None
    is_new: NDArray[np.bool_] | None = None

    @cached_property
    def steps(self) -> NDArray[np.int64]:
        """The number of finished steps at each measurement, increasing; the last measurement is at the end."""
        axis = doubling_costs(self.n_labels, self.n_examples)
        first = np.searchsorted(self._costs, np.concatenate([self.checkpoints, axis])) + 1
        return np.unique([*first[first <= len(self.asked)], len(self.asked)])

    def curve(self, test_costs: Sequence[float], seconds: float) -> Curve:
        """The curve of a run with this test cost at each of ``steps``."""
        examples = np.cumsum(self.asked > 0 if self.is_new is None else self.is_new)
        spent = np.zeros(len(self.asked)) if self.paid is None else np.cumsum(self.paid)
        step, test_cost = 0, np.nan
        recorder = CheckpointRecorder(
            self.checkpoints,
            self.n_labels,
            self.n_examples,
            lambda: Checkpoint(
                int(self._costs[step - 1]),
                int(examples[step - 1]),
                self.pool or step,
                test_cost,
                float(spent[step - 1]),
            ),
        )
        for step, test_cost in zip(self.steps.tolist(), test_costs, strict=True):  # noqa: B007 - the lambda reads both
            recorder.record(int(self._costs[step - 1]))
        return recorder.curve(seconds, priced=self.paid is not None)

    @cached_property
    def _costs(self) -> NDArray[np.int64]:
        return np.cumsum(self.asked, dtype=np.int64)
