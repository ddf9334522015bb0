"""Generated problems with Massart noise: linear expected costs whose best label always wins by a margin."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from coalface.data.numbers import finite_number
from coalface.errors import InputError
from coalface.paper.inputs import Numbers

_MOST_DRAWS = 1000  # rows drawn per row kept; beyond this, the margin is too large


class Draw(NamedTuple):
    """Examples (n, d), their expected costs (n, K) and their costs with noise (n, K)."""

    X: Numbers
    expected: Numbers
    cost: Numbers


@dataclass(frozen=True)
class MassartProblem:
    """Examples of length 1 in R^d; the cost of a label is 1/2 plus a linear function plus uniform noise.

    Expected costs stay ``noise`` away from 0 and 1, so that costs with noise lie in [0, 1]. Examples whose best two
    labels are closer than ``margin`` are left out. This ``seed`` determines the regressors, that of ``draw`` the
    examples.

    >>> problem = MassartProblem(n_features=4, n_labels=3, margin=0.1, noise=0.2)
    >>> X, expected, cost = problem.draw(500, seed=1)
    >>> X.shape, cost.shape, bool((np.diff(np.sort(expected)[:, :2]) >= 0.1).all())
    ((500, 4), (500, 3), True)
    """

    n_features: int = 4
    n_labels: int = 4
    margin: float = 0.1
    noise: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        finite_number("n_features", self.n_features, 0, above=True)
        finite_number("n_labels", self.n_labels, 1, above=True)
        if not 0 <= self.noise < 0.5:
            raise InputError(f"noise must be at least 0 and below 0.5, got {self.noise!r}.")
        if not 0 <= self.margin < 1 - 2 * self.noise:
            raise InputError(
                f"margin must be at least 0 and below 1 - 2 * noise = {1 - 2 * self.noise:g}, got {self.margin!r}."
            )

    @property
    def weights(self) -> Numbers:
        """The linear functions, (K, d), in random directions and as large as the noise allows."""
        directions = np.random.default_rng([self.seed, 0]).normal(size=(self.n_labels, self.n_features))
        return np.asarray((0.5 - self.noise) * directions / np.linalg.norm(directions, axis=1, keepdims=True))

    def expected(self, X: Numbers) -> Numbers:
        """The expected costs of examples."""
        return np.asarray(0.5 + X @ self.weights.T)

    def draw(self, n: int, seed: int) -> Draw:
        """``n`` examples; each seed gives different ones."""
        rng = np.random.default_rng([self.seed, 1, seed])
        kept: list[Numbers] = []
        n_kept = n_drawn = 0
        while n_kept < n:
            X = rng.normal(size=(max(n, 100), self.n_features))
            X /= np.linalg.norm(X, axis=1, keepdims=True)
            best_two = np.partition(self.expected(X), 1, axis=1)
            kept.append(X[best_two[:, 1] - best_two[:, 0] >= self.margin])
            n_kept, n_drawn = n_kept + len(kept[-1]), n_drawn + len(X)
            if n_drawn >= _MOST_DRAWS * max(n, 100) and n_kept < n:
                raise InputError(f"margin={self.margin!r} leaves {n_kept} of {n_drawn} examples. Make it smaller.")
        X = np.concatenate(kept)[:n] if kept else np.zeros((0, self.n_features))
        expected = self.expected(X)
        return Draw(X, expected, expected + self.noise * rng.uniform(-1, 1, size=expected.shape))
