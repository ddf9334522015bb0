"""An evaluation report: its numbers equal those of plain loops, they add up, and only known costs count."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coalface import Abstain, CoalClassifier, evaluation_report
from coalface.errors import InputError, UnknownLabelError
from coalface.evaluate.page import tables_of
from tests.problems import dense_problem, state_of, trained
from tests.reference import evaluation as reference

K = 4
LEARNER, X = trained(seed=3, n_labels=K, n=80)
ABSTAINING, _ = trained(seed=3, n_labels=K, n=80, abstain=Abstain(0.3))
N = len(X)


@st.composite
def problems(draw, partial=True):
    """Costs of the rows, of few values so that there are ties, and candidates."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    cost = random.choice([0.0, 0.25, 0.5, 1.0], (N, K))
    if partial:
        cost[random.random((N, K)) < draw(st.sampled_from([0.0, 0.3, 0.7]))] = np.nan
    candidates = random.random((N, K)) < draw(st.sampled_from([0.7, 1.0]))
    candidates[np.arange(N), random.integers(K, size=N)] = True
    cost[0], candidates[0] = 0.5, True  # so that at least one row is judged
    return cost, candidates


def columns_of(learner, predicted):
    labels = learner.classes_.tolist()
    return [labels.index(label) if label in labels else K for label in predicted.tolist()]


@given(problems(), st.booleans())
@settings(deadline=None, max_examples=60)
def test_the_numbers_equal_those_of_plain_loops(problem, abstains):
    cost, candidates = problem
    learner = ABSTAINING if abstains else LEARNER
    price = 0.3 if abstains else None
    report = evaluation_report(learner, X, cost, candidates=candidates)
    answers = columns_of(learner, learner.predict(X, candidates=candidates))
    rows = reference.judged_rows(answers, cost.tolist(), candidates, price)
    mean, least, labels, mistakes = reference.breakdown(rows, price)
    assert (report.rows, report.judged) == (N, len(rows))
    assert report.abstained == sum(answer == K for _, answer, *_ in rows)
    assert report.known_costs == sum(len(known) for *_, known in rows)
    assert report.cost.mean == pytest.approx(mean)
    assert report.references[-1].cost.mean == pytest.approx(least)
    assert {int(one.label): (one.rows, pytest.approx(one.total_cost)) for one in report.labels} == labels
    found = {(one.truth, one.predicted): (one.rows, one.total_cost, one.extra_cost) for one in report.mistakes}
    names = [*map(str, range(K)), "-1"]
    assert found == {(names[t], names[p]): pytest.approx(sums) for (t, p), sums in mistakes.items()}
    best = reference.best_single(rows, candidates, K)
    assert len(report.references) == (1 if best is None else 2)
    if best is not None:
        assert report.references[0].cost.mean == pytest.approx(best[1])
    ranges = learner.cost_range(X)
    inside, ruled_out = reference.coverage(rows, ranges.lowest, ranges.highest, candidates)
    assert (report.coverage.costs, report.coverage.ruled_out) == (pytest.approx(inside), pytest.approx(ruled_out))


@given(problems())
@settings(deadline=None, max_examples=60)
def test_the_parts_add_up_and_the_references_bound_the_cost(problem):
    cost, candidates = problem
    report = evaluation_report(LEARNER, X, cost, candidates=candidates)
    assert sum(one.rows for one in report.labels) == report.judged == report.cost.rows
    assert report.total_cost == pytest.approx(report.judged * report.cost.mean)
    if report.total_cost > 0:
        assert sum(one.share for one in report.labels) == pytest.approx(1)
    oracle = report.references[-1]
    assert oracle.cost.mean <= report.cost.mean + 1e-12
    assert oracle.difference.mean == pytest.approx(oracle.cost.mean - report.cost.mean)
    extra = report.total_cost - report.judged * oracle.cost.mean
    assert sum(one.extra_cost for one in report.mistakes) == pytest.approx(extra)
    assert [one.extra_cost for one in report.mistakes] == sorted((m.extra_cost for m in report.mistakes), reverse=True)
    assert sum(one.costs for one in report.calibration.bins) == report.known_costs
    for estimate in (report.cost, *(part for one in report.references for part in (one.cost, one.difference))):
        assert estimate.low <= estimate.mean + 1e-12 <= estimate.high + 2e-12
    assert all(0 <= one.cost.low <= one.cost.high <= 1 for one in report.references)


@given(problems(partial=False))
@settings(deadline=None, max_examples=30)
def test_with_all_costs_known_a_single_label_costs_no_less_than_the_cheapest(problem):
    cost, _ = problem
    single, oracle = evaluation_report(LEARNER, X, cost).references
    assert oracle.cost.mean <= single.cost.mean
    assert single.cost.mean == pytest.approx(cost.mean(axis=0).min())


def test_calibration_is_the_gap_of_bins_of_equal_predictions():
    _, cost = dense_problem(5, K, N)
    report = evaluation_report(LEARNER, X, cost)
    predicted, known = LEARNER.predict_cost(X).clip(0, 1).ravel(), cost.ravel().astype(float)
    edges = np.unique(np.quantile(predicted, np.arange(1, 10) / 10))
    gaps = [
        abs((predicted - known)[(predicted >= low) & (predicted < high)].sum())
        for low, high in zip([-1, *edges], [*edges, 2], strict=True)
    ]
    assert report.calibration.mean_gap == pytest.approx(sum(gaps) / known.size)
    best = LEARNER.predict_cost(X).clip(0, 1).min(axis=1)
    assert report.calibration.answers_predicted == pytest.approx(best.mean())


