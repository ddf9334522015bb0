"""What was spent and what may still be: the counts of questions, and the limit of a budget, question by question."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.labels import label_array
from coalface.kernels.state import COSTS_QUERIED, COSTS_SEEN, EXAMPLES_QUERIED, OVER_BUDGET, ROUND, TRUTHS_QUERIED
from coalface.learner.budget import Budget, CountsBefore
from coalface.learner.parameters import settings_for
from coalface.learner.state import LearnerState, is_begun
from coalface.rounds.queries import Queries

Mask = NDArray[np.bool_]


class Totals(NamedTuple):
    """What a learner has asked for and seen so far.

    ``costs`` were asked for one by one, ``truths`` are true labels asked for, ``answered`` are the costs learned, which
    leaves out those that could not be told, and ``seen`` the costs seen because their label was served. ``price`` is
    that of all questions, in costs: a true label counts as ``price_of_truth``.

    >>> from coalface import CoalClassifier
    >>> learner = CoalClassifier(["walk", "fly"]).tell([[1.0]], [[0.2, np.nan]], asked=[[True, True]])
    >>> learner.totals_.costs, learner.totals_.answered
    (2, 1)
    """

    rounds: int = 0
    examples: int = 0
    costs: int = 0
    truths: int = 0
    answered: int = 0
    seen: int = 0
    price: float = 0.0


def totals_of(learner: LearnerState) -> Totals:
    """The counts of a learner; all are 0 before it begins."""
    if not is_begun(learner):
        return Totals()
    counters, answered = learner.model_.state.counters, learner.model_.state.answered
    rounds, examples, costs = (int(counters[place]) for place in (ROUND, EXAMPLES_QUERIED, COSTS_QUERIED))
    truths, seen = int(counters[TRUTHS_QUERIED]), int(counters[COSTS_SEEN])
    price = float(in_costs(learner, costs, truths))
    return Totals(rounds - 1, examples, costs, truths, int(answered.sum()), seen, price)


def in_costs(learner: LearnerState, costs: Any, truths: Any) -> Any:
    """The price of questions, in costs, computed as in the kernels; numbers or arrays."""
    return 1.0 * costs if learner.price_of_truth is None else 1.0 * costs + float(learner.price_of_truth) * truths


def spent_by(learner: LearnerState) -> float:
    """The amount spent since the budget began, in its unit; without a budget, the price of all questions in costs."""
    totals = totals_of(learner)
    if learner.budget is None:
        return totals.price
    budget = Budget.of(learner.budget)
    if budget.by_label:
        return _remaining(learner, budget).spent if is_begun(learner) else 0.0
    since = budget.since
    costs, truths = max(totals.costs - since.costs, 0), max(totals.truths - since.truths, 0)
    return budget.price_of(max(totals.examples - since.examples, 0), in_costs(learner, costs, truths))


def plain_budget(learner: LearnerState) -> dict[str, Any]:
    """The budget as JSON values; empty without one."""
    return {} if learner.budget is None else Budget.of(learner.budget).plain()


def beginning_now(learner: LearnerState, budget: Any) -> Budget:
    """The budget, which begins at the next example; an InputError if the learner could not keep it."""
    totals, found = totals_of(learner), Budget.of(budget)
    now = CountsBefore(totals.rounds, totals.examples, totals.costs, totals.truths)
    if found.by_label and is_begun(learner):
        now = now._replace(asked=tuple(asked_by_label(learner).tolist()))
    found = replace(found, since=now)
    labels = getattr(learner, "classes_", learner.classes)
    names = [] if labels is None else label_array(labels).tolist()
    found.prices_of(names)
    settings_for(len(names), {**vars(learner), "budget": found})
    return found


def remaining_budget(learner: LearnerState) -> "RemainingBudget | None":
    """What may still be bought; None without a budget, or with one that the model spreads."""
    if learner.budget is None:
        return None
    budget = Budget.of(learner.budget)
    return _remaining(learner, budget) if budget.over is None else None


def asked_by_label(learner: LearnerState) -> NDArray[np.int64]:
    """How often each label's cost was asked for."""
    return np.array(learner.model_.state.asked[: len(learner.classes_)])


def _remaining(learner: LearnerState, budget: Budget) -> "RemainingBudget":
    truth = np.inf if learner.price_of_truth is None else float(learner.price_of_truth)
    remaining, since = RemainingBudget(budget, learner.classes_.tolist(), truth), budget.since
    totals = totals_of(learner)
    if budget.by_label:
        asked = asked_by_label(learner)
        asked[: len(since.asked)] -= np.array(since.asked, np.int64)  # labels that were added since have no count
    else:  # only the sum matters, and the counts by label have those of true labels, too
        asked = np.zeros(len(learner.classes_), np.int64)
        asked[0] = max(totals.costs - since.costs, 0)
    examples, truths = totals.examples - since.examples, totals.truths - since.truths
    remaining.add(max(examples, 0), np.maximum(asked, 0), max(truths, 0))
    return remaining


class RemainingBudget:
    """The questions bought so far and the limit on their price; prices are sums over counts, so they do not drift.

    >>> budget = Budget(price=1.0, price_per_cost={"small": 0.1, "large": 0.7})
    >>> left = RemainingBudget(budget, ["small", "large"])
    >>> left.buys_cost(label=1, new_example=True), left.buys_cost(1, False), left.buys_cost(0, False)
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
    def most_expensive_example(self) -> float:
        """The price of all costs of one example."""
        per_example, per_cost = self._budget.prices
        everything = self._prices.sum()
        if self._price_of_truth < np.inf:
            everything = max(everything, per_cost * self._price_of_truth)
        return float(per_example + everything)

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


def affordable(queries: Queries, remaining: RemainingBudget, before: Mask | None) -> Queries:
    """The questions that fit the budget: audits first, then the widest ranges; ``before`` were asked already.

    >>> from coalface import Budget, CoalClassifier
    >>> learner = CoalClassifier(["walk", "fly"], budget=Budget(costs=3))
    >>> learner.ask([[1.0], [2.0]]).costs_asked
    3
    """
    known: Mask = np.zeros(len(queries), np.bool_)
    if before is not None:
        known = np.asarray(before.any(axis=1))
        remaining.add(int(known.sum()), before.sum(axis=0))
    rows, columns = queries.by_width()
    fits, truths = np.zeros(len(rows), np.bool_), {}
    for place, (row, k) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        if queries.truth[row]:
            if row not in truths:
                truths[row] = remaining.buys_truth(not known[row])
            fits[place] = truths[row]
        else:
            fits[place] = remaining.buys_cost(k, not known[row])
        known[row] |= fits[place]
    return queries.without((rows[~fits], columns[~fits]), OVER_BUDGET)
