"""What every baseline does, run over each of them; and the errors that they share."""

import tempfile
from functools import cache

import numpy as np
import pytest

from baselines import baseline
from coalface.data import CostDataset
from coalface.errors import InputError
from coalface.evaluate.checkpoints import checkpoint_costs
from coalface.evaluate.curve import Curve
from coalface.report.figure_style import RULES
from tests.studies.baseline_problems import BASELINES, order_of, pets, priced

FEW = {"max_labels": 29, "batch_size": 12, "warm_up": 5}
CHECKPOINTS = [10, 20, 40, 80, 5000]


class BaselineContract:
    """Subclasses say which baseline, and with which parameters; -1 is not a value of any of the ``numbers``."""

    learner: str
    parameters: dict
    numbers = ("learning_rate", "cost_bounds")

    @pytest.fixture(autouse=True)
    def installed(self):
        for name in [BASELINES[self.learner].module] if BASELINES[self.learner].module else []:
            pytest.importorskip(name)

    @pytest.fixture
    def curve(self):
        """The run that most of the tests look at."""
        return _usual_run(type(self))

    def run(self, train=None, test=None, checkpoints=CHECKPOINTS, progress=None, **parameters):
        train, test = train or pets(), test or pets(40, seed=1)
        given = {**self.parameters, **parameters}
        return BASELINES[self.learner].curve(given, train, test, order_of(train), checkpoints, 7, progress)

    def test_each_checkpoint_is_measured_where_it_is_first_reached_and_the_last_one_at_the_end(self, curve):
        costs = curve.costs_queried
        reached = [checkpoint for checkpoint in CHECKPOINTS if checkpoint <= costs[-1]]
        assert len(reached) >= 2
        for checkpoint in reached:
            assert 0 <= costs[costs >= checkpoint][0] - checkpoint < 3  # an example has three costs
        assert len(costs) in (len(reached), len(reached) + 1)
        assert (np.diff(costs) >= 0).all()
        assert (np.diff(curve.examples_queried) >= 0).all()
        assert (np.diff(curve.rounds) >= 0).all()
        assert curve.rounds[-1] == 70
        assert (curve.examples_queried <= costs).all()
        assert (costs <= 3 * curve.examples_queried).all()
        assert len(costs) == len(curve.examples_queried) == len(curve.rounds) == len(curve.test_cost)
        assert curve.seconds > 0
        assert not curve.interrupted

    def test_the_common_axis_has_the_test_cost_at_each_doubling_and_then_the_final_one(self, curve):
        doublings = 30 * 2 ** np.arange(5)  # up to the first that passes the 3 * 70 costs
        fine = self.run(checkpoints=doublings)
        assert curve.at_doublings.tolist() == fine.at_doublings.tolist()
        reached = int((doublings <= fine.costs_queried[-1]).sum())
        assert 1 <= reached < len(doublings)
        assert fine.at_doublings[:reached].tolist() == fine.test_cost[:reached].tolist()
        assert set(fine.at_doublings[reached:]) == {fine.test_cost[-1]}

    def test_more_checkpoints_change_nothing_but_their_number(self):
        often, seldom = self.run(checkpoints=range(28, 34)), self.run(checkpoints=[30])
        place = int(np.searchsorted(often.costs_queried, 30))
        for name in ("costs_queried", "examples_queried", "rounds", "test_cost"):
            assert getattr(often, name)[[place, -1]].tolist() == getattr(seldom, name).tolist()

    def test_checkpoints_may_be_named(self):
        assert self.run(checkpoints="doubling").checkpoints.tolist() == checkpoint_costs("doubling", 3, 70).tolist()

    def test_the_same_seed_gives_the_same_curve(self, curve):
        assert _numbers(self.run()) == _numbers(curve)

    def test_the_curve_can_be_kept(self, curve):
        assert _numbers(Curve.from_json(curve.to_json())) == _numbers(curve)

    def test_what_it_spent_is_the_price_of_what_it_asked(self, curve):
        half = self.run(priced(pets(), np.full((70, 3), 0.5)))
        assert half.spent.tolist() == (0.5 * curve.costs_queried).tolist()
        assert half.spent.dtype == np.float64  # many small prices add up to a large sum
        assert half.test_cost.tolist() == curve.test_cost.tolist()
        assert curve.spent is None

    def test_it_learns(self, curve):
        constant = pets(40, seed=1).cost.mean(axis=0).min()
        assert curve.test_cost[-1] < 0.8 * constant

    def test_costs_eight_times_as_large_give_the_same_questions_and_eight_times_the_test_cost(self, curve):
        large = self.run(pets(scale=8.0), pets(40, seed=1, scale=8.0), cost_bounds=[0.0, 8.0])
        assert large.costs_queried.tolist() == curve.costs_queried.tolist()
        assert large.test_cost == pytest.approx(8 * curve.test_cost)

    def test_progress_grows_to_its_total(self):
        seen = []
        self.run(progress=lambda done, total: seen.append((done, total)))
        assert seen[-1][0] == seen[-1][1] > 0
        assert [done for done, _ in seen] == sorted(done for done, _ in seen)
        assert len({total for _, total in seen}) == 1

    def test_what_progress_raises_ends_the_run_and_leaves_no_files(self, monkeypatch, tmp_path):
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

        def stop(_done, _total):
            raise InterruptedError("enough")

        with pytest.raises(InterruptedError, match=r"enough"):
            self.run(progress=stop)
        assert list(tmp_path.iterdir()) == []

    def test_costs_outside_their_bounds_are_refused(self):
        with pytest.raises(InputError, match=r"must lie in \[0, 1\], got 8.0"):
            self.run(pets(scale=8.0))

    def test_bad_values_are_refused_by_name(self):
        for name in self.numbers:
            with pytest.raises(InputError, match=rf"^{name} must be"):
                BASELINES[self.learner].check({name: -1}, n_labels=3)

    def test_unknown_parameters_are_refused_with_the_known_ones(self):
        with pytest.raises(InputError, match=rf"^patience is not a parameter of .*{self.numbers[0]}"):
            BASELINES[self.learner].check({"patience": 3}, n_labels=3)

    def test_its_defaults_are_good_and_filled_in(self):
        assert BASELINES[self.learner].check({}, n_labels=3) == dict(BASELINES[self.learner].parameters)

    def test_a_missing_package_is_one_line_with_the_command(self, monkeypatch):
        monkeypatch.setattr(baseline, "find_spec", lambda _name: None)
        package = BASELINES[self.learner].package
        if not package:
            BASELINES[self.learner].require()
            return
        with pytest.raises(InputError, match=rf"{package}.*pip install 'coalface\[compare\]'") as caught:
            self.run()
        assert "\n" not in str(caught.value)


