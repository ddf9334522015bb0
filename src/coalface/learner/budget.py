"""``Budget``: how much may be spent on questions, and over how many examples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.numbers import finite_number, is_number, whole_number
from coalface.errors import InputError, shortened

_KINDS = ("costs", "examples", "price")


class CountsBefore(NamedTuple):
    """The rounds, examples, costs and true labels of a learner at some time, and the costs asked for by label."""

    rounds: int = 0
    examples: int = 0
    costs: int = 0
    truths: int = 0
    asked: tuple[int, ...] = ()  # empty: none of any label


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A limit on the ``costs``, ``examples`` or total ``price`` of questions, which is never passed.

    With ``over``, the learner spreads the budget over so many examples. Without it, the learner asks as if there were
    no limit, and stops at the first question that does not fit; this works with every model.

    With ``price``, an example's first cost adds ``price_per_example``, and every cost adds ``price_per_cost``, which
    may be a mapping from labels to prices if there is no ``over``. A true label counts as ``price_of_truth`` costs.
    ``since`` has the learner's counts when the budget began; ``start_budget`` sets it.

    >>> budget = Budget(price=500, over=10_000, price_per_example=2.0, price_per_cost=0.5)
    >>> budget.amount, budget.price_of(examples=3, costs=4)
    (500.0, 8.0)
    >>> Budget(examples=100, over=1000).price_of(examples=3, costs=4)
    3.0
    >>> Budget(price=5, price_per_cost={"small": 0.01, "large": 0.4}).prices_of(["large", "small"])
    array([0.4 , 0.01])
    """

    over: int | None = None
    costs: float | None = None
    examples: float | None = None
    price: float | None = None
    price_per_example: float = 0.0
    price_per_cost: Any = 1.0  # a number, or a number per label
    since: CountsBefore = field(default=CountsBefore())

    def __post_init__(self) -> None:
        kinds = [kind for kind in _KINDS if getattr(self, kind) is not None]
        if len(kinds) != 1:
            got = ", ".join(kinds) or "none of them"
            raise InputError(f"budget must have exactly one of costs, examples and price, got {got}.")
        for name in (kinds[0], "price_per_example"):
            object.__setattr__(self, name, _amount(name, getattr(self, name)))
        object.__setattr__(self, "price_per_cost", _cost_prices(self.price_per_cost))
        if self.over is not None:
            object.__setattr__(self, "over", _count("over", self.over, least=1))
        object.__setattr__(self, "since", _counts(self.since))
        prices = (self.price_per_example, self.price_per_cost)
        if self.price is None and prices != (0.0, 1.0):
            raise InputError(
                f"budget must have price=... if it has price_per_example or price_per_cost, got {kinds[0]}=... "
                f"with the prices {prices[0]:g} and {shortened(prices[1])}. Leave them out, or pass price=... instead."
            )
        if self.over is not None and self.by_label:
            raise InputError(
                "budget must have one price_per_cost for all labels if it is spread over examples, got a price per "
                f"label and over={self.over}. Leave out over."
            )
        if self.price_per_example + (sum(prices[1].values()) if self.by_label else prices[1]) == 0.0:
            raise InputError("budget must have a price_per_example or a price_per_cost above 0, got 0 for both.")

    @classmethod
    def of(cls, value: Any) -> "Budget":
        """The budget itself, so many costs, or what a mapping from a file describes.

        >>> Budget.of({"costs": 100, "over": 1000}) == Budget(costs=100, over=1000), Budget.of(500).costs
        (True, 500.0)
        """
        if isinstance(value, cls):
            return value
        if is_number(value):
            return cls(costs=value)
        known = [item.name for item in fields(cls)]
        if not isinstance(value, Mapping):
            raise InputError(
                f"budget must be a number of costs, a Budget, or a mapping with some of {', '.join(known)}, got "
                f"{shortened(value)}."
            )
        unknown = [name for name in value if name not in known]
        if unknown:
            raise InputError(f"budget has no {unknown[0]!r}. Use some of {', '.join(known)}.")
        return cls(**value)

    @property
    def by_label(self) -> bool:
        """Whether each label has a price of its own."""
        return isinstance(self.price_per_cost, Mapping)

    def prices_of(self, labels: Sequence[Any]) -> NDArray[np.float64]:
        """The price of a cost of each label, (K,); an InputError if one has no price."""
        if not self.by_label:
            return np.full(len(labels), self.prices[1])
        for label in labels:
            if label not in self.price_per_cost:
                raise InputError(
                    f"budget must have a price_per_cost for every label, got none for {shortened(label)}. Add it."
                )
        return np.array([self.price_per_cost[label] for label in labels])

    def renamed(self, old: Any, new: Any) -> "Budget":
        """The budget with the price of one label under another name.

        >>> Budget(price=5, price_per_cost={"small": 0.1, "large": 0.4}).renamed("small", "tiny").prices_of(["tiny"])
        array([0.1])
        """
        if not self.by_label or old not in self.price_per_cost:
            return self
        kept = {label: price for label, price in self.price_per_cost.items() if label != new}
        return replace(self, price_per_cost={new if label == old else label: price for label, price in kept.items()})

    @property
    def unit(self) -> str:
        """The unit of the amount: "costs", "examples" or "price"."""
        return next(kind for kind in _KINDS if getattr(self, kind) is not None)

    @property
    def amount(self) -> float:
        """The total that may be spent, in the unit of the budget."""
        return float(getattr(self, self.unit))

    @property
    def prices(self) -> tuple[float, float]:
        """The price of an example and of a cost, in the unit of the budget."""
        return (1.0, 0.0) if self.examples is not None else (self.price_per_example, self.price_per_cost)

    def price_of(self, examples: int, costs: float) -> float:
        """The price of asking for so many costs on so many examples, computed as in the kernels.

        Labels with prices of their own are not counted here: see ``price_of_labels``.
        """
        per_example, per_cost = self.prices
        return per_example * examples + per_cost * costs

    def price_of_labels(self, examples: int, asked: Any, labels: Sequence[Any]) -> float:
        """The price of asking so often about each label, on so many examples."""
        return self.price_per_example * examples + float(np.dot(self.prices_of(labels), asked))

    def plain(self) -> dict[str, Any]:
        """The budget as JSON values, without defaults.

        >>> Budget(costs=100, over=1000).plain()
        {'over': 1000, 'costs': 100.0}
        """
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        given = {item.name: values[item.name] for item in fields(self) if values[item.name] != item.default}
        if "since" in given:
            since = self.since if self.since.asked else self.since[:4]
            given["since"] = [list(count) if isinstance(count, tuple) else count for count in since]
        if self.by_label:
            given["price_per_cost"] = [list(pair) for pair in self.price_per_cost.items()]  # labels may be numbers
        return given


