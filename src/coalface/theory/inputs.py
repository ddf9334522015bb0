"""Arrays and numbers as users give them, checked once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.errors import InputError, in_one_line

Numbers = NDArray[np.float64]


def as_table(name: str, values: Any, axes: tuple[str, ...]) -> Numbers:
    """A finite array with these axes, none of them empty.

    >>> as_table("expected", [[0.1, 0.9]], ("examples", "labels")).shape
    (1, 2)
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise InputError(f"{name} must be an array of numbers: {in_one_line(problem)}.") from None
    if array.ndim != len(axes) or array.size == 0:
        raise InputError(f"{name} must have the axes ({', '.join(axes)}), none of them empty, got shape {array.shape}.")
    if not np.isfinite(array).all():
        place = tuple(int(index) for index in np.argwhere(~np.isfinite(array))[0])
        raise InputError(f"{name} must be finite, got {array[place]} at {place}. Leave out what is not known.")
    return array


def as_weights(weights: Any, n: int) -> Numbers:
    """The probability of each of n examples, equal ones by default; they add up to 1.

    >>> as_weights([1, 3], 2).tolist()
    [0.25, 0.75]
    """
    if weights is None:
        return np.full(n, 1.0 / n)
    array = as_table("weights", weights, ("examples",))
    if len(array) != n or (array < 0).any() or array.sum() == 0:
        raise InputError(f"weights must be {n} numbers, none below 0 and not all 0, got {array.tolist()[:10]}.")
    return np.asarray(array / array.sum())


def within(name: str, value: float, low: float, high: float) -> float:
    """A number above ``low`` and not above ``high``.

    >>> within("margin", 0.1, 0, 1)
    0.1
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not low < number <= high or np.isinf(number):
        limit = f"and at most {high:g}" if high < np.inf else "and finite"
        raise InputError(f"{name} must be above {low:g} {limit}, got {value!r}.")
    return number
