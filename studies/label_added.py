"""A label added half-way: what a learner that met it late loses against one that had it from the start.

Each of the seven models of ``llm_routing`` takes its turn as the new label. One run has all labels from the start. The
other learns half of the questions without the new label, then adds it and learns the rest. Both see the questions in
the same order, and a third run never has the label.

    COALFACE_DATA=data python studies/label_added.py --permutations 3
"""

import argparse
import gzip
import json
import os
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface import CoalClassifier, simulate
from coalface.learner.intake import encoded
from coalface.learner.predicting import best_labels

SHARES = (0.0, 0.02, 0.1, 0.25, 0.5, 1.0)  # of the second half, where the test cost is measured


def read(path: Path) -> tuple[list[str], list[str], NDArray[np.float64]]:
    """Texts, labels and costs (n, K) of a file of questions."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    labels = sorted(lines[0]["cost"])
    cost = [[np.nan if line["cost"][label] is None else line["cost"][label] for label in labels] for line in lines]
    return [line["text"] for line in lines], labels, np.array(cost, np.float64)


def test_cost(learner: CoalClassifier, X: Any, cost: NDArray[np.float64], labels: list[str]) -> float:
    """The mean cost of the learner's answers; ``labels`` name the columns of ``cost``."""
    column = {label: place for place, label in enumerate(labels)}
    chosen = [column[label] for label in best_labels(learner, X).tolist()]
    return float(np.nanmean(cost[np.arange(len(cost)), chosen]))


def run(data: dict[str, Any], order: NDArray[np.int64], labels: list[str], late: str | None) -> list[tuple[int, float]]:
    """Costs asked for and test cost at the ``SHARES`` of the second half; ``late`` is the label added half-way."""
    column = {label: place for place, label in enumerate(data["labels"])}
    first = [label for label in labels if label != late]
    learner, half = CoalClassifier(classes=first, model="online"), len(order) // 2
    simulate(learner, data["X"], data["cost"][:, [column[one] for one in first]], order=order[:half])
    if late is not None:
        learner.add_label(late)
    columns = [column[one] for one in learner.classes_.tolist()]
    found, done = [], half
    for share in SHARES:
        stop = half + round(share * (len(order) - half))
        if stop > done:
            simulate(learner, data["X"], data["cost"][:, columns], order=order[done:stop])
            done = stop
        found.append((learner.costs_queried_, test_cost(learner, data["X_test"], data["cost_test"], data["labels"])))
    return found


def loaded(folder: Path, n_train: int | None, n_test: int | None) -> dict[str, Any]:
    """The questions as hashed words, by the learner's own encoder."""
    texts, labels, cost = read(folder / "seven_models_train.jsonl.gz")
    texts_test, _, cost_test = read(folder / "seven_models_test.jsonl.gz")
    _, encoder = encoded(CoalClassifier(classes=labels), texts[:n_train])
    assert encoder is not None
    X, X_test = encoder.transform(texts[:n_train]), encoder.transform(texts_test[:n_test])
    return {"X": X, "X_test": X_test, "cost": cost[:n_train], "cost_test": cost_test[:n_test], "labels": labels}


def main() -> None:
    """Print a table of test costs, by label and share of the second half."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--permutations", type=int, default=3)
    parser.add_argument("--rows", type=int, default=None, help="training questions, by default all")
    parser.add_argument("--test-rows", type=int, default=None, help="test questions, by default all")
    parser.add_argument("--late", type=int, nargs="*", help="labels that are added late, by rank of cost, from 0")
    given = parser.parse_args()
    data = loaded(Path(os.environ["COALFACE_DATA"], "llm_routing"), given.rows, given.test_rows)
    n_rows, labels = len(data["cost"]), data["labels"]
    ranked = [labels[place] for place in np.nanmean(data["cost"], axis=0).argsort().tolist()]
    newcomers = ranked if given.late is None else [ranked[place] for place in given.late]
    runs: dict[tuple[str, str], list[list[tuple[int, float]]]] = defaultdict(list)
    for seed in range(given.permutations):
        order = np.random.default_rng(seed).permutation(n_rows)
        start = run(data, order, labels, None)
        for label in newcomers:
            print(f"permutation {seed}, {label}", file=sys.stderr, flush=True)
            runs[label, "start"].append(start)
            runs[label, "half-way"].append(run(data, order, labels, label))
            runs[label, "never"].append(run(data, order, [one for one in labels if one != label], None))
    print("mean cost of each model:", dict(zip(labels, np.nanmean(data["cost_test"], axis=0).round(4), strict=True)))
    print("| label | run | " + " | ".join(f"{share:.0%}" for share in SHARES) + " | costs asked |")
    print("|---" * (len(SHARES) + 3) + "|")
    regrets = []
    for (label, kind), found in runs.items():
        table = np.array(found)  # (permutations, shares, 2)
        cells = " | ".join(f"{one:.4f}" for one in table[:, :, 1].mean(axis=0))
        print(f"| {label} | {kind} | {cells} | {table[:, -1, 0].mean():,.0f} |")
        if kind == "half-way":
            regrets.append(table[:, :, 1] - np.array(runs[label, "start"])[:, :, 1])
    mean, deviation = (np.array(regrets).mean(axis=(0, 1)), np.array(regrets).mean(axis=0).std(axis=0, ddof=1))
    print(
        "regret, mean over labels:", mean.round(4).tolist(), "deviation over permutations:", deviation.round(4).tolist()
    )


if __name__ == "__main__":
    main()
