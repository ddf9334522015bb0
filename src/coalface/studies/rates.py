"""The learning rate of a run: a number, or "auto" for a learner that finds its own."""

from typing import Any, TypeAlias

AUTO = "auto"
Rate: TypeAlias = float | str


def as_rate(value: Any) -> Rate:
    """A rate from a study, a record or a table in one form; a ValueError if it is not a rate.

    >>> as_rate(1), as_rate("0.5"), as_rate("auto")
    (1.0, 0.5, 'auto')
    """
    return AUTO if value == AUTO else float(value)


def by_size(rate: Rate) -> tuple[bool, float]:
    """The sort key of rates: numbers by size, then "auto".

    >>> sorted([0.5, "auto", 0.1], key=by_size)
    [0.1, 0.5, 'auto']
    """
    return (True, 0.0) if isinstance(rate, str) else (False, rate)
