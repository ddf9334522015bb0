"""The learner with the online model does what its plain NumPy reference does, which was written from the documentation.

Each goes its own way for hundreds of rounds: one cost asked for by one and not by the other would set them apart for
good. A decision that depends on rounding (a tie) could do that, too; none of these problems has one.
"""

import numpy as np
import pytest

from coalface import Audits, CoalClassifier
from coalface.kernels.state import AVERAGE, COUNT

from ..problems import dense_problem, matrix_costs, parts_of, sparse_problem
from ..reference.turns import LEAST_TRUST, ReferenceDefault

TOLERANCE = 1e-5  # of predictions and ends of ranges; a few roundings of single precision


def assert_same_life(X, cost, *, candidates=None, **params):
    """Every round of both; the rounds of the reference, the reference and the learner."""
    n, n_labels = cost.shape
    dense = X if isinstance(X, np.ndarray) else X.toarray()
    seed = params.get("random_state", 0)
    others = {name: value for name, value in parts_of(params).items() if name != "random_state"}
    reference = ReferenceDefault(n_labels, X.shape[1], seed=seed, **others)
    learner = CoalClassifier(range(n_labels), model="online").set_params(**params)
    rounds = []
    for i in range(n):
        row, allowed = X[i : i + 1], None if candidates is None else candidates[i : i + 1]
        queries = learner.ask(row, candidates=allowed)
        before = learner.model_.state.asked.copy()
        learner.interview(row, lambda _, label, i=i: cost[i, label], candidates=allowed)
        happened = reference.play(dense[i], cost[i].astype(np.float64), None if allowed is None else allowed[0])
        asked = (learner.model_.state.asked - before)[:n_labels]
        np.testing.assert_array_equal(asked, happened.asked, err_msg=f"round {i + 1}")
        np.testing.assert_array_equal(queries.mask[0] & ~queries.audit[0], happened.decision.mask)
        np.testing.assert_allclose(queries.predicted[0], happened.decision.predicted, rtol=0, atol=TOLERANCE)
        known = ~np.isnan(happened.decision.lowest)
        np.testing.assert_allclose(
            queries.ranges.lowest[0, known], happened.decision.lowest[known], rtol=0, atol=TOLERANCE
        )
        np.testing.assert_allclose(
            queries.ranges.highest[0, known], happened.decision.highest[known], rtol=0, atol=TOLERANCE
        )
        rounds.append(happened)
    assert_same_experience(learner, reference)
    return rounds, reference, learner


def assert_same_experience(learner, reference):
    """What both have met in pairs of labels, and how far they trust it."""
    model, n_labels = learner.model_.state, reference.n_labels
    counts, averages = np.zeros((2, n_labels, 9, n_labels))
    for pair, met in reference.costs_met.items():
        if met:
            counts[pair], averages[pair] = len(met), np.mean(met)
    np.testing.assert_array_equal(model.implied[:n_labels, :, :n_labels, COUNT], counts)
    np.testing.assert_allclose(model.implied[:n_labels, :, :n_labels, AVERAGE], averages, atol=1e-5)
    errors = np.zeros((9, 4, 2))
    for which, tests in reference.tests.items():
        errors[which] = np.sum(np.reshape(tests, (-1, 2)) ** 2, axis=0)
    np.testing.assert_allclose(model.trust, errors, rtol=1e-4, atol=1e-4)
    assert model.row_sizes.tolist() == [sum(reference.row_sizes), len(reference.row_sizes)]
    assert set(np.flatnonzero(model.was_best)) == reference.were_best


def problem(kind, n_labels, n):
    return dense_problem(n_labels, n_labels, n) if kind == "dense" else sparse_problem(n_labels, n_labels, n, 60)


@pytest.mark.parametrize(("n_labels", "n"), [(2, 400), (5, 400), (20, 250)])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_where_costs_come_from_a_matrix_every_question_and_prediction_is_the_references(kind, n_labels, n):
    X, cost = problem(kind, n_labels, n)
    rounds, reference, _ = assert_same_life(X, matrix_costs(cost))
    assert sum(happened.settled.sum() for happened in rounds) > n / 10
    trusted = max(reference.trust(0, count) for count in (1, 2, 4, 16)) > LEAST_TRUST
    assert trusted == (n_labels > 2)  # two labels imply little before many examples were seen


@pytest.mark.parametrize(("n_labels", "n"), [(2, 200), (5, 200), (20, 120)])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_where_every_cost_is_its_own_every_question_and_prediction_is_the_references(kind, n_labels, n):
    X, cost = problem(kind, n_labels, n)
    rounds, _, learner = assert_same_life(X, cost)
    assert sum(happened.settled.sum() for happened in rounds) > n / 10
    assert learner.costs_queried_ < cost.size / 1.5


@pytest.mark.parametrize(
    "params", [{"audits": Audits(0.8), "random_state": 3}, {"model__fit_intercept": False}], ids=str
)
def test_audits_and_rows_without_the_constant_are_treated_as_by_the_reference(params):
    X, cost = sparse_problem(1, 5, 300, 60)
    X = X[np.diff(X.indptr) > 0] if "model__fit_intercept" in params else X
    assert_same_life(X, matrix_costs(cost[: X.shape[0]]), **params)


def test_candidates_and_unknown_costs_are_treated_as_by_the_reference():
    X, cost = dense_problem(3, 6, 300)
    random = np.random.default_rng(3)
    cost = matrix_costs(cost)
    cost[random.random(cost.shape) < 0.2] = np.nan
    candidates = random.random(cost.shape) < 0.7
    candidates[:, 0] |= ~candidates.any(axis=1)
    assert_same_life(X, cost, candidates=candidates)
