"""How often each model misses the best label, as its audits count it, on tables, solver scenarios and digits.

    python studies/calibration.py                  every model, into studies/calibration/runs.csv
    python studies/calibration.py --models forest  some of them
    python studies/calibration.py --table          the rates from the runs alone

Each run is one pass over at most ``ROWS`` training rows with ``rule=Coal(miss_rate=0.1)``.
"""

import argparse
import csv
import sys
from pathlib import Path
from typing import Any

import numpy as np

from coalface import Coal, CoalClassifier, simulate
from coalface.models.ridge import RidgeModel
from coalface.studies.learners import order_of
from stored_data import load

DATA = (
    "digits",
    *(f"tabular/{name}" for name in ("bands", "chess", "contraceptive", "led7digit", "phoneme", "segment", "vehicle")),
    *(f"aslib/{name}" for name in ("ASP-POTASSCO", "BNSL-2016", "CSP-2010", "QBF-2011", "SAT11-HAND")),
)
MODELS: dict[str, Any] = {
    "auto": "auto",
    "forest": "forest",
    "online": "online",
    "ridge": "ridge",
    "rbf": RidgeModel(kernel="rbf"),
}
PERMUTATION, ROWS, STATED = 410, 1200, 0.1
RESULTS = Path(__file__).parent / "calibration" / "runs.csv"
COLUMNS = ("data", "model", "audits", "missed", "costs", "rows", "labels")


def run(name: str, model: str) -> tuple[Any, ...]:
    """The row of one run."""
    train, _ = load(name)
    rows = order_of(PERMUTATION, len(train))[:ROWS]
    examples = train.subset(rows)
    learner = CoalClassifier(
        classes=train.classes, model=MODELS[model], rule=Coal(miss_rate=STATED), random_state=PERMUTATION
    )
    simulate(learner, examples.X, examples.cost)
    found = learner.calibration_
    return (
        name,
        model,
        found.audits,
        round(found.measured * found.audits),
        learner.costs_queried_,
        len(rows),
        len(train.classes),
    )


def finished() -> list[dict[str, str]]:
    """The runs in the file."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def run_missing(models: list[str]) -> None:
    """Run what is missing; each run is written when it ends."""
    RESULTS.parent.mkdir(exist_ok=True)
    done = {(row["data"], row["model"]) for row in finished()}
    for name, model in ((name, model) for name in DATA for model in models):
        if (name, model) not in done:
            row, is_new = run(name, model), not RESULTS.exists()
            with RESULTS.open("a", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([COLUMNS, row] if is_new else [row])


def table() -> str:
    """The rate of each model: over all audits, as the mean of the runs, and the largest of a run."""
    lines = [
        "| model | audits | missed, of all audits | mean of the runs | largest of a run |",
        "|---|---|---|---|---|",
    ]
    for model in MODELS:
        counts = np.array([(int(r["missed"]), int(r["audits"])) for r in finished() if r["model"] == model])
        if len(counts):
            missed, audits = counts[counts[:, 1] > 0].T
            rates = missed / audits
            shown = (missed.sum() / audits.sum(), rates.mean(), rates.max())
            lines.append(f"| {model} | {audits.sum():,} | " + " | ".join(f"{rate:.1%}" for rate in shown) + " |")
    return "\n".join(lines)


def main() -> None:
    """Run what the options name, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--table", action="store_true", help="only print the table")
    options = parser.parse_args()
    if not options.table:
        run_missing(options.models)
    sys.stdout.write(table() + "\n")


if __name__ == "__main__":
    main()
