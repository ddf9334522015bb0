"""What was asked about examples, as whoever learns or records the answers needs to know it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import check_mask

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Asked:
    """The questions about n rows, (n, K) each; all but the mask is known only where the learner itself decided.

    ``outlook`` (n, 4) is what each row looked like before its answers came: see ``kernels.stopping``.
    """

    mask: Mask
    audit: Mask | None = None
    propensity: NDArray[np.float64] | None = None
    outlook: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, asked: Any, known: Mask) -> "Asked":
        """What the caller of ``tell`` says was asked; by default it is what is ``known``.

        >>> Asked.of(None, np.array([[True, False]])).mask
        array([[ True, False]])
        """
        if asked is None:
            return cls(known)
        if isinstance(asked, Asked):
            check_mask(asked.mask, known.shape, "asked")
            return asked
        return cls(check_mask(asked, known.shape, "asked"))
