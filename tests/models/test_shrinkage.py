"""How much leaves are shrunk towards their parents: by the noise of the answers."""

import numpy as np
import pytest

from coalface.data.rows import check_rows
from coalface.kernels.forest import KnownCosts
from coalface.models.forest import model as forest
from coalface.models.forest.shrinkage import STRENGTHS, best_strength

from ..kernels.test_forest import answers_of
from .forests import learned, setting


def noisy_rows(noise, n=500):
    """Two labels, of which the first column decides; this share of the answers is turned round."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 3))
    right = (X[:, 0] > 0) ^ (random.random(n) < noise)
    return X, np.stack([right, ~right], axis=1).astype(np.float32)


def chosen_strengths(X, cost, monkeypatch):
    """The strengths of the last forests."""
    found, plain = [], forest.best_strength
    monkeypatch.setattr(forest, "best_strength", lambda *those: found.append(plain(*those)) or found[-1])
    learned(X, cost, n_trees=50)
    return [STRENGTHS[place] for place in found[-4:]]


def test_exact_answers_shrink_least_and_noisy_ones_most(monkeypatch):
    assert max(chosen_strengths(*noisy_rows(0.0), monkeypatch)) < 1.0
    assert min(chosen_strengths(*noisy_rows(0.3), monkeypatch)) > 1.0


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_shrinking_by_the_noise_predicts_better_than_always_shrinking_alike(noise, monkeypatch):
    X, cost = noisy_rows(noise)
    tests = np.random.default_rng(1).normal(size=(500, 3))
    truth = np.abs((tests[:, 0] > 0) - noise)
    errors = []
    for strengths in (STRENGTHS, STRENGTHS[:1]):
        monkeypatch.setattr(forest, "STRENGTHS", strengths)
        model = learned(X, cost, n_trees=50)
        errors.append(np.mean((model.predict(check_rows(tests))[:, 0] - truth) ** 2))
    assert errors[0] < 0.9 * errors[1]


def test_the_variance_of_few_trees_does_not_count_as_an_error():
    answers = answers_of(np.full((40, 1), 0.5))
    spread = np.random.default_rng(0).choice([-0.1, 0.1], (40, 1))  # of estimates that are right in the mean
    left_out = np.stack([np.full((40, 1), 0.45), 0.5 + spread], axis=1)
    assert best_strength(answers, left_out, np.zeros((40, 2, 1))) == 0
    assert best_strength(answers, left_out, np.stack([np.zeros((40, 1)), spread**2], axis=1)) == 1


def test_answers_count_by_their_weights():
    answers = KnownCosts(np.array([0, 1, 2]), np.array([0, 0]), np.array([0.0, 1.0]), np.array([1.0, 3.0]))
    left_out = np.array([[[0.1], [0.6]], [[0.5], [0.9]]])
    assert best_strength(answers, left_out, np.zeros((2, 2, 1))) == 1
    assert best_strength(answers._replace(weights=np.array([3.0, 1.0])), left_out, np.zeros((2, 2, 1))) == 0


def test_if_nothing_was_left_out_the_first_strength_is_taken():
    nothing = np.full((40, 3, 1), np.nan)
    assert best_strength(answers_of(np.ones((40, 1))), nothing, nothing) == 0
    assert STRENGTHS[0] == 1.0


def hard_rows(n=300):
    """Rows whose two costs resemble each other."""
    random = np.random.default_rng(0)
    X, hard = random.normal(size=(n, 3)), random.random((n, 1))
    return X, (0.2 + 0.5 * hard + 0.1 * random.random((n, 2))).astype(np.float32)


def test_where_errors_are_shared_leaves_are_shrunk_by_one_answer(monkeypatch):
    X, cost = hard_rows()
    model = learned(X, cost, n_trees=20)
    assert model.errors_are_shared
    monkeypatch.setattr(forest, "STRENGTHS", (1.0,))
    assert all(map(np.array_equal, model.trees, learned(X, cost, n_trees=20).trees))


def test_ranges_are_narrower_where_rows_are_hard_for_all_labels():
    X, alike = hard_rows()
    for cost, is_hard in ((alike, True), (noisy_rows(0.0, 300)[1], False)):
        model = learned(X, cost, n_trees=20)
        assert model.errors_are_shared == is_hard
        wide = model.ranges(check_rows(X), setting(2, mellowness=0.001), 300)
        model.errors_are_shared = not is_hard
        other = model.ranges(check_rows(X), setting(2, mellowness=0.001), 300)
        widths = [(ranged.highest - ranged.lowest).mean() for ranged in (wide, other)]
        assert (widths[0] < widths[1]) == is_hard
