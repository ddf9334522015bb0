"""A budget on the command line: ``--budget costs=1000,over=5000``."""

from typing import TYPE_CHECKING, Any

from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.learner.budget import Budget
    from coalface.learner.coal import CoalClassifier


def budget_from(text: str | None, over: int | None = None) -> "Budget | None":
    """The budget that a text gives; ``over`` is how many examples there are if it does not say.

    >>> budget_from("price=100,price_per_example=3", over=50).plain()
    {'over': 50, 'price': 100.0, 'price_per_example': 3.0}
    """
    from coalface.learner.budget import Budget

    if text is None:
        return None
    values: dict[str, Any] = {} if over is None else {"over": over}
    for part in text.split(","):
        name, equals, number = part.partition("=")
        try:
            values[name.strip()] = float(number)
        except ValueError:
            rule = "budget must be NAME=NUMBER, such as costs=1000 or price=500,price_per_example=2"
            raise InputError(f"{rule}, got {part if equals else text!r}.") from None
    return Budget.of(values)


def spending(learner: "CoalClassifier") -> str | None:
    """How much of its budget a learner has spent, in words; None if it has none."""
    from coalface.learner.budget import Budget

    if learner.budget is None:
        return None
    budget = Budget.of(learner.budget)
    return f"Budget: {learner.spent_:,.10g} of {budget.amount:,.10g} {budget.unit} spent"
