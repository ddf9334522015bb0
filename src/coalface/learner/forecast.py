"""Forecasts how much a learner will ask for, from how much it asked for so far.

Notation: r rounds are done, n examples are to come, x = log2((r + n) / r) is the number of doublings ahead.

A learner asks for fewer and fewer costs per example, about like a power of the number of rounds. The latest half of the
rounds gives the present rate; over x doublings, the mean rate of the examples to come falls by a factor exp(-b x). The
median of b, and how far runs stray from it, come from 140 simulated runs on 30 datasets. The number of questions in
the window, and of those to come, adds the noise of counting. Before there is a window, the share of all costs that the
same runs asked for gives a wider interval: a power of the number of examples, too.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.numbers import finite_number, whole_number
from coalface.errors import counted
from coalface.kernels.codes import PASSIVE
from coalface.kernels.history import mark_rounds
from coalface.kernels.state import (
    COSTS_QUERIED,
    COUNTS_PER_MARK,
    EXAMPLES_QUERIED,
    HISTORY,
    ROUND,
    TRUTHS_QUERIED,
)
from coalface.learner.account import asked_by_label, in_costs, spent_by
from coalface.learner.budget import Budget
from coalface.learner.state import LearnerState, begin, settings_of
from coalface.rounds.notebook import html_table

_Z = 1.645  # the 95 % quantile of the normal distribution: both sides leave out 5 %
_FEWEST_ROUNDS = 8  # of a window's end


class _Decay(NamedTuple):
    """Parameters of the forecast: log-rate drop now and per doubling, its spread, and prior exponents."""

    at_once: float
    per_doubling: float
    nearby: float  # straying at once
    down: float  # straying per doubling
    up: float
    powers: tuple[float, float, float]  # before a window: of the median run, of one that asks for little, and for much


_COSTS = _Decay(0.03, 0.15, 0.06, 0.16, 0.14, (0.34, 0.52, 0.11))
# where the slack follows audits, so it may grow
_CALIBRATED_COSTS = _Decay(0.0, 0.11, 0.10, 0.16, 0.22, (0.34, 0.56, 0.09))
_EXAMPLES = _Decay(0.02, 0.05, 0.07, 0.14, 0.12, (0.05, 0.31, 0.0))


@dataclass(frozen=True)
class Interval:
    """An expected number with a 90 % interval.

    >>> print(Interval(1200.0, 800.4, 1900.0))
    1,200 (800 to 1,900)
    """

    expected: float
    lowest: float
    highest: float

    def __iter__(self) -> Iterator[float]:
        return iter((self.expected, self.lowest, self.highest))

    @classmethod
    def exactly(cls, number: float) -> "Interval":
        """An interval without doubt."""
        return cls(number, number, number)

    def at_most(self, limit: float) -> "Interval":
        """The interval, cut off at a limit."""
        return Interval(*(min(number, limit) for number in self))

    def plus(self, number: float) -> "Interval":
        """The interval moved by a number, such as what was spent before."""
        return Interval(*(end + number for end in self))

    def times(self, factor: float) -> "Interval":
        """The interval in another unit."""
        return Interval(*(end * factor for end in self))

    def __str__(self) -> str:
        expected, lowest, highest = (f"{number:,.0f}" if number >= 100 else f"{number:.3g}" for number in self)
        return expected if self.lowest == self.highest else f"{expected} ({lowest} to {highest})"


@dataclass(frozen=True)
class Forecast:
    """What the questions about the next ``n_examples`` examples will take; ``examples`` are those asked about.

    Each is an ``Interval`` that contains the true number in about 90 of 100 runs: before anything is asked, from what
    runs on other data have asked for; later, from the learner's own rounds, and so ever narrower. It assumes that the
    examples to come are like the earlier ones. ``docs/labelling.md`` has the measured coverage. ``capped`` says that
    the budget surely ends before the examples do: the costs are then what is left of it.

    >>> print(Forecast(500, Interval(60, 40, 90), Interval(80, 50, 120), Interval(1.6, 1, 2.4)))
    the next 500 examples: 80 costs (50 to 120) on 60 examples (40 to 90); price 1.6 (1 to 2.4)
    """

    n_examples: int
    examples: Interval
    costs: Interval
    money: Interval | None = None
    capped: bool = False

    def __str__(self) -> str:
        text = (
            f"the next {counted(self.n_examples, 'example')}: {spending_text(self.costs, self.examples, self.capped)}"
        )
        return text if self.money is None else f"{text}; price {self.money}"

    def _repr_html_(self) -> str:
        """The forecast as a table, for notebooks."""
        rows = {"costs": self.costs, "examples asked about": self.examples}
        rows |= {} if self.money is None else {"price": self.money}
        cells = [(name, *(f"{number:,.3g}" for number in interval)) for name, interval in rows.items()]
        return html_table(str(self), ("", "expected", "lowest", "highest"), cells)


def spending_text(costs: Interval, examples: Interval, capped: bool) -> str:
    """The costs and the examples of a forecast in words; ``capped`` says that the costs are what the budget has left.

    >>> print(spending_text(Interval(90, 90, 90), Interval(80, 50, 90), capped=True))
    90 costs, all that is left of the budget, on 80 examples (50 to 90)
    >>> print(spending_text(Interval(0, 0, 0), Interval(0, 0, 0), capped=True))
    0 costs, because the budget is spent
    """
    if capped and not costs.highest:
        return "0 costs, because the budget is spent"
    left = ", all that is left of the budget," if capped else ""
    return f"{_named(costs, 'cost')}{left} on {_named(examples, 'example')}"


def _named(interval: Interval, noun: str) -> str:
    expected, _, rest = str(interval).partition(" ")
    return f"{expected} {noun}{'' if expected == '1' else 's'} {rest}".rstrip()


class _AskedHistory(NamedTuple):
    """The examples, costs and true labels asked for after some numbers of rounds, in order; the first is 0."""

    rounds: NDArray[np.int64]
    examples: NDArray[np.int64]
    costs: NDArray[np.int64]
    truths: NDArray[np.int64]


@dataclass(frozen=True)
class _Pace:
    """What was asked for so far: ``asked`` in ``done`` rounds, ``counts`` after ``rounds``, ``most`` per example."""

    done: int
    rounds: NDArray[np.int64]
    counts: Any
    asked: float
    most: float
    warm_up: int

    def after(self, rounds: float) -> float:
        """How much was asked for in the first rounds."""
        known = np.append(self.rounds, max(self.done, self.rounds[-1]))
        return float(np.interp(rounds, known, np.append(self.counts, self.asked)))


def asked_history(counters: NDArray[np.int64]) -> _AskedHistory:
    """The history that the counters of a model hold."""
    done, marks = int(counters[0]) - 1, np.array(mark_rounds())
    kept = counters[HISTORY:].reshape(-1, COUNTS_PER_MARK)[marks <= done]
    columns = np.vstack([np.zeros((1, COUNTS_PER_MARK), np.int64), kept]).T
    return _AskedHistory(np.append(0, marks[marks <= done]), *columns)


def _interval_of(pace: _Pace, examples: _Pace, coming: int, *, of_costs: bool, calibrated: bool = False) -> Interval:
    """How much will be asked for on the examples to come; ``examples`` counts those asked about.

    ``calibrated`` says that the slack follows audits.

    >>> none = np.zeros(1, np.int64)
    >>> start = _Pace(0, none, none, 0.0, most=3.0, warm_up=0)
    >>> print(_interval_of(start, start, 1000, of_costs=True))
    581 (244 to 1,764)
    """
    everything, decay = pace.most * coming, _COSTS if of_costs else _EXAMPLES
    decay = _CALIBRATED_COSTS if of_costs and calibrated else decay
    if not coming:
        return Interval.exactly(0.0)
    window = pace.done / 2
    paid = pace.asked - pace.after(window)
    seen = examples.asked - examples.after(window)
    if pace.done < _FEWEST_ROUNDS or paid >= pace.most * window:  # all costs may have been told, or be warm-up
        return _before(pace, coming, decay.powers)
    per_example = paid / seen if seen > 0 else 1.0
    seen = max(seen, 0.5)
    doublings = math.log2((pace.done + coming) / pace.done)
    fall = decay.per_doubling * doublings + decay.at_once * min(1.0, 2.0 * doublings)
    expected = max(paid, 0.5 * per_example) / window * coming * math.exp(-fall)
    noise = _Z * math.sqrt(1.0 / seen + 1.0 / max(expected / max(per_example, 1e-9), 0.5))
    lowest = expected * math.exp(-math.hypot(decay.down * doublings + decay.nearby, noise))
    highest = expected * math.exp(math.hypot(decay.up * doublings + decay.nearby, noise))
    return Interval(expected, lowest, max(highest, 1.0)).at_most(everything)


def _before(pace: _Pace, coming: int, powers: tuple[float, float, float]) -> Interval:
    """What runs on other data asked for: all of the first examples, then a falling share."""
    start = float(max(_FEWEST_ROUNDS, pace.warm_up))

    def share_asked(n: float, power: float) -> float:
        return n * (start / n) ** power if n > start else n

    done = pace.done
    return Interval(*(pace.most * (share_asked(done + coming, power) - share_asked(done, power)) for power in powers))


# -- the forecast of a learner --------------------------------------------------------------------


def forecast_of(learner: LearnerState, n_examples: int, price: Any = None, price_per_example: float = 0.0) -> Forecast:
    """What the learner will ask for on the next examples: see ``CoalClassifier.forecast``."""
    coming = whole_number("n_examples", n_examples)
    begin(learner)
    per_cost, per_example = _prices(learner, price, price_per_example)
    examples, costs, capped = _within_budget(learner, coming)
    money = None
    if per_cost is not None:
        parts = zip(examples, costs, per_cost, strict=True)
        money = Interval(*(each * per_example + n_costs * one for each, n_costs, one in parts))
    return Forecast(coming, examples, costs, money, capped)


def _to_be_asked(learner: LearnerState, coming: int) -> tuple[Interval, Interval]:
    """The examples, and their costs, that will be asked about."""
    with learner.model_.lock:
        settings, counters = learner.model_.resolved(settings_of(learner)), learner.model_.state.counters.copy()
    most = min(float(learner.model_.active.sum()), settings.price_of_truth)
    if settings.rule == PASSIVE:
        return Interval.exactly(coming), Interval.exactly(most * coming)
    history, done, warm_up = asked_history(counters), int(counters[ROUND]) - 1, max(settings.warm_up, 0)
    priced = in_costs(learner, history.costs, history.truths)
    paid = float(in_costs(learner, counters[COSTS_QUERIED], counters[TRUTHS_QUERIED]))
    looks = _Pace(done, history.rounds, history.examples, float(counters[EXAMPLES_QUERIED]), 1.0, warm_up)
    costs = _Pace(done, history.rounds, priced, paid, most, warm_up)
    to_pay = _interval_of(costs, looks, coming, of_costs=True, calibrated=settings.miss_rate <= 1.0)
    to_see = _interval_of(looks, looks, coming, of_costs=False)
    if settings.price_of_truth >= 1.0:  # an example that is asked about takes at least 1
        to_see = Interval(*(min(pair) for pair in zip(to_see, to_pay, strict=True)))
    return to_see, to_pay


def _prices(learner: LearnerState, price: Any, per_example: Any) -> tuple[Interval | None, float]:
    """The price of a cost, as an interval if it depends on the label, and of an example."""
    budget = None if learner.budget is None else Budget.of(learner.budget)
    if price is None:
        if budget is None or budget.price is None:
            return None, 0.0
        price, per_example = budget.price_per_cost, budget.price_per_example
    given = Budget(price=1.0, price_per_cost=price, price_per_example=1.0)
    extra = finite_number("price_per_example", per_example, 0.0)
    if not given.by_label:
        return Interval.exactly(given.price_per_cost), extra
    active = learner.model_.active
    prices, asked = given.prices_of(learner.classes_[active].tolist()), asked_by_label(learner)[active]
    mean = float(np.dot(prices, asked + 1) / (asked + 1).sum())
    room = len(prices) / (len(prices) + asked.sum())  # how far the mix of labels may still move
    return Interval(mean, mean + room * (prices.min() - mean), mean + room * (prices.max() - mean)), extra


def _within_budget(learner: LearnerState, coming: int) -> tuple[Interval, Interval, bool]:
    """The examples and costs, no more than the budget allows for, and whether the costs are all that it has left."""
    examples, costs = _to_be_asked(learner, coming)
    if learner.budget is None:
        return examples, costs, False
    budget, active = Budget.of(learner.budget), learner.model_.active
    left = max(budget.amount - spent_by(learner), 0.0)
    per_cost = 0.0 if budget.examples is not None else float(budget.prices_of(learner.classes_[active].tolist()).min())
    least = budget.prices[0] + per_cost * (1.0 if learner.price_of_truth is None else min(1.0, learner.price_of_truth))
    seen = examples.at_most(left / least) if least else examples  # an example that is asked about takes a cost
    spent = 0.0 == seen.highest < examples.highest
    if per_cost:
        within = costs.at_most(left / per_cost)
        return seen, within, spent or within.highest < costs.lowest
    if seen.expected < examples.expected:  # the budget ends after fewer examples
        _, costs = _to_be_asked(learner, math.ceil(coming * seen.expected / examples.expected))
    most = float(active.sum())
    return seen, Interval(*(min(cost, most * n) for cost, n in zip(costs, seen, strict=True))), spent
