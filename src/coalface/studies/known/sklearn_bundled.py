"""Small datasets that come with scikit-learn, with a fixed split into training and test data."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.dataset import CostDataset, TrainTest
from coalface.data.encoders import standardised


def load_digits(name: str = "digits") -> TrainTest:
    """8 x 8 handwritten digits, brightness between 0 and 1; costs are 0/1, or ``|i-j|/9`` for "digits-distance".

    ``coalface demo`` uses the same rows in the same order.

    >>> load_digits().test
    CostDataset('digits', 500 examples, 64 features, 10 labels)
    >>> load_digits("digits-distance").train.cost_matrix[9, [0, 9]]
    array([1., 0.], dtype=float32)
    """
    from sklearn import datasets  # slow to import

    pixels, digit = datasets.load_digits(return_X_y=True)
    numbers = np.arange(10)
    distance = np.abs(np.subtract.outer(numbers, numbers)) / 9 if name == "digits-distance" else 1.0 - np.eye(10)
    return _split(name, pixels / 16, digit, numbers, distance, n_test=500)


def load_table(name: str) -> TrainTest:
    """Standardised features of "wine", "breast-cancer" or "iris", with 0/1 costs; 3 in 10 rows are test data.

    >>> load_table("iris").train.classes
    array(['setosa', 'versicolor', 'virginica'], dtype='<U10')
    """
    from sklearn import datasets

    found = getattr(datasets, "load_" + name.replace("-", "_"))()
    classes = np.array([str(label) for label in found.target_names])
    names = [str(feature).replace(" ", "_") for feature in found.feature_names]
    n_test = round(0.3 * len(found.target))
    return _split(name, found.data, found.target, classes, 1.0 - np.eye(len(classes)), n_test, names)


def _split(
    name: str,
    X: NDArray[np.float64],
    truth: NDArray[Any],
    classes: NDArray[Any],
    cost_matrix: NDArray[np.float64],
    n_test: int,
    feature_names: list[str] | None = None,
) -> TrainTest:
    """Rows in a fixed random order, the first ``n_test`` as test data; named features are standardised."""
    order = np.random.default_rng(0).permutation(len(truth))
    test, train = order[:n_test], order[n_test:]
    scaled = X if feature_names is None else standardised(X, train)
    whole = CostDataset(
        scaled, classes=classes, truth=truth, cost_matrix=cost_matrix, feature_names=feature_names, name=name
    )
    return TrainTest(whole.subset(train), whole.subset(test))
