"""The contract of every cost model."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone

from coalface import Audits, Coal, CoalClassifier, MemoryLedger, simulate
from coalface.data.rows import check_rows
from coalface.errors import CoalfaceError, FileFormatError
from coalface.kernels.state import NO_ROUNDS, SLOTS_USED, new_rounds
from coalface.learner.parameters import settings_for
from coalface.learner.state import settings_of
from coalface.models.classes import ClassModel
from coalface.models.committee import CommitteeModel
from coalface.models.contract import NO_WEIGHTS, CostModel, Ranged
from coalface.models.forest import ForestModel
from coalface.models.joint import JointModel
from coalface.models.online import OnlineModel
from coalface.models.ridge import RidgeModel
from coalface.paper.model import ExactModel

K = 3


class MeanModel(CostModel):
    """A user's model: the mean of the answers so far; any cost is possible with fewer than three answers."""

    def begin(self, n_labels, settings):
        begun = super().begin(n_labels, settings)
        begun.sums = np.zeros((2, n_labels))
        return begun

    def predict(self, rows):
        means = self.sums[0] / np.maximum(self.sums[1], 1.0)
        return np.tile(means.astype(np.float32), (len(rows), 1))

    def ranges(self, rows, settings, first_round):
        del settings, first_round
        predicted, few = self.predict(rows), self.sums[1] < 3
        inside = predicted.clip(0.0, 1.0)
        return Ranged(
            predicted, np.where(few, 0, inside).astype(np.float32), np.where(few, 1, inside).astype(np.float32)
        )

    def learn(self, rows, costs, settings, first_round, weights=NO_WEIGHTS):
        del settings, first_round
        for r in range(len(rows)):
            known = np.flatnonzero(~np.isnan(costs[r]))
            weight = weights[r, known] if len(weights) else np.ones(len(known))
            known, weight = known[weight > 0], weight[weight > 0]
            one = slice(r, r + 1)
            self.count_answers(self.predict(rows.take(np.array([r]))), costs[one], weights[one])
            self.sums[:, known] += weight * costs[r, known], weight

    def arrays(self):
        return {"sums": self.sums}

    def restore(self, arrays):
        if "sums" not in arrays:
            raise FileFormatError("The model has no usable array 'sums'; it was not saved by coalface.")
        self.sums = arrays["sums"].copy()


MODELS = {
    "online": OnlineModel(),
    "online, interactions": OnlineModel(interactions=2),
    "online, ranges": OnlineModel(interactions=[((0, 1), (1, 2))]),
    "ridge": RidgeModel(),
    "ridge, fixed penalty": RidgeModel(regularization=0.5),
    "ridge, rbf": RidgeModel(kernel="rbf"),
    "ridge, rbf, few landmarks": RidgeModel(kernel="rbf", n_components=6),
    "exact, ball": ExactModel(),
    "exact, ridge": ExactModel(oracle={"kind": "ridge"}, ranges="ellipsoid"),
    "forest": ForestModel(n_trees=5),
    "classes": ClassModel(),
    "joint": JointModel(),
    "committee": CommitteeModel(),
    "committee, joint": CommitteeModel(joining=("joint", "forest")),
    "a user's": MeanModel(),
}


def settings(n_labels=K, **params):
    return settings_for(n_labels, vars(CoalClassifier(mellowness=1.0).set_params(**params)))


def problem(seed, n=12, known=0.7):
    random = np.random.default_rng(seed)
    X, cost = random.normal(size=(n, 2)), random.random((n, K)).astype(np.float32)
    return check_rows(X), np.where(random.random(cost.shape) < known, cost, np.float32(np.nan))


def same(one, other):
    ours, theirs = one.saved(), other.saved()
    return ours.keys() == theirs.keys() and all(
        np.array_equal(ours[name], theirs[name], equal_nan=ours[name].dtype.kind == "f") for name in ours
    )


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param].begin(K, settings())


@pytest.fixture
def begun(model):
    """A second, equal model."""
    return lambda: type(model)(**model.get_params(deep=False)).begin(K, settings())


