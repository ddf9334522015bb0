"""The forest model and what it is made of."""

from coalface.models.forest.model import ForestModel

__all__ = ["ForestModel"]
