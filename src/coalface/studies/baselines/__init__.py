"""Baselines: what users might choose instead of COAL, run on the same data and checkpoints as ``simulate``.

``random-costs``, ``random-forest``, ``gradient-boosting``, ``knn``, ``asf``, ``vw``, ``regcb-epochs`` and
``online-regression`` ask for costs; ``margin``, ``cost-weighted-uncertainty``, ``cost-embedding``, ``badge`` and
``iwal`` ask for true labels, and each answer counts as all K costs of its example.
"""

from coalface.studies.baselines.baseline import Baseline
from coalface.studies.baselines.epochs import REGCB_EPOCHS
from coalface.studies.baselines.iwal import IWAL
from coalface.studies.baselines.labels import BADGE, COST_EMBEDDING, COST_WEIGHTED, MARGIN
from coalface.studies.baselines.online_regression import ONLINE_REGRESSION
from coalface.studies.baselines.passive import RANDOM_COSTS
from coalface.studies.baselines.regressors import GRADIENT_BOOSTING, KNN, RANDOM_FOREST
from coalface.studies.baselines.selectors import ASF
from coalface.studies.baselines.vw import VW

__all__ = ["BASELINES", "Baseline"]

BASELINES: dict[str, Baseline] = {
    baseline.name: baseline
    for baseline in (
        RANDOM_COSTS,
        RANDOM_FOREST,
        GRADIENT_BOOSTING,
        KNN,
        ASF,
        VW,
        REGCB_EPOCHS,
        ONLINE_REGRESSION,
        MARGIN,
        COST_WEIGHTED,
        COST_EMBEDDING,
        BADGE,
        IWAL,
    )
}