class TestContract:
    """Every model, one law after the other."""

    def test_a_model_that_has_learned_nothing_allows_every_cost_in_its_first_round(self, model):
        rows, _ = problem(1)
        found = model.ask(rows, settings(rule__warm_up=0), new_rounds(len(rows), K))
        assert (found.lowest[0] == 0).all()
        assert (found.highest[0] == 1).all()
        assert found.mask[0].all()

    def test_ranges_hold_the_clipped_prediction_and_stay_within_the_scale(self, model):
        rows, cost = problem(2)
        model.learn(rows, cost, settings(), 1)
        predicted, lowest, highest = model.ranges(rows, settings(), 20)
        inside = predicted.clip(0, 1)
        assert predicted.shape == lowest.shape == highest.shape == (len(rows), K)
        assert predicted.dtype == lowest.dtype == highest.dtype == np.float32
        assert (lowest >= 0).all()
        assert (lowest <= inside + 1e-5).all()
        assert (inside <= highest + 1e-5).all()
        assert (highest <= 1).all()
        np.testing.assert_allclose(model.predict(rows), predicted, rtol=1e-6)

    def test_predictions_and_ranges_change_nothing(self, model):
        rows, cost = problem(3)
        model.learn(rows, cost, settings(), 1)
        before = {name: array.copy() for name, array in model.arrays().items()}
        model.predict(rows), model.ranges(rows, settings(), 9), model.answer(rows, settings())
        model.ask(rows, settings(), new_rounds(len(rows), K))
        for name, array in model.arrays().items():
            np.testing.assert_array_equal(array, before[name], err_msg=name)

    def test_learning_does_not_depend_on_how_rows_are_split(self, model, begun):
        rows, cost = problem(4)
        model.learn(rows, cost, settings(), 1)
        other = begun()
        for part in (np.arange(5), np.arange(5, 6), np.arange(6, len(rows))):
            other.learn(rows.take(part), cost[part], settings(), 1 + int(part[0]))
        assert same(model, other)

    def test_answers_are_counted_and_their_residuals_summed(self, model):
        rows, cost = problem(5)
        model.learn(rows, cost, settings(), 1)
        assert model.state.answered[:K].tolist() == (~np.isnan(cost)).sum(axis=0).tolist()
        assert (model.state.squared_residuals[:K] > 0).all()

    def test_learning_brings_predictions_nearer_to_the_answers(self, model):
        rows, _ = problem(6)
        cost = np.tile(np.array([0.25, 0.5, 0.75], np.float32), (len(rows), 1))
        before = np.abs(model.predict(rows) - cost).mean()
        for first_round in (1, 13, 25):
            model.learn(rows, cost, settings(), first_round)
        assert np.abs(model.predict(rows) - cost).mean() < 0.5 * before

    def test_a_weight_of_zero_teaches_nothing_and_more_weight_pulls_more(self, model, begun):
        rows, cost = problem(7, known=1.0)
        untouched = begun()
        model.learn(rows, cost, settings(), 1, weights=np.zeros((len(rows), K), np.float32))
        assert same(model, untouched)
        one, row = rows.take(np.zeros(3, np.int64)), np.full((3, K), 0.75, np.float32)  # enough to grow a forest again
        pulls = []
        for weight in (0.5, 1.0, 4.0):
            pulled = begun()
            pulled.learn(rows, cost, settings(), 1)
            pulled.learn(one, row, settings(), 13, weights=np.full((3, K), weight, np.float32))
            pulls.append(
                np.abs(pulled.predict(one) - 0.75).mean()
            )  # a forest's random splits differ from label to label
        assert pulls[2] < pulls[1] < pulls[0]

    def test_weights_of_one_are_no_weights(self, model, begun):
        rows, cost = problem(8)
        model.learn(rows, cost, settings(), 1)
        other = begun()
        other.learn(rows, cost, settings(), 1, weights=np.ones((len(rows), K), np.float32))
        np.testing.assert_allclose(other.predict(rows), model.predict(rows), rtol=1e-5)

    def test_arrays_restore_the_model_and_nothing_else_does(self, model, begun):
        rows, cost = problem(9)
        model.tell(rows, settings(), NO_ROUNDS._replace(costs=cost, asked=~np.isnan(cost)))
        again = begun()
        again.restore_saved({name: array.copy() for name, array in model.saved().items()})
        assert same(model, again)
        np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
        more, costs = problem(10)
        for each in (model, again):
            each.learn(more, costs, settings(), 13)
        assert same(model, again)
        with pytest.raises(FileFormatError):
            begun().restore({})

    def test_copies_are_independent(self, model):
        rows, cost = problem(11)
        model.learn(rows, cost, settings(), 1)
        for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            assert same(copied, model)
            copied.learn(rows, cost, settings(), 13)
            assert not same(copied, model)

    def test_parameters_are_kept_and_cloned(self, model):
        unbegun = clone(model)
        assert not hasattr(unbegun, "state")
        assert str(unbegun.get_params()) == str(model.get_params())
        assert type(model)(**unbegun.plain()).begin(K, settings()).n_labels == K

    def test_a_learner_runs_saves_and_replays_with_it_without_knowing_which_it_is(self, model, tmp_path):
        rows, cost = problem(12, n=40, known=1.0)
        X = csr_array((rows.values, rows.columns, rows.indptr), (len(rows), rows.width))
        spec = clone(model)
        learner, by_hand = (
            CoalClassifier(classes=list("abc"), model=clone(spec), mellowness=1.0, rule=Coal(warm_up=3), shuffle=False)
            for _ in range(2)
        )
        learner.record_to(ledger := MemoryLedger())
        simulate(learner, X, cost)
        for i, costs in enumerate(cost):
            by_hand.interview(X[[i]], lambda _, label, costs=costs: costs["abc".index(label)])
        assert same(learner.model_, by_hand.model_)
        assert 0 < learner.costs_queried_ <= cost.size
        assert learner.predict(X).shape == (40,)
        learner.save(tmp_path / "model")
        if isinstance(model, MeanModel):
            with pytest.raises(CoalfaceError, match=r"pass model=MeanModel\(\.\.\.\)"):
                CoalClassifier.load(tmp_path / "model")
        own = clone(spec) if isinstance(model, MeanModel) else None
        again = CoalClassifier.load(tmp_path / "model", own)
        assert same(again.model_, learner.model_)
        assert (again.round_, again.costs_queried_) == (learner.round_, learner.costs_queried_)
        assert same(CoalClassifier.from_ledger(ledger, own).model_, learner.model_)


