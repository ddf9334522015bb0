"""Feedback of the chosen label only: our learner and Vowpal Wabbit's on supervised data turned into bandit problems.

Each run shows the learner the examples in one order. It serves a label and sees the cost of that label alone; the mean
of these costs is the progressive cost. Lines of ours have no setting. Vowpal Wabbit runs with several learning rates,
and the table has its best one on each dataset, chosen in hindsight.

    python studies/bandit.py                              every missing run, into studies/bandit/runs.csv
    python studies/bandit.py --data digits --orders 400   some of them
    python studies/bandit.py --processes 14               several at a time
    python studies/bandit.py --table                      the table from the runs alone

A run takes part of the training rows, at most ``ROWS``; the table says how many.
"""

import argparse
import csv
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np

from coalface import Budget, CoalClassifier
from coalface.data.dataset import CostDataset
from coalface.evaluate.serving import simulate_serving
from coalface.studies.learners import order_of
from stored_data import load

DATA = {  # dataset: rows of a run
    "digits": 1297,
    "digits-distance": 1297,
    "newsgroups20": 2000,
    "conll2003": 2000,
    "mnist": 2000,
    "aslib/ASP-POTASSCO": 1035,
    "in20": 1000,
    "ud-ewt": 1500,
    "clinc150": 1500,
    "rcv1": 1000,
    "in40": 1000,
}
ORDERS = (400, 401)
BOUGHT = 0.05  # of all costs
OURS = ("online", "online, 5 % bought", "default")
SMALL = ("digits", "digits-distance", "aslib/ASP-POTASSCO", "mnist")  # where "default" fits several models
VW = {
    "squarecb -l 0.5": "--squarecb -l 0.5",
    "squarecb -l 2": "--squarecb -l 2",
    "regcb -l 0.5": "--regcb -l 0.5",
    "regcb -l 2 --mellowness 0.001": "--regcb -l 2 --mellowness 0.001",
}
RESULTS = Path(__file__).parent / "bandit" / "runs.csv"
COLUMNS = ("data", "rows", "line", "order", "progressive_cost", "costs_bought", "seconds")


def examples_of(name: str, order: int) -> CostDataset:
    """The rows of one run, in their order."""
    train, _ = load(name)
    return train.subset(order_of(order, len(train))[: DATA[name]])


def ours(line: str, examples: CostDataset, order: int) -> tuple[float, int]:
    """The progressive cost of a line of ours, and the costs it bought."""
    n, n_labels = examples.cost.shape
    budget = Budget(costs=round(BOUGHT * n * n_labels), over=n) if "bought" in line else None
    model = "auto" if line == "default" else "online"
    learner = CoalClassifier(classes=list(range(n_labels)), model=model, budget=budget, random_state=order)
    served = simulate_serving(learner, examples.X, examples.cost, ask=budget is not None)
    return served.progressive_cost, served.costs_bought


def vowpal_wabbit(options: str, examples: CostDataset, order: int) -> float:
    """The progressive cost of Vowpal Wabbit with an action per label, described by its number and the features."""
    from vowpalwabbit import Workspace

    n_labels = examples.cost.shape[1]
    workspace = Workspace(f"--cb_explore_adf {options} -q sa --ignore_linear s --quiet -b 24 --random_seed {order}")
    random, paid = np.random.default_rng(order), 0.0
    actions = [f"|a a{k}" for k in range(n_labels)]
    for i in range(len(examples)):
        span = slice(examples.X.indptr[i], examples.X.indptr[i + 1])
        pairs = zip(examples.X.indices[span].tolist(), examples.X.data[span].tolist(), strict=True)
        shared = "shared |s " + " ".join(f"{column}:{value:.6g}" for column, value in pairs)
        example = workspace.parse([shared, *actions])
        chances = np.array(workspace.predict(example), np.float64)
        workspace.finish_example(example)
        chances /= chances.sum()
        label = int(random.choice(n_labels, p=chances))
        cost = float(examples.cost[i, label])
        paid += cost
        seen = [*actions[:label], f"0:{cost}:{chances[label]} {actions[label]}", *actions[label + 1 :]]
        example = workspace.parse([shared, *seen])
        workspace.learn(example)
        workspace.finish_example(example)
    workspace.finish()
    return paid / len(examples)


def finished() -> list[dict[str, Any]]:
    """The runs in the file."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def measured(task: tuple[str, str, int]) -> tuple[Any, ...]:
    """The row of one run."""
    name, line, order = task
    examples, began = examples_of(name, order), time.perf_counter()
    if line in OURS:
        cost, bought = ours(line, examples, order)
    else:
        cost, bought = vowpal_wabbit(VW[line], examples, order), 0
    return name, len(examples), line, order, f"{cost:.4f}", bought, f"{time.perf_counter() - began:.1f}"


def run(names: list[str], lines: list[str], orders: list[int], processes: int) -> None:
    """Run what is missing; each run is written when it ends."""
    RESULTS.parent.mkdir(exist_ok=True)
    done = {(row["data"], row["line"], int(row["order"])) for row in finished()}
    wanted = [(name, line, order) for order in orders for name in names for line in lines]
    missing = [task for task in wanted if task not in done and not (task[1] == "default" and task[0] not in SMALL)]
    with ProcessPoolExecutor(processes) as pool:
        for row in (each.result() for each in as_completed([pool.submit(measured, task) for task in missing])):
            print(*row, flush=True)
            is_new = not RESULTS.exists()
            with RESULTS.open("a", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([COLUMNS, row] if is_new else [row])


def table() -> str:
    """The mean progressive cost of each line, Vowpal Wabbit's at its best setting, as Markdown.

    Only orders count that all lines of a dataset have, so that each row compares the same examples.
    """
    costs: dict[tuple[str, str], dict[str, float]] = {}
    rows_of = {}
    for row in finished():
        costs.setdefault((row["data"], row["line"]), {})[row["order"]] = float(row["progressive_cost"])
        rows_of[row["data"]] = row["rows"]

    def orders(name: str) -> set[str]:
        return set.intersection(*(set(found) for (data, _), found in costs.items() if data == name))

    def mean(name: str, line: str) -> float:
        found = costs.get((name, line), {})
        return float(np.mean([found[order] for order in orders(name)])) if found else float("nan")

    def best(name: str, kind: str) -> float:
        found = [mean(name, line) for line in VW if line.startswith(kind) and (name, line) in costs]
        return min(found, default=np.nan)

    header = ("data", "rows", "orders", *OURS, "VW squarecb", "VW regcb")
    lines = [header, ("---",) * len(header)]
    for name in rows_of:
        numbers = [*(mean(name, line) for line in OURS), best(name, "squarecb"), best(name, "regcb")]
        n_orders = f"{len(orders(name))}"
        lines.append(
            (name, rows_of[name], n_orders, *("" if np.isnan(number) else f"{number:.3f}" for number in numbers))
        )
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Run what the options name, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="*", default=list(DATA), choices=list(DATA))
    parser.add_argument("--lines", nargs="*", default=[*OURS, *VW], choices=[*OURS, *VW])
    parser.add_argument("--orders", nargs="*", type=int, default=list(ORDERS))
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--table", action="store_true", help="only print the table")
    options = parser.parse_args()
    if not options.table:
        run(options.data, options.lines, options.orders, options.processes)
    print(table())


if __name__ == "__main__":
    main()
