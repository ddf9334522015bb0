"""A ranking of a whole pool, row by row: what questions could still save, equal rows once."""

import numpy as np


def possible_saving(learner, row):
    """The predicted cost of the label less the least cost that any label may have; 0 if nothing is asked."""
    queries = learner.ask([row])
    if not queries.mask.any():
        return 0.0
    costs = dict(zip(learner.classes_.tolist(), np.clip(learner.predict_cost([row])[0], 0.0, 1.0), strict=True))
    return float(max(costs[learner.predict([row])[0].item()] - queries.ranges.lowest[0].min(), 0.0))


def plain_ranking(learner, X, top):
    """The numbers and savings of the best rows; the earlier of equally good rows comes first."""
    savings = [possible_saving(learner, row) for row in X]
    best, seen = [], set()
    for number in sorted(range(len(X)), key=lambda number: (-savings[number], number)):
        content = tuple(np.float32(X[number]).tolist())
        if savings[number] > 0 and content not in seen:
            seen.add(content)
            best.append(number)
    return best[:top], [savings[number] for number in best[:top]]
