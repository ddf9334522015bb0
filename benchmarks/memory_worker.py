"""A fresh process that simulates on a saved dataset and prints how much memory that took beside the data."""

import json
import sys
from pathlib import Path

import numpy as np

from benchmarks.machine import peak_bytes
from coalface import CoalClassifier, CostDataset, simulate


def answer(folder: Path, params: dict[str, float | str]) -> int | None:
    train = CostDataset.open(folder)
    X, cost = train.X.copy(), np.array(train.cost)  # in memory, as users have them
    simulate(CoalClassifier.as_published(**params), X[:20], cost[:20])
    before = peak_bytes(reset=True)
    simulate(CoalClassifier.as_published(**params), X, cost)
    after = peak_bytes()
    return None if before is None or after is None else after - before


if __name__ == "__main__":
    print(json.dumps(answer(Path(sys.argv[1]), json.loads(sys.argv[2]))))
