"""Dimensionality reduction: many sparse features become a few dense ones, for second-order learners."""

import numpy as np
import scipy.sparse

from coalface.data.dataset import CostDataset, TrainTest
from coalface.errors import InputError


def reduced(problem: TrainTest, n_features: int) -> TrainTest:
    """The same examples in the leading directions of the training rows (truncated SVD, without centring).

    >>> train = CostDataset.from_labels(np.eye(10), list("aabbaabbab"), name="ten")
    >>> reduced(TrainTest(train, train), 3).train
    CostDataset('ten-3', 10 examples, 3 features, 2 labels)
    """
    from sklearn.decomposition import TruncatedSVD

    most = min(problem.train.X.shape)
    if not 0 < n_features < most:
        raise InputError(
            f"n_features must be at least 1 and below the rows and columns of X, {most}, got {n_features!r}."
        )
    directions = TruncatedSVD(n_features, random_state=0).fit(problem.train.X)
    return TrainTest(*(_projected(part, directions.transform(part.X)) for part in problem))


def _projected(part: CostDataset, X: np.ndarray) -> CostDataset:
    rows = scipy.sparse.csr_array(X.astype(np.float32))
    name = f"{part.name}-{X.shape[1]}" if part.name else ""
    return CostDataset.trusted(
        X=rows,
        classes=part.classes,
        table=part.table,
        truth=part.truth,
        cost_matrix=part.cost_matrix,
        candidates=part.candidates,
        price=part.price,
        sequence=part.sequence,
        feature_names=None,
        name=name,
    )
