"""The features that move the predicted cost of a label most, with their names."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.encoding.names import EncodedNames
from coalface.data.labels import label_codes
from coalface.data.numbers import whole_number
from coalface.errors import InputError
from coalface.learner.estimator import CoalClassifier
from coalface.learner.state import scale_of
from coalface.models.interactions import columns_of


class TopFeature(NamedTuple):
    """A feature and its effect on the predicted cost of a label.

    The online model's effect is weight x typical size, in the unit of costs: a negative one speaks for the label. The
    size is the root mean square over the rows learned, so that rare features count less. A forest's effect is its share
    of the splits, which has no sign; ``unit`` is then "share of splits".

    >>> TopFeature("wings", -0.25).unit
    'cost'
    """

    name: str
    effect: float
    unit: str = "cost"


def top_features(learner: CoalClassifier, label: Any, n: int = 10, *, feature_names: Any = None) -> list[TopFeature]:
    """The features that move the predicted cost of a label most; with the online model or a forest.

    A negative effect speaks for the label. ``feature_names`` are by default those of the data frame that the learner
    learned from; without names, features have the numbers of their columns.

    >>> learner = CoalClassifier(["walk", "fly"], model="online")
    >>> _ = learner.fit([[1.0, 0.0], [0.0, 1.0]] * 20, ["walk", "fly"] * 20)
    >>> [(one.name, one.effect < 0) for one in top_features(learner, "fly", feature_names=["legs", "wings"])]
    [('legs', False), ('wings', True)]
    """
    model, names, wanted = learner.begin().model_, feature_names, whole_number("n", n)
    if names is None:
        names = EncodedNames(learner.encoder_) if hasattr(learner, "encoder_") else None
        names = getattr(learner, "feature_names_in_", names)
    column = int(label_codes([label], learner.classes_)[0])
    with model.lock:
        found = model.feature_effects(column)
    if found is None:
        raise InputError(
            f"top_features needs an online model or a forest, got {model.predicting!r}, which has no number per "
            'feature. Train a learner with model="online".'
        )
    factor = scale_of(learner).span if found.unit == "cost" else 1.0
    order = np.lexsort((np.arange(len(found.effects)), -np.abs(found.effects)))[:wanted]
    return [
        TopFeature(_name(columns_of(int(found.features[i])), names), float(found.effects[i]) * factor, found.unit)
        for i in order.tolist()
    ]


def _name(columns: tuple[int, ...], names: Sequence[Any] | NDArray[np.object_] | None) -> str:
    """The name of a feature, or of a product of features; columns without a name have their number."""
    known = 0 if names is None else len(names)
    return " x ".join(str(names[one]) if names is not None and one < known else str(one) for one in columns)
