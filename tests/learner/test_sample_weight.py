"""A weight is how often a row is learned."""

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_score

from coalface import CoalClassifier, MemoryLedger
from coalface.errors import InputError
from coalface.learner.intake import STEPS, rows_by_weight

from ..problems import dense_problem, state_of

X, COST = dense_problem(0, 3, n=60)
Y = COST.argmin(axis=1)
TIMES = np.random.default_rng(0).integers(0, 3, 60)
REPEATED = np.repeat(np.arange(60), TIMES)


@pytest.mark.parametrize("model", ["auto", "online", "ridge", "forest", "classes", "joint"])
@pytest.mark.parametrize("dtype", [int, float])
def test_whole_weights_are_repeated_rows(model, dtype):
    weights = TIMES.astype(dtype)
    for how in ({"y": Y}, {"cost": COST}):
        repeated = {name: given[REPEATED] for name, given in how.items()}
        weighted = CoalClassifier(range(3), model=model).fit(X, **how, sample_weight=weights)
        assert state_of(weighted) == state_of(CoalClassifier(range(3), model=model).fit(X[REPEATED], **repeated))
        weighted = CoalClassifier(range(3), model=model).partial_fit(X, **how, sample_weight=weights)
        other = CoalClassifier(range(3), model=model).partial_fit(X[REPEATED], **repeated)
        assert state_of(weighted) == state_of(other)
        assert weighted.costs_queried_ == 3 * TIMES.sum()


weight_lists = st.lists(st.floats(0, 5, width=32), min_size=1, max_size=50).filter(any)
starts = st.integers(0, STEPS - 1)


@given(weight_lists, starts)
def test_a_row_is_learned_as_often_as_its_weight_says_give_or_take_one(weights, start):
    picked, _ = rows_by_weight(np.array(weights), start)
    times = np.bincount(picked, minlength=len(weights))
    assert (abs(times - weights) < 1 + 1e-8).all()
    assert not times[np.array(weights) == 0].any()
    assert (np.diff(picked) >= 0).all()


@given(weight_lists, weight_lists, starts)
def test_it_does_not_matter_how_weighted_rows_are_split_over_calls(first, second, start):
    whole, end = rows_by_weight(np.array(first + second), start)
    one, between = rows_by_weight(np.array(first), start)
    other, last = rows_by_weight(np.array(second), between)
    np.testing.assert_array_equal(np.append(one, other + len(first)), whole)
    assert last == end


def test_a_weight_is_the_mean_number_of_times_over_starts():
    weights = np.array([0.1, 0.0, 1.7, 0.5, 2.0])
    drawn = np.random.default_rng(0).integers(STEPS, size=3000).tolist()
    times = np.mean([np.bincount(rows_by_weight(weights, start)[0], minlength=5) for start in drawn], axis=0)
    np.testing.assert_allclose(times, weights, atol=0.03)


def test_fit_scales_weights_below_one_and_partial_fit_does_not():
    plain = state_of(CoalClassifier().fit(X, Y))
    for weight in (0.1, 1 / 60, 1e-9):
        assert state_of(CoalClassifier().fit(X, Y, sample_weight=np.full(60, weight))) == plain
    assert CoalClassifier().fit(X, Y, sample_weight=np.full(60, 2)).round_ == 121


def test_rows_of_small_weights_are_learned_in_turn_also_after_a_file(tmp_path):
    learner, pieces = CoalClassifier(range(3)), CoalClassifier(range(3))
    learner.partial_fit(X, Y, sample_weight=np.full(60, 0.25))
    assert learner.round_ == 16
    for i in range(60):
        pieces.partial_fit(X[i : i + 1], Y[i : i + 1], sample_weight=[0.25])
        if i % 7 == 0:
            pieces.save(tmp_path / "model.coalface")
            pieces = CoalClassifier.load(tmp_path / "model.coalface")
    assert state_of(pieces) == state_of(learner)


def test_candidates_are_repeated_with_their_rows_and_the_ledger_has_what_was_learned():
    candidates, ledger = np.arange(3) != (Y[:, None] + 1) % 3, MemoryLedger()
    learner = CoalClassifier(range(3)).record_to(ledger)
    learner.partial_fit(X, Y, candidates=candidates, sample_weight=TIMES)
    whole = CoalClassifier(range(3)).partial_fit(X[REPEATED], Y[REPEATED], candidates=candidates[REPEATED])
    assert state_of(learner) == state_of(whole) == state_of(CoalClassifier.from_ledger(ledger))


def test_wrong_weights_are_refused_in_one_line_and_change_nothing():
    learner = CoalClassifier(range(3))
    for wrong in (np.ones(2), -np.ones(60), np.full(60, np.nan), np.zeros(60), ["a"] * 60, np.ones((60, 1))):
        for call in (learner.fit, learner.partial_fit):
            with pytest.raises(InputError, match="sample_weight must be 60 finite numbers"):
                call(X, Y, sample_weight=wrong)
    with pytest.raises(InputError, match=r"at most 100 on average.*got 1500. Divide it by its mean"):
        learner.fit(X, Y, sample_weight=np.full(60, 1500.0))
    with pytest.raises(InputError, match="sample_weight needs active=False"):
        learner.fit(X, Y, sample_weight=TIMES, active=True)
    assert not hasattr(learner, "classes_")


def test_weights_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_val_score(CoalClassifier(model="online"), X, Y, cv=2, params={"sample_weight": TIMES})
    assert np.isfinite(scores).all()


def test_weights_with_an_index_belong_to_the_rows_of_that_index():
    pandas = pytest.importorskip("pandas")
    frame, weights = pandas.DataFrame(X, columns=list("abcdefgh")), pandas.Series(TIMES)
    one = CoalClassifier(model="online").fit(frame, Y, sample_weight=weights)
    other = CoalClassifier(model="online").fit(frame, Y, sample_weight=weights[::-1])
    assert state_of(one) == state_of(other) == state_of(CoalClassifier(model="online").fit(X[REPEATED], Y[REPEATED]))
    with pytest.raises(InputError, match="sample_weight must have rows with the index of X"):
        one.fit(frame, Y, sample_weight=weights.set_axis(range(5, 65)))
