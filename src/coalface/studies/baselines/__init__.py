"""Baselines: what users might choose instead of COAL, run on the same data and checkpoints as ``simulate``.

``random-costs``, ``random-forest``, ``gradient-boosting`` and ``knn`` ask for costs and need no other package.
A plug-in of a study can add others.
"""

from coalface.studies.baselines.baseline import Baseline
from coalface.studies.baselines.passive import RANDOM_COSTS
from coalface.studies.baselines.regressors import GRADIENT_BOOSTING, KNN, RANDOM_FOREST

__all__ = ["BASELINES", "Baseline"]

BASELINES: dict[str, Baseline] = {
    baseline.name: baseline for baseline in (RANDOM_COSTS, RANDOM_FOREST, GRADIENT_BOOSTING, KNN)
}
