"""Print the numbers of docs/which-model.md about a rare, expensive label; needs newsgroups20 in $COALFACE_DATA."""

import sys
from statistics import mean
from typing import Any

import numpy as np

from coalface import Audits, CoalClassifier, simulate
from coalface.studies.known import load_known

PERMUTATIONS = range(20, 25)
MISSED, FALSE_ALARM = 1.0, 0.02
MATRIX = np.array([[0.0, FALSE_ALARM], [MISSED, 0.0]])  # row = truth, column = answer


WAYS: dict[str, dict[str, Any]] = {
    "auto, true labels": {"price_of_truth": 1, "audits": Audits(0.05)},
    "auto, single costs": {},
    "passive, online, true labels": {"model": "online", "rule": "passive"},
}


def run(share: float, permutation: int, way: str) -> tuple[float, float]:
    """The number of questions, for true labels or for single costs, and the mean test cost.

    So many articles of sci.med in 1 are kept.
    """
    train, test = load_known("newsgroups20")
    rare, rare_test = (np.array([str(part.classes[k]) == "sci.med" for k in part.truth]) for part in (train, test))
    random, others = np.random.default_rng(permutation), np.flatnonzero(~rare)
    kept = random.permutation(np.flatnonzero(rare))[: round(share * len(others) / (1 - share))]
    rows = random.permutation(np.concatenate([others, kept]))
    learner = CoalClassifier(classes=["other", "sci.med"], cost_matrix=MATRIX, **WAYS[way])
    simulate(learner, train.X[rows], MATRIX[rare[rows].astype(int)])
    alarm = learner.predict(test.X) == "sci.med"
    missed, false = 1 - alarm[rare_test].mean(), alarm[~rare_test].mean()
    n_questions = len(rows) if "passive" in way else learner.totals_.truths or learner.costs_queried_
    return float(n_questions), float(share * missed * MISSED + (1 - share) * false * FALSE_ALARM)


if __name__ == "__main__":
    for share in (0.01, 0.003):
        for way in WAYS:
            found = [run(share, permutation, way) for permutation in PERMUTATIONS]
            questions, cost = (mean(numbers) for numbers in zip(*found, strict=True))
            sys.stdout.write(f"{share:.1%} {way}: {questions:,.0f} questions, test cost {cost:.5f} {found}\n")
            sys.stdout.flush()
