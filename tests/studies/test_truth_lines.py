"""Lines of a study whose learner asks for true labels."""

import pytest

from coalface import CoalClassifier, simulate
from coalface.errors import StudyError
from coalface.evaluate.curve import Curve
from coalface.studies import Study, run_sweep, write_report_of
from coalface.studies.collect_results import collect_results
from coalface.studies.known.catalogue import load_known
from coalface.studies.learners import order_of
from coalface.studies.results import Results

STUDY = """
data = ["iris"]
permutations = 2
[lines.costs]
rule = "coal"
[lines.truths]
price_of_truth = 1
[lines.both]
price_of_truth = 2
"""


def test_lines_that_ask_for_true_labels_are_run_and_reported(tmp_path):
    outcome = run_sweep(Study.from_toml(STUDY), tmp_path, "threads", 1)
    assert (outcome.finished, outcome.failed) == (6, 0)
    train, _ = load_known("iris")
    for record in Results(tmp_path).finished.values():
        price = {"costs": None, "truths": 1, "both": 2}[record["line"]]
        learner = CoalClassifier(
            train.classes,
            cost_matrix=train.cost_matrix,
            price_of_truth=price,
            random_state=record["permutation"],
            model="online",
        )
        simulate(learner, train.X, train.cost, order=order_of(record["permutation"], len(train)))
        assert record["curve"]["costs_queried"][-1] == learner.costs_queried_
        assert record["curve"].get("truths_queried", [0])[-1] == learner.totals_.truths
    assert write_report_of(tmp_path).is_file()


def test_a_report_counts_a_true_label_as_its_price(tmp_path):
    run_sweep(Study.from_toml(STUDY), tmp_path, "threads", 1)
    of_line = {run.line: run for run in collect_results(Results(tmp_path)).runs if run.permutation == 0}
    curve = next(
        Curve.from_values(record["curve"])
        for record in Results(tmp_path).finished.values()
        if (record["line"], record["permutation"]) == ("both", 0)
    )
    assert of_line["both"].costs_queried == curve.costs_queried[-1] + 2 * curve.truths_queried[-1]


def test_a_bad_price_is_named():
    with pytest.raises(StudyError, match="price_of_truth must be a finite number greater than 0"):
        Study.from_toml(STUDY.replace("= 1", "= 0"))
