"""Rounds over given ranges must decide as the compiled learner does over its own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface import CoalClassifier, simulate
from coalface.data.rows import check_rows
from coalface.kernels.state import SLOTS_USED
from coalface.learner import rounds
from coalface.learner.settings import settings_for
from coalface.models.ranged import RangedRegressors

FIELDS = ("mask", "first", "reasons", "propensity", "lowest", "highest", "predicted")


class Lent(RangedRegressors):
    """The online learner's own predictions and ranges, through the door for given ones."""

    def __init__(self, learner):
        super().__init__(len(learner.classes_))
        self.lent, self.settings = learner.regressors_, learner._settings()
        self.model = self.lent.model

    def predict(self, rows):
        return rounds.predict(self.lent, self.settings, rows, None, with_costs=True)[1]

    def bound(self, rows, settings, first_round):
        del first_round
        found = rounds.ask(self.lent, settings, rows, None)
        return found.predicted, found.lowest, found.highest

    def learn(self, rows, costs, settings, first_round):
        raise NotImplementedError


@pytest.mark.parametrize("rule", ["coal", "all-or-none", "no-domination", "passive"])
@pytest.mark.parametrize("in_turn", [True, False])
@given(seed=st.integers(0, 10_000), told=st.integers(0, 60))
def test_the_same_ranges_give_the_same_questions(rule, in_turn, seed, told):
    random = np.random.default_rng(seed)
    X, cost = random.normal(size=(80, 4)), random.random((80, 5))
    learner = CoalClassifier(range(5), rule=rule, in_turn=in_turn, audit_rate=0.3, warm_up=3, random_state=seed)
    learner._ready()
    if told:
        simulate(learner, X[:told], cost[:told])
    rows, settings = check_rows(X[told:]), learner._settings()
    candidates = random.random((len(rows), 5)) < 0.8
    known = np.where(random.random(candidates.shape) < 0.2, cost[told:], np.nan).astype(np.float32)
    answered = rounds.Answered(known, ~np.isnan(known))
    twins = random.integers(-1, 4, len(rows))
    own = rounds.ask(learner.regressors_, settings, rows, candidates, answered, twins)
    lent = rounds.ask(Lent(learner), settings, rows, candidates, answered, twins)
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(lent, name), getattr(own, name))
    best = rounds.predict(learner.regressors_, settings, rows, candidates, with_costs=False)[0]
    np.testing.assert_array_equal(rounds.predict(Lent(learner), settings, rows, candidates, with_costs=False)[0], best)


class Forgetful(RangedRegressors):
    """Learns nothing, and allows every cost."""

    def predict(self, rows):
        return np.zeros((len(rows), self.n_labels), np.float32)

    def bound(self, rows, settings, first_round):
        del settings, first_round
        predicted = self.predict(rows)
        return predicted, predicted, predicted + 1

    def learn(self, rows, costs, settings, first_round):
        self.learned, self.told_with = costs, (rows, settings, first_round)


@given(seed=st.integers(0, 10_000))
def test_rows_are_counted_as_the_compiled_learner_counts_them(seed):
    random = np.random.default_rng(seed)
    learner, forgetful = CoalClassifier(range(3), audit_rate=0.2), Forgetful(3)
    learner._ready()
    settings = learner._settings()
    for _ in range(6):
        n, late = int(random.integers(0, 5)), bool(random.random() < 0.3)
        rows, cost = check_rows(random.normal(size=(n, 2))), random.random((n, 3)).astype(np.float32)
        cost[random.random((n, 3)) < 0.4] = np.nan
        asked, candidates = random.random((n, 3)) < 0.5, random.random((n, 3)) < 0.8
        outlook = None if random.random() < 0.3 else np.tile([0.0, 0.2, 0.5, 0.1], (n, 1))
        for regressors in (learner.regressors_, forgetful):
            rounds.tell(regressors, settings, rows, candidates, cost, asked, outlook, late=late)
        np.testing.assert_array_equal(forgetful.learned, np.where(candidates, cost, np.nan))
    for name in ("asked", "was_best", "saving"):
        np.testing.assert_array_equal(getattr(forgetful.model, name), getattr(learner.regressors_.model, name))
    counters = learner.regressors_.model.counters.copy()
    counters[SLOTS_USED] = forgetful.model.counters[SLOTS_USED]
    np.testing.assert_array_equal(forgetful.model.counters, counters)


def test_before_the_first_round_every_cost_is_possible():
    regressors = Forgetful(2)
    regressors.bound = lambda rows, *_: (regressors.predict(rows),) * 3
    settings = settings_for(2, CoalClassifier().get_params())._replace(warm_up=0, audit_rate=0.0)
    found = rounds.ask(regressors, settings, check_rows(np.eye(2)), None)
    assert found.mask.tolist() == [[True, True], [False, False]]
    assert found.highest.tolist() == [[1.0, 1.0], [0.0, 0.0]]
