"""Whether forecasts keep what they promise: the share of runs whose 90 % interval contains the true final number.

    COALFACE_DATA=... python -m benchmarks.forecasts [--first-seed 100] [--permutations 3] [--most-rows 6000]

The constants of the forecast were chosen on permutations 0 to 2 (online model) and 0 to 1 (default model) of some of
these datasets; other seeds and the datasets marked "new" are a fair test.
"""

import argparse
import os
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from studies.stored_data import load

from coalface import CoalClassifier, CostDataset, simulate

SHARES = (0.0, 0.01, 0.05, 0.2, 0.5)  # of the run that is done
SEEN = ("digits", "tabular/segment", "tabular/splice", "tabular/spambase", "tabular/marketing", "tabular/vehicle")
ONLINE_ONLY = ("newsgroups20", "tabular/magic")  # the default model takes minutes here
NEW = ("tabular/bands", "iris", "in20-1280")
NO_CHECKPOINTS = np.array([2**60])


class Seen(NamedTuple):
    """One forecast and what came true, in costs."""

    share: float
    asked: float
    lowest: float
    expected: float
    highest: float
    final: float

    @property
    def kept(self) -> bool:
        return self.asked + self.lowest <= self.final <= self.asked + self.highest + 0.5

    @property
    def width(self) -> float:
        return (self.asked + self.highest) / max(self.asked + self.lowest, 1.0)


def main() -> None:
    options = _options()
    warnings.simplefilter("ignore")
    console = Console(width=110)
    seeds = range(options.first_seed, options.first_seed + options.permutations)
    for model, names in (("online", (*SEEN, *ONLINE_ONLY, *NEW)), ("auto", (*SEEN, *NEW[:2]))):
        found: dict[str, list[Seen]] = {"seen data, new permutations": [], "new data": []}
        for name, data in [*_known(names), *_made()]:
            kind = "seen data, new permutations" if name in (*SEEN, *ONLINE_ONLY) else "new data"
            for seed in seeds:
                found[kind] += forecasts(data, model, seed, options.most_rows)
        console.print(coverage_table(model, found))


def forecasts(data: CostDataset, model: str, seed: int, most_rows: int) -> list[Seen]:
    """The forecasts of one run when so much of it was done."""
    order = np.random.default_rng(seed).permutation(len(data))[:most_rows]
    learner = CoalClassifier(classes=data.classes, model=model, random_state=seed)
    found, done = [], 0
    for share in SHARES:
        start = round(share * len(order))
        if start > done:
            simulate(learner, data.X, data.cost, order=order[done:start], checkpoints=NO_CHECKPOINTS)
            done = start
        costs = learner.forecast(len(order) - done).costs
        found.append((share, learner.totals_.price, costs.lowest, costs.expected, costs.highest))
    simulate(learner, data.X, data.cost, order=order[done:], checkpoints=NO_CHECKPOINTS)
    return [Seen(*one, learner.totals_.price) for one in found]


def coverage_table(model: str, found: dict[str, list[Seen]]) -> Table:
    """How often the interval contained the final number, and how wide it was."""
    table = Table(title=f"Model {model!r}: 90 % intervals of the costs of a whole run")
    for heading in ("runs", "done", "contained", "highest / lowest", "final / expected"):
        table.add_column(heading, justify="right")
    for kind, seen in found.items():
        for share in SHARES:
            at = [one for one in seen if one.share == share]
            if at:
                ratio = np.median([one.final / (one.asked + one.expected) for one in at])
                width = np.median([one.width for one in at])
                kept = f"{np.mean([one.kept for one in at]):.0%}"
                table.add_row(f"{len(at)} {kind}", f"{share:.0%}", kept, f"{width:.2f}", f"{ratio:.2f}")
    return table


def _known(names: tuple[str, ...]) -> Iterator[tuple[str, CostDataset]]:
    for name in names:
        yield name, load(name).train


def _made() -> Iterator[tuple[str, CostDataset]]:
    """Linear costs with noise: 3, 8 and 20 labels."""
    for n_labels in (3, 8, 20):
        random = np.random.default_rng(n_labels)
        X = random.normal(size=(2000, 12))
        cost = 0.5 + 0.15 * X @ random.normal(size=(12, n_labels)) / 3 + random.normal(0, 0.05, (2000, n_labels))
        yield f"made-{n_labels}", CostDataset(X, np.clip(cost, 0.0, 1.0))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first-seed", type=int, default=100)
    parser.add_argument("--permutations", type=int, default=3)
    parser.add_argument("--most-rows", type=int, default=6000)
    if "COALFACE_DATA" not in os.environ:
        parser.error("COALFACE_DATA must name the folder of datasets.")
    return parser.parse_args()


if __name__ == "__main__":
    main()
