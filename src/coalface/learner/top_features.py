"""The features that move the predicted cost of a label most, with their names."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.numbers import whole_number
from coalface.errors import InputError
from coalface.models.contract import CostModel
from coalface.models.interactions import columns_of


class TopFeature(NamedTuple):
    """A feature and its effect on the predicted cost of a label.

    The online model's effect is weight x typical size, in the unit of costs: a negative one speaks for the label. The
    size is the root mean square over the rows learned, so that rare features count less. A forest's effect is its share
    of the splits, which has no sign; ``unit`` is then "share of splits".
    """

    name: str
    effect: float
    unit: str = "cost"


def top_features(
    model: CostModel, column: int, n: int, names: Sequence[Any] | NDArray[np.object_] | None, cost_range: float
) -> list[TopFeature]:
    """The ``n`` features of largest effect on the label in this column; an InputError if the model has none."""
    wanted = whole_number("n", n)
    with model.lock:
        found = model.feature_effects(column)
    if found is None:
        raise InputError(
            f"top_features needs an online model or a forest, got {model.predicting!r}, which has no number per "
            'feature. Train a learner with model="online".'
        )
    factor = cost_range if found.unit == "cost" else 1.0
    order = np.lexsort((np.arange(len(found.effects)), -np.abs(found.effects)))[:wanted]
    return [
        TopFeature(_name(columns_of(int(found.features[i])), names), float(found.effects[i]) * factor, found.unit)
        for i in order.tolist()
    ]


def _name(columns: tuple[int, ...], names: Sequence[Any] | NDArray[np.object_] | None) -> str:
    """The name of a feature, or of a product of features; columns without a name have their number."""
    known = 0 if names is None else len(names)
    return " x ".join(str(names[one]) if names is not None and one < known else str(one) for one in columns)
