"""Simulated annotators at a desk compared with ``simulate``: the same pool and costs, but answers come out of order.

Run as ``COALFACE_DATA=... python -m benchmarks.desk_against_simulation clinc150 newsgroups20``.
"""

import heapq
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from studies.stored_data import load

from coalface import CoalClassifier, simulate
from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.desk.service.messages import NoQuestion

N_ANNOTATORS = 20
RAM = Path("/dev/shm") if Path("/dev/shm").is_dir() else None


def simulated(train, test, order):
    learner = CoalClassifier(classes=train.classes, model="online")  # the model of a desk
    curve = simulate(learner, train.X, train.cost, X_test=test.X, cost_test=test.cost, order=order)
    return float(curve.test_cost[-1]), learner.examples_queried_, learner.costs_queried_


def at_the_desk(train, test, folder, n_annotators):
    """Each annotator leases, pauses and answers; now and then the lease expires first."""
    examples = ({"id": i, "text": f"example {i}"} for i in range(len(train)))
    project = Project.create(folder, examples, [str(label) for label in train.classes], features=train.X)
    now = [0.0]
    desk = Desk(project, clock=lambda: now[0])
    rng = np.random.default_rng(0)
    waiting = [(float(rng.exponential(20)), f"person {k}", None) for k in range(n_annotators)]
    heapq.heapify(waiting)
    column = {str(label): k for k, label in enumerate(train.classes)}
    number, idle = 0, 0
    while waiting:
        now[0], who, question = heapq.heappop(waiting)
        if question is None:
            question = desk.lease(who)
            if isinstance(question, NoQuestion):
                idle += 1
                if question.reason == "all-leased" and idle < 10**5:
                    heapq.heappush(waiting, (now[0] + 30, who, None))
                continue
        else:
            costs = {label: float(train.cost[int(question.example_id), column[label]]) for label in question.labels}
            number += 1
            question = desk.answer(who, question.id, question.lease_id, costs, key=str(number)).follow_up
        pause = float(rng.exponential(20)) if rng.random() > 0.01 else 900.0  # longer than a lease
        heapq.heappush(waiting, (now[0] + pause, who, question) if question else (now[0] + 1, who, None))
    progress, learner = desk.progress(), desk.state.model.learner
    cost = -learner.score(test.X, cost=test.cost)
    desk.close()
    return cost, progress.examples, progress.costs


def main(names):
    for name in names:
        train, test = load(name)
        folder = Path(tempfile.mkdtemp(dir=RAM))
        try:
            order = np.random.Generator(np.random.PCG64(0)).permutation(len(train))
            print(name, "simulated:", *simulated(train, test, order), flush=True)
            print(name, "at a desk:", *at_the_desk(train, test, folder / "p", N_ANNOTATORS), flush=True)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main(sys.argv[1:] or ["newsgroups20", "clinc150"])
