"""The budget of a project: an example is paid for when an annotator first sees it, a cost when it is asked for."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from coalface.data import is_number
from coalface.errors import InputError, shortened

_NAMES = ("examples", "costs", "price", "price_per_example", "price_per_cost", "price_in", "price_out")


@dataclass(frozen=True)
class Limits:
    """The most ``examples``, ``costs`` and ``price`` that a project may take; None means unlimited.

    >>> limits = Limits.of({"costs": 100, "price_per_cost": 0.5})
    >>> limits.budget, limits.price_of(examples=3, costs=10)
    ({'costs': 100.0}, 5.0)

    ``price_per_cost`` may be a mapping from labels to prices. Labels that the project does not have yet may be in it.

    >>> Limits.of({"price": 9, "price_per_cost": {"spam": 0.1, "legal": 4}}).spent_on(1, ["legal", "spam"]).price
    4.1
    """

    examples: float | None = None
    costs: float | None = None
    price: float | None = None
    price_per_example: float = 0.0
    price_per_cost: Any = 0.0  # a number, or a number per label
    price_in: float = 0.0  # of a million tokens that an LLM judge reads
    price_out: float = 0.0  # of a million tokens that it writes

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Limits":
        """The limits in a mapping, checked."""
        for name in given:
            if name not in _NAMES:
                raise InputError(f"budget has no {name!r}; possible are {', '.join(_NAMES)}. Remove it.")
        limits = cls(**{name: _checked(name, value) for name, value in given.items()})
        prices = limits.price_per_example + limits.dearest_cost + limits.price_in + limits.price_out
        if limits.price is not None and prices == 0.0:
            raise InputError(
                "budget must give price_per_example or price_per_cost where it limits the price, or for an LLM judge "
                "price_in and price_out per million tokens."
            )
        return limits

    @property
    def budget(self) -> dict[str, float]:
        """The limits that are set."""
        return {name: getattr(self, name) for name in ("examples", "costs", "price") if getattr(self, name) is not None}

    @property
    def has_prices(self) -> bool:
        """Whether questions have a usual price."""
        return self.price_per_example + self.dearest_cost > 0.0

    @cached_property
    def by_label(self) -> bool:
        """Whether each label has a price of its own."""
        return isinstance(self.price_per_cost, Mapping)

    @cached_property
    def dearest_cost(self) -> float:
        """The price of a cost of the most expensive label."""
        return float(max(self.price_per_cost.values()) if self.by_label else self.price_per_cost)

    @cached_property
    def cheapest_cost(self) -> float:
        """The price of the cheapest label's cost."""
        return float(min(self.price_per_cost.values()) if self.by_label else self.price_per_cost)

    def cost_price(self, label: str) -> float:
        """The price of one cost; a retired or renamed label without a price counts as the most expensive."""
        return float(self.price_per_cost.get(label, self.dearest_cost) if self.by_label else self.price_per_cost)

    def asking_price(self, labels: Sequence[str]) -> list[float] | None:
        """The prices of questions about these labels, for the learner; None if they are all the same."""
        return [self.cost_price(label) for label in labels] if self.by_label else None

    def check_labels(self, labels: Sequence[str]) -> None:
        """An InputError if a label has no price where labels have prices of their own."""
        for label in labels if self.by_label else ():
            if label not in self.price_per_cost:
                raise InputError(
                    f"budget must have a price_per_cost for every label, got none for {shortened(label)}. Add it in "
                    "the [budget] of project.toml."
                )

    def renamed(self, old: str, new: str) -> "Limits":
        """The limits with the price of a label under its new name, unless the settings have that name already.

        >>> Limits(price_per_cost={"law": 4.0}).renamed("law", "legal").price_per_cost
        {'legal': 4.0}
        """
        if not self.by_label or old not in self.price_per_cost or new in self.price_per_cost:
            return self
        prices = {new if label == old else label: price for label, price in self.price_per_cost.items()}
        return replace(self, price_per_cost=prices)

    def raised(self, excess: float) -> "Limits":
        """The limits with every cost more expensive by so much."""
        if excess <= 0.0:
            return self
        if not self.by_label:
            return replace(self, price_per_cost=_summed(self.price_per_cost, excess))
        prices = {label: _summed(price, excess) for label, price in self.price_per_cost.items()}
        return replace(self, price_per_cost=prices)

    def tightened(self, by: Mapping[str, float], spent: "Spent") -> "Limits":
        """These limits, with at most so much spending on top of what was spent.

        >>> Limits(costs=100).tightened({"costs": 20, "examples": 5}, Spent(examples=30, costs=90)).budget
        {'examples': 35.0, 'costs': 100.0}
        """
        totals = {name: (getattr(self, name), getattr(spent, name) + float(more)) for name, more in by.items()}
        least = {name: float(min(x for x in both if x is not None)) for name, both in totals.items()}
        return replace(self, **least)

    def plain(self) -> dict[str, float]:
        """The limits as a settings file holds them."""
        limits = self.budget  # a limit of 0 is kept
        return {name: getattr(self, name) for name in _NAMES if getattr(self, name) or name in limits}

    def price_of(self, examples: int, costs: int | Sequence[str]) -> float:
        """The price of so many costs, or of the costs of these labels, on so many examples."""
        if isinstance(costs, int):
            return self.price_per_example * examples + self.dearest_cost * costs
        per_cost = sum(map(self.cost_price, costs)) if self.by_label else self.dearest_cost * len(costs)
        return self.price_per_example * examples + per_cost

    def spent_on(self, examples: int, costs: int | Sequence[str] = 0) -> "Spent":
        """So many costs, or the costs of these labels, on so many examples, with their price."""
        return Spent(examples, costs if isinstance(costs, int) else len(costs), self.price_of(examples, costs))

    def room(self, spent: "Spent") -> float:
        """How many more costs, the cheapest, the budget allows for after this spending; negative if that exceeds it.

        >>> Limits(costs=10, price=4, price_per_example=1, price_per_cost=0.5).room(Spent(examples=2, costs=3, price=3))
        2.0
        """
        rooms = [math.inf if self.examples is None or spent.examples <= self.examples else -1.0]
        if self.costs is not None:
            rooms.append(self.costs - spent.costs)
        if self.price is not None:
            left, cheapest = self.price * (1 + 1e-12) - spent.price, self.cheapest_cost  # sums of prices are not exact
            rooms.append(left / cheapest if cheapest else math.copysign(math.inf, left))
        least = min(rooms)
        return float(math.floor(least)) if math.isfinite(least) else least

    def n_fitting(self, spent: "Spent", labels: Sequence[str]) -> int:
        """How many of these labels, from the first on, can be asked about after this spending.

        >>> Limits(price=5, price_per_cost={"spam": 0.1, "legal": 4.0}).n_fitting(Spent(), ["legal", "spam", "legal"])
        2
        """
        if not self.by_label:
            return int(min(max(self.room(spent), 0), len(labels)))
        steps = (spent + self.spent_on(0, labels[: n + 1]) for n in range(len(labels)))
        return next((n for n, after in enumerate(steps) if self.room(after) < 0), len(labels))


@dataclass(frozen=True)
class Spent:
    """Examples seen, costs asked for and their price."""

    examples: int = 0
    costs: int = 0
    price: float = 0.0

    def __add__(self, more: "Spent") -> "Spent":
        return Spent(self.examples + more.examples, self.costs + more.costs, self.price + more.price)


def _checked(name: str, value: Any) -> Any:
    """A limit or a price as a number, or the prices of labels."""
    if name == "price_per_cost" and isinstance(value, Mapping):
        if not value:
            raise InputError("budget must have a price_per_cost for every label, got none. Write one price per label.")
        return {str(label): _checked(f"{name} of {shortened(label)}", price) for label, price in value.items()}
    if not is_number(value) or value < 0:
        raise InputError(f"budget must have {name} as a non-negative number, got {value!r}. Correct it in [budget].")
    return float(value)


def _summed(price: float, excess: float) -> float:
    """A sum rounded to remove floating-point noise, so that 0.5 + 0.2 is 0.7."""
    return float(f"{price + excess:.12g}")
