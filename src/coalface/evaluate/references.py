"""What the learner is compared with: always the same label, and the cheapest label of every row."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale
from coalface.evaluate.estimate import Estimate, estimated_mean, exact_mean
from coalface.evaluate.judged import Judged

_LEAST_KNOWN = 0.5  # share of the judged rows on which a single label must have a known cost


@dataclass(frozen=True)
class Reference:
    """The mean cost of another way to predict, and how much more it costs than the learner on the same rows.

    ``label`` is the label always predicted; None for the cheapest label of each row.
    """

    name: str
    label: str | None
    cost: Estimate
    difference: Estimate


def references_for(judged: Judged, labels: list[str], scale: CostScale) -> tuple[Reference, ...]:
    """The best single label, where one has enough known costs, then the cheapest label of each row."""
    oracle = _reference("the cheapest label of each row", None, judged, judged.cheapest, scale)
    if np.ptp(judged.cheapest) == 0.0 and judged.are_of_matrix:  # so it will cost the same on any other row
        oracle = replace(oracle, cost=exact_mean(judged.cheapest))
    best = _best_single(judged)
    if best is None:
        return (oracle,)
    label = labels[best]
    return (_reference(f"always {label}", label, judged, judged.cost[:, best], scale), oracle)


def _best_single(judged: Judged) -> int | None:
    """The label of least mean cost; it must be allowed in every row and its cost known in half of the rows."""
    known = ~np.isnan(judged.cost)
    possible = (known.mean(axis=0) >= _LEAST_KNOWN) & judged.allowed.all(axis=0)
    if not possible.any():
        return None
    means = np.nansum(judged.cost, axis=0) / np.maximum(known.sum(axis=0), 1)
    return int(np.argmin(np.where(possible, means, np.inf)))


def _reference(name: str, label: str | None, judged: Judged, costs: NDArray[np.float64], scale: CostScale) -> Reference:
    known = ~np.isnan(costs)
    width = scale.ceiling - scale.floor
    difference = costs[known] - judged.paid[known]
    return Reference(
        name, label, estimated_mean(costs[known], scale), estimated_mean(difference, CostScale(-width, width))
    )
