"""Cost models: what predicts the costs, how sure it is of them, and how it learns. ``contract`` says what all offer.

What products and the command line use; names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from coalface.doors import door_of

if TYPE_CHECKING:
    from coalface.models.choice import MODELS as MODELS, described_model as described_model, model_of as model_of
    from coalface.models.committee import CommitteeModel as CommitteeModel
    from coalface.models.contract import CostModel as CostModel
    from coalface.models.linear import FIT_INTERCEPT as FIT_INTERCEPT
    from coalface.models.model_arrays import restored_counts as restored_counts
    from coalface.models.online import OnlineModel as OnlineModel
    from coalface.models.values import Costs as Costs, NO_WEIGHTS as NO_WEIGHTS, Ranged as Ranged, counting as counting
else:
    __getattr__, __dir__ = door_of(__name__)
