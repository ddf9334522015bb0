"""Random questions about single costs, compared with the passive rule and with what chance allows."""

import math

import numpy as np
import pytest

from baselines.passive import random_mask
from coalface import CoalClassifier, simulate
from coalface.errors import InputError
from tests.studies.baseline_problems import BASELINES, order_of, pets, priced, prices_for, with_table

TEST = pets(40, seed=1)


def run(train, checkpoints=(10, 40, 100), random_state=5, **parameters):
    return BASELINES["random-costs"].curve(
        parameters, train, TEST, order_of(train), np.array(checkpoints), random_state
    )


def test_asking_for_everything_is_the_passive_rule():
    data, checkpoints = pets(), [10, 40, 100, 1000]
    curve = run(data, checkpoints, share=1.0, learning_rate=0.3)
    passive = simulate(
        CoalClassifier.as_published(classes=data.classes, rule="passive", learning_rate=0.3),
        *(data.X, data.cost),
        X_test=TEST.X,
        cost_test=TEST.cost,
        order=order_of(data),
        checkpoints=checkpoints,
    )
    for name in ("costs_queried", "examples_queried", "rounds", "test_cost", "at_doublings"):
        assert getattr(curve, name).tolist() == getattr(passive, name).tolist()


def test_each_cost_that_was_asked_for_has_its_own_price():
    data = pets()
    mask = random_mask(70, 3, 0.4, random_state=5)
    paid = (prices_for(data)[order_of(data)] * mask).sum(axis=1)
    curve = run(priced(data), share=0.4)
    assert curve.spent == pytest.approx([paid[:n_rows].sum() for n_rows in curve.rounds])


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_the_share_asked_for_is_what_chance_allows(share):
    mask = random_mask(3000, 4, share, random_state=1)
    assert abs(mask.sum() - 12000 * share) < 5 * math.sqrt(12000 * share * (1 - share))
    assert abs(np.corrcoef(mask[:, 0], mask[:, 1])[0, 1]) < 5 / math.sqrt(3000)


def test_the_costs_counted_are_those_told(monkeypatch):
    told = []
    learn = CoalClassifier.tell

    def spy(self, X, cost, asked=None, late=False, **rest):
        told.append(np.count_nonzero(~np.isnan(cost), axis=1))
        return learn(self, X, cost, asked, late, **rest)

    monkeypatch.setattr(CoalClassifier, "tell", spy)
    curve = run(pets(), share=0.4)
    per_example = np.concatenate(told)
    assert curve.costs_queried[-1] == per_example.sum() == random_mask(70, 3, 0.4, random_state=5).sum()
    assert curve.examples_queried[-1] == np.count_nonzero(per_example)


def test_costs_that_were_not_asked_for_change_nothing():
    data = with_table(pets())
    mask = np.empty((70, 3), bool)
    mask[order_of(data)] = random_mask(70, 3, 0.3, random_state=5)
    other = with_table(data, cost=np.where(mask, data.cost, 1 - data.cost))
    unlike = with_table(data, cost=np.where(mask, 1 - data.cost, data.cost))
    assert run(other, share=0.3).test_cost.tolist() == run(data, share=0.3).test_cost.tolist()
    assert run(unlike, share=0.3).test_cost.tolist() != run(data, share=0.3).test_cost.tolist()


def test_other_seeds_ask_other_questions():
    counts = [int(run(pets(), share=0.3, random_state=seed).costs_queried[-1]) for seed in range(4)]
    assert len(set(counts)) > 1


def test_only_candidates_are_asked_about_and_unknown_costs_count_as_asked():
    candidates = np.tile([True, False, True], (70, 1))
    curve = run(with_table(pets(), candidates=candidates), share=1.0)
    assert (curve.costs_queried[-1], curve.examples_queried[-1]) == (140, 70)
    gaps = pets().cost.copy()
    gaps[:, 0] = np.nan
    curve = run(with_table(pets(), cost=gaps), share=1.0)
    assert (curve.costs_queried[-1], curve.examples_queried[-1]) == (210, 70)


@pytest.mark.parametrize("share", [0, 1.5, "half", float("nan"), True])
def test_the_share_is_a_probability_above_zero(share):
    with pytest.raises(InputError, match=r"^share must be a number above 0 and at most 1"):
        BASELINES["random-costs"].check({"share": share}, n_labels=3)
