"""The training targets: which labels there are, and the costs that ``y``, ``cost`` or true labels give each example.

One true label gives the costs of all labels, by the matrix of known costs.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale, as_cost_array, check_cost_matrix
from coalface.data.encoding.cells import is_missing
from coalface.data.frames import by_label, in_memory, named_columns
from coalface.data.labels import label_array, label_codes, refuse_mixed, warn_of_alike
from coalface.errors import InputError, counted, in_one_line, listed

UNKNOWN = -1  # the column of a true label that was not given
TOLERANCE = 1e-6  # of costs in [0, 1]: matrices and costs may have been stored as float32


def labels_of(y: Any, cost: Any, classes: Any, cost_matrix: Any) -> NDArray[Any] | None:
    """The labels that occur in ``y``, in ascending order; None where ``classes`` or ``cost`` defines the labels.

    With ``cost`` or ``cost_matrix``, they name its columns, unless it names them itself.

    >>> labels_of(["b", "a", "b"], None, None, None), labels_of(["b", "a"], [[0.0, 1.0], [1.0, 0.0]], None, None)
    (array(['a', 'b'], dtype='<U1'), array(['a', 'b'], dtype='<U1'))
    """
    if classes is not None or y is None:
        return None
    present = label_array(np.unique(_checked_labels(y)), "y")
    warn_of_alike(present, "y")
    if cost is not None:
        return None if named_columns(cost) is not None else _names_of(present, as_cost_array(cost).shape[1], "cost")
    if cost_matrix is None:
        return present
    named = named_columns(cost_matrix)
    if named is not None:
        check_cost_matrix(cost_matrix, named)
        return named
    return _names_of(present, len(check_cost_matrix(cost_matrix)), "cost_matrix")


def _names_of(present: NDArray[Any], n_labels: int, table: str) -> NDArray[Any]:
    """The labels of y as the names of a table's columns; numbers from 0 name them all, even if some do not occur."""
    if len(present) == n_labels:
        return present
    if present.dtype.kind in "iu" and present.min() >= 0 and present.max() < n_labels:
        return np.arange(n_labels)
    raise InputError(
        f"{table} has {counted(n_labels, 'column')} but y has {counted(len(present), 'label')}, "
        f"{listed(present.tolist())}. Pass "
        "classes=[...], in the order of the columns."
    )


def first_labels(classes: Any, cost: Any, cost_matrix: Any) -> NDArray[Any]:
    """The labels of a learner that receives its first batch."""
    if classes is not None:
        return label_array(classes)
    for table in (cost, cost_matrix):
        if (named := named_columns(table)) is not None:
            return named
    if cost is not None:
        return label_array(np.arange(as_cost_array(cost).shape[1]), "the columns of cost")
    if cost_matrix is not None:
        return np.arange(len(check_cost_matrix(cost_matrix)))
    raise InputError(
        "classes must be passed on the first call to partial_fit, e.g. classes=['a', 'b']. Pass all labels."
    )


def given_costs(
    y: Any,
    cost: Any,
    n_rows: int,
    classes: NDArray[Any],
    cost_matrix: Any,
    scale: CostScale,
    *,
    strange: bool = False,
) -> NDArray[Any]:
    """The costs (n, K) on the user's scale: ``cost`` itself, or those of the class labels ``y``.

    With ``strange``, ``y`` may have labels that ``classes`` lacks: every answer then costs the upper bound.
    """
    require_target(y, cost)
    labels = None if y is None else _checked_labels(y)
    if labels is not None and len(labels) != n_rows:
        raise InputError(
            f"y must have one label per row of X, {n_rows}, got {len(labels)}: inconsistent numbers. Pass both for the "
            "same rows."
        )
    if cost is not None:
        if labels is not None:
            label_codes(labels, classes)  # y must name labels, although the costs are learned
        return as_cost_array(by_label(cost, classes, "cost"))
    truth = np.asarray(labels)
    alike = (truth.dtype.kind in "US") == (classes.dtype.kind in "US")  # else y is not what was learned
    known = np.isin(truth, classes) if strange and alike else np.ones(n_rows, np.bool_)
    costs = np.full((n_rows, len(classes)), scale.ceiling)
    costs[known] = costs_by_truth(cost_matrix, classes, scale)[label_codes(truth[known], classes)]
    return costs


def require_target(y: Any, cost: Any) -> None:
    """Raise an InputError if there are neither class labels nor costs."""
    if y is None and cost is None:
        raise InputError("CoalClassifier requires y to be passed, but the target y is None; or pass cost=.")


def _checked_labels(y: Any) -> NDArray[Any]:
    """Class labels as one array."""
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import column_or_1d

    y = in_memory(y, "y")
    refuse_mixed(y, "y")
    try:
        labels = column_or_1d(y, warn=True)
        with np.errstate(invalid="ignore"):
            check_classification_targets(labels)
    except ValueError as problem:
        raise InputError(f"y must be one class label per row: {in_one_line(problem)}. Correct it.") from None
    if labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels):
        labels = labels.astype(str)
    return np.asarray(labels)


Codes = NDArray[np.int64]


def truth_codes(truth: Any, n_rows: int, classes: NDArray[Any]) -> Codes:
    """The column of each true label; -1 for None or NaN, which mean "not asked" or "can't tell".

    >>> truth_codes(["dog", None, "cat"], 3, np.array(["cat", "dog"])).tolist()
    [1, -1, 0]
    """
    labels = truth.tolist() if isinstance(truth, np.ndarray) else truth
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise InputError(f"truth must be a list with one true label per row of X, got {truth!r}. Pass a list.")
    listed = list(labels)
    if len(listed) != n_rows:
        raise InputError(
            f"truth must have one true label per row of X, {n_rows}, got {len(listed)}. Write None where it is unknown."
        )
    given = [row for row, label in enumerate(listed) if not is_missing(label)]
    codes = np.full(n_rows, UNKNOWN, np.int64)
    codes[given] = label_codes(
        [listed[row].item() if isinstance(listed[row], np.generic) else listed[row] for row in given], classes
    )
    return codes


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
