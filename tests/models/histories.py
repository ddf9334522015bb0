"""Small problems for range engines: a history of rounds, and the version space that the library makes of it."""

import numpy as np

from coalface.paper.version_space import LabelAnswers, VersionSpace
from tests.reference.convex import Round


def slack_of(mellowness, n_labels=3):
    return lambda j: mellowness * np.log(n_labels * (j - 1))


def history(seed, n_rounds=18, n_features=3, asked=0.7, noise=0.15):
    """Linear costs with noise; about ``asked`` of them are known."""
    random = np.random.default_rng(seed)
    truth = random.normal(size=n_features)
    truth *= 0.5 / np.linalg.norm(truth)
    rows = np.column_stack([np.ones(n_rounds + 4), random.normal(size=(n_rounds + 4, n_features)) / n_features**0.5])
    costs = np.clip(0.5 + rows[:, 1:] @ truth + random.normal(scale=noise, size=len(rows)), 0, 1)
    known = random.random(len(rows)) < asked
    known[0] = True
    rounds = [Round(row, cost if told else None) for row, cost, told in zip(rows, costs, known, strict=True)]
    return rounds[:n_rounds], rows[n_rounds:]


def learned(oracle, rounds, slack, *, monotone=True):
    """The version space, round by round as the learner builds it."""
    space = VersionSpace(LabelAnswers(oracle))
    for number, told in enumerate(rounds, start=1):
        if told.cost is not None:
            space = space.with_answer(told.row, told.cost)
        if len(space.answers):
            constrained = space.with_constraint if monotone else space.alone
            space = constrained(number + 1, slack(number + 1))
    return space
