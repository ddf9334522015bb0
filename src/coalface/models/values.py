"""The arrays that a learner and its model exchange: costs, masks, ranges, and the rounds of a simulated run."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.kernels.state import NO_ROUNDS, RoundArrays

Costs = NDArray[np.float32]
Mask = NDArray[np.bool_]
Groups = NDArray[np.int64]
Labels = NDArray[np.int64]  # one per row, by column; K stands for abstaining
NO_WEIGHTS = np.zeros((0, 0), np.float32)
NO_MASK, NO_COSTS = NO_ROUNDS.candidates, NO_ROUNDS.offsets
NO_GROUPS = np.zeros(0, np.int64)


class Ranged(NamedTuple):
    """Predicted, lowest and highest costs, (n, K) each."""

    predicted: Costs
    lowest: Costs
    highest: Costs


class FeatureEffects(NamedTuple):
    """What single features do to one label's predicted cost; ``models.interactions.columns_of`` reads the features."""

    features: NDArray[np.int64]
    effects: NDArray[np.float64]
    unit: str = "cost"  # "cost": a change of the cost in [0, 1]


class RunArrays(NamedTuple):
    """The arrays of a simulated run: the order of the rows, their candidates and costs, and the recorded questions."""

    order: NDArray[np.int64]
    given: RoundArrays  # candidates and costs of every row
    record: RoundArrays  # mask, reasons, propensity and outlook by position; empty: not recorded


def counting(costs: Costs, weights: Costs = NO_WEIGHTS) -> Mask:
    """Which costs a model learns: the known ones with a positive weight."""
    return ~np.isnan(costs) & (weights > 0) if len(weights) else ~np.isnan(costs)
