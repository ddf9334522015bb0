"""The ridge model and what it is made of."""

from coalface.models.ridge.model import RidgeModel

__all__ = ["RidgeModel"]
