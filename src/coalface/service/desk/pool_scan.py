"""The queue of open questions: the pool is decided in its order, a few questions ahead of those who answer."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from coalface.learner.coal import CoalClassifier
from coalface.service.desk.plan import Plan, outlook_of
from coalface.service.project.pool import Pool

_FIRST, _LARGEST = 16, 512  # examples decided at a time


class Decided(NamedTuple):
    """Some examples that follow one another in the order of the pool, of which the last may have a question."""

    first: int  # place in the order, from 0
    examples: list[int]
    plans: list[Plan | None]
    outlooks: list[list[float] | None]


def decide(learner: CoalClassifier, pool: Pool, start: int, wanted: int, most: int) -> Iterator[Decided]:
    """Go on from a place in the order until so many questions are found, or so many examples were looked at.

    The learner asks at the rounds that the places are: an example's random draws are its own, whatever was told before.
    """
    size, stop = _FIRST, min(start + most, len(pool))
    while wanted > 0 and start < stop:
        places = np.asarray(pool.order[start : min(start + size, stop)], np.int64)
        queries = learner.ask(pool.rows(places), first_round=start + 1)
        asked = np.flatnonzero(queries.mask.any(axis=1))
        n = int(asked[wanted - 1]) + 1 if len(asked) >= wanted else len(places)  # later ones wait for a newer model
        yield Decided(
            start,
            places[:n].tolist(),
            [Plan.of(queries, i) for i in range(n)],
            [outlook_of(queries, i) for i in range(n)],
        )
        wanted -= len(asked[asked < n])
        start += n
        size = min(2 * size, _LARGEST)


def decide_again(
    learner: CoalClassifier, pool: Pool, example: int, turn: int
) -> tuple[Plan | None, list[float] | None]:
    """The plan for an example that nobody has looked at yet, by what the model knows now."""
    queries = learner.ask(pool.rows(np.array([example])), first_round=turn)
    return Plan.of(queries, 0), outlook_of(queries, 0)
