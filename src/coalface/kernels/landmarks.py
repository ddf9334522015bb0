"""Features of a Gaussian kernel from rows that serve as landmarks.

Notation. k(x, z) = exp(-|x - z|^2 / (2 bandwidth^2)). L is the Cholesky factor of k between the landmarks. The features
f of a row solve L f = k(landmarks, row). So the inner product of two rows' features is k if one is a landmark
(Nystroem's approximation). A new landmark adds one feature, which is 0 for all landmarks before it.

Every loop over landmarks runs over contiguous numbers and adds nothing up, so it uses vector instructions, and the
features of a row do not depend on the rows beside it.
"""

import numpy as np

from coalface.kernels.compile import allocating, called
from coalface.kernels.state import F32, F64, I64

LEAST_REST = 1e-6  # a row that landmarks explain up to this share does not become one


@called
def _write_features(
    centres: F32, factor: F64, n_used: int, rate: float, row: F32, beyond: float, features: F64
) -> float:
    """Write the features of a row; returns its squared length that they lack, between 0 and 1."""
    for j in range(n_used):
        features[j] = beyond
    for c in range(centres.shape[0]):
        value = np.float64(row[c])
        for j in range(n_used):
            gap = value - np.float64(centres[c, j])
            features[j] += gap * gap
    for j in range(n_used):
        features[j] = np.exp(-rate * features[j])
    rest = 1.0
    for j in range(n_used):
        feature = features[j] / factor[j, j]
        features[j] = feature
        rest -= feature * feature
        for i in range(j + 1, n_used):
            features[i] -= feature * factor[j, i]
    return max(rest, 0.0)


@allocating
def landmark_features(
    centres: F32, factor: F64, n_used: int, rate: float, rows: F32, beyond: F64, table: F32, rests: F64
) -> None:
    """Write the features of dense rows to ``table`` (n, features) and what they lack to ``rests``.

    ``centres`` (columns, most landmarks) holds the landmarks, ``factor`` the transposed Cholesky factor and ``rate``
    1 / (2 bandwidth^2). ``beyond`` has each row's squared length in columns that no landmark has.
    """
    features = np.empty(factor.shape[0])
    for r in range(rows.shape[0]):
        rests[r] = _write_features(centres, factor, n_used, rate, rows[r], beyond[r], features)
        for j in range(n_used):
            table[r, j] = np.float32(features[j])


@allocating
def add_landmarks(centres: F32, factor: F64, used: I64, rate: float, rows: F32, table: F32) -> None:
    """Write the features of rows to ``table``, one after the other; each becomes a landmark while there is room."""
    features = np.empty(factor.shape[0])
    for r in range(rows.shape[0]):
        n_used = used[0]
        rest = _write_features(centres, factor, n_used, rate, rows[r], 0.0, features)
        for j in range(n_used):
            table[r, j] = np.float32(features[j])
        if n_used == factor.shape[0] or rest <= LEAST_REST:
            continue
        root = np.sqrt(rest)
        table[r, n_used] = np.float32(root)
        factor[n_used, n_used] = root
        for j in range(n_used):
            factor[j, n_used] = features[j]
        for c in range(centres.shape[0]):
            centres[c, n_used] = rows[r, c]
        used[0] = n_used + 1
