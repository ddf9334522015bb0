"""Checks of the numbers, flags and choices that users pass as parameters."""

import math
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from coalface.errors import InputError, shortened

T = TypeVar("T")
_LARGEST_WHOLE = 2**62 - 1  # so that sums of two fit into 64 bits
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


def whole_number(name: str, value: Any, least: int = 0) -> int:
    """A whole number of at least ``least``.

    >>> whole_number("warm_up", 10.0)
    10
    """
    try:
        number = int(value)
        whole = bool(number == value) and least <= number
    except (TypeError, ValueError, OverflowError):
        whole = False
    if not whole or number > _LARGEST_WHOLE:
        most = " and at most 2^62 - 1" if whole else ""
        raise InputError(f"{name} must be a whole number of at least {least}{most}, got {shortened(value)}.")
    return number


def finite_number(name: str, value: Any, low: float, high: float = math.inf, *, above: bool = False) -> float:
    """A finite number between ``low`` and ``high``; ``above`` excludes ``low`` itself.

    >>> finite_number("margin", 1, 0.0, 1.0)
    1.0
    """
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or number < low or number > high or (above and number == low):
        rule = f"greater than {low:g}" if above else f"at least {low:g}"
        rule += f" and at most {high:g}" if math.isfinite(high) else ""
        raise InputError(f"{name} must be a finite number {rule}, got {shortened(value)}.")
    return number


def number(params: Mapping[str, Any], name: str, low: float, high: float, *, above: bool = False) -> float:
    """A finite parameter between ``low`` and ``high``; ``above`` excludes ``low`` itself.

    >>> number({"audit_rate": 1}, "audit_rate", 0.0, 1.0)
    1.0
    """
    return finite_number(name, params[name], low, high, above=above)


def flag(params: Mapping[str, Any], name: str) -> bool:
    """A parameter that is True or False."""
    if not isinstance(params[name], bool | np.bool_ | int) or params[name] not in (True, False):
        raise InputError(f"{name} must be True or False, got {shortened(params[name])}.")
    return bool(params[name])


def choice(params: Mapping[str, Any], name: str, choices: Mapping[str, int]) -> int:
    """The code of a named choice."""
    value = params[name]
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}, got {shortened(value)}.")
    return choices[value]


def auto_or(params: Mapping[str, Any], name: str, auto: T, checked: Callable[[Mapping[str, Any]], T]) -> T:
    """``auto`` where the user wrote "auto", otherwise the checked value."""
    value = params[name]
    if not isinstance(value, str):
        return checked(params)
    if value != AUTO:
        raise InputError(f"{name} must be {AUTO!r} or a number, got {shortened(value)}.")
    return auto
