"""Questions about some examples, one after another, as far as a budget goes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.targets import UNKNOWN, Codes, truth_codes, with_costs_of
from coalface.kernels.state import OVER_BUDGET
from coalface.learner.purse import Purse
from coalface.rounds.queries import Queries

Mask = NDArray[np.bool_]


@dataclass
class Conversation:
    """What was asked and answered about some rows; it is ``complete`` unless a question did not fit the budget."""

    cost: NDArray[np.float64]  # (n, K) the answers, NaN elsewhere
    asked_costs: Mask  # (n, K)
    whole: Mask  # (n,) rows whose true label was to be asked for
    purse: Purse | None
    truth: Codes | None = None
    asked: Any = None  # what ``tell`` takes
    offset: NDArray[np.float64] | None = None  # the known parts of costs, as ``tell`` takes them
    complete: bool = True

    @classmethod
    def start(cls, n_rows: int, n_labels: int, purse: Purse | None) -> "Conversation":
        """A conversation in which nothing was asked yet."""
        shape = (n_rows, n_labels)
        return cls(np.full(shape, np.nan), np.zeros(shape, np.bool_), np.zeros(n_rows, np.bool_), purse)

    def ask_truths(
        self, first: Queries, truth: Callable[[int], Any], labels: NDArray[Any], costs: NDArray[np.float64]
    ) -> None:
        """Ask for the true labels that are wanted, and write down the costs that they give."""
        self.whole = first.truth.copy()
        answers: list[Any] = [None] * len(self.cost)
        for row in np.flatnonzero(first.truth).tolist():
            if not self._buys(partial(Purse.buys_truth, new_example=True)):
                break
            answers[row] = truth(row)
            self.asked_costs[row] = first.mask[row]
        self.truth = truth_codes(answers, len(answers), labels)
        known = self.truth != UNKNOWN
        self.cost[known] = with_costs_of(self.truth, costs)[known]

    def ask_costs(self, wanted: Mask, answer: Callable[[int, int], float]) -> None:
        """Ask for the wanted costs, (n, K), in order; the first that does not fit the budget is the end."""
        for row, k in np.argwhere(wanted).tolist():
            if not self._buys(partial(Purse.buys_cost, label=k, new_example=not self.asked_costs[row].any())):
                return
            self.cost[row, k] = answer(row, k)
            self.asked_costs[row, k] = True

    def ended(self, first: Queries) -> "Conversation":
        """The conversation with what ``tell`` needs: the first questions, restricted to those that were asked."""
        self.asked, self.offset = first.restricted_to(self.asked_costs), first.offset
        return self

    def _buys(self, buy: Callable[[Purse], bool]) -> bool:
        if self.complete and self.purse is not None:
            self.complete = buy(self.purse)
        return self.complete


def affordable(queries: Queries, purse: Purse, before: Mask | None) -> Queries:
    """The questions that fit the budget: audits first, then the widest ranges; ``before`` were asked already.

    >>> from coalface import Budget, CoalClassifier
    >>> learner = CoalClassifier(["walk", "fly"], budget=Budget(costs=3))
    >>> learner.ask([[1.0], [2.0]]).costs_asked
    3
    """
    known: Mask = np.zeros(len(queries), np.bool_)
    if before is not None:
        known = np.asarray(before.any(axis=1))
        purse.add(int(known.sum()), before.sum(axis=0))
    rows, columns = queries.by_width()
    fits, truths = np.zeros(len(rows), np.bool_), {}
    for place, (row, k) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        if queries.truth[row]:
            if row not in truths:
                truths[row] = purse.buys_truth(not known[row])
            fits[place] = truths[row]
        else:
            fits[place] = purse.buys_cost(k, not known[row])
        known[row] |= fits[place]
    return queries.without((rows[~fits], columns[~fits]), OVER_BUDGET)
