"""How much leaves lean on the nodes above them: by the noise of the answers, and as before in earlier files."""

import numpy as np
import pytest

from coalface.data.rows import check_rows
from coalface.errors import FileFormatError
from coalface.kernels.forest import Answers
from coalface.models.forest import model as forest
from coalface.models.forest.shrinkage import LEANINGS, best_leaning

from ..kernels.test_forest import answers_of
from .forests import begun, learn, learned, problem, same, setting


def noisy_rows(noise, n=500):
    """Two labels, of which the first column decides; this share of the answers is turned round."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 3))
    right = (X[:, 0] > 0) ^ (random.random(n) < noise)
    return X, np.stack([right, ~right], axis=1).astype(np.float32)


def chosen_leanings(X, cost, monkeypatch):
    """The leanings of the last forests."""
    found, plain = [], forest.best_leaning
    monkeypatch.setattr(forest, "best_leaning", lambda *those: found.append(plain(*those)) or found[-1])
    learned(X, cost, n_trees=50)
    return [LEANINGS[place] for place in found[-4:]]


def test_exact_answers_lean_least_and_noisy_ones_most(monkeypatch):
    assert max(chosen_leanings(*noisy_rows(0.0), monkeypatch)) < 1.0
    assert min(chosen_leanings(*noisy_rows(0.3), monkeypatch)) > 1.0


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_leaning_by_the_noise_predicts_better_than_always_leaning_alike(noise):
    X, cost = noisy_rows(noise)
    tests = np.random.default_rng(1).normal(size=(500, 3))
    truth = np.abs((tests[:, 0] > 0) - noise)
    plain = begun(2, n_trees=50)
    plain.rule[0] = 1
    learn(plain, X, cost)
    errors = [
        np.mean((model.predict(check_rows(tests))[:, 0] - truth) ** 2)
        for model in (learned(X, cost, n_trees=50), plain)
    ]
    assert errors[0] < 0.9 * errors[1]


def test_the_variance_of_few_trees_does_not_count_as_an_error():
    answers = answers_of(np.full((40, 1), 0.5))
    spread = np.random.default_rng(0).choice([-0.1, 0.1], (40, 1))  # of estimates that are right in the mean
    left_out = np.stack([np.full((40, 1), 0.45), 0.5 + spread], axis=1)
    assert best_leaning(answers, left_out, np.zeros((40, 2, 1))) == 0
    assert best_leaning(answers, left_out, np.stack([np.zeros((40, 1)), spread**2], axis=1)) == 1


def test_answers_count_by_their_weights():
    answers = Answers(np.array([0, 1, 2]), np.array([0, 0]), np.array([0.0, 1.0]), np.array([1.0, 3.0]))
    left_out = np.array([[[0.1], [0.6]], [[0.5], [0.9]]])
    assert best_leaning(answers, left_out, np.zeros((2, 2, 1))) == 1
    assert best_leaning(answers._replace(weights=np.array([3.0, 1.0])), left_out, np.zeros((2, 2, 1))) == 0


def test_if_nothing_was_left_out_the_first_leaning_is_taken():
    nothing = np.full((40, 3, 1), np.nan)
    assert best_leaning(answers_of(np.ones((40, 1))), nothing, nothing) == 0
    assert LEANINGS[0] == 1.0


def forest_of_the_earlier_rule(X, cost):
    model = begun(cost.shape[1], n_trees=20)
    model.rule[0] = 1
    learn(model, X, cost)
    return model


def test_a_forest_saved_before_leanings_were_chosen_predicts_asks_and_goes_on_as_before():
    X, cost = noisy_rows(0.1, 300)
    earlier = forest_of_the_earlier_rule(X[:150], cost[:150])
    saved = earlier.saved()
    del saved["rule"]
    model = begun(2, n_trees=20)
    model.restore_saved(saved)
    for one in (model, earlier):
        learn(one, X[150:], cost[150:])
    assert same(model, earlier)
    mean, variance = model._read(check_rows(X))
    predicted, lowest, highest = model.ranges(check_rows(X), setting(2), 300)
    np.testing.assert_array_equal(predicted, mean)
    slack = 0.5 * 0.12 * np.log(2 * (299.0 + np.arange(300)))[:, None]  # as it was, with the mellowness of the default
    reach = np.sqrt(slack * (variance + 1 / (1 + model.answers.counts)))
    np.testing.assert_allclose(highest, np.minimum(mean + reach, 1), atol=1e-6)
    np.testing.assert_allclose(lowest, np.maximum(mean - reach, 0), atol=1e-6)
    assert not same(model, learned(X, cost, n_trees=20))


def test_the_earlier_rule_has_leaves_that_lean_by_one_answer(monkeypatch):
    X, cost = noisy_rows(0.0, 100)
    earlier = forest_of_the_earlier_rule(X, cost)
    monkeypatch.setattr(forest, "LEANINGS", (1.0,))
    assert all(map(np.array_equal, earlier.trees, learned(X, cost, n_trees=20).trees))


def test_a_saved_forest_keeps_its_rule():
    for rule in (1, 2):
        model = begun(3)
        model.rule[0] = rule
        learn(model, *problem(0))
        again = begun(3)
        again.restore_saved(model.saved())
        assert again.rule.tolist() == [rule]
        assert same(again, model)


def test_a_forest_grown_by_a_newer_rule_is_refused():
    saved = {**learned(*problem(0)).saved(), "rule": np.array([3])}
    with pytest.raises(FileFormatError, match="grown by rule 3, but this version of coalface knows rules up to 2"):
        begun(3).restore_saved(saved)


def hard_rows(n=300):
    """Rows whose two costs resemble each other."""
    random = np.random.default_rng(0)
    X, hard = random.normal(size=(n, 3)), random.random((n, 1))
    return X, (0.2 + 0.5 * hard + 0.1 * random.random((n, 2))).astype(np.float32)


def test_where_rows_are_hard_for_all_labels_leaves_lean_by_one_answer():
    X, cost = hard_rows()
    model = learned(X, cost, n_trees=20)
    assert model.rows_are_hard
    assert all(map(np.array_equal, model.trees, forest_of_the_earlier_rule(X, cost).trees))


def test_ranges_are_narrower_where_rows_are_hard_for_all_labels():
    X, alike = hard_rows()
    for cost, is_hard in ((alike, True), (noisy_rows(0.0, 300)[1], False)):
        model = learned(X, cost, n_trees=20)
        assert model.rows_are_hard == is_hard
        wide = model.ranges(check_rows(X), setting(2, mellowness=0.001), 300)
        model.rows_are_hard = not is_hard
        other = model.ranges(check_rows(X), setting(2, mellowness=0.001), 300)
        widths = [(ranged.highest - ranged.lowest).mean() for ranged in (wide, other)]
        assert (widths[0] < widths[1]) == is_hard
