"""The labels to serve on a batch of examples, and the probability of each."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.rounds.queries import CostRanges


@dataclass(frozen=True, repr=False)
class Actions:
    """The labels that ``act`` chose for n examples; store ``probability`` with what was served.

    ``probabilities`` (n, K) are those of all labels, 0 for labels that cannot be best; each row adds up to 1.

    >>> from coalface import CoalClassifier
    >>> actions = CoalClassifier(["refund", "billing"]).act([[1.0, 0.0], [0.0, 1.0]])
    >>> len(actions), actions.probability.tolist()
    (2, [0.5, 0.5])
    """

    labels: NDArray[Any]  # (n,)
    probability: NDArray[np.float64]  # (n,) of the chosen labels
    probabilities: NDArray[np.float64]  # (n, K)
    ranges: CostRanges
    predicted: NDArray[np.float64]  # (n, K)
    classes: NDArray[Any]
    first_round: int

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        n_sure = int((self.probability == 1.0).sum())
        return f"{len(self)} labels to serve, {n_sure} of them the only contender"