class Delegating(MeanModel):
    """The online model's own predictions and ranges, through the interface for models that are not compiled."""

    def predict(self, rows):
        return self.delegated.predict(rows)

    def ranges(self, rows, settings, first_round):
        return self.delegated.ranges(rows, settings, first_round)


def delegated(model, settings):
    found = Delegating().begin(model.n_labels, settings)
    found.delegated, found.state = model, model.state
    return found


@pytest.mark.parametrize("rule", ["coal", "all-or-none", "no-domination", "passive"])
@pytest.mark.parametrize("in_turn", [True, False])
@given(seed=st.integers(0, 10_000), told=st.integers(0, 60), miss_rate=st.sampled_from([None, 0.1]))
def test_the_same_ranges_give_the_same_questions_as_the_compiled_loop(rule, in_turn, seed, told, miss_rate):
    random = np.random.default_rng(seed)
    X, cost = random.normal(size=(80, 4)), random.random((80, 5))
    X[told:][::3] = X[-1]  # near-duplicates
    rule = Coal(rule, in_turn=in_turn, warm_up=3, miss_rate=miss_rate)
    params = {"rule": rule, "audits": Audits(0.3), "random_state": seed}
    learner = CoalClassifier(range(5), model="online", **params).begin()
    if told:
        simulate(learner, X[:told], cost[:told])
    rows, own = check_rows(X[told:]), settings_of(learner)
    candidates = random.random((len(rows), 5)) < 0.8
    known = np.where(random.random(candidates.shape) < 0.2, cost[told:], np.nan).astype(np.float32)
    given_so_far = (candidates, known, ~np.isnan(known))
    model, other = learner.model_, delegated(learner.model_, own)
    found, same_found = (each.ask(rows, own, new_rounds(len(rows), 5, *given_so_far)) for each in (model, other))
    for name, array in found._asdict().items():
        np.testing.assert_allclose(
            getattr(same_found, name), array, rtol=0.0 if miss_rate is None else 1e-5, err_msg=name
        )
    np.testing.assert_array_equal(other.answer(rows, own, candidates), model.answer(rows, own, candidates))


