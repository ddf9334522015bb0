"""A line of a study whose learner multiplies columns."""

import pytest

from coalface import CoalClassifier, simulate
from coalface.errors import StudyError
from coalface.models.online import OnlineModel
from coalface.studies import Study, run_sweep, write_report_of
from coalface.studies.known.catalogue import load_known
from coalface.studies.learners import order_of
from coalface.studies.results import Results

STUDY = """
data = ["iris"]
permutations = 1
[lines.linear]
[lines.products]
model = { kind = "OnlineModel", interactions = 2 }
[lines.ranges]
model = { kind = "OnlineModel", interactions = [[[0, 2], [2, 4]]] }
"""


def test_lines_with_interactions_are_run_and_reported(tmp_path):
    outcome = run_sweep(Study.from_toml(STUDY), tmp_path, "threads", 1)
    assert (outcome.finished, outcome.failed) == (3, 0)
    train, test = load_known("iris")
    models = {"linear": None, "products": 2, "ranges": [[[0, 2], [2, 4]]]}
    for record in Results(tmp_path).finished.values():
        learner = CoalClassifier(train.classes, model=OnlineModel(interactions=models[record["line"]]))
        simulate(learner, train.X, train.cost, order=order_of(0, len(train)))
        assert record["curve"]["costs_queried"][-1] == learner.costs_queried_
        assert record["curve"]["test_cost"][-1] == pytest.approx(-learner.score(test.X, cost=test.cost))
    assert write_report_of(tmp_path).is_file()


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("interactions = 2", "interactions = 3", r"interactions must be None, 2 or pairs of column ranges, got 3"),
        ("OnlineModel", "RidgeModel", r"model RidgeModel has no parameter 'interactions'"),
    ],
)
def test_a_line_that_cannot_be_is_named(before, after, said):
    with pytest.raises(StudyError, match=rf"lines\.products: {said}"):
        Study.from_toml(STUDY.replace(before, after, 1))
