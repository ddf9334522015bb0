"""What users would pick instead of COAL, run under the protocol of ``simulate``: the same data, budgets and curves.

``random-costs`` and ``vw`` ask for single costs; ``margin``, ``cost-weighted-uncertainty`` and ``cost-embedding`` ask
for true labels, and each answer counts as all K costs of its example.
"""

from collections.abc import Mapping
from typing import Any

from coalface.data.dataset import CostDataset
from coalface.errors import InputError
from coalface.evaluation.curve import Curve
from coalface.experiments.rivals.labels import COST_EMBEDDING, COST_WEIGHTED, MARGIN
from coalface.experiments.rivals.problem import Progress
from coalface.experiments.rivals.random_costs import RANDOM_COSTS
from coalface.experiments.rivals.rival import Rival
from coalface.experiments.rivals.vw import VW

__all__ = ["RIVALS", "Rival", "run_rival"]

RIVALS: dict[str, Rival] = {rival.name: rival for rival in (RANDOM_COSTS, VW, MARGIN, COST_WEIGHTED, COST_EMBEDDING)}


def run_rival(
    learner: str,
    parameters: Mapping[str, Any],
    train: CostDataset,
    test: CostDataset,
    order: Any,
    budgets: Any = "doubling",
    random_state: int = 0,
    progress: Progress | None = None,
) -> Curve:
    """The curve of one run of a rival over the rows ``order`` of ``train``.

    ``progress(done, total)`` is called now and then; what it raises ends the run.

    >>> data = CostDataset.from_labels([[0.0, 1.0], [1.0, 0.0]] * 20, ["a", "b"] * 20)
    >>> curve = run_rival("random-costs", {"share": 0.5}, data, data, order=range(40))
    >>> int(curve.rounds[-1]), float(curve.test_cost[-1])
    (40, 0.0)
    """
    if learner not in RIVALS:
        raise InputError(f"learner must be one of {', '.join(map(repr, RIVALS))}, got {learner!r}.")
    return RIVALS[learner].run(parameters, train, test, order, budgets, random_state, progress)
