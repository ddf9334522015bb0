"""Baselines on a part of the data: the leading directions of the features, and the first examples of the order."""

import numpy as np
import pytest
from scipy.sparse import random_array

from baselines.baseline import Problem
from baselines.reduced import reduced
from coalface.data import CostDataset
from tests.studies.baseline_problems import BASELINES, order_of, pets

TRAIN, TEST = pets(70), pets(40, seed=1)
ORDER = order_of(TRAIN)
WITHOUT_PACKAGES = ("online-regression", "iwal")


def problem_of(train=TRAIN, test=TEST):
    return Problem.checked(train, test, range(len(train)), "doubling", random_state=0, progress=None)


def products(examples):
    """The products of all pairs of rows, which do not depend on the signs of directions."""
    rows = examples.X.toarray()
    return rows @ rows.T


@pytest.mark.parametrize("name", WITHOUT_PACKAGES)
def test_most_examples_are_the_first_of_the_order(name):
    part, first = (
        BASELINES[name].curve(given, TRAIN, TEST, order, checkpoints=[30, 60, 90])
        for given, order in (({"most_examples": 30}, ORDER), ({}, ORDER[:30]))
    )
    assert part.costs_queried.tolist() == first.costs_queried.tolist()
    assert part.test_cost.tolist() == first.test_cost.tolist()
    assert part.rounds[-1] == 30


def test_a_pool_of_the_first_examples_is_the_whole_pool_of_a_shorter_order():
    pytest.importorskip("skactiveml")
    given = {"predictor": "own", "warm_up": 6, "batch_size": 8, "max_labels": 20}
    part, first = (
        BASELINES["margin"].curve({**given, **more}, TRAIN, TEST, order, checkpoints=[30, 60])
        for more, order in (({"most_examples": 40}, ORDER), ({}, ORDER[:40]))
    )
    assert part.test_cost.tolist() == first.test_cost.tolist()
    assert part.rounds.tolist() == first.rounds.tolist() == [40, 40]


@pytest.mark.parametrize("name", WITHOUT_PACKAGES)
def test_the_area_of_a_part_is_on_the_axis_of_all_examples(name):
    part, everything = (BASELINES[name].curve(given, TRAIN, TEST, ORDER) for given in ({"most_examples": 15}, {}))
    assert len(part.at_doublings) == len(everything.at_doublings)
    assert part.at_doublings[-1] == part.test_cost[-1]  # a run that ends early keeps its final test cost


def test_directions_are_the_leading_singular_vectors_of_the_training_rows():
    few = reduced(problem_of(), {"most_examples": None, "directions": 2})
    axes = np.linalg.svd(TRAIN.X.toarray(), full_matrices=False)[2][:2]
    for part, whole in ((few.examples, TRAIN), (few.test, TEST)):
        projected = whole.X.toarray() @ axes.T
        assert products(part) == pytest.approx(projected @ projected.T, abs=1e-4)
        assert (part.cost == whole.cost).all()
    assert few.examples.X.shape == (70, 2)


def test_directions_are_those_of_the_examples_that_are_kept():
    both = reduced(problem_of(), {"most_examples": 20, "directions": 2})
    part = reduced(problem_of(TRAIN.subset(slice(0, 20))), {"most_examples": None, "directions": 2})
    assert products(both.examples) == pytest.approx(products(part.examples))
    assert products(both.test) == pytest.approx(products(part.test))


def test_data_with_no_more_features_than_directions_is_not_changed():
    problem = problem_of()
    assert reduced(problem, {"most_examples": None, "directions": 4}) is problem
    assert reduced(problem, {"most_examples": None, "directions": None}) is problem


def test_directions_let_online_regression_take_wide_rows():
    X = random_array((30, 2100), density=0.01, rng=np.random.default_rng(0), format="csr")
    wide = CostDataset.from_labels(X, ["a", "b"] * 15)
    with pytest.raises(ValueError, match=r"at most 2,000 features.*got 2,100.*set directions"):
        BASELINES["online-regression"].curve({}, wide, wide, range(30))
    curve = BASELINES["online-regression"].curve({"directions": 5}, wide, wide, range(30))
    assert 0 <= curve.test_cost[-1] <= 1


@pytest.mark.parametrize("name", ["online-regression", "iwal", "badge"])
@pytest.mark.parametrize(("parameter", "value"), [("directions", 0), ("most_examples", 0), ("most_examples", 2.5)])
def test_parts_are_whole_numbers_of_at_least_one(name, parameter, value):
    with pytest.raises(ValueError, match=parameter):
        BASELINES[name].check({parameter: value}, n_labels=3)
