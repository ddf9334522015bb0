"""The query rules, and random numbers that depend only on their arguments."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface import Audits, Coal, CoalClassifier
from coalface.kernels.draws import uniform
from coalface.rounds.queries import REASONS

from ..problems import trained

CODES = {text: code for code, text in REASONS.items()}


@given(st.integers(0, 2**62 - 1), st.integers(1, 2**40), st.integers(0, 1))
def test_a_draw_lies_in_the_unit_interval_and_repeats(seed, round_number, draw):
    number = uniform(seed, round_number, draw)
    assert 0.0 <= number < 1.0
    assert uniform(seed, round_number, draw) == number


def test_draws_are_uniform_and_unrelated_from_round_to_round_seed_to_seed_and_draw_to_draw():
    n = 4000
    sequences = [
        [uniform(1, i, 0) for i in range(n)],
        [uniform(1, i, 1) for i in range(n)],
        [uniform(2, i, 0) for i in range(n)],
        [uniform(seed, 5, 0) for seed in range(n)],
    ]
    for numbers in sequences:
        counts, _ = np.histogram(numbers, bins=20, range=(0, 1))
        assert ((counts - n / 20) ** 2 / (n / 20)).sum() < 43.8  # chi-squared, 19 degrees of freedom, 0.1 %
        assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 4 / np.sqrt(n)
    correlations = np.corrcoef(sequences)[np.triu_indices(4, 1)]
    assert np.all(np.abs(correlations) < 4 / np.sqrt(n))


@given(st.integers(0, 10**6), st.sampled_from(["coal", "all-or-none", "no-domination"]), st.sampled_from([0.0, 0.5]))
def test_every_reason_is_true(seed, rule, audit_rate):
    learner, X = trained(seed, 5, rule=rule, audits=Audits(audit_rate))
    candidates = np.random.default_rng(seed).random((len(X), 5)) < 0.8
    queries = learner.ask(X, candidates=candidates)
    lowest, highest = np.float32(queries.ranges.lowest), np.float32(queries.ranges.highest)
    guaranteed = np.where(candidates, highest, np.inf).min(axis=1, keepdims=True)
    contender = candidates & (lowest <= guaranteed)
    rounds = learner.round_ + np.arange(len(X))
    wide = highest - lowest > np.float32(0.5 / np.sqrt(rounds))[:, None]
    is_reason = {text: queries.reason_codes == code for text, code in CODES.items()}
    assert np.all(is_reason["not a candidate"] == ~candidates)
    assert not is_reason["warm-up"].any()
    if rule != "no-domination":
        assert np.all(contender[is_reason["could be best and is uncertain"]])
        assert not np.any(contender & is_reason["cannot be best"])
    assert np.all(wide[is_reason["could be best and is uncertain"]])
    assert not np.any(wide & is_reason["already known well enough"])
    only = is_reason["only contender"].any(axis=1)
    assert np.all(contender.sum(axis=1)[only] == 1)
    asked = [
        "could be best and is uncertain",
        "the rule asks for every label",
        "audit, drawn at random",
    ]
    np.testing.assert_array_equal(queries.mask, np.any([is_reason[text] for text in asked], axis=0))
    assert audit_rate or not queries.audit.any()


def test_warm_up_and_passive_say_so():
    learner = CoalClassifier(classes=["a", "b"], rule=Coal(warm_up=3, alike=None))
    assert set(learner.ask([[1.0]] * 3).reasons.ravel()) == {"warm-up"}
    assert set(learner.set_params(rule__variant="passive").ask([[1.0]] * 3).reasons.ravel()) == {
        "the rule asks for every label"
    }


@pytest.mark.parametrize("rule", ["coal", "all-or-none", "no-domination"])
def test_a_range_as_wide_as_the_threshold_is_narrow_enough(rule):
    learner = CoalClassifier.as_published(
        classes=["a", "b"], rule=rule, rule__warm_up=0, rule__width_scale=2.0, model__sensitivity="seen-only"
    )
    learner.tell([[1.0, 0.0]] * 3, [[0.5, 0.5]] * 3)
    unseen = [[0.0, 1.0]]  # full ranges, of width 1
    assert learner.round_ == 4  # where the threshold is 2 / sqrt(4)
    assert not learner.ask(unseen).mask.any()
    assert learner.set_params(rule__width_scale=1.99).ask(unseen).mask.all()


def test_a_label_that_can_just_equal_the_guaranteed_cost_is_a_contender():
    learner = CoalClassifier.as_published(
        classes=["new", "worst"],
        rule__warm_up=0,
        model__sensitivity="seen-only",
        mellowness=0.0,
        model__fit_intercept=False,
    )
    learner.tell([[1.0]], [[np.nan, 1.0]])
    worst = learner.ask([[5.0]])
    assert worst.ranges.lowest.tolist() == [[0.0, 1.0]]
    assert worst.ranges.highest.tolist() == [[1.0, 1.0]]
    assert worst.mask.tolist() == [[True, False]]
    best = learner.ask([[-5.0]])  # what was worst is now certain to be best, and the new label may equal it
    assert best.ranges.lowest.tolist() == [[0.0, 0.0]]
    assert best.ranges.highest.tolist() == [[1.0, 0.0]]
    assert best.mask.tolist() == [[True, False]]
