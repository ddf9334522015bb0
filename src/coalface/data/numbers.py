"""Checks of the numbers, flags and choices that users pass as parameters."""

import math
import sys
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from coalface.errors import InputError, shortened

_LARGEST_WHOLE = 2**62 - 1  # so that sums of two fit into 64 bits
_FLAGS = (bool, np.bool_)
AUTO = "auto"  # the learner chooses the value


def is_whole(value: Any) -> bool:
    """Whether a value of JSON or TOML is a whole number; True and False are not.

    >>> is_whole(3), is_whole(3.0), is_whole(True)
    (True, False, False)
    """
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether a value of JSON or TOML is a finite number; texts, True and False are not.

    >>> is_number(3), is_number(float("nan")), is_number("3"), is_number(10**400)
    (True, False, False, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def whole_number(name: str, value: Any, least: int = 0, most: int = _LARGEST_WHOLE) -> int:
    """A whole number from ``least`` to ``most``; True and False are not numbers.

    >>> whole_number("warm_up", 10.0)
    10
    """
    try:
        number = int(value)
        fits = bool(number == value) and least <= number and not isinstance(value, _FLAGS)
    except (TypeError, ValueError, OverflowError):
        fits = False
    if not fits or number > most:
        end = f" and at most {'2^62 - 1' if most == _LARGEST_WHOLE else most}" if fits or most < _LARGEST_WHOLE else ""
        raise InputError(f"{name} must be a whole number of at least {least}{end}, got {shortened(value)}.")
    return number


def finite_number(
    name: str, value: Any, low: float = -math.inf, high: float = math.inf, *, above: bool = False
) -> float:
    """A finite number between ``low`` and ``high``; ``above`` excludes ``low``. True and False are not numbers.

    >>> finite_number("margin", 1, 0.0, 1.0)
    1.0
    """
    try:
        number = math.nan if isinstance(value, _FLAGS) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or number < low or number > high or (above and number == low):
        rule = f" {'greater than' if above else 'at least'} {low:g}" if math.isfinite(low) else ""
        rule += f" and at most {high:g}" if math.isfinite(high) else ""
        raise InputError(f"{name} must be a finite number{rule}, got {shortened(value)}.")
    return number


def flag(name: str, value: Any) -> bool:
    """A parameter that is True or False."""
    if not isinstance(value, bool | np.bool_ | int) or value not in (True, False):
        raise InputError(f"{name} must be True or False, got {shortened(value)}.")
    return bool(value)


def one_of(name: str, value: Any, choices: Collection[str]) -> str:
    """A text that is one of these.

    >>> one_of("system", "arc-eager", ("arc-hybrid", "arc-eager"))
    'arc-eager'
    """
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}, got {shortened(value)}.")
    return value


def choice(name: str, value: Any, choices: Mapping[str, int]) -> int:
    """The code of a named choice."""
    return choices[one_of(name, value, choices)]
