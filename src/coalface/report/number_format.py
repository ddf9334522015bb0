"""Format the numbers of a report."""

from collections.abc import Sequence

import numpy as np

_PER_CENT = "\u00a0%"  # with a space at which no line breaks


def factor(value: float) -> str:
    """A factor of saving.

    >>> factor(6.24), factor(0.0), factor(131.2)
    ('6.2x', 'never', '131x')
    """
    if value <= 0:
        return "never"
    return f"{value:.0f}x" if value >= 99.5 else f"{value:.1f}x" if value >= 0.095 else f"{value:.2g}x"


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


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names as a list in a sentence; only the first few of many.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c"], most=2)
    ('a, b and c', 'a, b and 1 more')
    """
    shown = [*names[:most], f"{len(names) - most} more"] if len(names) > most else list(names)
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]
