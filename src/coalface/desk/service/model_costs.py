"""The cost of the model's answers, each given before its example was learned: lately, and over the whole project."""

from collections import deque
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale
from coalface.desk.service.messages import EstimatedMean
from coalface.rounds.round import Round

_WINDOW = 2000  # examples in the estimate of the cost
_FEWEST = 50
_EVERY = 25  # examples between two points of its history


class _Paid(NamedTuple):
    """The answer that the model would have given to an example."""

    event: int
    predicted: float  # its cost, on the inner scale
    chance: float  # that its cost was asked for
    cost: float  # on the user's scale; NaN if it is unknown


class ModelCosts:
    """Inverse-propensity estimates of the cost of the answers that the model would have given.

    >>> from coalface.rounds.round import Outlook
    >>> costs = ModelCosts((0.0, 1.0))
    >>> costs.record(3, Round(1, outlook=Outlook("cat", 0.5, 1.0, 0.0), costs={"cat": 0.25}), asked=1)
    >>> costs.lately() is None  # too few
    True
    """

    def __init__(self, bounds: tuple[float, float]) -> None:
        self.history: list[tuple[int, float]] = []  # (costs asked, mean cost of the latest answers)
        self.progressive: list[tuple[int, float]] = []  # (costs asked, mean cost of all answers so far)
        self._scale = CostScale(*bounds)
        self._paid: deque[_Paid] = deque(maxlen=_WINDOW)
        self._recorded = 0
        self._total, self._n = 0.0, 0  # of all estimates, those withdrawn left out

    def record(self, event: int, decided: Round, asked: int) -> None:
        """Add the answer before a round was learned, of which an event says the costs; ``asked`` were asked so far."""
        outlook = decided.outlook
        if outlook is None:
            return
        label = outlook.label
        cost = decided.costs.get(label) if label is not None and label not in decided.unasked else None
        self._paid.append(_Paid(event, outlook.predicted, outlook.chance, np.nan if cost is None else cost))
        self._total, self._n = self._total + self._estimate(self._paid[-1]), self._n + 1
        self._recorded += 1
        if self._recorded % _EVERY == 0 and len(self._paid) >= _FEWEST:
            mean = float(np.clip(self._estimates()[-10 * _EVERY :].mean(), 0.0, 1.0))
            so_far = min(max(self._total / self._n, 0.0), 1.0) if self._n else 0.0
            for history, share in ((self.history, mean), (self.progressive, so_far)):
                history.append((asked, float(self._scale.from_unit(np.array(share)))))

    def withdraw(self, events: Collection[int]) -> None:
        """Leave out the answers about examples that the model does not know any more."""
        for one in self._paid:
            if one.event in events:
                self._total, self._n = self._total - self._estimate(one), self._n - 1
        self._paid = deque((one for one in self._paid if one.event not in events), maxlen=_WINDOW)

    def lately(self) -> EstimatedMean | None:
        """The mean cost of the answers that the model would have given to the last examples, before it learned them."""
        n = len(self._paid)
        if n < _FEWEST:
            return None
        paid = self._estimates()
        half = 1.96 * float(paid.std(ddof=1)) / n**0.5
        floor, ceiling = self._scale.floor, self._scale.ceiling
        ends = [float(self._scale.from_unit(np.array(paid.mean() + step * half))) for step in (0, -1, 1)]
        return EstimatedMean(ends[0], max(ends[1], floor), min(ends[2], ceiling), n)

    def _estimate(self, one: _Paid) -> float:
        """The estimate of one answer's cost."""
        if np.isnan(one.cost):
            return one.predicted
        return one.predicted + (float(self._scale.to_unit(np.array(one.cost))) - one.predicted) / one.chance

    def _estimates(self) -> NDArray[np.float64]:
        """The estimates on the inner scale: the prediction, corrected where its cost was asked for and answered."""
        _, predicted, chance, cost = np.array(self._paid).T
        correction = (self._scale.to_unit(cost) - predicted) / chance
        return np.asarray(predicted + np.where(np.isnan(cost), 0.0, correction))
