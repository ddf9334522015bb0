"""Budgets of a router: one in money counts what its questions really cost."""

from dataclasses import replace
from typing import Any

from coalface.errors import InputError
from coalface.learner.budget import Budget
from coalface.routing.prices import Prices


def priced(budget: Any, prices: Prices) -> Any:
    """The budget with the asking prices of the models, if it is a limit on money without a ``price_per_cost``.

    >>> import numpy as np
    >>> prices = Prices.checked({"small": 0.1, "large": 2.0}, np.array(["small", "large"]), "price")
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