@given(seed=st.integers(0, 10_000))
def test_rows_are_counted_as_the_compiled_loop_counts_them(seed):
    random = np.random.default_rng(seed)
    own = settings(audits=Audits(0.2))
    compiled, plain = OnlineModel().begin(K, own), MeanModel().begin(K, own)
    for _ in range(6):
        n, late = int(random.integers(0, 5)), bool(random.random() < 0.3)
        rows, cost = check_rows(random.normal(size=(n, 2))), random.random((n, K)).astype(np.float32)
        cost[random.random((n, K)) < 0.4] = np.nan
        told = NO_ROUNDS._replace(costs=cost, asked=random.random((n, K)) < 0.5, candidates=random.random((n, K)) < 0.8)
        if random.random() < 0.7:
            told = told._replace(outlook=np.tile([0.0, 0.2, 0.5, 0.1], (n, 1)))
        for model in (compiled, plain):
            model.tell(rows, own, told, late=late)
    for name in ("asked", "answered", "was_best", "saving"):
        np.testing.assert_array_equal(getattr(plain.state, name), getattr(compiled.state, name))
    counters = compiled.state.counters.copy()
    counters[SLOTS_USED] = plain.state.counters[SLOTS_USED]
    np.testing.assert_array_equal(plain.state.counters, counters)


@pytest.mark.parametrize(
    "bad", [lambda costs: costs[:, :1], lambda costs: costs * np.float32(np.nan), lambda costs: costs[:1]]
)
def test_ranges_that_cannot_be_are_refused(bad):
    class Wrong(MeanModel):
        def ranges(self, rows, settings, first_round):
            predicted, lowest, highest = super().ranges(rows, settings, first_round)
            return Ranged(predicted, bad(lowest), highest)

    with pytest.raises(CoalfaceError, match=r"Wrong\.ranges must give finite lowest costs of shape \(2, 2\)"):
        CoalClassifier(classes=["a", "b"], model=Wrong()).ask([[1.0], [2.0]])


@pytest.mark.parametrize("bad", [lambda costs: costs[:, :1], lambda costs: costs[:1], lambda costs: costs * np.nan])
def test_predictions_that_cannot_be_are_refused_before_compiled_code_reads_them(bad):
    class Wrong(MeanModel):
        def predict(self, rows):
            return bad(super().predict(rows))

    learner = CoalClassifier(classes=["a", "b"], model=Wrong())
    for call in (learner.predict, learner.predict_cost):
        with pytest.raises(CoalfaceError, match=r"Wrong\.predict must give finite predicted costs of shape \(2, 2\)"):
            call([[1.0], [2.0]])


@pytest.mark.parametrize(
    ("damage", "words"), [(lambda counts: -1 - counts, "negative"), (lambda counts: counts[:1], "no usable array 'cou")]
)
def test_damaged_counts_of_a_users_model_are_refused(damage, words):
    model = MeanModel().begin(K, settings())
    saved = model.saved()
    with pytest.raises(FileFormatError, match=words):
        model.restore_saved({**saved, "counters": damage(saved["counters"])})


def test_a_model_with_other_parameters_than_those_of_the_file_is_refused(tmp_path):
    CoalClassifier(classes=["a", "b"], model=RidgeModel(2.0)).save(tmp_path / "model")
    with pytest.raises(CoalfaceError, match="model must be as described in the file"):
        CoalClassifier.load(tmp_path / "model", RidgeModel(3.0))
