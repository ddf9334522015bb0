"""``python -m benchmarks.oracle_calls``: oracle calls per end of a range, and how exact the ends are.

The costs are linear, with a margin between the best label and the rest. Every end of every range that the learner
computes is counted. ``dual`` runs on up to 3,000 examples, multiplicative weights on 100.
"""

import sys
import time

import numpy as np

from coalface import Coal, CoalClassifier, simulate
from coalface.paper import ExactModel
from coalface.paper import model as exact_model
from coalface.paper.engine import certified_range
from coalface.paper.engines import theoretical_cap
from coalface.paper.oracles import BallOracle

MARGIN, N_LABELS = 0.1, 3
SLACKS = {"noise-scaled 1": ("noise-scaled", 1.0), "published 0.1": ("published", 0.1)}  # and the mellowness
_HEADS = ("engine", "slack", "features", "examples", "tol", "asked", "of", "median", "90 %", "99 %", "most", "gap", "s")


def main(longest: int) -> None:
    """Print the table."""
    print(("{:<23}{:<16}" + "{:>9}" * 11).format(*_HEADS))
    for slack in SLACKS:
        for n_features, n in [(5, 300), (10, 300), (5, longest), (10, longest)]:
            report("dual", slack, n_features, n)
        for engine in ("dual", "multiplicative-weights"):
            report(engine, slack, 5, 100, tol=0.1)
    cap = theoretical_cap(100, 0.05, 0.1)
    print(f"Cap of multiplicative weights with 100 constraints, an average slack of 0.05 and tol 0.1: {cap:.1e} calls.")


def report(engine: str, slack: str, n_features: int, n: int, tol: float | None = None) -> None:
    """Print one line of the table; ``tol`` is by default a quarter of the width threshold."""
    calls, gaps = [], []

    def counted(*question):
        found = certified_range(*question[:2], question[2] if tol is None else tol)
        for end in (found.low, found.high):
            calls.append(end.oracle_calls)
            gaps.append(abs(end.reached - end.limit) / (question[2] if tol is None else tol))
        return found

    X, cost = problem(n, n_features)
    kind, mellowness = SLACKS[slack]
    rule = Coal(width_scale=1.0, slack=kind, in_turn=False)
    learner = CoalClassifier(model=ExactModel(BallOracle(2.0), engine), rule=rule, mellowness=mellowness, audits=None)
    started = time.perf_counter()
    exact_model.certified_range = counted
    try:
        simulate(learner, X, cost)
    finally:
        exact_model.certified_range = certified_range
    shares = [f"{number:.0f}" for number in np.percentile(calls, [50, 90, 99, 100])]
    line = (engine, slack, n_features, n, "psi/4" if tol is None else tol, learner.costs_queried_, cost.size)
    seconds = time.perf_counter() - started
    print(("{:<23}{:<16}" + "{:>9}" * 11).format(*line, *shares, f"{max(gaps):.3f}", f"{seconds:.1f}"), flush=True)


def problem(n: int, n_features: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of length 1 whose best label is ahead of the others by the margin, and their noisy costs."""
    random = np.random.default_rng(seed)
    slopes = random.normal(size=(n_features, N_LABELS))
    slopes /= 2 * np.linalg.norm(slopes, axis=0)
    X = random.normal(size=(20 * n, n_features))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    expected = 0.5 + X @ slopes
    best, second = np.sort(expected, axis=1)[:, :2].T
    kept = np.flatnonzero(second - best > MARGIN)[:n]
    return X[kept], np.clip(expected[kept] + random.uniform(-0.1, 0.1, (len(kept), N_LABELS)), 0, 1)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3000)
