"""``Budget``: how much may be spent on questions, and over how many examples."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from coalface.data.numbers import finite_number, whole_number
from coalface.errors import InputError, shortened

_KINDS = ("costs", "examples", "price")


class Counts(NamedTuple):
    """The rounds, examples, costs and true labels of a learner at some time."""

    rounds: int = 0
    examples: int = 0
    costs: int = 0
    truths: int = 0


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A limit on the ``costs``, ``examples`` or total ``price`` of the questions about the next ``over`` examples.

    With ``price``, an example's first cost adds ``price_per_example``, and every cost adds ``price_per_cost``. A true
    label counts as ``price_of_truth`` costs.
    ``since`` has the learner's counts when the budget began; ``start_budget`` sets it.

    >>> budget = Budget(price=500, over=10_000, price_per_example=2.0, price_per_cost=0.5)
    >>> budget.amount, budget.price_of(examples=3, costs=4)
    (500.0, 8.0)
    >>> Budget(examples=100, over=1000).price_of(examples=3, costs=4)
    3.0
    """

    over: int
    costs: float | None = None
    examples: float | None = None
    price: float | None = None
    price_per_example: float = 0.0
    price_per_cost: float = 1.0
    since: Counts = field(default=Counts())

    def __post_init__(self) -> None:
        kinds = [kind for kind in _KINDS if getattr(self, kind) is not None]
        if len(kinds) != 1:
            got = ", ".join(kinds) or "none of them"
            raise InputError(f"budget must have exactly one of costs, examples and price, got {got}.")
        for name in (kinds[0], "price_per_example", "price_per_cost"):
            object.__setattr__(self, name, finite_number(f"budget {name}", _not_a_flag(name, getattr(self, name)), 0.0))
        object.__setattr__(self, "over", _count("over", self.over, least=1))
        object.__setattr__(self, "since", _counts(self.since))
        prices = (self.price_per_example, self.price_per_cost)
        if self.price is None and prices != (0.0, 1.0):
            raise InputError(
                f"budget must have price=... if it has price_per_example or price_per_cost, got {kinds[0]}=... "
                f"with the prices {prices[0]:g} and {prices[1]:g}. Leave them out, or pass price=... instead."
            )
        if sum(prices) == 0.0:
            raise InputError("budget must have a price_per_example or a price_per_cost above 0, got 0 for both.")

    @classmethod
    def of(cls, value: Any) -> "Budget":
        """The budget itself, or the one that a mapping from a file describes.

        >>> Budget.of({"costs": 100, "over": 1000}) == Budget(costs=100, over=1000)
        True
        """
        if isinstance(value, cls):
            return value
        known = [item.name for item in fields(cls)]
        if not isinstance(value, Mapping):
            raise InputError(
                f"budget must be a Budget, or a mapping with some of {', '.join(known)}, got {shortened(value)}."
            )
        unknown = [name for name in value if name not in known]
        if unknown:
            raise InputError(f"budget has no {unknown[0]!r}. Use some of {', '.join(known)}.")
        if "over" not in value:
            raise InputError(f"budget must say over how many examples, got {shortened(dict(value))}. Add over.")
        return cls(**value)

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
        """The price of asking for so many costs on so many examples, computed as in the kernels."""
        per_example, per_cost = self.prices
        return per_example * examples + per_cost * costs

    def plain(self) -> dict[str, Any]:
        """The budget as JSON values, without defaults.

        >>> Budget(costs=100, over=1000).plain()
        {'over': 1000, 'costs': 100.0}
        """
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        given = {item.name: values[item.name] for item in fields(self) if values[item.name] != item.default}
        return {name: list(value) if name == "since" else value for name, value in given.items()}


def _not_a_flag(name: str, value: Any) -> Any:
    if isinstance(value, bool):
        raise InputError(f"budget {name} must be a number, got {shortened(value)}.")
    return value


def _count(name: str, value: Any, least: int) -> int:
    return whole_number(f"budget {name}", _not_a_flag(name, value), least)


def _counts(value: Any) -> Counts:
    if not isinstance(value, list | tuple) or len(value) not in (3, len(Counts())):  # older files have no truths
        raise InputError(f"budget since must have the counts {', '.join(Counts._fields)}, got {shortened(value)}.")
    return Counts(*(_count("since", count, least=0) for count in value))
