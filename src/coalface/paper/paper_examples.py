"""The three examples of the paper, which show what its analysis covers and what it does not.

Each is a finite class over a pool of equally likely examples. Member 0 is the truth. Member j > 0 deviates on example
j - 1 in the first two examples, and everywhere in the third. Costs are 0 or 1, with the true expectation.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coalface.paper.finite import FiniteCoal
from coalface.paper.inputs import Numbers

BEST, MARGIN, FAR = 0.2, 0.2, 0.75  # cost of the best label, its margin over the second best, cost of the others


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
