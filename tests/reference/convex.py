"""Version spaces word for word, and a general convex solver for their ranges.

Averages over rounds, a constraint for every round whether something was asked or not, nothing dropped, nothing merged:
only the definitions are shared with the library. Regressors are linear; ``kind`` says which.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize


@dataclass
class LinearClass:
    kind: str  # "ball", "ridge" or "bounded"
    size: float = 1.0  # radius or penalty

    def penalty(self, w):
        return self.size * w @ w if self.kind == "ridge" else 0.0

    def constraints(self, rows):
        if self.kind == "ball":
            return [{"type": "ineq", "fun": lambda w: self.size**2 - w @ w, "jac": lambda w: -2 * w}]
        if self.kind == "bounded" and len(rows):
            sides, offsets = np.vstack([rows, -rows]), np.repeat([0.0, 1.0], len(rows))
            return [{"type": "ineq", "fun": lambda w: sides @ w + offsets, "jac": lambda _: sides}]
        return []


@dataclass
class Round:
    row: np.ndarray
    cost: float | None  # None: not asked


def summed_loss(family, history, w):
    return family.penalty(w) + sum((row.row @ w - row.cost) ** 2 for row in history if row.cost is not None)


def gradient(family, history, w):
    slope = 2 * family.size * w if family.kind == "ridge" else np.zeros_like(w)
    return slope + sum(2 * (row.row @ w - row.cost) * row.row for row in history if row.cost is not None)


def solve(objective, slope, constraints, start):
    found = minimize(
        objective, start, jac=slope, constraints=constraints, method="SLSQP", options={"maxiter": 1000, "ftol": 1e-14}
    )
    worst = min([np.min(one["fun"](found.x)) for one in constraints], default=0.0)
    assert worst > -1e-7, (found.message, worst)
    return found.x


def best(family, history, width):
    rows = np.array([row.row for row in history if row.cost is not None])
    return solve(
        lambda w: summed_loss(family, history, w),
        lambda w: gradient(family, history, w),
        family.constraints(rows),
        np.zeros(width),
    )


def version_space(family, history, slack_of, *, latest_only=False):
    """The constraints of every round j from 2 on: the average loss of rounds 1 to j - 1 stays near its least value."""
    width = len(history[0].row)
    rounds = range(len(history) + 1, len(history) + 2) if latest_only else range(2, len(history) + 2)
    rows = np.array([row.row for row in history if row.cost is not None])
    constraints = family.constraints(rows)
    for j in rounds:
        before = history[: j - 1]
        if all(row.cost is None for row in before):
            continue
        least = summed_loss(family, before, best(family, before, width)) / (j - 1)
        limit = least + slack_of(j) / (j - 1)
        constraints.append(
            {
                "type": "ineq",
                "fun": lambda w, limit=limit, before=before: limit - summed_loss(family, before, w) / len(before),
                "jac": lambda w, before=before: -gradient(family, before, w) / len(before),
            }
        )
    return constraints


def extreme_cost(constraints, row, end, start):
    """The largest (``end`` 1) or least (0) cost of the row over the version space, cut to the scale."""
    sign = -1.0 if end else 1.0
    w = solve(lambda w: sign * (row @ w), lambda _: sign * row, constraints, start)
    return float(np.clip(row @ w, 0.0, 1.0))
