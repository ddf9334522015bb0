"""``Routes``: the chosen model of each example, with the numbers behind the choice."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.rounds import CostRanges


@dataclass(frozen=True)
class Routes:
    """The routes of n examples over K models; ``total`` is what the router expects each model to cost, in money.

    >>> from coalface.routing import Router
    >>> router = Router(["small", "large"], price={"small": 0.1, "large": 1.0}, value_of_quality=5.0)
    >>> routes = router.tell([[1.0]] * 30, [[0.4, 0.1]] * 30).route([[1.0]])
    >>> routes.model.tolist(), routes.total.round(1).tolist()
    (['large'], [[2.1, 1.5]])
    """

    model: NDArray[Any]  # (n,)
    predicted_loss: NDArray[np.float64]  # (n, K)
    ranges: CostRanges  # of the losses
    price: NDArray[np.float64]  # (n, K)
    quality_weight: float
    models: NDArray[Any]  # (K,)

    @property
    def total(self) -> NDArray[np.float64]:
        """The value of quality times the predicted loss, plus the price; the loss alone if only quality counts."""
        if self.quality_weight == np.inf:
            return self.predicted_loss
        return np.asarray(self.quality_weight * self.predicted_loss + self.price)

    def reason(self, i: int) -> str:
        """Explain the choice for example ``i``, a line per model, the least total first.

        >>> from coalface.routing import Router
        >>> router = Router(["small", "large"], price=[0.1, 1.0], value_of_quality=5.0)
        >>> print(router.tell([[1.0]] * 30, [[0.4, 0.1]] * 30).route([[1.0]]).reason(0))
        large  total    1.492 = 5 x loss 0.098 (0.075 to 0.122) + price 1  chosen
        small  total    2.068 = 5 x loss 0.394 (0.368 to 0.419) + price 0.1
        """
        order = np.argsort(self.total[i], kind="stable")
        wide = max(len(str(model)) for model in self.models)
        lines = []
        for k in order:
            low, high = self.ranges.lowest[i, k], self.ranges.highest[i, k]
            chosen = "  chosen" if self.models[k] == self.model[i] else ""
            lines.append(
                f"{self.models[k]:<{wide}}  total {self.total[i, k]:8.4g} = {self.quality_weight:g} x loss "
                f"{self.predicted_loss[i, k]:.3f} ({low:.3f} to {high:.3f}) + price {self.price[i, k]:.4g}{chosen}"
            )
        return "\n".join(lines)

    def __len__(self) -> int:
        return len(self.model)
