"""The training targets: which labels there are, and the costs that ``y`` or ``cost`` give each example."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale, as_cost_array, check_cost_matrix, costs_from_labels
from coalface.data.frames import by_label, listed, named_columns
from coalface.data.labels import label_array, label_codes, refuse_mixed
from coalface.errors import InputError, counted, in_one_line


def labels_of(y: Any, cost: Any, classes: Any, cost_matrix: Any) -> NDArray[Any] | None:
    """The labels that occur in ``y``, in ascending order; None where ``classes`` or ``cost`` defines the labels.

    With ``cost`` or ``cost_matrix``, they name its columns, unless it names them itself.

    >>> labels_of(["b", "a", "b"], None, None, None), labels_of(["b", "a"], [[0.0, 1.0], [1.0, 0.0]], None, None)
    (array(['a', 'b'], dtype='<U1'), array(['a', 'b'], dtype='<U1'))
    """
    if classes is not None or y is None:
        return None
    present = label_array(np.unique(_checked_labels(y)), "y")
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
    raise InputError("classes must be passed on the first call to partial_fit, e.g. classes=['a', 'b'].")


def given_costs(
    y: Any, cost: Any, n_rows: int, classes: NDArray[Any], cost_matrix: Any, scale: CostScale
) -> NDArray[Any]:
    """The costs (n, K) on the user's scale: ``cost`` itself, or those of the class labels ``y``."""
    require_target(y, cost)
    labels = None if y is None else _checked_labels(y)
    if labels is not None and len(labels) != n_rows:
        raise InputError(f"y must have one label per row of X, {n_rows}, got {len(labels)}: inconsistent numbers.")
    if cost is not None:
        if labels is not None:
            label_codes(labels, classes)  # y must name labels, although the costs are learned
        return as_cost_array(by_label(cost, classes, "cost"))
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

    refuse_mixed(y, "y")
    try:
        labels = column_or_1d(y, warn=True)
        with np.errstate(invalid="ignore"):
            check_classification_targets(labels)
    except ValueError as problem:
        raise InputError(f"y must be one class label per row: {in_one_line(problem)}.") from None
    if labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels):
        labels = labels.astype(str)
    return np.asarray(labels)
