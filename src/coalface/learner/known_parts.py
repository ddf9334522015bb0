"""The parts of costs that are known beforehand, and the prices of questions."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.kernels.state import NO_ROUNDS


class KnownParts(NamedTuple):
    """Known parts of costs, scaled to [0, 1], and prices of questions, (n, K) each; without rows if there are none.

    >>> parts = KnownParts(offsets=np.array([[0.1, 0.0], [0.0, 0.2]], np.float32))
    >>> parts.of_rows([1]).offsets.tolist(), len(parts.of_rows([1]).prices)
    ([[0.0, 0.20000000298023224]], 0)
    """

    offsets: NDArray[np.float32] = NO_ROUNDS.offsets
    prices: NDArray[np.float32] = NO_ROUNDS.prices

    def of_rows(self, rows: Any) -> "KnownParts":
        """The parts of some rows."""
        return KnownParts(*(part[rows] if len(part) else part for part in self))


NO_PARTS = KnownParts()
