"""``Position``: how far a stream was read. It is saved with the model, so that training can continue from there."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from coalface.errors import FileFormatError


@dataclass(frozen=True)
class Position:
    """The rows, lines and bytes that were read, the checksum of these bytes, and what the first rows decided.

    >>> Position.from_plain(Position(rows=100, lines=100, bytes=5210, checksum="ab").plain()).rows
    100
    """

    rows: int
    lines: int
    bytes: int
    checksum: str  # of the unpacked bytes read so far, or of the end of a Parquet file
    decided: Mapping[str, Any] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """The position as JSON values."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: Any) -> "Position":
        """The position that ``plain`` described."""
        try:
            return cls(**plain)
        except TypeError as problem:
            raise FileFormatError(f"A position must have rows, lines, bytes and a checksum ({problem}).") from None
