"""``Routes``, the chosen model of each example; ``TradeOff``, mean loss against mean price for many quality weights."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coalface.extras import needed_for
from coalface.rounds import CostRanges
from coalface.routing.prices import offsets_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

_N_WEIGHTS = 41
_SMALLEST_LOSS = 1e-3  # differences of loss that the largest weight of a sweep still pays for


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


@dataclass(frozen=True)
class TradeOff:
    """Mean loss and mean price of the chosen models at each quality weight, and of every single model.

    ``chosen`` is the place of the weight that was in use. ``to_frame``, ``table`` and ``plot`` show the points.

    >>> trade_off = TradeOff.of([[0.6, 0.1], [0.2, 0.1]], [[1.0, 3.0]] * 2, [[0.5, 0.0], [0.0, 0.0]],
    ...     [[1.0, 3.0]] * 2, models=["small", "large"], weights=[0.0, 6.0, np.inf], chosen=6.0)
    >>> trade_off.loss.tolist(), trade_off.price.tolist(), trade_off.chosen
    ([0.25, 0.0, 0.0], [1.0, 2.0, 3.0], 1)
    """

    quality_weight: NDArray[np.float64]  # (m,) ascending
    loss: NDArray[np.float64]  # (m,)
    price: NDArray[np.float64]  # (m,)
    chosen: int
    models: tuple[Any, ...]
    model_loss: NDArray[np.float64]  # (K,)
    model_price: NDArray[np.float64]  # (K,)

    @classmethod
    def of(
        cls,
        predicted: Any,
        price: Any,
        loss: Any,
        paid: Any,
        *,
        models: Sequence[Any],
        weights: Any = None,
        chosen: float,
    ) -> "TradeOff":
        """The trade-off of any predictor of losses, such as a baseline.

        ``predicted`` (n, K) are the predicted losses and ``price`` the prices known beforehand; ``loss`` and ``paid``
        are what each model really lost and cost. Without ``weights``, they go from the cheapest model to quality alone.
        """
        predicted, price, loss, paid = (np.asarray(array, np.float64) for array in (predicted, price, loss, paid))
        tried = _usual_weights(price) if weights is None else np.asarray(weights, np.float64)
        points = np.unique(np.append(tried, chosen))
        rows, found = np.arange(len(loss)), []
        for weight in points.tolist():
            offset = offsets_of(price, weight)
            single = predicted.astype(np.float32)  # as the learner compares them
            picked = (single if offset is None else single + offset.astype(np.float32)).argmin(axis=1)
            found.append((loss[rows, picked].mean(), paid[rows, picked].mean()))
        losses, prices = np.array(found).T
        place = int(np.flatnonzero(points == chosen)[0])
        return cls(points, losses, prices, place, tuple(models), loss.mean(axis=0), paid.mean(axis=0))

    @property
    def frontier(self) -> NDArray[np.int64]:
        """The places of the points that no other point beats in both loss and price, by rising price."""
        order = np.lexsort((self.loss, self.price))
        best = np.minimum.accumulate(self.loss[order])
        first = np.concatenate([[True], self.loss[order][1:] < best[:-1]])
        return np.asarray(order[first])

    def loss_at(self, price: Any) -> NDArray[np.float64]:
        """The mean loss that can be had for these mean prices: mixing two points gives the points between them.

        A price below the cheapest point has none, NaN.

        >>> points = np.array([0.0, 1.0]), np.array([0.5, 0.1]), np.array([1.0, 3.0])
        >>> TradeOff(*points, 0, ("a",), np.array([0.5]), np.array([1.0])).loss_at([0.5, 2.0, 9.0])
        array([nan, 0.3, 0.1])
        """
        places = self.frontier
        prices, losses = _lower_hull(self.price[places], self.loss[places])
        wanted = np.asarray(price, np.float64)
        return np.asarray(np.where(wanted < prices[0], np.nan, np.interp(wanted, prices, losses)))

    def table(self, most: int = 10) -> str:
        """The frontier as lines of text, at most ``most`` points of it, the point in use, and every single model."""
        spread = np.linspace(0, len(self.frontier) - 1, min(most, len(self.frontier))).round().astype(int)
        lines = [f"{'quality weight':>14}  {'mean loss':>9}  {'mean price':>10}"]
        for i in sorted({*self.frontier[spread].tolist(), self.chosen}):
            mark = "  <- in use" if i == self.chosen else ""
            lines.append(f"{self.quality_weight[i]:14.4g}  {self.loss[i]:9.4f}  {self.price[i]:10.4g}{mark}")
        for model, loss, price in zip(self.models, self.model_loss, self.model_price, strict=True):
            lines.append(f"{'':14}  {loss:9.4f}  {price:10.4g}  always {model}")
        return "\n".join(lines)

    def to_frame(self) -> "DataFrame":
        """The points as a pandas data frame, one row each; pandas must be installed."""
        with needed_for("to_frame"):
            from pandas import DataFrame
        in_use = np.arange(len(self.loss)) == self.chosen
        return DataFrame(
            {"quality_weight": self.quality_weight, "loss": self.loss, "price": self.price, "in_use": in_use}
        )

    def to_json(self) -> str:
        """The points as JSON; an infinite weight becomes null."""
        weights = [None if weight == np.inf else weight for weight in self.quality_weight.tolist()]
        points = {"quality_weight": weights, "loss": self.loss.tolist(), "price": self.price.tolist()}
        singles = zip(self.models, self.model_loss.tolist(), self.model_price.tolist(), strict=True)
        models = {str(name): {"loss": loss, "price": price} for name, loss, price in singles}
        return json.dumps({**points, "chosen": self.chosen, "models": models})

    def save_figure(self, path: str | os.PathLike[str]) -> None:
        """Draw the points to a file; its suffix chooses the format."""
        with needed_for("save_figure"):
            from matplotlib.figure import Figure
        figure = Figure(figsize=(7.0, 4.5), layout="constrained")
        self.plot(figure.subplots())
        figure.savefig(path)

    def plot(self, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw mean loss against mean price, with the point in use and the single models; returns the axes.

        ``style`` goes to matplotlib's ``plot``, such as ``label="router"``.

        >>> from matplotlib.figure import Figure
        >>> points = np.array([0.0, 1.0]), np.array([0.5, 0.1]), np.array([1.0, 3.0])
        >>> axes = TradeOff(*points, 0, ("a",), np.array([0.5]), np.array([1.0])).plot(Figure().subplots())
        >>> axes.get_xlabel(), axes.get_ylabel()
        ('mean price', 'mean loss')
        """
        if ax is None:
            with needed_for("plot"):
                from matplotlib import pyplot
            ax = pyplot.subplots()[1]
        places = self.frontier
        (line,) = ax.plot(self.price[places], self.loss[places], **{"marker": ".", "label": "router", **style})
        ax.plot(self.price[self.chosen], self.loss[self.chosen], "o", color=line.get_color(), markersize=9)
        _draw_models(ax, self)
        ax.set_xlabel("mean price")
        ax.set_ylabel("mean loss")
        return ax


