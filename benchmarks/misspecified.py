"""``python -m benchmarks.misspecified``: how many of 1,800 true costs lie outside their ranges.

The costs of 3 labels are linear in a few features, whose unit varies. The exact learner asks about 60 examples. Then
the true expected costs of 600 other examples are compared with their ranges. A ball of radius 1 cannot hold the truth
if features are small. With ``oracle="auto"`` the learner chooses the unit.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface import Coal, CoalClassifier
from coalface.paper import ExactModel
from coalface.paper.oracles import BallOracle

Floats = NDArray[np.float64]
N_TRAIN, N_TEST, NOISE = 60, 600, 0.1


def main() -> None:
    """Print the table."""
    print(f"{'features':>8}{'unit':>10}  {'oracle':<24}{'asked':>7}{'outside':>9}{'of':>7}{'width':>7}  warns")
    for n_features in (2,):
        for scale in (1e-4, 0.01, 0.1, 1.0, 1e4):
            for oracle in (BallOracle(1.0), "auto"):
                report(n_features, scale, oracle)


def report(n_features: int, scale: float, oracle: Any) -> None:
    """Print one line of the table."""
    X, expected, cost = problem(N_TRAIN + N_TEST, n_features, scale)
    rule = Coal(width_scale=1.0, warm_up=0, in_turn=False)
    learner = CoalClassifier(range(3), model=ExactModel(oracle), rule=rule, mellowness=1.0, audits=None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(N_TRAIN):
            queries = learner.ask(X[i : i + 1])
            learner.tell(X[i : i + 1], np.where(queries.mask, cost[i : i + 1], np.nan), asked=queries)
    test, truth = X[N_TRAIN:], expected[N_TRAIN:]
    ranges = learner.cost_range(test)
    width = float((ranges.highest - ranges.lowest).mean())
    names = ", ".join(sorted({warning.category.__name__ for warning in caught})) or "no"
    counts = f"{learner.costs_queried_:>7}{outside(learner, test, truth):>9}{truth.size:>7}"
    print(f"{n_features:>8}{scale:>10g}  {oracle!s:<24}{counts}{width:>7.2f}  {names}", flush=True)


def outside(learner: CoalClassifier, X: Floats, expected: Floats) -> int:
    """How many of these true costs lie outside their ranges."""
    ranges = learner.cost_range(X)
    return int(((expected < ranges.lowest - 1e-6) | (expected > ranges.highest + 1e-6)).sum())


def problem(n: int, n_features: int, scale: float, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """Examples, their expected costs and their costs with noise; both stay in [0, 1]."""
    random = np.random.default_rng(seed)
    directions = random.normal(size=(n_features, 3))
    directions /= np.linalg.norm(directions, axis=0)
    X = random.normal(size=(2 * n, n_features))
    expected = 0.5 + 0.12 * X @ directions
    possible = (np.abs(expected - 0.5) <= 0.5 - NOISE).all(axis=1)
    X, expected = X[possible][:n], expected[possible][:n]
    return scale * X, expected, expected + NOISE * random.uniform(-1, 1, expected.shape)


if __name__ == "__main__":
    main()
