"""The tick marks of an axis: their positions, and the text of their numbers."""

import numpy as np
from numpy.typing import NDArray

# From coarse to fine: an axis gets the first series with enough numbers on it.
_SERIES = (
    (1.0,),
    (1.0, 3.0),
    (1.0, 2.0, 5.0),
    (1.0, 1.5, 2.0, 3.0, 5.0, 7.0),
    (1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0),
    tuple(np.round(np.arange(1.0, 10.0, 0.1), 1).tolist()),
    tuple(np.round(np.arange(1.0, 10.0, 0.02), 2).tolist()),
)


def short(value: float) -> str:
    """A number in the short form of an axis.

    >>> [short(value) for value in (0.25, 640, 1280, 16320, 2088960)]
    ['0.25', '640', '1,280', '16.3k', '2.09M']
    """
    if value < 10_000:
        return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= 0.9995 * size:
            return f"{value / size:.3g}{unit}"
    raise AssertionError(value)


def round_numbers(low: float, high: float, enough: int = 4) -> list[float]:
    """Round numbers on a log axis from ``low`` to ``high``: the coarsest series of which ``enough - 1`` fit.

    >>> round_numbers(0.06, 0.9)
    [0.1, 0.2, 0.5]
    >>> round_numbers(0.113, 0.147)
    [0.12, 0.13, 0.14]
    """
    exponents = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    inside: list[float] = []
    for series in _SERIES:
        numbers = np.round(np.multiply.outer(10.0**exponents, series).ravel(), 12)
        inside = numbers[(numbers >= low) & (numbers <= high)].tolist()
        if len(inside) >= enough - 1:
            break
    return inside


def powers_of_two(low: float, high: float) -> list[float]:
    """The powers of two from just below ``low`` to just above ``high``.

    >>> powers_of_two(0.7, 5)
    [0.5, 1.0, 2.0, 4.0, 8.0]
    """
    exponents = np.arange(np.floor(np.log2(low)), np.ceil(np.log2(high)) + 1)
    return [float(value) for value in 2.0**exponents]


def thinned(marks: NDArray[np.float64] | list[float], most: int) -> list[float]:
    """Every mark, every second or every third, ..., so that at most ``most`` remain; the first one stays.

    >>> thinned([1, 2, 4, 8, 16], 3)
    [1.0, 4.0, 16.0]
    """
    step = -(-len(marks) // most)
    return [float(mark) for mark in marks[::step]]
