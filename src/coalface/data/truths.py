"""True labels as answers: one of them gives the costs of all labels, by the matrix of known costs."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale, as_cost_array, check_cost_matrix
from coalface.data.labels import label_codes
from coalface.errors import InputError

Codes = NDArray[np.int64]
UNKNOWN = -1  # the column of a true label that was not given
TOLERANCE = 1e-6  # of costs in [0, 1]: matrices and costs may have been stored as float32


def truth_codes(truth: Any, n_rows: int, classes: NDArray[Any]) -> Codes:
    """The column of each true label; -1 for None or NaN, which mean "not asked" or "can't tell".

    >>> truth_codes(["dog", None, "cat"], 3, np.array(["cat", "dog"])).tolist()
    [1, -1, 0]
    """
    labels = truth.tolist() if isinstance(truth, np.ndarray) else truth
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise InputError(f"truth must be a list with one true label per row of X, got {truth!r}.")
    listed = list(labels)
    if len(listed) != n_rows:
        raise InputError(
            f"truth must have one true label per row of X, {n_rows}, got {len(listed)}. Write None where it is unknown."
        )
    given = [row for row, label in enumerate(listed) if not is_missing(label)]
    codes = np.full(n_rows, UNKNOWN, np.int64)
    codes[given] = label_codes([_plain(listed[row]) for row in given], classes)
    return codes


def is_missing(label: Any) -> bool:
    """Whether a true label is None or NaN.

    >>> is_missing(None), is_missing(float("nan")), is_missing("cat")
    (True, True, False)
    """
    return label is None or (isinstance(label, float | np.floating) and bool(np.isnan(label)))


def costs_by_truth(cost_matrix: Any, classes: NDArray[Any], scale: CostScale) -> NDArray[np.float64]:
    """The costs of all labels by true label, (K, K) on the user's scale; without a matrix, 0/1 costs.

    >>> costs_by_truth(None, np.array(["cat", "dog"]), CostScale(0.0, 10.0))
    array([[ 0., 10.],
           [10.,  0.]])
    """
    if cost_matrix is None:
        return scale.from_unit(1.0 - np.eye(len(classes)))
    return check_cost_matrix(cost_matrix, classes)


def with_costs_of(codes: Codes, matrix: NDArray[np.float64], cost: Any = None) -> NDArray[Any]:
    """The costs (n, K) that the true labels give; rows without a true label have those of ``cost``, or NaN.

    >>> with_costs_of(np.array([1, -1]), np.array([[0.0, 1.0], [0.5, 0.0]]), [[0.1, 0.2], [0.3, 0.4]])
    array([[0.5, 0. ],
           [0.3, 0.4]])
    """
    known = (codes != UNKNOWN)[:, None]
    rows = np.where(known, matrix[codes], np.nan)
    if cost is None:
        return rows
    given = as_cost_array(cost)
    return given if given.shape != rows.shape else np.where(known, rows, given)  # another shape is refused later


def truths_of(costs: NDArray[np.float32], matrix: NDArray[np.float32]) -> Codes:
    """The column of the true label of each row of ``costs``, both scaled to [0, 1]; NaN costs fit any label.

    -1 where several labels fit. An InputError if a row of costs is not a row of the matrix.

    >>> truths_of(np.array([[0.5, 0.0], [np.nan, np.nan]]), np.array([[0.0, 1.0], [0.5, 0.0]])).tolist()
    [1, -1]
    """
    found: dict[bytes, int] = {}
    codes = np.empty(len(costs), np.int64)
    for row, known in enumerate(costs):
        key = known.tobytes()
        if key not in found:
            fits = np.flatnonzero((np.isnan(known) | (np.abs(matrix - known) <= TOLERANCE)).all(axis=1))
            if not len(fits):
                raise InputError(
                    f"price_of_truth needs costs that are rows of cost_matrix (0/1 costs without one), but row {row} "
                    "is not. Pass the cost_matrix of the data to the learner, or leave out price_of_truth."
                )
            found[key] = int(fits[0]) if len(fits) == 1 else UNKNOWN
        codes[row] = found[key]
    return codes


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
