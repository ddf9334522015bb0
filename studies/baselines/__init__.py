"""What users might choose instead of COAL, as learners of the studies that name ``plugins = ["baselines"]``.

All of them run on the same data and checkpoints as ``simulate``. ``random-costs``, ``random-forest``,
``gradient-boosting``, ``knn``, ``asf``, ``vw``, ``regcb-epochs`` and ``online-regression`` ask for costs; ``margin``,
``cost-weighted-uncertainty``, ``cost-embedding``, ``badge`` and ``iwal`` ask for true labels, and each answer counts as
all K costs of its example.
"""

from .epochs import REGCB_EPOCHS
from .iwal import IWAL
from .labels import BADGE, COST_EMBEDDING, COST_WEIGHTED, MARGIN
from .online_regression import ONLINE_REGRESSION
from .passive import RANDOM_COSTS
from .regressors import GRADIENT_BOOSTING, KNN, RANDOM_FOREST
from .selectors import ASF
from .vw import VW

LEARNERS = (
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
