"""Costs that COAL saves on real data compared with asking for all of them, and whether it ever collapses.

    COALFACE_DATA=... python -m benchmarks.labels_saved [--first-seed 0] [--permutations 5] [--collapse]

The passive learner gets its best learning rate in hindsight; COAL runs with one setting per dataset. These settings
were chosen on the permutations of seeds 0 to 19 and 1000 to 1004; only other seeds are a fair test of them.
"""

import argparse
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits

from benchmarks.problems import Problem, in20, in40, rcv1
from coalface import CoalClassifier, CostDataset, simulate

NO_CHECKPOINTS = np.array([2**60])
PASSIVE_RATES = (0.05, 0.1, 0.3, 0.5)
SETTINGS: dict[str, dict[str, Any]] = {
    "in20": {"mellowness": 1e-3, "learning_rate": 0.05, "model__sensitivity": "derivative"},
    "in40": {"mellowness": 2e-3, "learning_rate": 0.05, "model__sensitivity": "derivative"},
    "rcv1": {"mellowness": 0.03, "learning_rate": 0.3, "rule__slack": "noise-scaled", "audits": "even"},
}
WANTED = {"in20": 8.0, "in40": 5.0, "rcv1": 5.0}


def main() -> None:
    options = _options()
    console = Console(width=110)
    problems = list(real_problems(Path(os.environ["COALFACE_DATA"])))
    seeds = range(options.first_seed, options.first_seed + options.permutations)
    console.print(savings_table(problems, seeds))
    if options.collapse:
        console.print(collapse_table([*digits(), *problems]))


def savings_table(problems: list[Problem], seeds: range) -> Table:
    """Test cost and costs asked for of both sides, as medians over the permutations."""
    table = Table(title=f"Medians over permutations {seeds[0]} to {seeds[-1]}")
    for heading in ("data", "passive: best", "coal: test cost", "15-85 %", "costs asked", "saving", "wanted"):
        table.add_column(heading, justify="right")
    for problem in problems:
        everything = problem.train.cost.size
        best = min(np.median(_runs(problem, seeds, rule="passive", learning_rate=rate)[:, 0]) for rate in PASSIVE_RATES)
        test_cost, asked = _runs(problem, seeds, **SETTINGS[problem.name]).T
        low, high = np.percentile(test_cost, [15, 85])
        saving = everything / np.median(asked)
        table.add_row(
            problem.name,
            f"{best:.4f}",
            f"{np.median(test_cost):.4f} {'reached' if np.median(test_cost) <= best else 'missed'}",
            f"{low:.4f}-{high:.4f}",
            f"{np.median(asked):,.0f} of {everything:,}",
            f"{saving:.2f}",
            f"{WANTED[problem.name]:g}",
        )
    return table


def collapse_table(problems: list[Problem]) -> Table:
    """How many runs collapsed: warm-up 10, 4 mellownesses x 3 learning rates x 3 permutations per dataset.

    A run has collapsed if it asks nothing in the second half of the stream and ends above twice passive's test cost.
    """
    table = Table("data", "runs", "collapsed", "least asked in the second half", "worst test cost / passive's")
    for problem in problems:
        silent, ratios = [], []
        for rate in (0.03, 0.1, 0.5):
            passive = _runs(problem, range(1), rule="passive", learning_rate=rate)[0, 0]
            for mellowness in (1e-3, 1e-2, 1e-1, 1.0):
                for seed in range(3):
                    asked, test_cost = _second_half(problem, seed, mellowness=mellowness, learning_rate=rate)
                    silent.append(asked)
                    ratios.append(test_cost / passive)
        collapsed = sum(asked == 0 and ratio > 2 for asked, ratio in zip(silent, ratios, strict=True))
        table.add_row(problem.name, str(len(silent)), str(collapsed), f"{min(silent):,}", f"{max(ratios):.2f}")
    return table


def real_problems(folder: Path) -> Iterator[Problem]:
    """Three complete datasets of the same shapes as the paper's."""
    everything = 10**9
    yield in20(folder / "tinyimagenet", everything)
    yield in40(folder / "tinyimagenet", everything)
    yield rcv1(folder / "rcv1v2_subset", everything)


def digits() -> Iterator[Problem]:
    """Handwritten digits with both kinds of costs."""
    X, y = load_digits(return_X_y=True)
    shuffled = np.random.default_rng(0).permutation(len(y))
    labels = np.arange(10)
    for name, matrix in (("digits 0/1", 1.0 - np.eye(10)), ("digits |i-j|/9", abs(labels[:, None] - labels) / 9)):
        whole = CostDataset(X[shuffled], matrix[y[shuffled]], labels, name=name)
        yield Problem(name, whole.subset(np.arange(1297)), whole.subset(np.arange(1297, 1797)), 0.01, 0.3)


def _runs(problem: Problem, seeds: range, **parameters: Any) -> np.ndarray:
    """Test cost and costs asked at the end of a run, a row per permutation."""
    ends = []
    for seed in seeds:
        print(f"\r{problem.name} {parameters} {seed}   ", end="", file=sys.stderr, flush=True)
        curve = _run(_learner(parameters), problem, _permutation(problem, seed))
        ends.append((curve.test_cost[-1], curve.costs_queried[-1]))
    return np.array(ends)


def _second_half(problem: Problem, seed: int, **parameters: Any) -> tuple[int, float]:
    learner, order = _learner(parameters), _permutation(problem, seed)
    half = len(order) // 2
    _run(learner, problem, order[:half])
    asked = learner.costs_queried_
    curve = _run(learner, problem, order[half:])
    return learner.costs_queried_ - asked, float(curve.test_cost[-1])


def _learner(parameters: dict[str, Any]) -> CoalClassifier:
    """The published learner with a longer warm-up, for which the settings above were chosen."""
    return CoalClassifier.as_published(**{"rule__warm_up": 10, **parameters})


def _run(learner: CoalClassifier, problem: Problem, order: np.ndarray) -> Any:
    train, test = problem.train, problem.test
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return simulate(
            learner, train.X, train.cost, X_test=test.X, cost_test=test.cost, order=order, checkpoints=NO_CHECKPOINTS
        )


def _permutation(problem: Problem, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(len(problem.train))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--permutations", type=int, default=5)
    parser.add_argument("--collapse", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
