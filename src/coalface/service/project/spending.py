"""The budget of a project: an example is paid for when an annotator first sees it, a cost when it is asked for."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from coalface.errors import InputError

_NAMES = ("examples", "costs", "price", "price_per_example", "price_per_cost", "price_in", "price_out")


@dataclass(frozen=True)
class Limits:
    """The most ``examples``, ``costs`` and ``price`` that a project may take; None means unlimited.

    >>> limits = Limits.of({"costs": 100, "price_per_cost": 0.5})
    >>> limits.budget, limits.price_of(examples=3, costs=10)
    ({'costs': 100.0}, 5.0)
    """

    examples: float | None = None
    costs: float | None = None
    price: float | None = None
    price_per_example: float = 0.0
    price_per_cost: float = 0.0
    price_in: float = 0.0  # of a million tokens that an LLM judge reads
    price_out: float = 0.0  # of a million tokens that it writes

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Limits":
        """The limits in a mapping, checked."""
        for name, value in given.items():
            if name not in _NAMES:
                raise InputError(f"budget has no {name!r}; possible are {', '.join(_NAMES)}.")
            if isinstance(value, bool | str) or not isinstance(value, int | float) or not 0 <= value < math.inf:
                raise InputError(f"budget must have {name} as a non-negative number, got {value!r}.")
        limits = cls(**{name: float(value) for name, value in given.items()})
        prices = limits.price_per_example + limits.price_per_cost + limits.price_in + limits.price_out
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
        return self.price_per_example + self.price_per_cost > 0.0

    def tightened(self, by: Mapping[str, float], spent: "Spent") -> "Limits":
        """These limits, and at most so much more than was spent.

        >>> Limits(costs=100).tightened({"costs": 20, "examples": 5}, Spent(examples=30, costs=90)).budget
        {'examples': 35.0, 'costs': 100.0}
        """
        least: dict[str, float] = {}
        for name, more in by.items():
            whole = getattr(self, name)
            total = getattr(spent, name) + float(more)
            least[name] = float(total if whole is None else min(whole, total))
        return replace(self, **least)

    def plain(self) -> dict[str, float]:
        """The limits as a settings file holds them."""
        limits = self.budget  # a limit of 0 is kept
        return {name: value for name, value in vars(self).items() if value or name in limits}

    def price_of(self, examples: int, costs: int) -> float:
        """The price of so many costs on so many examples."""
        return self.price_per_example * examples + self.price_per_cost * costs

    def spent_on(self, examples: int, costs: int) -> "Spent":
        """So many costs on so many examples, with their price."""
        return Spent(examples, costs, self.price_of(examples, costs))

    def room(self, spent: "Spent") -> float:
        """How many more costs the budget allows for after this spending; negative if that exceeds it.

        >>> Limits(costs=10, price=4, price_per_example=1, price_per_cost=0.5).room(Spent(examples=2, costs=3, price=3))
        2.0
        """
        rooms = [math.inf if self.examples is None or spent.examples <= self.examples else -1.0]
        if self.costs is not None:
            rooms.append(self.costs - spent.costs)
        if self.price is not None:
            left = self.price * (1 + 1e-12) - spent.price  # sums of prices are not exact
            rooms.append(left / self.price_per_cost if self.price_per_cost else math.copysign(math.inf, left))
        least = min(rooms)
        return float(math.floor(least)) if math.isfinite(least) else least


@dataclass(frozen=True)
class Spent:
    """Examples seen, costs asked for and their price."""

    examples: int = 0
    costs: int = 0
    price: float = 0.0

    def __add__(self, more: "Spent") -> "Spent":
        return Spent(self.examples + more.examples, self.costs + more.costs, self.price + more.price)
