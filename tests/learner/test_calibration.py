"""The slack follows how often audits find that the best label was missed."""

import numpy as np
import pytest

from coalface import Coal, CoalClassifier, MemoryLedger, RidgeModel, simulate
from coalface.errors import InputError
from coalface.kernels.calibration import LARGEST, STEP
from coalface.kernels.draws import uniform
from coalface.kernels.state import AUDITS, LOG_FACTOR, MISSES
from coalface.learner.teaching import tell_rounds

MODELS = {"online": "online", "forest": "forest", "rbf": RidgeModel(kernel="rbf"), "auto": "auto"}


def noisy_problem(seed, n_labels, n_rows):
    """Costs that no model can predict well, so that narrow ranges often miss the best label."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 4))
    cost = 0.5 + 0.2 * np.tanh(X @ random.normal(size=(4, n_labels))) + random.uniform(-0.3, 0.3, (n_rows, n_labels))
    return X, cost.clip(0.0, 1.0)


def learner_of(model, n_labels, **params):
    learner = CoalClassifier(classes=range(n_labels), model=MODELS[model], mellowness=0.01, rule=Coal(warm_up=5))
    return learner.set_params(**params)


def missed(X, cost, learner):
    """Whether the best label of each row was neither predicted nor asked about by the rule."""
    found = []
    for x, c in zip(X, cost, strict=True):
        queries = learner.ask([x])
        by_rule = queries.mask[0] & ~queries.audit[0]
        by_rule[queries.predicted[0].argmin()] = True
        found.append(c[by_rule].min() > c.min())
        learner.interview([x], lambda _, label, c=c: c[label])
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_the_best_label_is_missed_about_as_often_as_stated(model):
    X, cost = noisy_problem(1, 4, 1200)
    fixed = missed(X, cost, learner_of(model, 4, rule__miss_rate=None))[400:].mean()
    following = missed(X, cost, learner_of(model, 4, rule__miss_rate=0.1))[400:].mean()
    assert fixed > 0.2, "otherwise this test shows nothing"
    assert 0.05 < following < 0.2


@pytest.mark.parametrize("model", MODELS)
def test_the_counts_are_those_of_the_ledger_and_a_replay_restores_them(model, tmp_path):
    X, cost = noisy_problem(2, 4, 400)
    ledger = MemoryLedger()
    learner = learner_of(model, 4, rule__miss_rate=0.1, random_state=3).record_to(ledger)
    learner.interview(X, lambda i, label: cost[i, label])
    n_audits, n_misses, log_factor = 0, 0, 0.0
    for one in ledger:
        if uniform(3, one.number, 0) >= 0.1:
            continue
        audited = {label: one.costs[label] for label in one.propensity if label != one.outlook.label}
        others = [one.costs[label] for label in one.costs if label not in audited]
        miss = min(audited.values(), default=np.inf) < min(others)
        n_audits, n_misses = n_audits + 1, n_misses + miss
        log_factor = min(max(log_factor + STEP * (miss - 0.1), 0.0), LARGEST)
    calibration = learner.model_.state.calibration
    assert n_audits > 25
    assert n_misses > 2
    assert calibration[[AUDITS, MISSES]].tolist() == [n_audits, n_misses]
    assert calibration[LOG_FACTOR] == pytest.approx(log_factor)
    again = learner_of(model, 4, rule__miss_rate=0.1, random_state=3)
    tell_rounds(again, list(ledger))
    assert again.calibration_ == learner.calibration_
    learner.save(tmp_path / "model")
    assert CoalClassifier.load(tmp_path / "model").calibration_ == learner.calibration_


def test_the_measured_rate_is_that_of_the_audits_with_an_interval():
    X, cost = noisy_problem(11, 3, 3000)
    learner = learner_of("online", 3, rule__miss_rate=0.1)
    share = missed(X, cost, learner).mean()
    found = learner.calibration_
    assert found.low <= share <= found.high
    assert found.stated == 0.1
    assert found.slack_factor >= 1.0
    assert f"{found.audits} audits" in str(found)


def test_misses_are_found_although_the_answers_imply_them():
    random = np.random.default_rng(9)
    X, truth = random.normal(size=(1500, 2)), random.integers(0, 2, 1500)  # nothing to learn but the matrix
    learner = CoalClassifier(range(2), model="forest", mellowness=0.001, rule=Coal(miss_rate=0.3))
    share = missed(X, 1.0 - np.eye(2)[truth], learner).mean()
    found = learner.calibration_
    assert found.low <= share <= found.high
    assert found.measured > 0.1


def test_more_misses_mean_more_questions():
    X, cost = noisy_problem(5, 4, 600)
    asked = []
    for rate in (0.02, 0.3, None):  # 67 audits cannot tell closer rates apart
        learner = learner_of("forest", 4, rule__miss_rate=rate)
        simulate(learner, X, cost)
        asked.append(learner.costs_queried_)
    assert asked[0] > asked[1] > asked[2]


def test_audits_ask_for_every_cost_with_equal_chances_and_cost_no_more_than_half_a_cost_each():
    X, cost = noisy_problem(6, 20, 60)
    learner = learner_of("forest", 20, rule__miss_rate=0.1)
    simulate(learner, X, cost)
    queries = learner.ask(noisy_problem(7, 20, 2000)[0])
    audited = queries.audit.any(axis=1)
    assert queries.mask[audited].all()
    np.testing.assert_allclose(queries.propensity[queries.propensity < 1], 0.5 / 20)
    assert 0.5 * 2000 / 20 * 0.5 < audited.sum() < 0.5 * 2000 / 20 * 1.6


def test_nothing_follows_without_audits_or_with_the_online_model_alone_or_a_budget():
    X, cost = noisy_problem(8, 3, 30)
    fixed = {"model": "forest", "rule": Coal(miss_rate=None)}
    for params in ({"model": "online"}, fixed, {"budget": {"costs": 60, "over": 30}}):
        learner = CoalClassifier(classes=range(3), **params)
        simulate(learner, X, cost)
        assert learner.calibration_ is None
        assert not learner.model_.state.calibration.any()
    learner = CoalClassifier(classes=range(3), model="forest", audits=None)
    simulate(learner, X, cost)
    assert learner.calibration_.audits == 0


@pytest.mark.parametrize("rate", ["often", -0.1, 1.5, float("nan")])
def test_a_rate_that_is_none_is_refused_in_one_line(rate):
    with pytest.raises(InputError, match="miss_rate must"):
        CoalClassifier(["a", "b"], rule=Coal(miss_rate=rate)).ask([[1.0]])
