"""Which costs to ask for: the rules, their schedule, and the questions that come out."""

from coalface.queries.questions import REASONS, Queries
from coalface.queries.schedule import loss_slack, width_threshold
from coalface.queries.stopping import Saving

__all__ = ["REASONS", "Queries", "Saving", "loss_slack", "width_threshold"]
