"""Checks of the arrays and numbers that users pass to the functions of this package."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data import finite_number
from coalface.errors import InputError, in_one_line

Numbers = NDArray[np.float64]


def as_table(name: str, values: Any, axes: tuple[str, ...]) -> Numbers:
    """A finite array with these axes, all of length 1 or more.

    >>> as_table("expected", [[0.1, 0.9]], ("examples", "labels")).shape
    (1, 2)
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise InputError(f"{name} must be an array of numbers: {in_one_line(problem)}.") from None
    if array.ndim != len(axes) or array.size == 0:
        raise InputError(f"{name} must have the axes ({', '.join(axes)}), none empty, got shape {array.shape}.")
    if not np.isfinite(array).all():
        place = tuple(int(index) for index in np.argwhere(~np.isfinite(array))[0])
        raise InputError(f"{name} must be finite, got {array[place]} at {place}. Leave out unknown values.")
    return array


def check_margin(margin: Any) -> float:
    """A margin between the best two costs: above 0 and at most 1.

    >>> check_margin(0.1)
    0.1
    """
    return finite_number("margin", margin, 0.0, 1.0, above=True)
