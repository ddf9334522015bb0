"""Standardisation of features by the mean and the deviation of the training rows."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray


def standardised(X: NDArray[Any], train: NDArray[Any]) -> NDArray[np.float64]:
    """Columns with mean 0 and deviation 1 over the rows ``train``; NaN becomes the median, a constant column 0.

    >>> X = np.array([[1.0, 5.0], [3.0, 5.0], [np.nan, 5.0], [4.0, 6.0]])
    >>> standardised(X, np.arange(3))
    array([[-1.22474487,  0.        ],
           [ 1.22474487,  0.        ],
           [ 0.        ,  0.        ],
           [ 2.44948974,  0.        ]])
    """
    values = np.array(X, dtype=np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a column may be NaN in all training rows
        median = np.nan_to_num(np.nanmedian(values[train], axis=0))
    values = np.where(np.isnan(values), median, values)
    values -= values[train].mean(axis=0)
    deviation = values[train].std(axis=0)
    # The computed mean of equal numbers differs by rounding, so the deviation alone cannot show a constant column.
    constant = values[train].max(axis=0) - values[train].min(axis=0) == 0
    scaled: NDArray[np.float64] = np.divide(values, deviation, out=np.zeros_like(values), where=~constant)
    return scaled
