"""Notices labels that were right many times and that a learner never learned to predict."""

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from coalface.errors import UnlearnedWarning, listed
from coalface.learner.parameters import Audits

_OFTEN = 20  # examples with a label, in the later half of what was learned
_RARE = 0.1  # of these examples: a more frequent label that is never predicted may just never be the likeliest one
_WITH_OTHER_AUDITS = "Pass audits='loss', or raise mellowness or the rate of audits"


def rare_labels(truth: NDArray[np.integer], n_labels: int) -> NDArray[np.int64]:
    """The labels that are right on some examples of the later half, but on less than a tenth of them.

    >>> rare_labels(np.tile([0] * 19 + [1], 100), n_labels=3)
    array([1])
    """
    later = truth[len(truth) // 2 :]
    often = np.bincount(later, minlength=n_labels)
    return np.flatnonzero((often >= _OFTEN) & (often < _RARE * len(later)))


def warn_of_unlearned(
    classes: NDArray[np.generic],
    truth: NDArray[np.integer],
    predicted: Callable[[NDArray[np.int64]], NDArray[np.integer]],
    *,
    on_budget: bool,
    audits: Audits,
) -> None:
    """Warn of rare labels that are not predicted anywhere in the later half where they are right.

    ``predicted`` returns the predicted label of some rows; it is asked only about rows with a rare label.
    """
    rare = rare_labels(truth, len(classes))
    rows = np.flatnonzero(np.isin(truth, rare))
    rows = rows[rows >= len(truth) // 2]
    if not len(rows):
        return
    right = truth[rows][predicted(rows) == truth[rows]]
    unlearned = {classes[k].item(): int((truth[rows] == k).sum()) for k in rare if k not in right}
    if unlearned:
        counts = ", ".join(f"{label!r} ({number} examples)" for label, number in unlearned.items())
        more = "Raise mellowness or the rate of audits" if audits.by == "loss" else _WITH_OTHER_AUDITS
        remedy = "Raise the budget" if on_budget else more
        warnings.warn(
            f"{listed(list(unlearned))} is not predicted anywhere in the later half of the examples where it is right: "
            f"{counts}. {remedy}.",
            UnlearnedWarning,
            stacklevel=5,
        )
