"""Notices tags that a tagger has met many times and never learned to give."""

import warnings

import numpy as np
from numpy.typing import NDArray

from coalface.data.frames import listed
from coalface.errors import UnlearnedWarning

_OFTEN = 20  # words with a tag, in the later half of what was learned
_RARE = 0.1  # of these words: a more frequent tag that is never predicted may just never be the likeliest one


def unlearned_tags(classes: NDArray[np.str_], truth: NDArray[np.int32], tags: NDArray[np.int32]) -> dict[str, int]:
    """Rare tags with some words in the later half that are never right there, with how often they occur.

    >>> truth = np.tile([0] * 19 + [1], 100)
    >>> unlearned_tags(np.array(["O", "NAME"]), truth, np.zeros(2000, np.int32))
    {'NAME': 50}
    """
    later = slice(len(truth) // 2, None)
    wanted, got = truth[later], tags[later]
    n_tags = len(classes)
    often = np.bincount(wanted, minlength=n_tags)
    right = np.bincount(wanted[wanted == got], minlength=n_tags)
    unlearned = (often >= _OFTEN) & (often < _RARE * len(wanted)) & (right == 0)
    return {classes[k].item(): int(often[k]) for k in np.flatnonzero(unlearned)}


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
