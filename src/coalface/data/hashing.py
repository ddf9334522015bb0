"""Hashes of texts that are the same in every file, on every machine and in every run: CRC-32 with the bits mixed."""

import numpy as np
from numpy.typing import NDArray

from coalface.errors import InputError


def columns_of_hashes(hashes: NDArray[np.uint32], bits: int) -> NDArray[np.uint32]:
    """The columns, below ``2**bits``, of CRC-32 hashes.

    The bits are mixed first: the CRC-32 of two texts that collide also collides after any common start.

    >>> from zlib import crc32
    >>> columns_of_hashes(np.array([crc32(b"parcel"), crc32(b"parcels")], np.uint32), bits=18).tolist()
    [174679, 203341]
    """
    mixed = hashes ^ (hashes >> np.uint32(16))
    mixed = mixed * np.uint32(0x85EBCA6B)  # odd, so that no information is lost; overflow is intended
    mixed ^= mixed >> np.uint32(13)
    mixed = mixed * np.uint32(0xC2B2AE35)
    return np.asarray((mixed ^ (mixed >> np.uint32(16))) >> np.uint32(32 - bits), dtype=np.uint32)


def check_bits(bits: int) -> None:
    """Raise an InputError unless ``2**bits`` columns are possible."""
    if isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= 30:
        raise InputError(f"bits must lie between 1 and 30, got {bits!r}. The default is 18.")