def test_true_labels_and_their_costs_give_the_same_report():
    truth = np.arange(N) % K
    by_label = evaluation_report(LEARNER, X, y=truth)
    assert by_label == evaluation_report(LEARNER, X, cost=(truth[:, None] != np.arange(K)).astype(float))
    assert by_label.cost.mean == pytest.approx(-LEARNER.score(X, truth))


def test_true_labels_beside_costs_name_the_rows():
    cost = np.full((N, K), 0.5)
    cost[:, 0] = 0.25
    report = evaluation_report(LEARNER, X, cost, y=np.full(N, 2))
    assert [(one.label, one.rows) for one in report.labels] == [("2", N)]
    assert all(one.truth == "2" for one in report.mistakes)


def test_costs_on_another_scale_give_a_report_on_that_scale():
    _, unit = dense_problem(5, K, N)
    wide, _ = trained(seed=3, n_labels=K, n=80, cost_bounds=(-2.0, 6.0))
    one, other = evaluation_report(LEARNER, X, unit), evaluation_report(wide, X, 8.0 * unit - 2.0)
    for name in ("mean", "low", "high"):
        assert getattr(other.cost, name) == pytest.approx(8 * getattr(one.cost, name) - 2, abs=1e-4)
    assert other.calibration.mean_gap == pytest.approx(8 * one.calibration.mean_gap, rel=1e-3)
    assert other.coverage.costs == pytest.approx(one.coverage.costs, abs=0.02)
    assert all(label.share is None for label in other.labels)


def oracle_row(report):
    (table,) = (table for table in tables_of(report) if table.title == "Mean cost")
    return next(row for row in table.rows if row[0] == "the cheapest label of each row")


@pytest.mark.parametrize("least", [0.0, 0.2])
def test_where_the_cheapest_label_always_costs_the_same_by_a_matrix_its_mean_is_exact(least):
    matrix = np.where(np.eye(K) == 1, least, 0.7)
    matrix[0, 1:] = 0.9
    truth = np.arange(N) % K
    report = evaluation_report(LEARNER, X, matrix[truth])
    oracle = report.references[-1].cost
    assert (oracle.mean, oracle.low, oracle.high) == pytest.approx((least, least, least))
    assert oracle_row(report)[2] == "exact"
    assert report.cost.low < report.cost.high


def test_the_mean_of_the_cheapest_label_has_an_interval_where_it_may_differ():
    truth = np.arange(N) % K
    unlike = np.where(np.eye(K) == 1, np.linspace(0, 0.2, K), 0.7)[truth]  # by the true label
    several = np.array([[0.0, 0.0, *[1.0] * (K - 2)], [0.0, *[1.0] * (K - 1)]])[np.arange(N) % 2]  # may be all wrong
    free = np.column_stack([np.zeros(N), np.linspace(0.1, 0.9, N)[:, None].repeat(K - 1, axis=1)])  # costs of their own
    for cost in (unlike, several, free):
        report = evaluation_report(LEARNER, X, cost)
        assert report.references[-1].cost.low < report.references[-1].cost.high
        assert oracle_row(report)[2] != "exact"
    one = evaluation_report(LEARNER, X[:1], several[1:2])
    assert one.references[-1].cost.low < one.references[-1].cost.high


def test_the_learner_does_not_change_and_the_report_is_json():
    before = state_of(LEARNER)
    report = evaluation_report(LEARNER, X, y=np.zeros(N, int))
    assert state_of(LEARNER) == before
    values = json.loads(report.to_json())
    assert values["cost"]["mean"] == report.cost.mean
    assert values["total_cost"] == report.total_cost
    assert set(values["features"]) == set(report.features)
    assert len(repr(report)) < 250


def test_a_cheapest_label_that_is_ruled_out_is_counted():
    rows = np.array([[1.0, 0.0]] * 300)
    learner = CoalClassifier(["walk", "fly"], model="online").fit(rows, cost=[[0.0, 1.0]] * 300)
    assert evaluation_report(learner, rows[:10], cost=[[0.0, 1.0]] * 10).coverage.ruled_out == 0.0
    wrong = evaluation_report(learner, rows[:10], cost=[[1.0, 0.0]] * 10).coverage
    assert (wrong.ruled_out, wrong.costs, wrong.means) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"cost": np.full((N, K), np.nan)}, "cost must be known for the predicted label of some row, got NaN for all"),
        ({"cost": np.zeros((N, K + 1))}, "one column per label"),
        ({"cost": np.full((N, K), 3.0)}, "must lie in"),
        ({}, "requires y to be passed"),
        ({"y": [0]}, "one label per row"),
        ({"y": [0], "cost": np.zeros((N, K))}, "y must have one label per row of X, 20, got 1"),
    ],
)
def test_what_cannot_be_judged_is_refused(given, said):
    with pytest.raises(InputError, match=said):
        evaluation_report(LEARNER, X, **given)


def test_no_rows_and_unknown_labels_are_refused():
    with pytest.raises(InputError, match="at least one row"):
        evaluation_report(LEARNER, X[:0], y=[])
    with pytest.raises(UnknownLabelError, match="Unknown label 9"):
        evaluation_report(LEARNER, X, y=np.full(N, 9))