def _draw_models(ax: "Axes", points: TradeOff) -> None:
    """Draw the single models as crosses with their names."""
    ax.plot(points.model_price, points.model_loss, "x", color="gray")
    for name, price, loss in zip(points.models, points.model_price, points.model_loss, strict=True):
        ax.annotate(str(name).replace("$", r"\$"), (price, loss), (3, 3), textcoords="offset points", fontsize=7)


def _usual_weights(price: NDArray[np.float64]) -> NDArray[np.float64]:
    """Quality weights from 0 (the cheapest model) to infinity (quality alone), spaced by ratio between the two.

    >>> _usual_weights(np.array([[1.0, 3.0]]))[[0, 1, -2, -1]].round(3).tolist()
    [0.0, 2.0, 2000.0, inf]
    """
    gaps = price - price.min(axis=1, keepdims=True)
    gaps = gaps[gaps > 0]
    if not len(gaps):
        return np.array([0.0, np.inf])
    middle = np.geomspace(np.quantile(gaps, 0.05), gaps.max() / _SMALLEST_LOSS, _N_WEIGHTS)
    return np.concatenate([[0.0], middle, [np.inf]])


def _lower_hull(prices: NDArray[np.float64], losses: NDArray[np.float64]) -> tuple[Any, Any]:
    """The points of the lower convex hull, by rising price."""
    hull: list[tuple[float, float]] = []
    for x, y in zip(prices.tolist(), losses.tolist(), strict=True):
        while len(hull) > 1:
            (ax, ay), (bx, by) = hull[-2:]
            if (by - ay) * (x - ax) < (y - ay) * (bx - ax):
                break
            hull.pop()
        hull.append((x, y))
    return tuple(np.array(hull).T)
