"""How good a learner is for what it asked: simulated runs, curves, their summaries and their pictures."""

from coalface.evaluation.curve import Curve
from coalface.evaluation.simulation import simulate
from coalface.evaluation.summary import Band, Summary, band_over, questions_needed, summarize

__all__ = ["Band", "Curve", "Summary", "band_over", "questions_needed", "simulate", "summarize"]
