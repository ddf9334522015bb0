"""Cost models: what predicts the costs, how sure it is of them, and how it learns. ``contract`` says what all offer.

What products and the command line use is ``__all__``; names are loaded when they are first used.

What products and the command line use is ``__all__``; names are loaded when they are first used.

What products and the command line use is ``__all__``; names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from coalface.doors import door_of

if TYPE_CHECKING:
    from coalface.models.choice import MODELS, described_model, model_of
    from coalface.models.committee import CommitteeModel
    from coalface.models.contract import CostModel
    from coalface.models.linear import FIT_INTERCEPT
    from coalface.models.model_arrays import restored_counts
    from coalface.models.online import OnlineModel
    from coalface.models.values import NO_WEIGHTS, Costs, Ranged, counting
else:
    __getattr__, __dir__ = door_of(__name__)

__all__ = [
    "FIT_INTERCEPT",
    "MODELS",
    "NO_WEIGHTS",
    "CommitteeModel",
    "CostModel",
    "Costs",
    "OnlineModel",
    "Ranged",
    "counting",
    "described_model",
    "model_of",
    "restored_counts",
]
