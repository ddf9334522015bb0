"""The pool is decided in its order, and what is drawn at random for an example hangs on its place alone."""

import numpy as np

from coalface.service.desk.pool_scan import decide, decide_again
from coalface.service.project.project import Project


def pool_and_learner(folder, n=200):
    rng = np.random.default_rng(0)
    examples = [{"id": i, "text": " ".join(f"w{word}" for word in rng.integers(0, 30, 5)) + f" n{i}"} for i in range(n)]
    project = Project.create(folder, examples, list("abcd"), learner={"audit_rate": 0.5, "warm_up": 3})
    learner = project.new_learner()
    X, cost = project.pool.rows(np.arange(n)), rng.integers(0, 2, (n, 4)).astype(float)
    learner.tell(X[:60], np.where(np.arange(4) == 0, 0.0, 0.5 + 0.5 * cost[:60]))  # one label is always best
    return project.pool, learner


def test_it_does_not_matter_where_one_begins(tmp_path):
    pool, learner = pool_and_learner(tmp_path / "p")
    whole = [plan for decided in decide(learner, pool, 0, 10**6, 150) for plan in decided.plans]
    for start in (1, 40, 133):
        part = [plan for decided in decide(learner, pool, start, 10**6, 150 - start) for plan in decided.plans]
        assert part == whole[start:]
    for place in (5, 77, 149):
        assert decide_again(learner, pool, int(pool.order[place]), place + 1)[0] == whole[place]
    audits = [tuple(plan.audits) for plan in whole[3:] if plan and plan.audits]
    assert 20 < len(audits) < 130


def test_it_stops_behind_the_last_question_wanted(tmp_path):
    pool, learner = pool_and_learner(tmp_path / "p")
    found = list(decide(learner, pool, 10, 7, 10**6))
    plans = [plan for decided in found for plan in decided.plans]
    assert sum(plan is not None for plan in plans) == 7
    assert plans[-1] is not None
    assert [example for decided in found for example in decided.examples] == pool.order[10 : 10 + len(plans)].tolist()
    looked_at = [len(decided.examples) for decided in decide(learner, pool, 0, 10**6, 50)]
    assert sum(looked_at) == 50
