"""Who joins a committee: the kinds of models beside the online model, and the rows that suit them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from coalface.data.rows import Rows
from coalface.errors import InputError
from coalface.kernels.state import LARGEST_VALUE, MOST_IMPLIED, Settings
from coalface.models.classes import ClassModel
from coalface.models.contract import CostModel
from coalface.models.forest import ForestModel
from coalface.models.joint import JointModel
from coalface.models.ridge import RidgeModel

JOINING: dict[str, Callable[[], CostModel]] = {
    "forest": ForestModel,
    "ridge": RidgeModel,
    "rbf": partial(RidgeModel, kernel="rbf"),
    "classes": ClassModel,
    "joint": JointModel,
}
FIRST_TO_SERVE = "rbf"
_WITH_TRUTHS = "classes"  # joins if true labels can be asked for, and only on sparse or wide rows
ON_SPARSE = frozenset({_WITH_TRUTHS, "joint"})  # those that learn sparse and wide rows
_MOST_COLUMNS = 2000
_MOST_LABELS = MOST_IMPLIED  # each takes 0.5 MB in a kernel regression, and a forest
_LEAST_DENSITY = 0.05  # share of non-zeros in a row that counts as dense


class Member(NamedTuple):
    """A member of a committee: its name, the mean cost of its recent answers, whether it leads or was dropped."""

    name: str
    cost: float
    leads: bool
    dropped: bool


def check_joining(joining: Sequence[str]) -> None:
    """Raise an InputError unless these are names of different kinds of members."""
    if any(name not in JOINING for name in joining) or len(set(joining)) < len(joining):
        raise InputError(
            f"joining must list some of {', '.join(map(repr, JOINING))}, each once, got {joining!r}. Leave the others "
            "out."
        )


def names_that_join(joining: Sequence[str], first: Rows, settings: Settings) -> list[str]:
    """The names of those who join, given the first answered row."""
    is_dense = np.count_nonzero(first.values) >= _LEAST_DENSITY * first.width
    if is_dense and suit_all(first, settings.n_labels):
        return [name for name in joining if name != _WITH_TRUTHS]
    few, with_truths = settings.n_labels <= _MOST_LABELS, settings.price_of_truth < np.inf
    return [name for name in joining if few and name in ON_SPARSE and (with_truths or name != _WITH_TRUTHS)]


def first_leader(joined: Sequence[str], n_labels: int, *, serving: bool) -> int:
    """The place of the member that leads first: the next after the online model or, in serving, the kernel regression.

    A served row shows one cost, and the leader chooses which. A forest expects a label that was never served on such
    rows to cost what it costs elsewhere, so it may not serve it for long. Of two labels, both are served soon.

    >>> first_leader(("forest", "rbf"), 10, serving=False), first_leader(("forest", "rbf"), 10, serving=True)
    (1, 2)
    """
    if serving and n_labels > 2 and FIRST_TO_SERVE in joined:
        return 1 + list(joined).index(FIRST_TO_SERVE)
    return min(1, len(joined))


def suit_all(rows: Rows, n_labels: int) -> bool:
    """Whether every kind of member can learn these rows."""
    small = rows.width <= _MOST_COLUMNS and n_labels <= _MOST_LABELS
    return small and bool(np.abs(rows.values).max(initial=0.0) <= LARGEST_VALUE)
