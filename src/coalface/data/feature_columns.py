"""Checks that the columns of X match earlier calls: columns may be added, never removed or renamed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.errors import InputError


def check_width(rows: Rows, estimator: Any) -> None:
    """Raise an InputError if the rows have fewer columns than the estimator has seen."""
    seen = getattr(estimator, "n_features_in_", 0)
    if rows.width < seen:
        raise InputError(
            f"X has {rows.width} features, but {type(estimator).__name__} is expecting {seen} features as input; "
            "later rows may have more features, never fewer."
        )


def check_feature_names(estimator: Any, X: Any) -> NDArray[np.object_] | None:
    """The column names of X, if any; they must begin with the names seen before."""
    if X is None or (not hasattr(X, "columns") and not hasattr(estimator, "feature_names_in_")):
        return None  # the common case, without importing anything
    from sklearn.utils.validation import _check_feature_names, _get_feature_names

    names = _get_feature_names(X)
    seen = getattr(estimator, "feature_names_in_", None)
    if seen is None and not hasattr(estimator, "n_features_in_"):
        return None if names is None else np.asarray(names)
    if names is not None and seen is not None and len(names) > len(seen) and (names[: len(seen)] == seen).all():
        return np.asarray(names)
    _check_feature_names(estimator, X, reset=False)
    return None
