"""Raw examples as rows of numbers: ``Encoder`` and the parts that it is made of."""

from coalface.data.encoding.encoder import Encoder

__all__ = ["Encoder"]
