"""Choose the fastest solver for each instance, where every cost is an expensive run.

Each label is a solver; its cost on an instance is its run time there. The learner decides which solvers are worth
running on which instance, while passive learning runs them all.

    python examples/choose_a_solver.py

It prints a table, and draws solver-runs.svg: the seconds of the chosen solvers against the runs that were made.
"""

import numpy as np
from matplotlib.figure import Figure

from coalface import Coal, CoalClassifier, simulate

N_INSTANCES, N_FEATURES, SOLVERS, LIMIT = 1_000, 12, ["cdcl", "local-search", "lookahead", "portfolio"], 60.0
RULES = {"run them all": Coal("passive"), "coalface": Coal()}


def instances(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Features of instances, and the seconds each solver takes, cut off at the time limit."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(N_INSTANCES, N_FEATURES))
    strengths = np.random.default_rng(7).normal(size=(N_FEATURES, len(SOLVERS)))
    seconds = np.exp(2.0 + 0.5 * features @ strengths + 0.2 * rng.normal(size=(N_INSTANCES, len(SOLVERS))))
    return features, np.minimum(seconds, LIMIT)


def main() -> None:
    """Compare how many runs each way needs, and how fast the solvers are that it picks."""
    features, seconds = instances(seed=0)
    new_features, new_seconds = instances(seed=1)
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    print(f"{'':28}{'solver runs':>12}{'seconds per instance':>22}")
    for name, rule in RULES.items():
        learner = CoalClassifier(SOLVERS, rule=rule, cost_bounds=(0.0, LIMIT), model="ridge")
        curve = simulate(learner, features, seconds, X_test=new_features, cost_test=new_seconds)
        curve.plot(axes, label=name)
        print(f"{name:28}{curve.costs_queried[-1]:12,}{curve.test_cost[-1]:22.1f}")
    best = {
        "the best single solver": new_seconds.mean(axis=0).min(),
        "a perfect choice": new_seconds.min(axis=1).mean(),
    }
    for name, mean in best.items():
        axes.axhline(mean, linestyle=":", color="gray")
        axes.annotate(f" {name}", (axes.get_xlim()[0], mean), va="top")
        print(f"{name:28}{'':12}{mean:22.1f}")
    axes.set_ylabel("seconds per instance")
    axes.set_ylim(bottom=0)
    axes.legend()
    figure.savefig("solver-runs.svg")


if __name__ == "__main__":
    main()