class TestRandomCosts(BaselineContract):
    learner, parameters = "random-costs", {"share": 0.6}


class TestRandomForestOnSingleCosts(BaselineContract):
    learner, parameters = "random-forest", {"n_trees": 9}
    numbers = ("n_trees", "cost_bounds")


@pytest.mark.slow
class TestRandomForestOnWholeExamples(BaselineContract):
    learner, parameters = "random-forest", {"n_trees": 9, "drawn": "examples"}
    numbers = ("n_trees", "cost_bounds")


@pytest.mark.slow
class TestGradientBoosting(BaselineContract):
    learner, parameters = "gradient-boosting", {"n_trees": 20}
    numbers = ("n_trees", "cost_bounds")


class TestNearestNeighbours(BaselineContract):
    learner, parameters = "knn", {"n_neighbours": 5}
    numbers = ("n_neighbours", "cost_bounds")


@pytest.mark.slow
class TestSelectorsOfAsf(BaselineContract):
    learner, parameters = "asf", {"n_trees": 12}
    numbers = ("n_trees", "cost_bounds", "selector")


@pytest.mark.slow
class TestVowpalWabbit(BaselineContract):
    learner, parameters = "vw", {"mellowness": 0.05}


class TestMargin(BaselineContract):
    learner, parameters = "margin", FEW


@pytest.mark.slow
class TestMarginWithAForest(BaselineContract):
    learner, parameters = "margin", {**FEW, "classifier": "random-forest", "predictor": "own"}


@pytest.mark.slow
class TestCostWeightedUncertaintyWithItsOwnPredictor(BaselineContract):
    learner, parameters = "cost-weighted-uncertainty", {**FEW, "predictor": "own"}


@pytest.mark.slow
class TestCostEmbedding(BaselineContract):
    learner, parameters = "cost-embedding", FEW


class TestRegcbEpochs(BaselineContract):
    learner, parameters = "regcb-epochs", {"mellowness": 0.05}


class TestOnlineRegression(BaselineContract):
    learner, parameters = "online-regression", {"mellowness": 0.001}
    numbers = ("mellowness", "regularization", "cost_bounds")


@pytest.mark.slow
class TestBadge(BaselineContract):
    learner, parameters = "badge", FEW


@pytest.mark.slow
class TestIwal(BaselineContract):
    learner, parameters = "iwal", {"members": 3}
    numbers = ("first_share", "least_chance", "members", "cost_bounds")


def test_every_baseline_keeps_the_contract():
    covered = {contract.learner for contract in BaselineContract.__subclasses__()}
    assert covered == set(BASELINES)


def test_those_that_ask_for_labels_say_so():
    asks = {name: found.asks for name, found in BASELINES.items()}
    assert [name for name in asks if asks[name] == "labels"] == [
        "margin",
        "cost-weighted-uncertainty",
        "cost-embedding",
        "badge",
        "iwal",
    ]
    assert [name for name in asks if asks[name] == "costs"] == [
        "random-costs",
        "random-forest",
        "gradient-boosting",
        "knn",
        "asf",
        "vw",
        "regcb-epochs",
        "online-regression",
    ]


@pytest.mark.parametrize("order", [[], [0, 70], [-1], [0.5], [[0, 1]]])
def test_an_order_must_name_rows(order):
    with pytest.raises(InputError, match=r"order must have at least one row number, each below 70"):
        BASELINES["random-costs"].curve({}, pets(), pets(), order)


def test_test_examples_must_be_like_the_training_examples_and_fully_known():
    unlike = CostDataset(np.ones((3, 4)), np.zeros((3, 3)), ["bird", "cat", "cow"])
    unknown = CostDataset(np.ones((3, 4)), np.full((3, 3), np.nan), ["bird", "cat", "dog"])
    narrow = CostDataset(np.ones((3, 2)), np.zeros((3, 3)), ["bird", "cat", "dog"])
    for test, complaint in [
        (unlike, "labels and features"),
        (narrow, "labels and features"),
        (unknown, "must be known"),
    ]:
        with pytest.raises(InputError, match=complaint):
            BASELINES["random-costs"].curve({}, pets(), test, range(70))


@cache
def _usual_run(contract):
    return contract().run()


def _numbers(curve):
    names = ("checkpoints", "costs_queried", "examples_queried", "rounds", "test_cost", "at_doublings")
    return [getattr(curve, name).tolist() for name in names]


def test_every_baseline_has_a_colour_of_its_own():
    colours = [RULES[name] for name in BASELINES]
    assert len(set(colours)) == len(colours)
