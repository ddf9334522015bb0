"""``Purse``: what may still be bought under a budget that is not paced, question by question."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.learner.budget import Budget


class Purse:
    """The questions bought so far and the limit on their price; prices are sums over counts, so they do not drift.

    >>> purse = Purse(Budget(price=1.0, price_per_cost={"small": 0.1, "large": 0.7}), ["small", "large"])
    >>> purse.buys_cost(label=1, new_example=True), purse.buys_cost(1, False), purse.buys_cost(0, False)
    (True, False, True)
    """

    def __init__(self, budget: Budget, labels: Sequence[Any], price_of_truth: float = np.inf) -> None:
        self._budget, self._labels = budget, labels
        self._prices, self._price_of_truth = budget.prices_of(labels), price_of_truth
        self.examples, self.truths = 0, 0
        self.asked = np.zeros(len(labels), np.int64)

    def add(self, examples: int, asked: NDArray[np.int64], truths: int = 0) -> None:
        """Count questions that were asked before; ``asked`` has the costs by label, without those of true labels."""
        self.examples, self.asked, self.truths = self.examples + examples, self.asked + asked, self.truths + truths

    @property
    def spent(self) -> float:
        """The price of all questions bought."""
        budget = self._budget
        if budget.by_label:
            return budget.price_of_labels(self.examples, self.asked, self._labels)
        costs = float(self.asked.sum())
        return budget.price_of(self.examples, costs + self._price_of_truth * self.truths if self.truths else costs)

    @property
    def left(self) -> float:
        """What may still be spent; negative if more than the limit was spent."""
        return self._budget.amount - self.spent

    @property
    def empty(self) -> bool:
        """Whether not even the cheapest question about a new example fits."""
        cheapest = int(np.argmin(self._prices))
        if self._price_of_truth < 1.0:
            return not self._fits(1, cheapest, 0, 1)
        return not self._fits(1, cheapest, 1, 0)

    @property
    def dearest_example(self) -> float:
        """The price of all costs of one example."""
        per_example, _ = self._budget.prices
        dearest = self._prices.sum()
        if self._price_of_truth < np.inf:
            dearest = max(dearest, self._budget.prices[1] * self._price_of_truth)
        return float(per_example + dearest)

    def buys_cost(self, label: int, new_example: bool) -> bool:
        """Buy the cost of a label, if it fits."""
        fits = self._fits(int(new_example), label, 1, 0)
        if fits:
            self.examples += int(new_example)
            self.asked[label] += 1
        return fits

    def buys_truth(self, new_example: bool) -> bool:
        """Buy a true label, if it fits."""
        fits = self._fits(int(new_example), 0, 0, 1)
        if fits:
            self.examples += int(new_example)
            self.truths += 1
        return fits

    def _fits(self, examples: int, label: int, costs: int, truths: int) -> bool:
        self.examples, self.truths = self.examples + examples, self.truths + truths
        self.asked[label] += costs
        fits = self.spent <= self._budget.amount
        self.examples, self.truths = self.examples - examples, self.truths - truths
        self.asked[label] -= costs
        return fits
