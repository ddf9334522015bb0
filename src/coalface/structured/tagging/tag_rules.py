"""Rules of a tag set: which tag may follow which in a prediction, and what a wrong tag costs."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data import by_label
from coalface.errors import InputError
from coalface.structured.kernels.tagging import TagRules
from coalface.structured.tagging.spans import OUTSIDE

_MARKS = {"bio": "BI", "bilou": "BILU"}  # by scheme
_OPEN = {"bio": "", "bilou": "BI"}  # marks after which the span must continue
_COST_UNITS = 2.0**24


def tag_rules(classes: NDArray[np.str_], cost_matrix: Any, scheme: str | None) -> TagRules:
    """The rules as the compiled tagger reads them; an InputError if tags, costs and scheme do not fit together."""
    check_scheme(scheme)
    costs = _tag_costs(by_label(cost_matrix, classes, "cost_matrix", rows=True), len(classes))
    return TagRules(_allowed_tags(tuple(classes.tolist()), scheme), costs)


def check_scheme(scheme: str | None) -> None:
    """Raise an InputError unless ``constraints`` names a known scheme, or is None."""
    if scheme not in (None, *_MARKS):
        raise InputError(f"constraints must be None, 'bio' or 'bilou', got {scheme!r}.")


def _tag_costs(cost_matrix: Any, n_tags: int) -> NDArray[np.float32]:
    """The matrix as 32-bit numbers; without one, a right tag costs 0 and a wrong one 1.

    Costs are rounded to multiples of 2 ** -24, so that their sums are exact in any order.

    >>> _tag_costs(None, 2).tolist(), _tag_costs([[0, 0.5], [1, 0]], 2).tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [[0.0, 0.5], [1.0, 0.0]])
    """
    try:
        costs = np.asarray(1.0 - np.eye(n_tags) if cost_matrix is None else cost_matrix, np.float64)
    except (TypeError, ValueError):
        kind = type(cost_matrix).__name__
        raise InputError(f"cost_matrix must be {n_tags} x {n_tags} numbers, got a {kind} of something else.") from None
    if costs.shape != (n_tags, n_tags):
        raise InputError(f"cost_matrix must be {n_tags} x {n_tags} numbers, by tags, got shape {costs.shape}.")
    if not ((costs >= 0.0) & (costs <= 1.0)).all() or costs.diagonal().any():
        raise InputError(
            f"cost_matrix must lie in [0, 1] with 0 for every right tag, got {costs.min():g} to {costs.max():g} and up "
            f"to {costs.diagonal().max():g} on its diagonal. Divide it by its largest cost."
        )
    return np.ascontiguousarray(np.round(costs * _COST_UNITS) / _COST_UNITS, np.float32)


@lru_cache(maxsize=8)  # every prediction needs them, and with hundreds of tags they take a second
def _allowed_tags(classes: tuple[str, ...], scheme: str | None) -> NDArray[np.bool_]:
    """Which tag may follow which, as (2, K + 1, K).

    The first index is 1 for the last word of a sentence, which may not leave a span open. The second is the previous
    tag, or K before the first word.

    >>> _allowed_tags(("B-X", "I-X", "O"), "bio")[0].astype(int)
    array([[1, 1, 1],
           [1, 1, 1],
           [1, 0, 1],
           [1, 0, 1]])
    """
    allowed = np.ones((2, len(classes) + 1, len(classes)), np.bool_)
    if scheme is None:
        return allowed
    parts = [_parts_in_scheme(tag, scheme) for tag in classes]
    open_marks, names = _OPEN[scheme], list(classes)
    for before, (mark_before, kind_before) in enumerate([*parts, (OUTSIDE, "")]):
        for tag, (mark, kind) in enumerate(parts):
            inside = mark_before in "BI" and kind == kind_before
            must_continue = mark_before in open_marks
            allowed[0, before, tag] = inside if mark in "IL" else not must_continue
            allowed[1, before, tag] = allowed[0, before, tag] and mark not in open_marks
    _check_no_dead_end(allowed, names, scheme)
    return allowed


def _parts_in_scheme(tag: str, scheme: str) -> tuple[str, str]:
    mark, dash, kind = tag.partition("-")
    if tag != OUTSIDE and not (dash and kind and len(mark) == 1 and mark in _MARKS[scheme]):
        forms = ", ".join(f"{mark}-KIND" for mark in _MARKS[scheme])
        raise InputError(f"A tag must be O or one of {forms} with constraints={scheme!r}, got {tag!r}.")
    return (OUTSIDE, "") if tag == OUTSIDE else (mark, kind)


def _check_no_dead_end(allowed: NDArray[np.bool_], names: list[str], scheme: str) -> None:
    """Raise an InputError if no tag is allowed after some tag, or at the end of a sentence."""
    stuck = np.argwhere(~allowed.any(axis=2))
    if len(stuck):
        before = int(stuck[0, 1])
        where = f"after {names[before]!r}" if before < len(names) else "at the beginning"
        raise InputError(
            f"No tag can end a sentence {where} with constraints={scheme!r} and the tags {names}. Name the missing "
            "ones too, in classes.",
            remedy={"classes": None},
        )
