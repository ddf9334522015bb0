"""Cost-sensitive classification that asks for as few costs as possible.

>>> from coalface import CoalClassifier
>>> learner = CoalClassifier(classes=["low", "high"])
>>> learner.round_
1

Names are loaded when they are first used, so that ``coalface --help`` is quick.
"""

import logging
from typing import TYPE_CHECKING

from coalface.doors import door_of
from coalface.version import __version__

if TYPE_CHECKING:
    from coalface.data.dataset import CostDataset
    from coalface.data.encoding.encoder import Encoder
    from coalface.data.formats.readers import read_dataset
    from coalface.data.streams.blocks import read_blocks
    from coalface.data.trees import tree_cost_matrix, tree_costs
    from coalface.evaluate.curve import Curve
    from coalface.evaluate.report import EvaluationReport, evaluation_report
    from coalface.evaluate.simulation import simulate
    from coalface.learner.budget import Budget
    from coalface.learner.estimator import CoalClassifier
    from coalface.learner.monitor import Saving
    from coalface.learner.parameters import Abstain, Audits, Coal
    from coalface.learner.pipeline import ActivePipeline
    from coalface.models.committee import CommitteeModel
    from coalface.models.contract import CostModel
    from coalface.models.forest import ForestModel
    from coalface.models.online import OnlineModel
    from coalface.models.ridge import RidgeModel
    from coalface.models.shared import SharedModel
    from coalface.rounds.event_log import SqlLedger
    from coalface.rounds.ledger import JsonLinesLedger, MemoryLedger
    from coalface.rounds.queries import Actions, CostRanges, Queries
    from coalface.rounds.round import Round
else:
    __getattr__, __dir__ = door_of(__name__)

logging.getLogger("coalface").addHandler(logging.NullHandler())  # a program decides what it shows

__all__ = [
    "Abstain",
    "Actions",
    "ActivePipeline",
    "Audits",
    "Budget",
    "Coal",
    "CoalClassifier",
    "CommitteeModel",
    "CostDataset",
    "CostModel",
    "CostRanges",
    "Curve",
    "Encoder",
    "EvaluationReport",
    "ForestModel",
    "JsonLinesLedger",
    "MemoryLedger",
    "OnlineModel",
    "Queries",
    "RidgeModel",
    "Round",
    "Saving",
    "SharedModel",
    "SqlLedger",
    "__version__",
    "evaluation_report",
    "read_blocks",
    "read_dataset",
    "simulate",
    "tree_cost_matrix",
    "tree_costs",
]
