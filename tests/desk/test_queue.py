"""The pool is scanned in its order, and an example's random draws depend on its place alone."""

import numpy as np

from coalface.desk.log.store import QuestionRow
from coalface.desk.project.project import Project
from coalface.desk.service.model import decide_again, scan


def pool_and_learner(folder, n=200):
    rng = np.random.default_rng(0)
    examples = [{"id": i, "text": " ".join(f"w{word}" for word in rng.integers(0, 30, 5)) + f" n{i}"} for i in range(n)]
    project = Project.create(folder, examples, list("abcd"), learner={"audits": {"rate": 0.5}, "rule": {"warm_up": 3}})
    learner = project.new_learner()
    X, cost = project.pool.rows(np.arange(n)), rng.integers(0, 2, (n, 4)).astype(float)
    learner.tell(X[:60], np.where(np.arange(4) == 0, 0.0, 0.5 + 0.5 * cost[:60]))  # one label is always best
    return project.pool, learner


def scanned(*args):
    return [pair for batch in scan(*args) for pair in batch]


def test_it_does_not_matter_where_a_scan_begins(tmp_path):
    pool, learner = pool_and_learner(tmp_path / "p")
    whole = scanned(learner, pool, 0, 10**6, 150)
    for start in (1, 40, 133):
        assert scanned(learner, pool, start, 10**6, 150 - start) == whole[start:]
    for place in (5, 77, 149):
        example, found = whole[place]
        row = QuestionRow(1, example, copy=0, open=True, step=0, asking=1, decided=0, round=found)
        assert decide_again(learner, pool, row) == found
    assert 20 < sum(bool(found.propensity) for _, found in whole[3:]) < 130


def test_it_stops_after_the_last_question_wanted(tmp_path):
    pool, learner = pool_and_learner(tmp_path / "p")
    found = scanned(learner, pool, 10, 7, 10**6)
    assert sum(bool(one.ask) for _, one in found) == 7
    assert found[-1][1].ask
    assert [example for example, _ in found] == pool.order[10 : 10 + len(found)].tolist()
    assert [one.number for _, one in found] == list(range(11, 11 + len(found)))
    assert len(scanned(learner, pool, 0, 10**6, 50)) == 50
