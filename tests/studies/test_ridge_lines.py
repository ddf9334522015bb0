"""The second-order learner as a line of a study, beside the others."""

import pytest

from coalface import Coal, CoalClassifier, RidgeModel, simulate
from coalface.errors import StudyError
from coalface.studies import Study, run_sweep, write_report_of
from coalface.studies.known.catalogue import load_known
from coalface.studies.learners import order_of
from coalface.studies.results import Results
from coalface.studies.sweep import estimate_study

STUDY = """
data = ["iris"]
permutations = 2
[lines.passive]
rule = "passive"
[lines.ridge]
learner = "ridge"
model.regularization = 0.5
batch = 4
"""


def test_a_ridge_line_is_run_reported_and_estimated(tmp_path):
    study = Study.from_toml(STUDY)
    outcome = run_sweep(study, tmp_path, "threads", 1)
    assert (outcome.finished, outcome.failed) == (4, 0)
    records = [record for record in Results(tmp_path).finished.values() if record["line"] == "ridge"]
    train, test = load_known("iris")
    for record in records:
        permutation = record["permutation"]
        learner = CoalClassifier(
            train.classes, model=RidgeModel(regularization=0.5), random_state=permutation, rule=Coal(miss_rate=None)
        )
        order = order_of(permutation, len(train))
        simulate(learner, train.X, train.cost, order=order, batch=4)
        assert record["curve"]["costs_queried"][-1] == learner.costs_queried_
        assert record["curve"]["test_cost"][-1] == pytest.approx(-learner.score(test.X, cost=test.cost))
    assert write_report_of(tmp_path).is_file()
    assert {guess.line for guess in estimate_study(study, None, "threads", 1).rows} == {"passive", "ridge"}
    assert [line.rule for line in study.lines] == ["passive", "coal"]


def test_a_setting_that_it_does_not_have_is_named():
    with pytest.raises(StudyError, match=r"lines\.ridge: learning_rate is not a known key"):
        Study.from_toml(STUDY + "learning_rate = 0.5")
    with pytest.raises(StudyError, match="regularization must be a finite number"):
        Study.from_toml(STUDY.replace("0.5", "0"))
