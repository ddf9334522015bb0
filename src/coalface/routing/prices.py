"""Prices that are known beforehand: one per model, or a function of the examples; and budgets that count them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coalface.data import per_label
from coalface.errors import InputError, shortened
from coalface.learner import Budget

# a number, one per model by name or in order, or a function from examples to prices (n, K)
Price: TypeAlias = float | Mapping[Any, float] | Sequence[float] | NDArray[Any] | Callable[[Any], Any]
_LARGEST_OFFSET = 1e30  # so that it fits into 32 bits
_NEGLIGIBLE = 1e-6  # of the least difference between two prices: below this value, quality decides ties only


@dataclass(frozen=True)
class ModelPrices:
    """The prices of the models, in the user's unit; ``of(X)`` gives them for examples.

    >>> prices = ModelPrices.checked({"large": 0.03, "small": 0.001}, np.array(["small", "large"]), "price")
    >>> prices.of(["hello", "bye"], 2).tolist()
    [[0.001, 0.03], [0.001, 0.03]]
    >>> by_length = ModelPrices.checked(lambda texts: [[len(text), 5] for text in texts], prices.models, "price")
    >>> by_length.of(["hello", "bye"], 2).tolist()
    [[5.0, 5.0], [3.0, 5.0]]
    """

    models: NDArray[Any]
    flat: NDArray[np.float64] | None  # (K,); None: ``function`` gives them
    function: Callable[[Any], Any] | None = None
    name: str = "price"

    @classmethod
    def checked(cls, price: Price, models: NDArray[Any], name: str) -> "ModelPrices":
        """The prices that a user gives: a number, a mapping from models, a number per model, or a function."""
        if callable(price):
            return cls(models, None, price, name)
        if isinstance(price, Mapping):
            price = _by_model(price, models, name)
        each = [price] * len(models) if np.ndim(price) == 0 else price
        return cls(models, _not_negative(per_label(each, 1, models, name), models, name)[0], None, name)

    def of(self, X: Any, n_rows: int) -> NDArray[np.float64]:
        """The prices (n, K) of examples."""
        if self.flat is not None:
            return np.broadcast_to(self.flat, (n_rows, len(self.models)))
        assert self.function is not None
        return _not_negative(per_label(self.function(X), n_rows, self.models, self.name), self.models, self.name)

    def plain(self) -> Any:
        """The prices as JSON values; a function by its name, which only tells readers what was used.

        >>> ModelPrices.checked(2, np.array(["a", "b"]), "price").plain()
        [2.0, 2.0]
        """
        if self.flat is not None:
            return self.flat.tolist()
        return {"function": getattr(self.function, "__qualname__", repr(self.function))}


def offsets_of(price: NDArray[np.float64], quality_weight: float) -> NDArray[np.float64] | None:
    """The prices (n, K) as known parts of losses, the least of each row as 0; None if only quality counts.

    With a weight of 0 the cheapest model wins, and the loss decides between models of equal price.

    >>> offsets_of(np.array([[1.0, 3.0]]), 4.0)
    array([[0. , 0.5]])
    """
    if quality_weight == np.inf:
        return None
    gaps = np.asarray(price - price.min(axis=1, keepdims=True))
    least = float(gaps[gaps > 0].min(initial=np.inf))
    if least == np.inf:
        return gaps
    return np.asarray(np.minimum(gaps / max(quality_weight, _NEGLIGIBLE * least), _LARGEST_OFFSET))


def within_reach(offset: NDArray[np.float64], allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which allowed models could have the least total, (n, K): no loss makes up for a whole unit of known cost.

    >>> within_reach(np.array([[0.0, 0.5, 1.0], [0.0, 0.5, 1.0]]), np.array([[True] * 3, [False, True, True]]))
    array([[ True,  True, False],
           [False,  True,  True]])
    """
    least = np.where(allowed, offset, np.inf).min(axis=1, keepdims=True)
    return np.asarray(allowed & (offset < least + 1.0))


def checked_weight(name: str, weight: Any) -> float:
    """A value of quality: money per unit of loss, at least 0; infinity counts quality alone.

    >>> checked_weight("quality_weight", "2"), checked_weight("quality_weight", float("inf"))
    (2.0, inf)
    """
    try:
        number = float(weight)
    except (TypeError, ValueError):
        number = np.nan
    if not number >= 0.0:
        raise InputError(f"{name} must be a number of at least 0, got {shortened(weight)}.")
    return number


def _by_model(price: Mapping[Any, Any], models: NDArray[Any], name: str) -> list[Any]:
    wanted, given = models.tolist(), list(price)
    missing = [model for model in wanted if model not in price]
    unknown = [model for model in given if model not in wanted]
    if missing or unknown:
        what = f"none for {missing[0]!r}" if missing else f"one for {unknown[0]!r}, which is not a model"
        raise InputError(f"{name} must have a price for each of {shortened(wanted)}, got {what}.")
    return [price[model] for model in wanted]


def _not_negative(price: NDArray[np.float64], models: NDArray[Any], name: str) -> NDArray[np.float64]:
    if (price < 0).any():
        row, column = np.argwhere(price < 0)[0]
        raise InputError(f"{name} must be at least 0, got {price[row, column]:g} for {models[column].item()!r}.")
    return price


def priced(budget: Any, prices: ModelPrices) -> Any:
    """The budget with the asking prices of the models, if it is a limit on money without a ``price_per_cost``.

    >>> import numpy as np
    >>> prices = ModelPrices.checked({"small": 0.1, "large": 2.0}, np.array(["small", "large"]), "price")
    >>> priced({"price": 3}, prices).price_per_cost
    {'small': 0.1, 'large': 2.0}
    """
    if budget is None:
        return None
    found = Budget.of(budget)
    if found.price is None or found.price_per_cost != 1.0:
        return found
    if prices.flat is None or found.over is not None:
        why = f"{prices.name} is a function" if prices.flat is None else f"it is spread over {found.over} examples"
        form = "a number" if found.over is not None else "a mapping from models"
        raise InputError(
            f"budget price={found.price:g} must have a price_per_cost, because {why}. Pass price_per_cost as {form}, "
            "such as mean prices."
        )
    return replace(found, price_per_cost=dict(zip(prices.models.tolist(), prices.flat.tolist(), strict=True)))
