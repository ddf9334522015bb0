"""The outcomes of a study as text: savings, excess costs and learning rates."""

import numpy as np

from coalface.report import factor
from coalface.studies.learners import Rate
from coalface.studies.report.savings import DrawnInterval, LineOutcome

_PER_CENT = "\u00a0%"  # with a space at which no line breaks


def factor_interval(interval: DrawnInterval) -> str:
    """The interval of a factor; empty if unknown or never above 0. "up to": some draws never reach the target.

    >>> factor_interval(DrawnInterval(0.0, 7.0)), factor_interval(DrawnInterval(float("nan"), float("nan")))
    ('up to 7.0', '')
    """
    if np.isnan(interval.low) or interval.high <= 0:
        return ""
    low, high = (factor(end).removesuffix("x") for end in (interval.low, interval.high))
    return f"{low} to {high}" if interval.low > 0 else f"up to {high}"


def rate(value: Rate) -> str:
    """A learning rate; 0 means a learner without one.

    >>> rate(0.5), rate(0.0), rate("auto")
    ('0.5', 'none', 'auto')
    """
    if isinstance(value, str):
        return value
    return f"{value:g}" if value > 0 else "none"


def excess(outcome: LineOutcome) -> str:
    """By how much a line ends worse than the baseline; in per cent unless the baseline ends at 0."""
    scale, unit = _scale(outcome)
    return _signed(outcome.excess * scale, unit) + unit


def excess_interval(outcome: LineOutcome) -> str:
    """The interval of the excess; empty if unknown."""
    interval, (scale, unit) = outcome.excess_interval, _scale(outcome)
    if np.isnan(interval.low):
        return ""
    return f"{_signed(interval.low * scale, unit)} to {_signed(interval.high * scale, unit)}{unit}"


def above(outcome: LineOutcome) -> str:
    """How far above the baseline's final test cost a line ends."""
    return f"{excess(outcome).removeprefix('+')} above"


def _scale(outcome: LineOutcome) -> tuple[float, str]:
    return (100 / outcome.baseline_test_cost, _PER_CENT) if outcome.baseline_test_cost > 0 else (1.0, "")


def _signed(value: float, unit: str) -> str:
    return f"{value:+.4f}" if not unit else f"{value:+,.0f}" if abs(value) >= 100 else f"{value:+.1f}"
