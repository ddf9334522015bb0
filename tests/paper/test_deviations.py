"""The bounds between the theorems: radii, deviations and oracle calls of a run, each against its own definition."""

import numpy as np
import pytest

from coalface.errors import InputError
from coalface.paper import (
    Schedule,
    difficulty,
    effort_massart,
    effort_massart_width,
    excess_loss,
    freedman,
    massart_width,
    oracle_calls,
    regret_radius,
    total_oracle_calls,
)
from coalface.paper.problems import confused_pair

SCHEDULE = Schedule(n_labels=3, dimension=4, constant=0.5)


def test_a_run_makes_the_calls_of_all_its_rounds_labels_and_ends():
    calls = sum(1 + 2 * float(oracle_calls(SCHEDULE, i, horizon=40)) for i in range(1, 41))
    assert total_oracle_calls(SCHEDULE, 40) == pytest.approx(3 * calls)
    with pytest.raises(InputError, match="n_rounds"):
        total_oracle_calls(SCHEDULE, 0)


def test_the_radius_is_the_least_over_a_fine_grid_of_thresholds():
    margins = np.random.default_rng(0).uniform(0, 0.8, size=30)
    zeta = np.geomspace(1e-3, 1e3, 200_001)
    share = (margins[:, None] <= zeta).mean(axis=0)
    for i in (1, 50, 5000):
        slack = float(SCHEDULE.loss_slack(i, 10_000))
        least = (zeta * share + 44 * 3 * slack / zeta).min()
        found = float(regret_radius(SCHEDULE, i, horizon=10_000, margins=margins))
        assert found <= least
        assert found == pytest.approx(least, rel=1e-3)
        assert float(regret_radius(SCHEDULE, i, horizon=10_000)) == pytest.approx(2 * np.sqrt(44 * 3 * slack))


def test_summed_excess_losses_stay_between_the_bounds_in_every_stretch_of_rounds():
    random = np.random.default_rng(1)
    truth, members = 0.4, np.linspace(0, 1, 9)
    schedule = Schedule(n_labels=1, class_size=len(members), failure_probability=0.05, constant=1.0)
    for _ in range(20):
        costs = (random.uniform(size=300) < truth).astype(float)
        losses = (members[:, None] - costs) ** 2 - (truth - costs) ** 2
        sums = np.cumsum(np.c_[np.zeros(len(members)), losses], axis=1)
        first, last = np.triu_indices(301, k=1)
        stretches = sums[:, last] - sums[:, first]
        expected = (last - first) * ((members - truth) ** 2)[:, None]
        low, high = excess_loss(schedule, expected, horizon=300)
        assert (low <= stretches).all()
        assert (stretches <= high).all()
        assert (excess_loss(schedule, [0.0], horizon=300).high < 40).all()  # and the bounds say something


def test_the_mean_of_an_excess_loss_is_the_squared_deviation_and_bounds_its_variance():
    truth, member = np.meshgrid(np.linspace(0, 1, 21), np.linspace(0, 1, 21))
    losses = [(member - cost) ** 2 - (truth - cost) ** 2 for cost in (0.0, 1.0)]  # M of a cost of 0 or 1
    mean = (1 - truth) * losses[0] + truth * losses[1]
    variance = (1 - truth) * losses[0] ** 2 + truth * losses[1] ** 2 - mean**2
    np.testing.assert_allclose(mean, (member - truth) ** 2, atol=1e-12)
    assert (variance <= 4 * mean + 1e-12).all()


def test_freedmans_bound_holds_for_most_sums():
    sums = np.random.default_rng(2).binomial(1000, 0.02, size=5000)
    assert (sums > freedman(20.0, 1.0, 0.05)).mean() <= 0.05
    assert float(freedman(20.0, 3.0, 0.05)) == pytest.approx(40 + 9 * np.log(20))


def test_a_width_for_the_margin_asks_only_for_the_labels_in_doubt():
    problem = confused_pair(12, 20)
    found = difficulty(problem.predictions)
    assert found.by_costs < 20 * found.by_examples / 5
    schedule = Schedule(n_labels=20, class_size=13)
    plain = effort_massart(schedule, 1e9, 0.2, by_examples=found.by_examples)
    own = effort_massart_width(schedule, 1e9, 0.2, by_examples=found.by_examples, by_costs=found.by_costs)
    assert own.costs < plain.costs / 4


def test_with_that_width_every_error_of_a_plausible_regressor_is_asked_about():
    random = np.random.default_rng(3)
    n_errors = 0
    for _ in range(3000):
        truth, widths = random.uniform(size=4), random.uniform(0, 0.5, size=4)
        best, second = np.sort(truth)[:2]
        lowest = truth - random.uniform(size=4) * widths
        highest = lowest + widths
        plausible = random.uniform(lowest, highest)
        if plausible.argmin() != truth.argmin():
            contenders = lowest <= highest.min()
            asked = contenders & (contenders.sum() > 1) & (widths > massart_width(second - best))
            assert asked[[plausible.argmin(), truth.argmin()]].any()
            n_errors += 1
    assert n_errors > 100