def _amount(name: str, value: Any) -> float:
    return finite_number(f"budget {name}", value, 0.0)


def _cost_prices(value: Any) -> Any:
    """The price of a cost, or of each label's, given as a mapping or as pairs."""
    if isinstance(value, list | tuple) and value and all(isinstance(pair, list | tuple) for pair in value):
        try:
            value = dict(value)
        except (TypeError, ValueError):
            raise InputError(
                f"budget price_per_cost must be a number, or pairs of a label and its price, got {shortened(value)}."
            ) from None
    if not isinstance(value, Mapping):
        return _amount("price_per_cost", value)
    if not value:
        raise InputError("budget price_per_cost must have a price for every label, got none.")
    return {label: _amount(f"price_per_cost of {shortened(label)}", price) for label, price in value.items()}


def _count(name: str, value: Any, least: int) -> int:
    return whole_number(f"budget {name}", value, least)


def _counts(value: Any) -> CountsBefore:
    if not isinstance(value, list | tuple) or not 3 <= len(value) <= len(CountsBefore()):
        raise InputError(
            f"budget since must have the counts {', '.join(CountsBefore._fields)}, got {shortened(value)}."
        )
    numbers, asked = value[:4], value[4] if len(value) > 4 else ()
    if not isinstance(asked, list | tuple):
        raise InputError(f"budget since must have a list of counts by label, got {shortened(asked)}.")
    found = [_count("since", count, least=0) for count in numbers]
    by_label = tuple(_count("since", count, least=0) for count in asked)
    rounds, examples, costs, truths = [*found, 0][:4]
    return CountsBefore(rounds, examples, costs, truths, by_label)
