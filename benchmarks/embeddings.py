"""``python -m benchmarks.embeddings [--quick]``: how fast a learner with the ridge model asks and learns, on all cores.

The embeddings are generated, and 5 % of the costs are answered. Speed is compared with what this machine reaches in the
same run. In batches, the arithmetic that the method needs is compared with a large matrix product. One by one, the
bytes that it reads and writes are compared with a copy of a large array. Both count the stored triangle, not the
square.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.machine import copy_bandwidth
from coalface import Coal, CoalClassifier

SIZES = ((384, 100), (768, 100), (1280, 100), (384, 200), (768, 200), (1280, 200))
WANTED = {(384, 100): (1000.0, 100.0)}  # examples per second, in batches and one by one
BATCH = 256
ASKED = 0.05
_PRODUCT = 2048  # rows and columns of the large matrix product


@dataclass(frozen=True)
class Speed:
    """Examples per second, and the share of what the machine reaches."""

    features: int
    labels: int
    state_bytes: int
    batched: float
    share_of_product: float
    single: float
    share_of_copy: float


def measure(n_features: int, n_labels: int, *, batches: int, singles: int, batch: int = BATCH) -> Speed:
    """Ask about rows and tell 5 % of their costs, first in batches, then one by one."""
    random = np.random.default_rng(0)
    X = random.normal(size=((batches + 1) * batch, n_features)).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    learner = CoalClassifier(range(n_labels), model="ridge", rule=Coal(warm_up=0))
    in_batches = median(list(_seconds(learner, X, batch, random))[1:]) / batch  # the first one loads compiled code
    alone = median(list(_seconds(learner, X[: singles + 1], 1, random))[1:])
    triangle, told = n_features**2 / 2, ASKED * n_labels
    operations = 2 * triangle * n_labels + 6 * triangle * told
    touched = 4 * triangle * n_labels + 8 * triangle * told
    return Speed(
        n_features,
        n_labels,
        learner.model_.nbytes,
        1 / in_batches,
        operations / in_batches / product_speed(),
        1 / alone,
        touched / alone / copy_bandwidth(),
    )


def product_speed(repeats: int = 5) -> float:
    """Multiplications and additions per second of the fastest of several large 32-bit matrix products."""
    one = np.ones((_PRODUCT, _PRODUCT), np.float32)
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        one @ one
        times.append(time.perf_counter() - began)
    return 2 * _PRODUCT**3 / min(times)


def _seconds(learner: CoalClassifier, X: np.ndarray, batch: int, random: np.random.Generator) -> Iterator[float]:
    for start in range(0, len(X), batch):
        rows = X[start : start + batch]
        asked = random.random((len(rows), len(learner.classes))) < ASKED
        cost = np.where(asked, random.random(asked.shape), np.nan)
        began = time.perf_counter()
        learner.ask(rows)
        learner.tell(rows, cost, asked=asked)
        yield time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the first size only")
    options = parser.parse_args()
    table = Table("features", "labels", "state", f"batches of {BATCH}", "of product", "one by one", "of copy", "wanted")
    for size in SIZES[:1] if options.quick else SIZES:
        speed = measure(*size, batches=5, singles=60)
        table.add_row(
            f"{speed.features:,}",
            f"{speed.labels}",
            f"{speed.state_bytes / 1e6:,.0f} MB",
            f"{speed.batched:,.0f} /s",
            f"{speed.share_of_product:.0%}",
            f"{speed.single:,.0f} /s",
            f"{speed.share_of_copy:.0%}",
            _verdict(speed),
        )
    Console(width=120).print(table)


def _verdict(speed: Speed) -> str:
    wanted = WANTED.get((speed.features, speed.labels))
    if wanted is None:
        return ""
    met = speed.batched >= wanted[0] and speed.single >= wanted[1]
    return f"{wanted[0]:,.0f} and {wanted[1]:,.0f} /s: {'met' if met else 'missed'}"


if __name__ == "__main__":
    main()
