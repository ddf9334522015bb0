"""Mixtures of the reference and the learned policy: the schedules of Searn and DAgger against their formulas."""

import numpy as np
import pytest

from coalface.errors import InputError
from coalface.structured import SearchLearner
from coalface.structured.policy_choice import PolicyChoice, reference_share
from tests.structured.tasks import Spelling, arrays, words


@pytest.mark.parametrize("beta", [0.0, 0.1, 0.5, 1.0])
def test_in_searn_the_reference_keeps_what_interpolation_leaves_it(beta):
    """After every pass, Searn has beta x new policy + (1 - beta) x old one; the first old one is the reference."""
    weights = np.array([1.0])  # of the reference, then of each learned policy
    for pass_number in range(1, 6):
        assert reference_share(f"searn:{beta}", pass_number) == pytest.approx(weights[0])
        weights = np.append((1 - beta) * weights, beta)
        assert weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("p", [0.0, 0.5, 0.9, 1.0])
def test_in_dagger_the_reference_acts_with_a_power_of_p(p):
    share = 1.0
    for pass_number in range(1, 6):
        assert reference_share(f"dagger:{p}", pass_number) == pytest.approx(share)
        share *= p


def test_dagger_without_a_number_has_the_reference_in_the_first_pass_alone():
    assert [reference_share("dagger", i) for i in range(1, 5)] == [1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("roll_out", ["mixed", "mixed-per-state"])
def test_the_reference_acts_as_often_as_the_schedule_says(roll_out):
    choice = PolicyChoice("mixed", roll_out, "searn:0.3", seed=1)
    for pass_number in (1, 2, 4):
        rolled_in = np.mean([choice.reference_rolls_in(e, 0, pass_number) for e in range(2000)])
        policies = [choice.roll_out_policy(e, 0, 0, lambda _: 0, lambda _: 1, pass_number) for e in range(2000)]
        rolled_out = np.mean([1 if policy is None else policy(None) for policy in policies])
        assert rolled_in == pytest.approx(0.7 ** (pass_number - 1), abs=0.04)
        assert rolled_out == pytest.approx(0.7 ** (pass_number - 1), abs=0.04)


def test_each_pass_and_each_partial_fit_is_the_next_step_of_the_schedule(tmp_path):
    examples, settings = list(words(15)), {"roll_in": "mixed", "mixture": "dagger"}
    at_once = SearchLearner(Spelling(), passes=3, **settings).fit(examples)
    one_by_one = SearchLearner(Spelling(), **settings)
    for _ in range(2):
        one_by_one.partial_fit(examples)
    one_by_one.save(tmp_path / "learner")
    loaded = SearchLearner.load(tmp_path / "learner", Spelling()).partial_fit(examples)
    assert at_once.passes_ == loaded.passes_ == 3
    assert loaded.mixture == "dagger"
    assert arrays(at_once) == arrays(loaded)


def test_the_first_pass_of_dagger_rolls_in_with_the_reference():
    examples = list(words(20))
    dagger, reference, learned = (
        SearchLearner(Spelling(), roll_in=roll_in, mixture="dagger") for roll_in in ("mixed", "reference", "learned")
    )
    for learner in (dagger, reference, learned):
        learner.fit(examples)
    assert arrays(dagger) == arrays(reference)
    dagger.set_params(passes=2).fit(examples)
    reference.set_params(passes=2).fit(examples)
    assert arrays(dagger) != arrays(reference)


@pytest.mark.parametrize("mixture", [1.5, -0.1, True, None, "searn", "searn:2", "dagger:", "lols:0.5", float("nan")])
def test_a_bad_mixture_is_refused_in_one_line(mixture):
    with pytest.raises(InputError, match="mixture must be a number from 0 to 1, 'dagger'"):
        SearchLearner(Spelling(), mixture=mixture).fit(list(words(1)))
