"""Notices tags that a tagger has met many times and never learned to give."""

import warnings

import numpy as np
from numpy.typing import NDArray

from coalface.data.frames import listed
from coalface.errors import UnlearnedWarning
from coalface.learner.unlearned import rare_labels


def unlearned_tags(classes: NDArray[np.str_], truth: NDArray[np.int32], tags: NDArray[np.int32]) -> dict[str, int]:
    """Rare tags with some words in the later half that are never right there, with how often they occur.

    >>> truth = np.tile([0] * 19 + [1], 100)
    >>> unlearned_tags(np.array(["O", "NAME"]), truth, np.zeros(2000, np.int32))
    {'NAME': 50}
    """
    later = slice(len(truth) // 2, None)
    wanted, got = truth[later], tags[later]
    right = set(wanted[wanted == got].tolist())
    rare = [k for k in rare_labels(truth, len(classes)).tolist() if k not in right]
    return {classes[k].item(): int((wanted == k).sum()) for k in rare}


def warn_of_unlearned(
    classes: NDArray[np.str_], truth: NDArray[np.int32], tags: NDArray[np.int32], on_budget: bool
) -> None:
    """Warn if some tag was never learned."""
    found = unlearned_tags(classes, truth, tags)
    if not found:
        return
    counts = ", ".join(f"{tag!r} ({number} words)" for tag, number in found.items())
    remedy = "Raise the budget" if on_budget else "Raise mellowness or audit_rate"
    warnings.warn(
        f"In the later half of the words, {listed(list(found))} was never predicted where it is right: {counts}. "
        f"{remedy}, or learn more passes.",
        UnlearnedWarning,
        stacklevel=4,
    )
