"""Cost-sensitive classification that asks for as few costs as possible.

>>> from coalface import CoalClassifier
>>> learner = CoalClassifier(classes=["low", "high"])
>>> learner.round_
1

Names are loaded when they are first used, so that ``coalface --help`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coalface.data.dataset import CostDataset
    from coalface.data.readers import read_dataset
    from coalface.data.trees import tree_cost_matrix, tree_costs
    from coalface.evaluation.curve import Curve
    from coalface.evaluation.simulation import simulate
    from coalface.learner import CoalClassifier
    from coalface.ledger import JsonLinesLedger, MemoryLedger
    from coalface.ledger.sql import SqlLedger
    from coalface.oracle_learner import OracleCoalClassifier
    from coalface.queries import Queries, Saving
    from coalface.ranges import CostRanges
    from coalface.regressors.budget import Budget
    from coalface.ridge_learner import RidgeCoalClassifier

__version__ = "0.1.0"

_HOMES = {
    "Budget": "regressors.budget",
    "CoalClassifier": "learner",
    "CostDataset": "data.dataset",
    "CostRanges": "ranges",
    "Curve": "evaluation.curve",
    "JsonLinesLedger": "ledger",
    "MemoryLedger": "ledger",
    "OracleCoalClassifier": "oracle_learner",
    "Queries": "queries",
    "RidgeCoalClassifier": "ridge_learner",
    "Saving": "queries",
    "SqlLedger": "ledger.sql",
    "read_dataset": "data.readers",
    "simulate": "evaluation.simulation",
    "tree_cost_matrix": "data.trees",
    "tree_costs": "data.trees",
}
__all__ = [
    "Budget",
    "CoalClassifier",
    "CostDataset",
    "CostRanges",
    "Curve",
    "JsonLinesLedger",
    "MemoryLedger",
    "OracleCoalClassifier",
    "Queries",
    "RidgeCoalClassifier",
    "Saving",
    "SqlLedger",
    "read_dataset",
    "simulate",
    "tree_cost_matrix",
    "tree_costs",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'coalface' has no attribute {name!r}")
    return getattr(import_module(f"coalface.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
