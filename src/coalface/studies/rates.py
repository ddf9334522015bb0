"""The learning rate of a run: a number, or the word of a learner that finds its own."""

from typing import Any, TypeAlias

AUTO = "auto"
Rate: TypeAlias = float | str


def as_rate(value: Any) -> Rate:
    """One way to write each rate, whether it comes from a study, a record or a table; ValueError if it is none.

    >>> as_rate(1), as_rate("0.5"), as_rate("auto")
    (1.0, 0.5, 'auto')
    """
    return AUTO if value == AUTO else float(value)


def by_size(rate: Rate) -> tuple[bool, float]:
    """What rates are sorted by: numbers grow, the word comes behind them.

    >>> sorted([0.5, "auto", 0.1], key=by_size)
    [0.1, 0.5, 'auto']
    """
    return (True, 0.0) if isinstance(rate, str) else (False, rate)
