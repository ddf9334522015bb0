"""Compilation of the kernels before the service opens, so that no annotator waits for it. Numba caches the result."""

import numpy as np

from coalface.service.desk.overview import predictions
from coalface.service.desk.plan import outlook_of
from coalface.service.desk.replay import Lesson, teach
from coalface.service.project.project import Project


def warm_up(project: Project) -> None:
    """Ask, learn and predict once with a temporary learner; the project stays unchanged."""
    learner, pool = project.new_learner(), project.pool
    places = np.arange(min(len(pool), 2))
    told = [(label, project.cost_bounds[0], True) for label in project.labels]
    for first_round in (1, 3):  # with an empty learner, and with one that has learned
        queries = learner.ask(pool.rows(places), first_round=first_round)
        lessons = [Lesson(place, tuple(told), outlook_of(queries, place)) for place in places.tolist()]
        teach(learner, pool, lessons)
    predictions(project, learner, [{"id": pool.example_id(0)}])
    _ = learner.saving_
