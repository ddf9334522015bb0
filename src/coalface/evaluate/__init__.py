"""How good a learner is: simulated runs and their curves, the evaluation of a trained learner, logged decisions.

What products and the command line use; names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from coalface.doors import door_of

if TYPE_CHECKING:
    from coalface.evaluate.checkpoints import Checkpoint as Checkpoint, CheckpointRecorder as CheckpointRecorder
    from coalface.evaluate.checkpoints import Checkpoints as Checkpoints, checkpoint_costs as checkpoint_costs
    from coalface.evaluate.checkpoints import doubling_costs as doubling_costs
    from coalface.evaluate.curve import Curve as Curve
    from coalface.evaluate.features import TopFeature as TopFeature, top_features as top_features
    from coalface.evaluate.logged import LoggedReport as LoggedReport, evaluate_lines as evaluate_lines
    from coalface.evaluate.logged import evaluate_logged as evaluate_logged
    from coalface.evaluate.page import facts_of as facts_of, notice_of as notice_of, tables_of as tables_of
    from coalface.evaluate.report import EvaluationReport as EvaluationReport, evaluation_report as evaluation_report
    from coalface.evaluate.serving import ServedCurve as ServedCurve, simulate_serving as simulate_serving
    from coalface.evaluate.simulation import Order as Order, Progress as Progress, simulate as simulate
    from coalface.evaluate.simulation import simulate_blocks as simulate_blocks
    from coalface.evaluate.summary import AXIS_LABELS as AXIS_LABELS, Summary as Summary, common_axis as common_axis
    from coalface.evaluate.summary import last_crossings as last_crossings, panel as panel, read_off as read_off
    from coalface.evaluate.summary import rules_panel as rules_panel, summarize as summarize
else:
    __getattr__, __dir__ = door_of(__name__)
