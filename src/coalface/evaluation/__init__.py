"""How good a learner is for what it asked: simulated runs, curves and their pictures."""

from coalface.evaluation.curve import Curve
from coalface.evaluation.simulation import simulate

__all__ = ["Curve", "simulate"]
