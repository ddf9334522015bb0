"""Problems with known costs: the three examples of the paper, and generated ones with Massart noise.

The examples show what the paper's analysis covers and what it does not. Each is a finite class over a pool of equally
likely examples. Member 0 is the truth. Member j > 0 deviates on example j - 1 in the first two examples, and everywhere
in the third. Costs are 0 or 1, with the true expectation.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data import finite_number
from coalface.errors import InputError
from coalface.paper.finite import FiniteCoal
from coalface.paper.inputs import Numbers

BEST, MARGIN, FAR = 0.2, 0.2, 0.75  # cost of the best label, its margin over the second best, cost of the others
_MOST_DRAWS = 1000  # rows drawn per row kept; beyond this, the margin is too large


@dataclass(frozen=True)
class FiniteProblem:
    """A finite class and its truth: predictions (members, examples, labels); member 0 is the truth."""

    predictions: Numbers

    @property
    def expected(self) -> Numbers:
        """The true expected costs, (examples, labels)."""
        return np.asarray(self.predictions[0])

    def learner(self, slack: Callable[[int], float], rule: str = "coal") -> FiniteCoal:
        """Algorithm 1 for this class; its examples are indices into the pool."""
        return FiniteCoal(lambda places: self.predictions[:, np.asarray(places)], slack, rule)


@dataclass(frozen=True)
class _Trace:
    """How many examples had a question and how many costs were asked for, after each round."""

    examples: NDArray[np.int64]
    costs: NDArray[np.int64]


def certain_best(n_examples: int, n_labels: int) -> FiniteProblem:
    """Example 1: all members agree on the best label and its cost; member j deviates on bad labels of one example.

    >>> certain_best(10, 5).predictions.shape
    (11, 10, 5)
    """
    truth = np.full((n_examples, n_labels), FAR)
    truth[:, 0], truth[:, 1] = BEST, BEST + MARGIN
    predictions = np.repeat(truth[None], n_examples + 1, axis=0)
    odd = np.arange(n_examples)
    predictions[odd + 1, odd, 2:] = FAR - 0.25  # cheaper, but not cheap
    return FiniteProblem(predictions)


def confused_pair(n_examples: int, n_labels: int) -> FiniteProblem:
    """Example 2: like example 1, but member j also confuses the best two labels on its example.

    >>> problem = confused_pair(10, 5)
    >>> problem.predictions.argmin(axis=2).sum(axis=1).tolist()  # every member but the truth errs once
    [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    """
    predictions = certain_best(n_examples, n_labels).predictions
    odd = np.arange(n_examples)
    predictions[odd + 1, odd, :2] = BEST + MARGIN, BEST
    return FiniteProblem(predictions)


def loud_errors(n_examples: int) -> FiniteProblem:
    """Example 3: member j errs on one example only, but is wrong about the cost of label 1 everywhere.

    >>> loud_errors(3).predictions[:, :, 1].tolist()
    [[0.5, 0.5, 0.5], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """
    predictions = np.full((n_examples + 1, n_examples, 2), 0.25)
    predictions[0, :, 1] = 0.5
    predictions[1:, :, 1] = 1.0 - np.eye(n_examples)
    return FiniteProblem(predictions)


def run(problem: FiniteProblem, learner: FiniteCoal, n_rounds: int, seed: int = 0) -> _Trace:
    """Let the learner ask about ``n_rounds`` random examples of the pool.

    >>> problem = certain_best(50, 5)
    >>> int(run(problem, problem.learner(lambda i: 1.0 / i), 100).costs[-1])
    0
    """
    rng = np.random.default_rng(seed)
    places = rng.integers(len(problem.expected), size=n_rounds)
    costs = rng.uniform(size=(n_rounds, problem.expected.shape[1])) < problem.expected[places]
    examples_asked, costs_asked = np.zeros(n_rounds, np.int64), np.zeros(n_rounds, np.int64)
    for i in range(n_rounds):
        queries = learner.ask(places[i : i + 1])
        learner.tell(places[i : i + 1], np.where(queries.mask, costs[i : i + 1], np.nan))
        examples_asked[i], costs_asked[i] = learner.examples_queried_, learner.costs_queried_
    return _Trace(examples_asked, costs_asked)


class _Draw(NamedTuple):
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

    def draw(self, n: int, seed: int) -> _Draw:
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
        return _Draw(X, expected, expected + self.noise * rng.uniform(-1, 1, size=expected.shape))
