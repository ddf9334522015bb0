"""Questions about one example after the other, each put only if the answers so far have not settled it."""

from collections.abc import Callable
from typing import Any

import numpy as np


def interview(learner: Any, X: Any, answer: Callable[[int, Any], float], candidates: Any) -> None:
    """Ask, answer and tell row by row; each row is told once, when nothing is left to ask about it."""
    rows = learner._rows(X)
    allowed = learner._candidates(candidates, rows)
    for i in range(len(rows)):
        row, mine = rows.take(np.array([i])), None if allowed is None else allowed[i : i + 1]
        cost = np.full((1, len(learner.classes_)), np.nan)
        asked = np.zeros(cost.shape, np.bool_)
        queries = first = learner._decide(row, mine)
        while queries.next.any():
            for k in np.flatnonzero(queries.next[0]):
                cost[0, k] = answer(i, learner.classes_[k])
            asked |= queries.next
            queries = learner._decide(row, mine, learner._answered(row, cost, asked))
        learner._tell(X, row, learner.classes_, cost, first.put(asked), mine, late=False)
