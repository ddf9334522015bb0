"""Blocks: the narrow columns of one raw column, standardised, with marks where a value is missing."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.encoding.cells import CellError
from coalface.kernels.words import LARGEST

Block = NDArray[np.float32]  # (rows, columns)


def finite_block(values: NDArray[Any], name: str) -> Block:
    """The values as 32-bit numbers; a CellError if one is too large."""
    bad = np.argwhere(~(np.abs(values) <= LARGEST))
    if len(bad):
        rule = f"Column {name!r} must be finite in float32, got {values[tuple(bad[0])]}"
        raise CellError(rule, int(bad[0][0]), "Correct it.")
    return values.astype(np.float32)


def mean_and_scale(values: NDArray[np.float64]) -> tuple[float, float]:
    """The mean and the deviation, with exact sums, so that every machine gets the same; 1 if all values are equal.

    >>> mean_and_scale(np.array([1.0, 3.0])), mean_and_scale(np.array([7.0, 7.0]))
    ((2.0, 1.0), (7.0, 1.0))
    """
    if not len(values):
        return 0.0, 1.0
    if values.min() == values.max():
        return float(values[0]), 1.0
    mean = math.fsum(values) / len(values)
    scale = math.sqrt(math.fsum((values - mean) ** 2) / len(values))
    return mean, scale or 1.0


def with_marks(values: NDArray[np.float64], missing: NDArray[np.bool_], name: str, *, optional: bool) -> Block:
    """The values of a column with 0, the mean, where one is missing, and a mark there if it is ``optional``."""
    block = finite_block(np.where(missing[:, None], 0.0, values), name)
    return np.hstack([block, missing[:, None].astype(np.float32)]) if optional else block


def described_marks(optional: bool) -> str:
    """What is done to missing values, as the end of a description."""
    return ", missing values marked" if optional else ""
