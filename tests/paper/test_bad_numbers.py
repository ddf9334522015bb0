"""Invalid numbers are refused with one line."""

import numpy as np
import pytest

from coalface.errors import InputError
from coalface.paper import (
    Schedule,
    Tsybakov,
    effort_massart,
    effort_tsybakov,
    excess_cost,
    excess_cost_tsybakov,
)
from coalface.paper import (
    noise_level as level,
)

COSTS = [[0.2, 0.9], [0.4, 0.5]]
SCHEDULE = Schedule(n_labels=3, dimension=5)


@pytest.mark.parametrize("zeta", [np.nan, np.inf, -0.1, "wide", None])
def test_zeta_is_at_least_0(zeta):
    with pytest.raises(InputError, match="zeta must be a finite number at least 0, got"):
        level(COSTS, zeta)


def test_no_margin_is_negative():
    with pytest.raises(InputError, match="margins must be at least 0, got -1"):
        excess_cost(SCHEDULE, 100, margins=[0.5, -1.0])


@pytest.mark.parametrize("margin", ["wide", None, 0.0])
def test_a_margin_is_a_number_above_0(margin):
    with pytest.raises(InputError, match="margin must be a finite number greater than 0 and at most 1, got"):
        effort_massart(SCHEDULE, 1e6, margin, by_examples=1.0)


@pytest.mark.parametrize(
    ("noise", "name"),
    [
        (Tsybakov(-1.0, 1.0, 0.5), "exponent"),
        (Tsybakov(1.0, 0.0, 0.5), "constant"),
        (Tsybakov(1.0, np.inf, 0.5), "constant"),
        (Tsybakov(1.0, 1.0, np.nan), "up_to"),
    ],
)
def test_a_tsybakov_condition_has_numbers_above_0(noise, name):
    with pytest.raises(InputError, match=f"{name} must be a finite number greater than 0, got"):
        effort_tsybakov(SCHEDULE, 1e6, noise, by_labels=1.0)
    with pytest.raises(InputError, match=f"{name} must be a finite number greater than 0, got"):
        excess_cost_tsybakov(SCHEDULE, 1e6, noise)
