"""Write the run of the interactive picture in docs/coal-in-pictures.md: what a learner would ask, as it learns.

    python docs/figures/ranges.py

The page loads the numbers as a script, so that it works from a folder without a server.
"""

import json
from pathlib import Path

import numpy as np

from coalface import Coal, CoalClassifier

LABELS = ["billing", "refunds", "technical", "sales", "legal"]
WATCHED = {"a plain invoice": 0, "an angry letter": 4, "an unclear message": 2}
SHOWN = [0, 5, 10, 12, 15, 18, 22, 26, 30, 35, 40, 50, 60, 75, 90, 110, 130, 160, 200, 250, 300, 400, 500, 650, 800]


def problem(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Tickets as rows of numbers, and the cost of each queue, which falls with the ticket's closeness to it."""
    rng = np.random.default_rng(seed)
    X = np.abs(rng.normal(size=(n, len(LABELS))))
    X /= X.sum(axis=1, keepdims=True)
    severity = np.array([0.5, 0.5, 0.6, 0.6, 1.0])
    return X, np.clip(1.1 * severity * (1.0 - 1.8 * X), 0.0, 1.0)


def watched_rows() -> np.ndarray:
    """One ticket per name: near one queue, or between several."""
    rows = np.full((len(WATCHED), len(LABELS)), 0.1)
    for row, label in enumerate(WATCHED.values()):
        rows[row, label] = 0.6
    rows[2] = [0.23, 0.27, 0.28, 0.12, 0.10]
    return rows


def run() -> dict[str, object]:
    """For each watched ticket and each number of tickets learned: range, prediction and reason of every cost."""
    X, cost = problem(max(SHOWN), seed=0)
    learner = CoalClassifier(classes=LABELS, model="online", rule=Coal(warm_up=10), random_state=0)
    rows, steps, learned = watched_rows(), [], 0
    for shown in SHOWN:
        for row in range(learned, shown):
            x = X[row : row + 1]
            queries = learner.ask(x)
            learner.tell(x, np.where(queries.mask, cost[row : row + 1], np.nan), asked=queries)
        learned = shown
        queries = learner.ask(rows)
        steps.append(
            {
                "learned": shown,
                "asked": int(learner.costs_queried_),
                "lowest": queries.ranges.lowest.round(3).tolist(),
                "highest": queries.ranges.highest.round(3).tolist(),
                "predicted": np.clip(queries.predicted, 0, 1).round(3).tolist(),
                "mask": queries.mask.tolist(),
            }
        )
    return {"labels": LABELS, "examples": list(WATCHED), "steps": steps}


def main() -> None:
    """Write the numbers as a script."""
    target = Path(__file__).parents[1] / "assets" / "ranges-data.js"
    target.write_text(f"window.coalfaceRanges = {json.dumps(run(), separators=(',', ':'))};\n", encoding="utf-8")
    print(f"wrote {target.name}")


if __name__ == "__main__":
    main()
