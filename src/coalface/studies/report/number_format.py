"""Format the numbers of a report."""

from collections.abc import Sequence

import numpy as np

from coalface.studies.learners import Rate
from coalface.studies.report.savings import Interval, Outcome

_PER_CENT = "\u00a0%"  # with a space at which no line breaks


def factor(value: float) -> str:
    """A factor of saving.

    >>> factor(6.24), factor(0.0), factor(131.2)
    ('6.2x', 'never', '131x')
    """
    if value <= 0:
        return "never"
    return f"{value:.0f}x" if value >= 99.5 else f"{value:.1f}x" if value >= 0.095 else f"{value:.2g}x"


def factor_interval(interval: Interval) -> str:
    """The interval of a factor; empty if unknown or never above 0. "up to": some draws never reach the target.

    >>> factor_interval(Interval(0.0, 7.0)), factor_interval(Interval(float("nan"), float("nan")))
    ('up to 7.0', '')
    """
    if np.isnan(interval.low) or interval.high <= 0:
        return ""
    low, high = (factor(end).removesuffix("x") for end in (interval.low, interval.high))
    return f"{low} to {high}" if interval.low > 0 else f"up to {high}"


def percent(share: float, digits: int = 0) -> str:
    """A share in per cent.

    >>> percent(0.351).replace("\u00a0", "_"), percent(0.5, digits=3).replace("\u00a0", "_")
    ('35_%', '50.000_%')
    """
    return f"{100 * share:.{digits}f}{_PER_CENT}"


def number(value: float) -> str:
    """A count, or an amount that may be small.

    >>> number(1280.0), number(0.0123), number(float("nan"))
    ('1,280', '0.0123', '')
    """
    if np.isnan(value):
        return ""
    return f"{value:,.0f}" if value >= 100 or value == round(value) else f"{value:.3g}"


def rate(value: Rate) -> str:
    """A learning rate; 0 means a learner without one.

    >>> rate(0.5), rate(0.0), rate("auto")
    ('0.5', 'none', 'auto')
    """
    if isinstance(value, str):
        return value
    return f"{value:g}" if value > 0 else "none"


def excess(outcome: Outcome) -> str:
    """By how much a line ends worse than the baseline; in per cent unless the baseline ends at 0."""
    scale, unit = _scale(outcome)
    return _signed(outcome.excess * scale, unit) + unit


def excess_interval(outcome: Outcome) -> str:
    """The interval of the excess; empty if unknown."""
    interval, (scale, unit) = outcome.excess_interval, _scale(outcome)
    if np.isnan(interval.low):
        return ""
    return f"{_signed(interval.low * scale, unit)} to {_signed(interval.high * scale, unit)}{unit}"


def relative_excess(outcome: Outcome) -> float:
    """The excess relative to the baseline's final test cost; the excess itself if that is 0."""
    return outcome.excess / (outcome.baseline_test_cost if outcome.baseline_test_cost > 0 else 1.0)


def above(outcome: Outcome) -> str:
    """How far above the baseline's final test cost a line ends."""
    return f"{excess(outcome).removeprefix('+')} above"


def _scale(outcome: Outcome) -> tuple[float, str]:
    return (100 / outcome.baseline_test_cost, _PER_CENT) if outcome.baseline_test_cost > 0 else (1.0, "")


def _signed(value: float, unit: str) -> str:
    return f"{value:+.4f}" if not unit else f"{value:+,.0f}" if abs(value) >= 100 else f"{value:+.1f}"


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names as a list in a sentence; only the first few of many.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c"], most=2)
    ('a, b and c', 'a, b and 1 more')
    """
    shown = [*names[:most], f"{len(names) - most} more"] if len(names) > most else list(names)
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]


def counted(n: int, what: str) -> str:
    """A number with its noun.

    >>> counted(1, "run"), counted(1200, "run")
    ('1 run', '1,200 runs')
    """
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"
