"""What single features do to the predicted cost of a label, read from the weights of a model or from its trees."""

import numpy as np

from coalface.kernels.codes import ADAX
from coalface.kernels.features import INTERCEPT
from coalface.kernels.forest import LEAF
from coalface.kernels.state import INVERSE_SCALE, SLOTS_USED, SQUARES, WEIGHT, Model, Settings
from coalface.kernels.tree_reading import Trees
from coalface.models.values import FeatureEffects

_NO_EFFECTS = FeatureEffects(np.zeros(0, np.int64), np.zeros(0))


def online_effects(model: Model, settings: Settings, label: int) -> FeatureEffects:
    """The weight of each feature times its typical size; a weight is the effect of the largest size seen.

    The typical size is the root mean square over the rows from which the label learned. With "adagrad", rows count by
    their squared errors, because only these sums are kept.
    """
    used = int(model.counters[SLOTS_USED])
    learned = model.updates[label] if settings.accumulator == ADAX else 4.0 * model.squared_residuals[label]
    if learned <= 0.0:
        return _NO_EFFECTS
    cells, features = model.cells[1:used, :, label].astype(np.float64), model.features[1:used]
    kept = (features != INTERCEPT) & (cells[:, WEIGHT] != 0.0)
    cells = cells[kept]
    typical = np.minimum(np.sqrt(cells[:, SQUARES] / learned) * cells[:, INVERSE_SCALE], 1.0)
    return FeatureEffects(features[kept].astype(np.int64), cells[:, WEIGHT] * typical)


def split_shares(trees: Trees | None) -> FeatureEffects:
    """The share of all splits that each column has; no features before the first answer."""
    if trees is None:
        return _NO_EFFECTS
    counts = np.bincount(trees.columns[trees.columns != LEAF])
    columns = np.flatnonzero(counts)
    shares = counts[columns] / max(int(counts.sum()), 1)
    return FeatureEffects(columns, shares, "share of splits")
