"""Baselines that ask for labels: what they choose, what they predict, and what they may not see."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from baselines import labels
from baselines.strategies import UNKNOWN, CostEmbedding, CostMargin, ExpectedCost, Margin
from coalface import CoalClassifier, simulate
from coalface.data import CostDataset
from coalface.errors import InputError
from tests.studies.baseline_problems import BASELINES, MATRIX, order_of, pets, priced, prices_for, with_table

pytest.importorskip("skactiveml")
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

TEST = pets(40, seed=1)
NAMES = ["margin", "cost-weighted-uncertainty", "cost-embedding"]


def run(name, train, checkpoints=(12, 30, 60), **parameters):
    given = {"warm_up": 4, "batch_size": 10, "max_labels": 24, **parameters}
    return BASELINES[name].curve(given, train, TEST, order_of(train), np.array(checkpoints), 5)


@pytest.fixture
def asked(monkeypatch):
    """The rows whose labels were asked for, as positions in the order of the run, a list per run."""
    runs, choose = [], labels.asked_in_order

    def spy(*arguments):
        runs.append(choose(*arguments))
        return runs[-1]

    monkeypatch.setattr(labels, "asked_in_order", spy)
    return runs


@pytest.mark.parametrize("name", NAMES)
def test_every_label_is_asked_for_once_and_counts_as_all_costs(name, asked):
    curve = run(name, pets(), max_labels=23)
    assert len(set(asked[0])) == len(asked[0]) == curve.examples_queried[-1] == 23
    assert curve.costs_queried[-1] == 3 * 23
    assert asked[0][:4].tolist() == [0, 1, 2, 3]  # the warm-up is the beginning of the order
    assert curve.costs_queried.tolist() == [12, 30, 60, 69]


@pytest.mark.parametrize("name", NAMES)
def test_a_label_has_the_price_of_all_costs_of_its_example(name, asked):
    data = pets()
    curve = run(name, priced(data))
    paid = prices_for(data)[order_of(data)][asked[0]].sum(axis=1)
    assert curve.spent == pytest.approx([paid[:n_labels].sum() for n_labels in curve.examples_queried])


@pytest.mark.parametrize("name", NAMES)
def test_without_a_limit_the_whole_pool_is_asked_about(name, asked):
    curve = run(name, pets(30), max_labels=None, batch_size=50)
    assert sorted(asked[0]) == list(range(30))
    assert curve.examples_queried[-1] == 30


@pytest.mark.parametrize("name", NAMES)
def test_labels_that_were_not_asked_for_change_nothing(name, asked):
    data = pets()
    curve = run(name, data)
    seen = np.zeros(70, bool)
    seen[order_of(data)[asked[0]]] = True
    truth = np.where(seen, data.truth, (data.truth + 1) % 3)
    other = run(name, CostDataset(data.X, classes=data.classes, truth=truth, cost_matrix=MATRIX))
    assert asked[1].tolist() == asked[0].tolist()
    assert other.test_cost.tolist() == curve.test_cost.tolist()


def test_both_predictors_get_the_same_labels_and_predict_differently(asked):
    ours, own = (run("margin", pets(), predictor=predictor) for predictor in ("coal", "own"))
    assert asked[0].tolist() == asked[1].tolist()
    assert ours.test_cost.tolist() != own.test_cost.tolist()


def test_without_a_choice_our_predictor_is_the_passive_rule_on_a_prefix():
    data = pets()
    curve = run("margin", data, warm_up=24, learning_rate=0.3)
    passive = simulate(
        CoalClassifier.as_published(classes=data.classes, rule="passive", learning_rate=0.3),
        *(data.X, data.cost),
        X_test=TEST.X,
        cost_test=TEST.cost,
        order=order_of(data)[:24],
        checkpoints=[12, 30, 60],
    )
    assert curve.test_cost.tolist() == passive.test_cost.tolist()
    assert curve.costs_queried.tolist() == passive.costs_queried.tolist()


CLASSIFIERS = {
    "logistic-regression": lambda: LogisticRegression(max_iter=2000),
    "random-forest": lambda: RandomForestClassifier(n_estimators=100, random_state=5),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_own_predictor_takes_the_label_of_least_expected_cost(name):
    data = pets()
    curve = run("margin", data, warm_up=24, predictor="own", classifier=name)
    X, X_test = data.X.toarray()[order_of(data)], TEST.X.toarray()
    centre, spread = X.mean(axis=0), X.std(axis=0)
    for n_labels, test_cost in zip([4, 10, 20, 24], curve.test_cost, strict=True):
        truth = data.truth[order_of(data)][:n_labels]
        model = CLASSIFIERS[name]().fit((X[:n_labels] - centre) / spread, truth)
        paid = []
        for chances, costs in zip(model.predict_proba((X_test - centre) / spread), TEST.cost, strict=True):
            seen = zip(model.classes_, chances, strict=True)
            expected = sum(chance * MATRIX[label] for label, chance in seen)  # MATRIX[truth]: costs of each prediction
            paid.append(costs[np.argmin(expected)])
        assert test_cost == pytest.approx(np.mean(paid))


def halfway(seed=4, model=CLASSIFIERS["logistic-regression"]):
    """A pool, a third of whose labels are known, and what a classifier thinks of the others."""
    data = pets(90, seed=seed)
    pool, known = data.X.toarray().astype(float), np.where(np.arange(90) < 30, data.truth, UNKNOWN)
    chances = model().fit(pool[:30], data.truth[:30]).predict_proba(pool[30:])
    return pool, known.astype(np.int64), chances


def two_least(values):
    return np.sort(values, axis=1)[:, :2].T


def test_margin_takes_the_examples_whose_two_likeliest_labels_are_closest():
    pool, known, chances = halfway()
    second, first = -two_least(-chances)[::-1]
    wanted = 30 + np.argsort(first - second)[:5]
    assert Margin(pool, MATRIX, 0).choose(known, 5).tolist() == wanted.tolist()


def test_margin_can_ask_with_a_forest():
    pool, known, chances = halfway(model=CLASSIFIERS["random-forest"])
    second, first = -two_least(-chances)[::-1]
    asked = Margin(pool, MATRIX, 5, "random-forest").choose(known, 5) - 30
    assert len(set(asked.tolist())) == 5
    assert sorted((first - second)[asked]) == pytest.approx(sorted(first - second)[:5])  # margins may be equal


def test_cost_margin_can_ask_with_a_forest():
    pool, known, chances = halfway(model=CLASSIFIERS["random-forest"])
    least, next_least = two_least(chances @ MATRIX)
    asked = CostMargin(pool, MATRIX, 5, "random-forest").choose(known, 5) - 30
    assert sorted((next_least - least)[asked]) == pytest.approx(sorted(next_least - least)[:5])


def test_cost_margin_takes_the_examples_whose_two_least_expected_costs_are_closest():
    pool, known, chances = halfway()
    expected = np.array([sum(chance[truth] * MATRIX[truth] for truth in range(3)) for chance in chances])
    least, next_least = two_least(expected)
    wanted = 30 + np.argsort(next_least - least)[:5]
    assert CostMargin(pool, MATRIX, 0).choose(known, 5).tolist() == wanted.tolist()
    assert CostMargin(pool, MATRIX.T, 0).choose(known, 5).tolist() != wanted.tolist()


def test_expected_cost_takes_the_examples_whose_least_expected_cost_is_highest():
    pool, known, chances = halfway()
    expected = np.array([sum(chance[truth] * MATRIX[truth] for truth in range(3)) for chance in chances])
    wanted = 30 + np.argsort(-expected.min(axis=1))[:5]
    assert ExpectedCost(pool, MATRIX, 0).choose(known, 5).tolist() == wanted.tolist()
    assert ExpectedCost(pool, MATRIX.T, 0).choose(known, 5).tolist() != wanted.tolist()


@pytest.mark.filterwarnings("ignore:'cost_matrix' contains non-zero cost entries on its diagonal")
def test_the_embedding_asks_about_a_truth_that_costs_much_whatever_is_predicted():
    """Such a truth, row 2, lies far from all predictions; with rows and columns exchanged that would be label 1."""
    matrix = np.array([[0.0, 0.5, 0.1], [0.1, 0.5, 0.0], [0.9, 0.9, 0.9]])
    truth = np.arange(60) % 3
    pool = np.random.default_rng(0).normal(size=(60, 3)) + 6 * np.eye(3)[truth]
    known = np.where(np.arange(60) < 30, truth, UNKNOWN)
    assert truth[CostEmbedding(pool, matrix, 0).choose(known, 5)].tolist() == [2] * 5
    assert truth[CostEmbedding(pool, matrix.T, 0).choose(known, 5)].tolist() == [1] * 5


def test_a_warm_up_with_a_single_label_works(asked):
    data = CostDataset.from_labels(pets().X, ["a"] * 40 + ["b"] * 30)
    test = CostDataset.from_labels(TEST.X, ["a", "b"] * 20)
    given = {"warm_up": 1, "batch_size": 3, "max_labels": 25, "predictor": "own"}
    curve = BASELINES["margin"].curve(given, data, test, np.arange(70), [2, 8], 0)
    assert curve.examples_queried[-1] == len(set(asked[0])) == 25
    assert curve.test_cost[0] == 0.5  # after one label, that one is predicted everywhere


@pytest.mark.parametrize("name", NAMES)
def test_data_without_true_labels_is_refused(name):
    with pytest.raises(InputError, match=r"needs data with true labels and a cost matrix"):
        run(name, with_table(pets()))


def test_candidates_are_refused():
    data = pets()
    fields = {"classes": data.classes, "truth": data.truth, "cost_matrix": MATRIX}
    with pytest.raises(InputError, match=r"Drop the candidates"):
        run("margin", CostDataset(data.X, **fields, candidates=np.ones((70, 3), bool)))


def test_data_too_large_for_a_dense_table_is_refused():
    large = CostDataset.from_labels(csr_array((21_000, 1_000)), np.arange(21_000) % 2)
    with pytest.raises(InputError, match=r"too large .* at most 20,000,000 numbers, .* 21,000,000"):
        BASELINES["margin"].curve({}, large, large.subset([0, 1]), np.arange(21_000))


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"predictor": "best"}, r"^predictor must be one of 'coal', 'own', got 'best'"),
        ({"classifier": "tree"}, r"^classifier must be one of 'logistic-regression', 'random-forest', got 'tree'"),
        ({"warm_up": 0}, r"^warm_up must be .*1.*, got 0"),
        ({"batch_size": 2.5}, r"^batch_size must be a whole number"),
        ({"max_labels": 0}, r"^max_labels must be .*1.*, got 0"),
    ],
)
def test_bad_parameters_are_refused(parameters, complaint):
    with pytest.raises(InputError, match=complaint):
        BASELINES["margin"].check(parameters, n_labels=3)


def test_the_score_is_one_of_two():
    with pytest.raises(InputError, match=r"^score must be one of 'margin', 'expected-cost', got 'entropy'"):
        BASELINES["cost-weighted-uncertainty"].check({"score": "entropy"}, n_labels=3)
