"""Two independent readings of Algorithm 1 over a finite class ask for the same costs, round by round."""

import numpy as np
import pytest

from coalface import Coal
from coalface.paper import ExactModel, FiniteCoal
from coalface.paper.user_oracles import FiniteOracle

from ..problems import exact_learner

N_MEMBERS, N_POINTS, N_LABELS, N_ROUNDS = 40, 12, 4, 120


@pytest.mark.parametrize("rule", ["coal", "all-or-none", "no-domination"])
@pytest.mark.parametrize("mellowness", [0.02, 0.2])
def test_the_small_learner_and_the_exact_engine_agree(rule, mellowness):
    random = np.random.default_rng(3)
    table = random.random((N_MEMBERS, N_POINTS))
    points, truth = random.integers(0, N_POINTS, N_ROUNDS), random.integers(0, N_MEMBERS, N_LABELS)
    cost = np.clip(table[truth][:, points].T + random.uniform(-0.05, 0.05, (N_ROUNDS, N_LABELS)), 0, 1)
    X = points[:, None].astype(np.float32)

    def predictions(rows):
        return np.repeat(table[:, np.asarray(rows)[:, 0].astype(int)][:, :, None], N_LABELS, axis=2)

    def slack(round_number):
        past = max(round_number - 1, 1)
        return mellowness * np.log(N_LABELS * past) / past

    small = FiniteCoal(predictions, slack, rule)
    exact = exact_learner(
        range(N_LABELS),
        model=ExactModel(FiniteOracle.of_table(table), "enumeration", fit_intercept=False),
        rule=Coal(rule, width_scale=1.0, slack="published", warm_up=1, in_turn=False),
        mellowness=mellowness,
    )
    differ = 0
    for i in range(len(X)):
        asked = [learner.ask(X[i : i + 1]).mask for learner in (small, exact)]
        differ += int((asked[0] != asked[1]).sum()) if i else 0  # before the first answer any cost is possible
        for learner in (small, exact):
            learner.tell(X[i : i + 1], np.where(asked[1], cost[i : i + 1], np.nan), asked[1])
    assert differ == 0
    assert 0 < exact.costs_queried_ < 0.8 * cost.size
    np.testing.assert_array_equal(small.predict(X), exact.predict(X))
