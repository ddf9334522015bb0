"""Compilation of the kernels before the service opens, so that no annotator waits for it. Numba caches the result."""

import numpy as np

from coalface.service.desk.model import teach
from coalface.service.desk.overview import predictions
from coalface.service.project.project import Project


def warm_up(project: Project) -> None:
    """Ask, learn and predict once with a temporary learner; the project stays unchanged."""
    learner, pool = project.new_learner(), project.pool
    places = np.arange(min(len(pool), 2))
    costs = dict.fromkeys(project.labels, project.cost_bounds[0])
    for first_round in (1, 3):  # with an empty learner, and with one that has learned
        queries = learner.ask(pool.rows(places), first_round=first_round)
        teach(learner, pool, [(place, queries.round(place).with_answers(costs)) for place in places.tolist()])
    predictions(project, learner, [{"id": pool.example_id(0)}])
    _ = learner.saving_
