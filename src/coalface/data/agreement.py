"""How far annotators agree on costs: Krippendorff's alpha, with a bootstrap interval over examples.

Alpha is 1 - observed / expected disagreement. It is 1 where all agree, about 0 where answers are as good as drawn at
random from all answers, and below 0 where annotators disagree systematically. Units with fewer than two values say
nothing and are left out. Alpha is NaN where all values are equal: then there is nothing to agree on.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.errors import InputError

Numbers = NDArray[np.float64]
METRICS = ("interval", "ordinal", "nominal")
_RESAMPLES, _BLOCK = 1000, 50  # drawn in blocks to save memory
_SEED = 20  # of the resamples, so that equal answers give an equal interval
_CONFIDENCE = 0.95


class Agreement(NamedTuple):
    """Alpha with the ends of its 95 % interval, from so many units on so many examples."""

    alpha: float
    low: float
    high: float
    units: int
    examples: int


def krippendorff_alpha(values: Any, metric: str = "interval") -> float:
    """Alpha of a table with a row per unit, such as a label of an example, and a column per annotator; NaN is missing.

    "interval" compares costs by their squared difference, "ordinal" by the ranks between them, "nominal" only as equal
    or not.

    >>> round(krippendorff_alpha([[0.0, 0.0], [1.0, 1.0], [0.0, 0.5], [1.0, np.nan]]), 3)
    0.828
    """
    pairs = _Pairs(values, None, metric)
    return float(pairs.alphas(np.ones((1, pairs.n_examples)))[0])


def agreement(values: Any, examples: Any = None, metric: str = "interval") -> Agreement:
    """Alpha of such a table with its interval; ``examples`` has the example of each unit, by default its own.

    The costs of one example depend on each other. So the bootstrap draws whole examples.

    >>> found = agreement([[0.0, 0.0], [1.0, 1.0], [0.0, 0.5], [1.0, 1.0]], examples=[0, 0, 1, 1])
    >>> round(found.alpha, 3), found.low <= found.alpha <= found.high, found.units, found.examples
    (0.873, True, 4, 2)
    """
    pairs = _Pairs(values, examples, metric)
    n = pairs.n_examples
    alpha = float(pairs.alphas(np.ones((1, n)))[0])
    if n == 0 or np.isnan(alpha):
        return Agreement(alpha, np.nan, np.nan, pairs.n_units, n)
    rng, even = np.random.default_rng(_SEED), np.full(n, 1.0 / n)
    blocks = [pairs.alphas(rng.multinomial(n, even, _BLOCK).astype(np.float64)) for _ in range(_RESAMPLES // _BLOCK)]
    resampled = np.concatenate(blocks)
    resampled = resampled[np.isfinite(resampled)]
    tail = 100 * (1 - _CONFIDENCE) / 2
    low, high = np.percentile(resampled, [tail, 100 - tail]) if len(resampled) else (np.nan, np.nan)
    return Agreement(alpha, float(min(low, alpha)), float(max(high, alpha)), pairs.n_units, n)


class _Pairs:
    """All pairs of values within a unit, each with its weight 1 / (values of the unit - 1), and their examples."""

    def __init__(self, values: Any, examples: Any, metric: str) -> None:
        table = np.asarray(values, np.float64)
        if table.ndim != 2 or np.isinf(table).any():
            raise InputError(
                f"values must be a table of finite numbers, a row per unit, or NaN; got the shape {table.shape}. "
                "Reshape it."
            )
        if metric not in METRICS:
            raise InputError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}. Choose one.")
        groups = np.arange(len(table)) if examples is None else np.asarray(examples)
        if groups.shape != (len(table),):
            raise InputError(
                f"examples must have one entry per unit, {len(table)}, got the shape {groups.shape}. Pass one per row."
            )
        given = ~np.isnan(table)
        compared = given.sum(axis=1) >= 2
        table, given = table[compared], given[compared]
        names, self.example = np.unique(groups[compared], return_inverse=True)
        self.n_units, self.n_examples, self.metric = len(table), len(names), metric
        rows, columns = np.nonzero(given)
        self.values, codes = np.unique(table[rows, columns], return_inverse=True)
        self.code = np.full(table.shape, -1)
        self.code[rows, columns] = codes
        self.count = given.sum(axis=1)

    def alphas(self, weights: Numbers) -> Numbers:
        """Alpha for each row of ``weights``, which has the weight of every example."""
        if self.n_examples == 0:
            return np.full(len(weights), np.nan)
        if self.metric == "interval":
            return self._interval_alphas(weights)
        return np.array([self._alpha(weight[self.example]) for weight in weights])

    def _interval_alphas(self, weights: Numbers) -> Numbers:
        """The same in closed form: sums over values and their squares are enough."""
        given = self.code >= 0
        centred = np.where(given, (self.values - self.values.mean())[self.code], 0.0)
        total, squares = centred.sum(axis=1), (centred**2).sum(axis=1)
        observed = 2.0 * (self.count * squares - total**2) / (self.count - 1)
        by_unit = np.stack([self.count.astype(np.float64), total, squares, observed], axis=1)
        by_example = np.zeros((self.n_examples, 4))
        np.add.at(by_example, self.example, by_unit)
        n, total, squares, observed = (weights @ by_example).T
        expected = 2.0 * (n * squares - total**2) / (n - 1)
        tiny = 1e-12 * n * max(float(np.abs(self.values).max()) ** 2, 1e-300)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(expected > tiny, 1.0 - observed / expected, np.nan)

    def _alpha(self, weight: Numbers) -> float:
        """Alpha from the matrix of coincidences, for any metric; ``weight`` is that of each unit."""
        size = len(self.values)
        coincidences = np.zeros((size, size))
        for i in range(self.code.shape[1]):
            for j in range(self.code.shape[1]):
                both = (self.code[:, i] >= 0) & (self.code[:, j] >= 0)
                if i != j and both.any():
                    of_pair = weight[both] / (self.count[both] - 1)
                    np.add.at(coincidences, (self.code[both, i], self.code[both, j]), of_pair)
        often = coincidences.sum(axis=1)
        apart = _distances(often, self.metric)
        expected = float((np.outer(often, often) * apart).sum() / (often.sum() - 1))
        observed = float((coincidences * apart).sum())
        return 1.0 - observed / expected if expected > 0 else np.nan


def _distances(often: Numbers, metric: str) -> Numbers:
    """The squared distance of any two values, by how often each value occurs."""
    if metric == "nominal":
        return 1.0 - np.eye(len(often))
    ranks = np.cumsum(often) - often / 2  # the values between two, and half of each of the two
    return np.asarray((ranks[:, None] - ranks[None, :]) ** 2)
