"""How good a learner is: simulated runs and their curves, the evaluation of a trained learner, logged decisions.

What products and the command line use is ``__all__``; names are loaded when they are first used.

What products and the command line use is ``__all__``; names are loaded when they are first used.

What products and the command line use is ``__all__``; names are loaded when they are first used.

What products and the command line use is ``__all__``; names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from coalface.doors import door_of

if TYPE_CHECKING:
    from coalface.evaluate.checkpoints import (
        Checkpoint,
        CheckpointPlan,
        CheckpointRecorder,
        Checkpoints,
        checkpoint_costs,
        doubling_costs,
    )
    from coalface.evaluate.curve import Curve
    from coalface.evaluate.features import TopFeature, top_features
    from coalface.evaluate.logged import LoggedReport, evaluate_lines, evaluate_logged
    from coalface.evaluate.page import facts_of, notice_of, tables_of
    from coalface.evaluate.report import EvaluationReport, evaluation_report
    from coalface.evaluate.serving import ServedCurve, simulate_serving
    from coalface.evaluate.simulation import Order, Progress, simulate, simulate_blocks
    from coalface.evaluate.summary import (
        AXIS_LABELS,
        Summary,
        common_axis,
        last_crossings,
        panel,
        read_off,
        rules_panel,
        summarize,
    )
else:
    __getattr__, __dir__ = door_of(__name__)

__all__ = [
    "AXIS_LABELS",
    "Checkpoint",
    "CheckpointPlan",
    "CheckpointRecorder",
    "Checkpoints",
    "Curve",
    "EvaluationReport",
    "LoggedReport",
    "Order",
    "Progress",
    "ServedCurve",
    "Summary",
    "TopFeature",
    "checkpoint_costs",
    "common_axis",
    "doubling_costs",
    "evaluate_lines",
    "evaluate_logged",
    "evaluation_report",
    "facts_of",
    "last_crossings",
    "notice_of",
    "panel",
    "read_off",
    "rules_panel",
    "simulate",
    "simulate_blocks",
    "simulate_serving",
    "summarize",
    "tables_of",
    "top_features",
]
