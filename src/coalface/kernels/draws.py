"""Pseudo-random numbers that depend only on their arguments, so that asking changes no state and a replay repeats."""

import numpy as np

from coalface.kernels.compile import inlined

GOLDEN_64 = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@inlined
def mix(bits: np.uint64) -> np.uint64:
    """A bijection of 64 bits that maps neighbours to seemingly unrelated numbers (the finaliser of splitmix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * _MIX_1
    bits = (bits ^ (bits >> np.uint64(27))) * _MIX_2
    return bits ^ (bits >> np.uint64(31))


@inlined
def fraction(bits: np.uint64) -> float:
    """A number in [0, 1) from the upper 53 bits."""
    return np.float64(bits >> np.uint64(11)) / 9007199254740992.0


@inlined
def uniform(seed: int, round_number: int, draw: int) -> float:
    """A number in [0, 1) that depends only on its arguments."""
    bits = mix(np.uint64(seed) * GOLDEN_64 + GOLDEN_64)
    bits = mix(bits + np.uint64(round_number) * GOLDEN_64)
    bits = mix(bits + np.uint64(draw) * GOLDEN_64)
    return fraction(bits)
