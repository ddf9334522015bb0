"""Laws of the learner: purity, symmetries, rules, schedules, audits."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone

from coalface import Audits, Coal, CoalClassifier, OnlineModel, simulate

from ..problems import ask_and_tell, dense_problem, sparse_problem, state_of, trained

seeds = st.integers(0, 10**6)
label_counts = st.sampled_from([1, 2, 3, 8, 9])
mellownesses = st.sampled_from([0.0, 0.001, 0.01, 0.1, 1.0])
ways = st.fixed_dictionaries(
    {
        "model__accumulator": st.sampled_from(["adax", "adagrad"]),
        "model__sensitivity": st.sampled_from(["shadow", "seen-only", "derivative"]),
        "rule__slack": st.sampled_from(["published", "noise-scaled"]),
        "mellowness": mellownesses,
        "model__fit_intercept": st.booleans(),
    }
)


# -- asking changes nothing


@given(seeds, label_counts, ways, st.sampled_from([0.0, 0.5]))
def test_asking_changes_nothing_and_repeats_itself(seed, n_labels, params, audit_rate):
    learner, X = trained(seed, n_labels, audits=Audits(audit_rate), **params)
    before = state_of(learner)
    wider = csr_array(np.hstack([X, np.ones((len(X), 3), np.float32)]))
    for rows in (X, wider):
        one, other = learner.ask(rows), learner.ask(rows)
        np.testing.assert_array_equal(one.mask, other.mask)
        np.testing.assert_array_equal(one.ranges.lowest, other.ranges.lowest)
        np.testing.assert_array_equal(one.propensity, other.propensity)
        learner.predict(rows), learner.predict_cost(rows), learner.cost_range(rows)
    assert state_of(learner) == before


@given(seeds, ways, st.sampled_from([0.0, 0.5]))
def test_row_r_of_a_batch_is_decided_r_rounds_later(seed, params, audit_rate):
    learner, X = trained(seed, audits=Audits(audit_rate), **params)
    batch = learner.ask(X)
    for r in range(len(X)):
        alone = learner.ask(X[r : r + 1])
        np.testing.assert_array_equal(alone.mask[0], batch.mask[r])
        np.testing.assert_array_equal(alone.ranges.lowest[0], batch.ranges.lowest[r])
        np.testing.assert_array_equal(alone.ranges.highest[0], batch.ranges.highest[r])
        np.testing.assert_array_equal(alone.propensity[0], batch.propensity[r])
        assert alone.first_round == batch.first_round + r
        learner.tell(X[r : r + 1], np.full((1, 4), np.nan))  # nothing was asked: only the round moves


# -- ranges


@given(seeds, label_counts, ways, st.sampled_from([(0.0, 1.0), (-0.1, 0.3), (-7.0, 100.0)]))
def test_a_range_lies_within_the_bounds_and_around_the_clipped_prediction(seed, n_labels, params, bounds):
    learner, X = trained(seed, n_labels, cost_bounds=bounds, **params)
    queries = learner.ask(X)
    lowest, highest = queries.ranges.lowest, queries.ranges.highest
    clipped = np.clip(queries.predicted, *bounds)
    rounding = 1e-12 * max(map(abs, bounds))
    assert np.all(lowest >= bounds[0])
    assert np.all(highest <= bounds[1])
    assert np.all(lowest <= clipped + rounding)
    assert np.all(clipped <= highest + rounding)
    np.testing.assert_array_equal(queries.ranges.width, highest - lowest)
    np.testing.assert_allclose(learner.predict_cost(X), queries.predicted, rtol=0, atol=1e-12 + rounding)


@given(seeds, ways, mellownesses)
def test_more_slack_never_narrows_a_range(seed, params, more):
    assume(more > params["mellowness"])
    learner, X = trained(seed, **params)
    narrow = learner.cost_range(X)
    wide = learner.set_params(mellowness=more).cost_range(X)
    assert np.all(wide.lowest <= narrow.lowest + 1e-6)
    assert np.all(wide.highest >= narrow.highest - 1e-6)


@given(seeds, ways)
def test_an_example_has_the_same_range_in_any_batch_of_one_round(seed, params):
    learner, X = trained(seed, **params)
    together = learner.cost_range(X, same_round=True)
    for i in range(X.shape[0]):
        alone = learner.cost_range(X[[i]])
        np.testing.assert_array_equal(together.lowest[[i]], alone.lowest)
        np.testing.assert_array_equal(together.highest[[i]], alone.highest)


def test_the_first_round_has_full_ranges():
    learner = CoalClassifier(classes=["a", "b"], mellowness=0.0, cost_bounds=(2, 5))
    ranges = learner.cost_range([[1.0, -3.0]])
    assert ranges.lowest.tolist() == [[2.0, 2.0]]
    assert ranges.highest.tolist() == [[5.0, 5.0]]


# -- rules


@given(seeds, label_counts, ways)
def test_every_rule_asks_for_what_its_sentence_says(seed, n_labels, params):
    learner, X = trained(seed, n_labels, **params)
    asked = {
        rule: learner.set_params(rule__variant=rule).ask(X)
        for rule in ("coal", "all-or-none", "no-domination", "passive")
    }
    ranges = asked["coal"].ranges
    thresholds = [learner.rule.width_scale / np.sqrt(learner.round_ + r) for r in range(len(X))]
    # Ranges are single precision inside and are compared there.
    wide = np.float32(ranges.highest) - np.float32(ranges.lowest) > np.float32(thresholds)[:, None]
    contenders = ranges.lowest <= ranges.guaranteed_cost[:, None]
    several = contenders.sum(axis=1, keepdims=True) > 1
    expected = contenders & wide & several
    np.testing.assert_array_equal(asked["coal"].mask, expected)
    np.testing.assert_array_equal(asked["no-domination"].mask, wide)
    np.testing.assert_array_equal(
        asked["all-or-none"].mask, np.repeat(expected.any(axis=1, keepdims=True), n_labels, axis=1)
    )
    assert asked["passive"].mask.all()
    assert not np.any(asked["coal"].mask & ~asked["no-domination"].mask)
    assert not np.any(asked["coal"].mask & ~asked["all-or-none"].mask)
    for queries in asked.values():
        np.testing.assert_array_equal(queries.propensity, queries.mask)


@given(seeds, ways)
def test_a_label_that_is_not_a_candidate_is_as_good_as_absent(seed, params):
    learner, X = trained(seed, 6, **params)
    candidates = np.random.default_rng(seed).random((len(X), 6)) < 0.6
    candidates[:, 0] |= ~candidates.any(axis=1)
    queries = learner.ask(X, candidates=candidates)
    assert not np.any(queries.mask & ~candidates)
    guaranteed = np.where(candidates, queries.ranges.highest, np.inf).min(axis=1, keepdims=True)
    contenders = candidates & (queries.ranges.lowest <= guaranteed)
    assert not np.any(queries.mask & ~contenders)
    predicted = learner.predict(X, candidates=candidates)
    costs = np.where(candidates, learner.predict_cost(X), np.inf)
    np.testing.assert_array_equal(predicted, costs.argmin(axis=1))


@pytest.mark.parametrize("warm_up", [0, 1, 5])
def test_the_first_examples_are_asked_about_in_full(warm_up):
    X, cost = dense_problem(2, 4, 8)
    learner = CoalClassifier(classes=range(4), rule=Coal(warm_up=warm_up), mellowness=0.0)
    learner.partial_fit(X[:1], cost=cost[:1])
    mask = learner.ask(X).mask  # rounds 2 to 9
    assert mask[: max(warm_up - 1, 0)].all()
    assert not mask[max(warm_up - 1, 0) :].all()


# -- symmetries


@given(seeds, ways, st.permutations(range(5)))
def test_permuting_the_labels_permutes_the_answer(seed, params, order):
    X, cost = dense_problem(seed, 5, 60)
    # As published: an audit is drawn by the place of a label, not by its name.
    one = CoalClassifier.as_published(classes=range(5), rule__warm_up=2, **params)
    other = CoalClassifier.as_published(classes=order, rule__warm_up=2, **params)
    simulate(one, X, cost)
    simulate(other, X, cost[:, order])
    asked, permuted = one.ask(X), other.ask(X)
    np.testing.assert_array_equal(permuted.mask, asked.mask[:, order])
    np.testing.assert_array_equal(permuted.ranges.lowest, asked.ranges.lowest[:, order])
    np.testing.assert_array_equal(permuted.predicted, asked.predicted[:, order])
    assert one.costs_queried_ == other.costs_queried_


@given(seeds, ways, st.lists(st.integers(-40, 40), min_size=8, max_size=8))
def test_measuring_features_in_other_units_changes_no_decision(seed, params, exponents):
    X, cost = dense_problem(seed, 3, 60)
    units = np.float32(2.0) ** np.array(exponents, np.float32)
    one = CoalClassifier(classes=range(3), rule=Coal(warm_up=2), model="online").set_params(**params)
    other = clone(one)
    simulate(one, X, cost)
    simulate(other, X * units, cost)
    asked, scaled = one.ask(X), other.ask(X * units)
    np.testing.assert_array_equal(asked.mask, scaled.mask)
    np.testing.assert_array_equal(asked.predicted, scaled.predicted)
    assert one.costs_queried_ == other.costs_queried_


@given(seeds, ways)
def test_costs_in_another_currency_change_no_decision(seed, params):
    X, cost = dense_problem(seed, 3, 60)
    cost = cost.astype(np.float64)
    one = CoalClassifier(classes=range(3), rule=Coal(warm_up=2), model="online").set_params(**params)
    other = clone(one).set_params(cost_bounds=(0, 100))
    simulate(one, X, cost)
    simulate(other, X, 100 * cost)
    np.testing.assert_array_equal(one.ask(X).mask, other.ask(X).mask)
    np.testing.assert_allclose(other.predict_cost(X), 100 * one.predict_cost(X), rtol=1e-12)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@given(seeds)
@settings(max_examples=15)
def test_dense_and_sparse_rows_and_explicit_zeros_are_the_same(seed):
    X, cost = sparse_problem(seed, 3, 40)
    assert (X.data == 0).any() or X.nnz == 0
    learners = [CoalClassifier(classes=range(3), rule=Coal(warm_up=2)) for _ in range(3)]
    clean = X.copy()
    clean.eliminate_zeros()
    for learner, rows in zip(learners, (X, clean, X.toarray()), strict=True):
        ask_and_tell(learner, rows, cost)
    assert state_of(learners[0]) == state_of(learners[1]) == state_of(learners[2])


# -- telling learns


def test_telling_in_a_batch_is_telling_row_by_row():
    X, cost = sparse_problem(3, 4)
    cost[np.random.default_rng(3).random(cost.shape) < 0.3] = np.nan
    batch, rows = CoalClassifier(classes=range(4)), CoalClassifier(classes=range(4))
    batch.tell(X, cost)
    for i in range(X.shape[0]):
        rows.tell(X[i : i + 1], cost[i : i + 1])
    assert state_of(batch) == state_of(rows)


def test_what_is_counted():
    learner = CoalClassifier(classes=["a", "b", "c"])
    nan = np.nan
    learner.tell([[1.0]], [[0.0, nan, nan]])
    assert (learner.round_, learner.examples_queried_, learner.costs_queried_) == (2, 1, 1)
    learner.tell([[1.0]], [[nan, nan, nan]])  # nothing asked: the round moves all the same
    assert (learner.round_, learner.examples_queried_, learner.costs_queried_) == (3, 1, 1)
    learner.tell([[1.0]], [[nan, nan, nan]], asked=[[True, True, False]])  # asked, but "can't tell"
    assert (learner.round_, learner.examples_queried_, learner.costs_queried_) == (4, 2, 3)
    learner.tell([[1.0]], [[0.0, 1.0, nan]], late=True)
    assert (learner.round_, learner.examples_queried_, learner.costs_queried_) == (4, 2, 5)
    learner.tell([[1.0]], [[0.0, 1.0, 1.0]], asked=[[True, False, False]])  # two costs volunteered
    assert (learner.round_, learner.examples_queried_, learner.costs_queried_) == (5, 3, 6)


def test_a_late_answer_teaches_what_an_early_one_does():
    early, late = CoalClassifier(classes=["a", "b"]), CoalClassifier(classes=["a", "b"])
    early.tell([[1.0, 2.0]], [[0.25, 1.0]])
    late.tell([[1.0, 2.0]], [[np.nan, np.nan]]).tell([[1.0, 2.0]], [[0.25, 1.0]], late=True)
    np.testing.assert_array_equal(early.predict_cost([[1.0, 2.0]]), late.predict_cost([[1.0, 2.0]]))
    assert early.round_ == late.round_


def test_the_cost_of_a_label_that_is_not_a_candidate_is_not_learned():
    one, other = CoalClassifier(classes=["a", "b"]), CoalClassifier(classes=["a", "b"])
    one.tell([[1.0]], [[0.5, 1.0]], candidates=[[True, False]])
    other.tell([[1.0]], [[0.5, np.nan]])
    ours, theirs = state_of(one), state_of(other)
    assert ours.pop("remembered_candidates") != theirs.pop("remembered_candidates")  # what could have been answered
    assert ours == theirs


@given(seeds, st.floats(0.01, 5.0), st.sampled_from(["adax", "adagrad"]))
def test_a_prediction_moves_towards_its_cost_and_not_past_it(seed, learning_rate, accumulator):
    X, cost = dense_problem(seed, 4, 30)
    learner = CoalClassifier(classes=range(4), model=OnlineModel(learning_rate=learning_rate, accumulator=accumulator))
    learner.tell(np.abs(X).max(axis=0, keepdims=True), cost[:1])  # no larger value comes, so nothing is rescaled
    for row, answer in zip(X, cost, strict=True):
        before = np.clip(learner.predict_cost(row[None])[0], 0, 1)
        raw = learner.predict_cost(row[None])[0]
        after = learner.tell(row[None], answer[None]).predict_cost(row[None])[0]
        inside = raw == before
        assert np.all(np.abs(after - answer)[inside] <= np.abs(before - answer)[inside] + 1e-5)
        assert np.all(((after - answer) * (before - answer))[inside] >= -1e-5)


# -- predictions


def test_ties_go_to_the_first_label():
    learner = CoalClassifier(classes=["z", "a"])
    assert learner.predict([[1.0]])[0] == "z"


@given(seeds, label_counts)
def test_the_prediction_is_the_label_with_the_least_predicted_cost(seed, n_labels):
    learner, X = trained(seed, n_labels)
    np.testing.assert_array_equal(learner.predict(X), learner.predict_cost(X).argmin(axis=1))


@given(seeds)
def test_the_score_is_minus_the_mean_cost(seed):
    learner, X = trained(seed, cost_bounds=(-2.0, 3.0))
    y = np.random.default_rng(seed).integers(0, 4, len(X))
    cost = np.random.default_rng(seed).uniform(-2, 3, (len(X), 4))
    best = learner.predict(X)
    assert learner.score(X, cost=cost) == pytest.approx(-cost[np.arange(len(X)), best].mean(), abs=1e-6)
    assert learner.score(X, y) == pytest.approx(-np.where(best == y, -2.0, 3.0).mean(), abs=1e-6)


def test_class_labels_are_costs_of_zero_and_one_or_those_of_the_matrix():
    X, _ = dense_problem(4, 3, 30)
    y = np.array(["a", "b", "c"] * 10)
    matrix = np.array([[0.0, 0.5, 1.0], [0.25, 0.0, 1.0], [1.0, 1.0, 0.0]])
    names = ["a", "b", "c"]
    codes = np.array([0, 1, 2] * 10)
    for cost_matrix, costs in ((None, 1.0 - np.eye(3)), (matrix, matrix)):
        one = CoalClassifier(cost_matrix=cost_matrix).fit(X, y)
        other = CoalClassifier(classes=names).fit(X, cost=costs[codes])
        assert state_of(one) == state_of(other)


def test_the_row_of_the_cost_matrix_is_the_truth():
    # Answering "safe" when there is fire costs 1, the false alarm a tenth: noise must raise the alarm.
    matrix = [[0.0, 1.0], [0.1, 0.0]]
    learner = CoalClassifier(classes=["fire", "safe"], cost_matrix=matrix)
    learner.fit(np.ones((200, 1)), ["fire", "safe", "safe", "safe"] * 50)
    assert learner.predict([[1.0]])[0] == "fire"


def test_fit_forgets_and_partial_fit_does_not():
    X, cost = dense_problem(5, 3, 40)
    learner = CoalClassifier().fit(X, cost=cost)
    once = state_of(learner)
    assert state_of(learner.fit(X, cost=cost)) == once
    assert state_of(learner.partial_fit(X, cost=cost)) != once
    assert learner.round_ == 81


def test_labels_are_numbers_where_only_costs_name_them():
    learner = CoalClassifier().partial_fit([[1.0]], cost=[[0.0, 1.0, 1.0]])
    assert learner.classes_.tolist() == [0, 1, 2]
    named = CoalClassifier().partial_fit([[1.0]], cost=[[0.0, 1.0]], classes=["b", "a"])
    assert named.classes_.tolist() == ["b", "a"]
    assert named.predict([[1.0]])[0] == "b"


# -- limits


@settings(max_examples=20)
@given(seeds, st.integers(0, 30))
def test_max_costs_keeps_the_widest_ranges(seed, limit):
    learner, X = trained(seed, mellowness=1.0)
    everything, limited = learner.ask(X), learner.ask(X, max_costs=limit)
    assert limited.costs_asked == min(limit, everything.costs_asked)
    assert not np.any(limited.mask & ~everything.mask)
    dropped = everything.mask & ~limited.mask
    if dropped.any() and limited.mask.any():
        width = everything.ranges.width
        assert width[limited.mask].min() >= width[dropped].max()
