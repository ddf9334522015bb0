"""Spending: what questions have cost so far, what may still be spent, and a forecast."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data.labels import label_array
from coalface.data.numbers import finite_number, whole_number
from coalface.errors import InputError
from coalface.kernels.codes import PASSIVE
from coalface.kernels.state import COSTS_QUERIED, EXAMPLES_QUERIED, ROUND, TRUTHS_QUERIED
from coalface.learner.budget import Budget, Counts
from coalface.learner.forecasting import Forecast, Interval, Pace, asked_history, interval_of
from coalface.learner.parameters import settings_for
from coalface.learner.purse import Purse
from coalface.learner.state import LearnerState


class SpendingLearner(LearnerState):
    """A learner that counts what its questions cost."""

    @property
    def spent_(self) -> float:
        """The amount spent since the budget began, in its unit; without a budget, the price of all questions in costs.

        >>> from coalface import Budget, CoalClassifier
        >>> budget = Budget(price=100, over=50, price_per_example=3.0, price_per_cost=1.0)
        >>> CoalClassifier(["walk", "fly"], budget=budget).tell([[1.0]], [[0.2, 0.9]]).spent_
        5.0
        """
        if self.budget is None:
            return self.price_queried_
        budget = Budget.of(self.budget)
        examples, costs = self.examples_queried_ - budget.since.examples, self.costs_queried_ - budget.since.costs
        if budget.by_label:
            return self._purse_of(budget).spent if hasattr(self, "model_") else 0.0
        truths = self.truths_queried_ - budget.since.truths
        return budget.price_of(max(examples, 0), self._in_costs(max(costs, 0), max(truths, 0)))

    @property
    def plain_budget(self) -> dict[str, Any]:
        """The budget as JSON values; empty without one."""
        return {} if self.budget is None else Budget.of(self.budget).plain()

    def start_budget(self, budget: Any) -> Self:
        """Start a new budget at the next example; earlier questions do not count against it.

        >>> from coalface import Budget, CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).partial_fit([[1.0]], ["walk"])
        >>> learner.start_budget(Budget(costs=100, over=1000)).spent_
        0.0
        """
        if "budget" not in self.get_params(deep=False):
            raise InputError(f"{type(self).__name__} has no budget. Pass max_costs to ask, or use CoalClassifier.")
        now = Counts(self.round_ - 1, self.examples_queried_, self.costs_queried_, self.truths_queried_)
        found = Budget.of(budget)
        if found.by_label and hasattr(self, "model_"):
            now = now._replace(asked=tuple(self._asked_by_label().tolist()))
        self.budget = self._keepable(replace(found, since=now))
        return self

    def forecast(self, n_examples: int, price: Any = None, *, price_per_example: float = 0.0) -> Forecast:
        """How many costs the learner will ask for on the next ``n_examples`` examples, with a 90 % interval.

        ``price`` is the price of a cost, or a mapping from labels to prices; the forecast then has the money, too. By
        default, it takes the prices of ``budget``. A budget limits the forecast to what is left of it. A true label
        counts as ``price_of_truth`` costs. See ``Forecast`` for the method.

        >>> from coalface import CoalClassifier, simulate
        >>> learner = CoalClassifier(classes=["walk", "fly"])
        >>> print(learner.forecast(10_000))
        the next 10,000 examples: 1,770 costs (490 to 9,128) on 1,770 examples (490 to 9,128)
        >>> _ = simulate(learner, [[1.0, 0.0], [0.0, 1.0]] * 250, [[0.0, 1.0], [1.0, 0.0]] * 250)
        >>> learner.forecast(500, price=0.02).costs.highest < 120
        True
        """
        coming = whole_number("n_examples", n_examples)
        self.begin()
        per_cost, per_example = self._forecast_prices(price, price_per_example)
        examples, costs = self._to_be_asked(coming)
        examples, costs = self._within_budget(examples, costs)
        money = None if per_cost is None else _money(examples, costs, per_cost, per_example)
        return Forecast(coming, examples, costs, money)

    # -- internals --------------------------------------------------------------------------------

    def _keepable(self, budget: Budget) -> Budget:
        """The budget; an InputError if the learner could not keep it."""
        labels = getattr(self, "classes_", self.classes)
        names = [] if labels is None else label_array(labels).tolist()
        budget.prices_of(names)
        settings_for(len(names), {**vars(self), "budget": budget})
        return budget

    def _to_be_asked(self, coming: int) -> tuple[Interval, Interval]:
        """The examples, and their costs, that will be asked about."""
        with self.model_.lock:
            settings, counters = self.model_.resolved(self.settings_for()), self.model_.state.counters.copy()
        most = min(float(self.model_.active.sum()), settings.price_of_truth)
        if settings.rule == PASSIVE:
            return Interval.exactly(coming), Interval.exactly(most * coming)
        history, done, warm_up = asked_history(counters), int(counters[ROUND]) - 1, max(settings.warm_up, 0)
        priced = self._in_costs(history.costs, history.truths)
        paid = float(self._in_costs(counters[COSTS_QUERIED], counters[TRUTHS_QUERIED]))
        looks = Pace(done, history.rounds, history.examples, float(counters[EXAMPLES_QUERIED]), 1.0, warm_up)
        costs = Pace(done, history.rounds, priced, paid, most, warm_up)
        to_pay = interval_of(costs, looks, coming, of_costs=True, calibrated=settings.miss_rate <= 1.0)
        to_see = interval_of(looks, looks, coming, of_costs=False)
        if settings.price_of_truth >= 1.0:  # an example that is asked about takes at least 1
            to_see = Interval(*(min(pair) for pair in zip(to_see, to_pay, strict=True)))
        return to_see, to_pay

    def _purse(self) -> Purse | None:
        """What may still be bought; None without a budget, or with one that the model paces."""
        if self.budget is None:
            return None
        budget = Budget.of(self.budget)
        return self._purse_of(budget) if budget.over is None else None

    def _purse_of(self, budget: Budget) -> Purse:
        truth = np.inf if self.price_of_truth is None else float(self.price_of_truth)
        purse, since = Purse(budget, self.classes_.tolist(), truth), budget.since
        examples, truths = self.examples_queried_ - since.examples, self.truths_queried_ - since.truths
        if budget.by_label:
            asked = self._asked_by_label()
            asked[: len(since.asked)] -= np.array(since.asked, np.int64)  # labels that were added since have no count
        else:  # only the sum matters, and the counts by label have those of true labels, too
            asked = np.zeros(len(self.classes_), np.int64)
            asked[0] = max(self.costs_queried_ - since.costs, 0)
        purse.add(max(examples, 0), np.maximum(asked, 0), max(truths, 0))
        return purse

    def _asked_by_label(self) -> NDArray[np.int64]:
        return np.array(self.model_.state.asked[: len(self.classes_)])

    def _forecast_prices(self, price: Any, per_example: Any) -> tuple[Interval | None, float]:
        """The price of a cost, as an interval if it depends on the label, and of an example."""
        budget = None if self.budget is None else Budget.of(self.budget)
        if price is None:
            if budget is None or budget.price is None:
                return None, 0.0
            price, per_example = budget.price_per_cost, budget.price_per_example
        given = Budget(price=1.0, price_per_cost=price, price_per_example=1.0)
        extra = finite_number("price_per_example", per_example, 0.0)
        if not given.by_label:
            return Interval.exactly(given.price_per_cost), extra
        active = self.model_.active
        prices, asked = given.prices_of(self.classes_[active].tolist()), self._asked_by_label()[active]
        mean = float(np.dot(prices, asked + 1) / (asked + 1).sum())
        room = len(prices) / (len(prices) + asked.sum())  # how far the mix of labels may still move
        return Interval(mean, mean + room * (prices.min() - mean), mean + room * (prices.max() - mean)), extra

    def _within_budget(self, examples: Interval, costs: Interval) -> tuple[Interval, Interval]:
        """The forecast, but no more than the budget allows for."""
        if self.budget is None:
            return examples, costs
        budget = Budget.of(self.budget)
        left = max(budget.amount - self.spent_, 0.0)
        per_example, per_cost = budget.prices[0], 0.0
        if budget.examples is None:
            per_cost = float(budget.prices_of(self.classes_[self.model_.active].tolist()).min())
        if per_cost:
            costs = costs.at_most(left / per_cost)
        if per_example:
            examples = examples.at_most(left / per_example)
        return examples, costs


def _money(examples: Interval, costs: Interval, per_cost: Interval, per_example: float) -> Interval:
    parts = zip(examples, costs, per_cost, strict=True)
    return Interval(*(each * per_example + n_costs * one for each, n_costs, one in parts))
