"""Pool strategies of scikit-activeml: which label to ask for next, with the models its users would choose.

Its cost matrices are like ours: row = truth, column = prediction.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNKNOWN = -1  # the label of an example that was not asked about


def _logistic_regression(_random_state: int) -> Any:
    """The usual first choice of scikit-learn's users, for standardised features."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=2000)


def _random_forest(random_state: int) -> Any:
    """The usual first choice for tables."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=random_state, n_jobs=1)


CLASSIFIERS: dict[str, Callable[[int], Any]] = {
    "logistic-regression": _logistic_regression,
    "random-forest": _random_forest,
}


class Strategy(ABC):
    """Chooses among the rows of a pool (n, features) of standardised examples, with one of CLASSIFIERS."""

    def __init__(
        self,
        pool: NDArray[np.float64],
        cost_matrix: NDArray[np.float64],
        random_state: int,
        classifier: str = "logistic-regression",
    ) -> None:
        self.pool, self.cost_matrix, self.random_state, self.classifier = pool, cost_matrix, random_state, classifier
        self.classes = np.arange(len(cost_matrix))

    @abstractmethod
    def choose(self, labels: NDArray[np.int64], n: int) -> NDArray[np.int64]:
        """The ``n`` rows to ask about next, best first; ``labels`` are UNKNOWN where none was asked for."""


class Margin(Strategy):
    """Asks where the two most probable labels are closest."""

    method, costs = "margin_sampling", False

    def choose(self, labels: NDArray[np.int64], n: int) -> NDArray[np.int64]:
        """By the probabilities of the classifier; at random while only one label has been seen."""
        from skactiveml.classifier import SklearnClassifier

        known = labels[labels != UNKNOWN]
        if (known == known[0]).all():  # one label only: all examples would be equally uncertain
            random = np.random.default_rng([self.random_state, len(known)])
            return random.choice(np.flatnonzero(labels == UNKNOWN), n, replace=False)
        classifier = CLASSIFIERS[self.classifier](self.random_state)
        return self.query(labels, n, SklearnClassifier(classifier, classes=self.classes, missing_label=UNKNOWN))

    def query(self, labels: NDArray[np.int64], n: int, model: Any) -> NDArray[np.int64]:
        """The rows to ask about, given the classifier."""
        from skactiveml.pool import UncertaintySampling

        query = UncertaintySampling(
            method=self.method,
            cost_matrix=self.cost_matrix if self.costs else None,
            missing_label=UNKNOWN,
            random_state=self.random_state,
        )
        return np.asarray(query.query(self.pool, labels, clf=model, batch_size=n))


class CostMargin(Margin):
    """Asks where the two least expected costs are closest."""

    costs = True


class ExpectedCost(Margin):
    """Asks where the least expected cost is highest."""

    method, costs = "least_confident", True


class Badge(Margin):
    """Asks for a varied batch of uncertain examples, whose gradients are large and far from each other (BADGE)."""

    def query(self, labels: NDArray[np.int64], n: int, model: Any) -> NDArray[np.int64]:
        """The gradients are those of the classifier's loss, as if its most probable label were the true one."""
        from skactiveml.pool import Badge as Gradients

        query = Gradients(missing_label=UNKNOWN, random_state=self.random_state)
        return np.asarray(query.query(self.pool, labels, clf=model, batch_size=n))


class CostEmbedding(Strategy):
    """Asks where the point predicted in an embedding of the costs is farthest from every label's."""

    def choose(self, labels: NDArray[np.int64], n: int) -> NDArray[np.int64]:
        """With scikit-activeml's own regressor and embedding, which it fits again for every batch."""
        from skactiveml.pool import CostEmbeddingAL

        query = CostEmbeddingAL(
            classes=self.classes,
            cost_matrix=self.cost_matrix,
            missing_label=UNKNOWN,
            random_state=self.random_state,
        )
        return np.asarray(query.query(self.pool, labels, batch_size=n))
