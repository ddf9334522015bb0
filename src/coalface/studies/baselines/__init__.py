"""What users would pick instead of COAL, run under the protocol of ``simulate``: the same data, budgets and curves.

``random-costs`` and ``vw`` ask for single costs; ``margin``, ``cost-weighted-uncertainty`` and ``cost-embedding`` ask
for true labels, and each answer counts as all K costs of its example.
"""

from coalface.studies.baselines.baseline import Rival
from coalface.studies.baselines.labels import COST_EMBEDDING, COST_WEIGHTED, MARGIN
from coalface.studies.baselines.random_costs import RANDOM_COSTS
from coalface.studies.baselines.vw import VW

__all__ = ["RIVALS", "Rival"]

RIVALS: dict[str, Rival] = {rival.name: rival for rival in (RANDOM_COSTS, VW, MARGIN, COST_WEIGHTED, COST_EMBEDDING)}
