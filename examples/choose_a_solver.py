"""Choose the fastest solver for each instance, where every cost is an expensive run.

Each label is a solver; its cost on an instance is its run time there. The learner decides which solvers are worth
running on which instance, while passive learning runs them all.

    python examples/choose_a_solver.py
"""

import numpy as np

from coalface import CoalClassifier, simulate

N_INSTANCES, N_FEATURES, SOLVERS, LIMIT = 2_000, 12, ["cdcl", "local-search", "lookahead", "portfolio"], 60.0


def instances(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Features of instances, and the seconds each solver takes, cut off at the time limit."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(N_INSTANCES, N_FEATURES))
    strengths = np.random.default_rng(7).normal(size=(N_FEATURES, len(SOLVERS)))
    seconds = np.exp(2.0 + 0.5 * features @ strengths + 0.2 * rng.normal(size=(N_INSTANCES, len(SOLVERS))))
    return features, np.minimum(seconds, LIMIT)


def main() -> None:
    """Compare how many runs each rule needs, and how fast the solvers are that it picks."""
    features, seconds = instances(seed=0)
    new_features, new_seconds = instances(seed=1)
    for rule in ("passive", "coal"):
        learner = CoalClassifier(SOLVERS, rule=rule, cost_bounds=(0.0, LIMIT), mellowness=0.01, learning_rate=0.1)
        curve = simulate(learner, features, seconds, X_test=new_features, cost_test=new_seconds)
        print(f"{rule:8} needs {curve.costs_queried[-1]:5} solver runs; its picks take {curve.test_cost[-1]:.1f} s")
    print(
        f"the best fixed solver takes {new_seconds.mean(axis=0).min():.1f} s, the best solver of each instance "
        f"{new_seconds.min(axis=1).mean():.1f} s"
    )


if __name__ == "__main__":
    main()
