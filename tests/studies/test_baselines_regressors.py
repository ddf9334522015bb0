"""Regressors on costs drawn at random, compared with scikit-learn called by hand and with what was bought."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.neighbors import KNeighborsRegressor

from baselines import regressors
from baselines.regressors import drawn_costs
from coalface.data import CostDataset
from coalface.errors import InputError
from coalface.studies.sweep import run_sweep
from tests.studies.baseline_problems import BASELINES, order_of, pets, priced, prices_for, with_table
from tests.studies.studies import numbers_of, small_study

TEST = pets(40, seed=1)
CHECKPOINTS = [7, 30, 100]
SEED = 5
BY_HAND = {
    "random-forest": lambda: RandomForestRegressor(n_estimators=12, random_state=SEED),
    "gradient-boosting": lambda: HistGradientBoostingRegressor(max_iter=12, random_state=SEED),
    "knn": lambda: KNeighborsRegressor(12),
}
DRAWN = ["costs", "examples"]


def run(train, learner="random-forest", checkpoints=CHECKPOINTS, seed=SEED, test=TEST, **parameters):
    given = {"n_neighbours" if learner == "knn" else "n_trees": 12, **parameters}
    return BASELINES[learner].curve(given, train, test, order_of(train), np.array(checkpoints), seed)


@pytest.fixture
def bought(monkeypatch):
    """Which costs the regressors were fitted to, a table (n, K) per fit, in the order of the run."""
    tables, predict = [], regressors.predicted_costs

    def spy(new_regressor, X, cost, *rest):
        tables.append(~np.isnan(cost))
        return predict(new_regressor, X, cost, *rest)

    monkeypatch.setattr(regressors, "predicted_costs", spy)
    return tables


@pytest.mark.parametrize("learner", BY_HAND)
@pytest.mark.parametrize("drawn", DRAWN)
def test_with_all_costs_the_labels_are_those_of_scikit_learn_fitted_to_each_column(learner, drawn):
    data = pets()
    X, cost = data.X.toarray()[order_of(data)], data.cost[order_of(data)]
    fitted = [BY_HAND[learner]().fit(X, cost[:, label]).predict(TEST.X.toarray()) for label in range(3)]
    paid = TEST.cost[np.arange(40), np.argmin(fitted, axis=0)]
    curve = run(data, learner, drawn=drawn)
    assert curve.test_cost[-1] == pytest.approx(paid.mean())
    assert (curve.costs_queried[-1], curve.examples_queried[-1]) == (210, 70)


def test_at_a_checkpoint_each_label_learns_the_costs_bought_for_it_alone():
    data = pets()
    X, cost = data.X.toarray()[order_of(data)], data.cost[order_of(data)]
    rows, labels = drawn_costs(np.ones((70, 3), bool), SEED)
    predicted = []
    for label in range(3):
        mine = np.sort(rows[:30][labels[:30] == label])
        predicted.append(BY_HAND["random-forest"]().fit(X[mine], cost[mine, label]).predict(TEST.X.toarray()))
    paid = TEST.cost[np.arange(40), np.argmin(predicted, axis=0)]
    assert run(data).test_cost[1] == pytest.approx(paid.mean())


@pytest.mark.parametrize("drawn", DRAWN)
def test_no_cost_is_bought_twice_and_none_is_given_back(drawn, bought):
    curve = run(pets(), drawn=drawn, checkpoints=range(1, 210, 7))
    assert [int(table.sum()) for table in bought] == sorted({*curve.costs_queried.tolist(), 30, 60, 120})
    for before, after in pairwise(bought):
        assert (after | before).sum() == after.sum() > before.sum()
    examples = dict(zip(map(int, map(np.sum, bought)), (int(table.any(axis=1).sum()) for table in bought), strict=True))
    assert curve.examples_queried.tolist() == [examples[costs] for costs in curve.costs_queried.tolist()]


def test_single_costs_are_bought_to_the_number_of_the_checkpoint():
    assert run(pets()).costs_queried.tolist() == [*CHECKPOINTS, 210]


def test_whole_examples_are_bought_in_the_order_of_the_run(bought):
    curve = run(pets(), drawn="examples")
    assert curve.costs_queried.tolist() == [9, 30, 102, 210]
    assert curve.examples_queried.tolist() == [3, 10, 34, 70]
    for table in bought:
        assert table.all(axis=1).tolist() == (np.arange(70) < table.any(axis=1).sum()).tolist()


def test_each_pair_of_an_example_and_a_label_is_as_likely_to_come_early():
    early = np.zeros((20, 3))
    for seed in range(300):
        rows, labels = drawn_costs(np.ones((20, 3), bool), seed)
        early[rows[:15], labels[:15]] += 1
    assert abs(early - 75).max() < 5 * math.sqrt(300 * 0.25 * 0.75)
    assert early.sum() == 300 * 15


@pytest.mark.parametrize("drawn", DRAWN)
def test_each_cost_has_its_own_price(drawn, bought):
    data = pets()
    curve = run(priced(data), drawn=drawn)
    price = prices_for(data)[order_of(data)]
    spent = {int(table.sum()): price[table].sum() for table in bought}
    assert curve.spent == pytest.approx([spent[costs] for costs in curve.costs_queried.tolist()])


@pytest.mark.parametrize("drawn", DRAWN)
def test_costs_that_are_not_bought_change_nothing(drawn, bought):
    data = with_table(pets())
    curve = run(data, drawn=drawn)
    mask = np.empty((70, 3), bool)
    mask[order_of(data)] = bought[1]  # the second checkpoint, 30 costs
    other = run(with_table(data, cost=np.where(mask, data.cost, 1 - data.cost)), drawn=drawn)
    assert other.test_cost[:2].tolist() == curve.test_cost[:2].tolist()
    assert other.test_cost[2] != curve.test_cost[2]


def test_other_seeds_buy_other_costs_and_grow_other_trees():
    ends = [run(pets(), seed=seed, checkpoints=[30]).test_cost.tolist() for seed in range(3)]
    assert len({start for start, _ in ends}) > 1


@pytest.mark.parametrize("drawn", DRAWN)
def test_only_candidates_are_bought_and_unknown_costs_count_as_bought(drawn, bought):
    candidates = np.tile([True, False, True], (70, 1))
    curve = run(with_table(pets(), candidates=candidates), drawn=drawn)
    assert (curve.costs_queried[-1], curve.examples_queried[-1]) == (140, 70)
    assert not any(table[:, 1].any() for table in bought)
    gaps = pets().cost.copy()
    gaps[:, 0] = np.nan
    curve = run(with_table(pets(), cost=gaps), drawn=drawn)
    assert (curve.costs_queried[-1], curve.examples_queried[-1]) == (210, 70)
    assert bought[-1].sum() == 140


@pytest.mark.parametrize("learner", BY_HAND)
def test_a_label_without_a_known_cost_is_expected_to_cost_the_mean(learner):
    """Here the others cost more than the mean of all known costs and less, so it is chosen before one of them."""
    cost = np.tile([np.nan, 0.9, 0.7], (10, 1))
    train = CostDataset(np.eye(10, 4), cost, ["bird", "cat", "dog"])
    test = CostDataset(np.eye(2, 4), [[0.25, 0.5, 1.0], [0.5, 0.25, 1.0]], ["bird", "cat", "dog"])
    known = run(train, learner, test=test)
    assert known.test_cost[-1] == 1.0  # the dog, at 0.7; the bird is expected to cost 0.8
    only = run(with_table(train, cost=np.full((10, 3), np.nan)), learner, test=test)
    assert only.test_cost[-1] == 0.375  # nothing is known: the first label


@pytest.mark.parametrize("learner", BY_HAND)
def test_one_cost_is_enough_to_predict(learner):
    assert 0 <= run(pets(), learner, checkpoints=[1]).test_cost[0] <= 1


def test_data_too_large_for_a_dense_table_is_refused():
    large = CostDataset.from_labels(csr_array((21_000, 1_000)), np.arange(21_000) % 2)
    with pytest.raises(InputError, match=r"too large .* at most 20,000,000 numbers, .* 21,000,000"):
        BASELINES["random-forest"].curve({}, large, large.subset([0, 1]), np.arange(21_000))


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"drawn": "rows"}, r"^drawn must be one of 'costs', 'examples', got 'rows'"),
        ({"n_trees": 0}, r"^n_trees must be .*1.*, got 0"),
        ({"n_trees": 2.5}, r"^n_trees must be a whole number"),
    ],
)
def test_bad_parameters_are_refused(parameters, complaint):
    with pytest.raises(InputError, match=complaint):
        BASELINES["gradient-boosting"].check(parameters, n_labels=3)


LINES = """
[lines.forest]
learner = "random-forest"
n_trees = 5
drawn = ["costs", "examples"]

[lines.boosting]
learner = "gradient-boosting"
n_trees = 5
"""


def test_a_wider_sweep_runs_only_what_is_new_and_two_threads_find_the_same(tmp_path):
    narrow, wide = (small_study(n, lines=LINES, plugins=["baselines"]) for n in (1, 2))
    assert run_sweep(narrow, tmp_path / "one", "threads", 1).finished == 3
    outcome = run_sweep(wide, tmp_path / "one", "threads", 1)
    assert (outcome.finished_before, outcome.finished, outcome.failed) == (3, 3, 0)
    run_sweep(wide, tmp_path / "two", "threads", 2)
    assert numbers_of(tmp_path / "two") == numbers_of(tmp_path / "one")
    curves = [tuple(record["curve"]["test_cost"]) for record in numbers_of(tmp_path / "one").values()]
    assert len(set(curves)) == 6  # every line and permutation has a run of its own
