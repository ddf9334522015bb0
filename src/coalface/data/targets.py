"""The training targets: which labels there are, and the costs that ``y`` or ``cost`` give each example."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale, as_cost_array, check_cost_matrix, costs_from_labels
from coalface.data.labels import label_array
from coalface.errors import InputError, in_one_line


def labels_of(y: Any, cost: Any, classes: Any, cost_matrix: Any) -> NDArray[Any] | None:
    """The labels that occur in ``y``; None where ``classes`` or ``cost`` defines the labels.

    >>> labels_of(["b", "a", "b"], None, None, None)
    array(['a', 'b'], dtype='<U1')
    """
    if classes is not None or cost is not None or y is None:
        return None
    present = label_array(np.unique(_checked_labels(y)))
    if cost_matrix is None:
        return present
    n_labels = len(check_cost_matrix(cost_matrix))
    if len(present) == n_labels:
        return present
    if present.dtype.kind in "iu" and present.min() >= 0 and present.max() < n_labels:
        return np.arange(n_labels)
    raise InputError(f"cost_matrix has {n_labels} rows but y has {len(present)} labels; pass classes=[...] as well.")


def first_labels(classes: Any, cost: Any, cost_matrix: Any) -> NDArray[Any]:
    """The labels of a learner that receives its first batch."""
    if classes is not None:
        return label_array(classes)
    if cost is not None:
        return label_array(np.arange(as_cost_array(cost).shape[1]), "the columns of cost")
    if cost_matrix is not None:
        return np.arange(len(check_cost_matrix(cost_matrix)))
    raise InputError("classes must be passed on the first call to partial_fit, e.g. classes=['a', 'b'].")


def given_costs(
    y: Any, cost: Any, n_rows: int, classes: NDArray[Any], cost_matrix: Any, scale: CostScale
) -> NDArray[Any]:
    """The costs (n, K) on the user's scale: ``cost`` itself, or those of the class labels ``y``."""
    if cost is not None:
        return as_cost_array(cost)
    require_target(y, cost)
    labels = _checked_labels(y)
    if len(labels) != n_rows:
        raise InputError(f"y must have one label per row of X, {n_rows}, got {len(labels)}: inconsistent numbers.")
    if cost_matrix is not None:
        return costs_from_labels(labels, classes, cost_matrix)
    return scale.from_unit(costs_from_labels(labels, classes))


def require_target(y: Any, cost: Any) -> None:
    """Raise an InputError if there are neither class labels nor costs."""
    if y is None and cost is None:
        raise InputError("CoalClassifier requires y to be passed, but the target y is None; or pass cost=.")


def _checked_labels(y: Any) -> NDArray[Any]:
    """Class labels as one array."""
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import column_or_1d

    try:
        labels = column_or_1d(y, warn=True)
        with np.errstate(invalid="ignore"):
            check_classification_targets(labels)
    except ValueError as problem:
        raise InputError(f"y must be one class label per row: {in_one_line(problem)}.") from None
    if labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels):
        labels = labels.astype(str)
    return np.asarray(labels)
