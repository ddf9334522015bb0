"""The ways in which products are computed, regressions that use them, made data, and a clock for the GPU."""

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from coalface.models.device import SINGLE, TF32, CudaArrays
from coalface.models.ridge.root_regression import RootRegression

TOLD = 0.05  # share of the costs
PENALTY = 0.5
_TOP_BITS = {"tf32": 0xFFFFE000, "bf16": 0xFFFF0000}
_FAST_BF16 = 75  # cuBLAS's code of 32-bit sums of products of bfloat16


class Spreads(CudaArrays):
    """TF32 in the products of spreads only, not in those of learning."""

    def product(self, left: Any, right: Any, precision: int) -> Any:
        return super().product(left, right, precision if left.ndim == 2 else SINGLE)

    def subtract_product(self, target: Any, left: Any, right: Any, precision: int) -> None:  # noqa: ARG002
        super().subtract_product(target, left, right, SINGLE)


class Split(Spreads):
    """Spreads from three products of a lower precision: the high parts, and each high part with the other's rest."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._mask = np.uint32(_TOP_BITS[kind])
        self._compute[TF32] = self._compute[TF32] if kind == "tf32" else _FAST_BF16

    def product(self, left: Any, right: Any, precision: int) -> Any:
        if left.ndim == 3:
            return super().product(left, right, SINGLE)
        (high, rest), (other, others_rest) = self._parts(left), self._parts(right.T)
        out = super().product(high, other.T, precision)
        self._multiply(high, others_rest.T, out, precision, 1.0, 1.0)
        self._multiply(rest, other.T, out, precision, 1.0, 1.0)
        return out

    def _parts(self, array: Any) -> tuple[Any, Any]:
        high = (array.view(np.uint32) & self._mask).view(np.float32)
        return high, array - high


WAYS: dict[str, tuple[Callable[[], CudaArrays], int]] = {
    "fp32": (CudaArrays, SINGLE),
    "tf32": (CudaArrays, TF32),
    "tf32 in spreads": (Spreads, TF32),
    "tf32 x 3 in spreads": (lambda: Split("tf32"), TF32),
    "bf16 x 3 in spreads": (lambda: Split("bf16"), TF32),
}


@lru_cache
def turn_of(n_features: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(1).normal(size=(n_features, n_features)))[0].astype(np.float32)


def embeddings(random: np.random.Generator, n_rows: int, n_features: int) -> np.ndarray:
    """Rows of length 1 with a common direction and a falling spectrum, as sentence embeddings have them."""
    turn = turn_of(n_features)
    spectrum = (1.0 / np.sqrt(1.0 + np.arange(n_features))).astype(np.float32)
    X = (random.normal(size=(n_rows, n_features)).astype(np.float32) * spectrum) @ turn + turn[0]
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def costs_for(random: np.random.Generator, n_rows: int, n_labels: int, share: float = TOLD) -> np.ndarray:
    costs = random.random((n_rows, n_labels)).astype(np.float32)
    return np.where(random.random(costs.shape) < share, costs, np.float32(np.nan))


def with_intercept(X: Any, n_columns: int, xp: Any) -> Any:
    table = xp.zeros((len(X), n_columns), np.float32)
    table[:, 0], table[:, 1 : 1 + X.shape[1]] = 1.0, xp.asarray(X)
    return table


def regression(way: str, n_features: int, n_labels: int) -> RootRegression:
    arrays, precision = WAYS[way]
    found = RootRegression(n_labels, PENALTY, arrays(), precision)
    found.make_room(-(-(n_features + 1) // 16) * 16)
    return found


def synchronise() -> None:
    import cupy

    cupy.cuda.get_current_stream().synchronize()


def seconds(work: Callable[[], Any], repeats: int = 10) -> float:
    """The mean time of a call, once the first ones have compiled what they need."""
    for _ in range(2):
        work()
    synchronise()
    began = time.perf_counter()
    for _ in range(repeats):
        work()
    synchronise()
    return (time.perf_counter() - began) / repeats
