"""True labels as answers: the learner's matrix of known costs turns one into the costs of all labels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale, check_cost
from coalface.data.labels import label_texts
from coalface.data.targets import TOLERANCE, Codes, costs_by_truth, truths_of
from coalface.errors import InputError, UnknownLabelError
from coalface.kernels.state import RoundArrays
from coalface.learner.spending import SpendingLearner
from coalface.rounds.round import Round


class TruthLearner(SpendingLearner):
    """A learner that knows the costs of true labels, if it has ``cost_matrix`` or ``price_of_truth``."""

    def _costs_by_truth(self) -> NDArray[np.float64]:
        """The costs of all labels by true label, (K, K); an InputError if the learner does not know them."""
        if self.cost_matrix is None and self.price_of_truth is None:
            raise InputError(
                "truth needs a learner that knows the costs of true labels, got one without them. Set cost_matrix=..., "
                "or price_of_truth=... for 0/1 costs."
            )
        return costs_by_truth(self.cost_matrix, self.classes_, CostScale.of(self.cost_bounds))

    def _with_costs(self, one: Round) -> Round:
        """The round with the costs that its true label gives, unless it has costs already."""
        if one.truth is None or one.costs:
            return one
        return one.with_truth(self._costs_of_truth(one.truth))

    def _costs_of_truth(self, label: str) -> dict[str, float]:
        """The cost of every label where this one is true."""
        texts = label_texts(self.classes_)
        if label not in texts:
            raise UnknownLabelError(label, texts, addable=True)
        return dict(zip(texts, self._costs_by_truth()[texts.index(label)].tolist(), strict=True))

    def _refuse_contradiction(self, one: Round) -> None:
        """Refuse a round whose costs are not those of its true label, if the learner knows these."""
        if one.truth is None or not one.costs or (self.cost_matrix is None and self.price_of_truth is None):
            return
        given = self._costs_of_truth(one.truth)
        for label, cost in one.costs.items():
            if cost is not None and label in given and abs(cost - given[label]) > self._tolerance():
                raise InputError(
                    f"Round {one.number} has the true label {one.truth!r}, of which label {label!r} costs "
                    f"{given[label]:g}, got the cost {cost:g}. Correct one of them, or leave the costs out."
                )

    def _tolerance(self) -> float:
        """By how much equal costs may differ: they may have been stored as float32."""
        low, high = self.cost_bounds
        return TOLERANCE * (float(high) - float(low))

    def _truths_of(self, given: RoundArrays, labels: NDArray[Any]) -> Codes | None:
        """The true labels of a simulated run, from which its costs must follow; None if they are never asked for."""
        if self.price_of_truth is None:
            return None
        scale = CostScale.of(self.cost_bounds)
        matrix = check_cost(costs_by_truth(self.cost_matrix, labels, scale), len(labels), labels, scale)
        costs = np.where(given.candidates, given.costs, np.float32(np.nan)) if len(given.candidates) else given.costs
        return truths_of(costs, matrix)
