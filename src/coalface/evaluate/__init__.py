"""How good a learner is: simulated runs and their curves, the evaluation of a trained learner, logged decisions.

What products and the command line use is ``__all__``; names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from coalface.doors import door_of

if TYPE_CHECKING:
    from coalface.evaluate.features import TopFeature, top_features
    from coalface.evaluate.logged import LoggedReport, evaluate_logged
    from coalface.evaluate.serving import ServedCurve, simulate_serving
else:
    __getattr__, __dir__ = door_of(__name__)

__all__ = ["LoggedReport", "ServedCurve", "TopFeature", "evaluate_logged", "simulate_serving", "top_features"]
