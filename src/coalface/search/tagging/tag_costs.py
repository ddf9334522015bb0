"""What wrong tags cost, by the true and the predicted tag."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.errors import InputError

_UNITS = 2.0**24


def check_costs(cost_matrix: Any, n_tags: int) -> NDArray[np.float32]:
    """The matrix as 32-bit numbers; without one, a right tag costs 0 and a wrong one 1.

    Costs are rounded to multiples of 2 ** -24: sums of such numbers are exact, in whatever order they are added.

    >>> check_costs(None, 2).tolist(), check_costs([[0, 0.5], [1, 0]], 2).tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [[0.0, 0.5], [1.0, 0.0]])
    """
    try:
        costs = np.asarray(1.0 - np.eye(n_tags) if cost_matrix is None else cost_matrix, np.float64)
    except (TypeError, ValueError):
        kind = type(cost_matrix).__name__
        raise InputError(f"cost_matrix must be {n_tags} x {n_tags} numbers, got a {kind} of something else.") from None
    if costs.shape != (n_tags, n_tags):
        raise InputError(f"cost_matrix must be {n_tags} x {n_tags} numbers, by tags, got shape {costs.shape}.")
    if not ((costs >= 0.0) & (costs <= 1.0)).all() or costs.diagonal().any():
        raise InputError(
            f"cost_matrix must lie in [0, 1] with 0 for every right tag, got {costs.min():g} to {costs.max():g} and up "
            f"to {costs.diagonal().max():g} on its diagonal. Divide it by its largest cost."
        )
    return np.ascontiguousarray(np.round(costs * _UNITS) / _UNITS, np.float32)
