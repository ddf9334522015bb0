"""Eluder dimension and value-function disagreement, against brute force over sequences, deviations and norms."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.errors import InputError
from coalface.paper import eluder_dimension, value_disagreement

CLASSES = st.integers(0, 2**32).map(lambda seed: _made(np.random.default_rng(seed)))


def _made(random):
    """A small class of few values, so that ties and repeated differences occur."""
    return random.integers(0, 4, size=(random.integers(1, 5), random.integers(1, 5))) / random.choice([3.0, 4.0])


def _independent(table, before, example, e):
    return any(
        np.sqrt(((f - g)[list(before)] ** 2).sum()) <= e < abs(f[example] - g[example])
        for f, g in combinations(table, 2)
    )


def by_every_sequence(table, scale):
    norms = {
        float(np.sqrt(((f - g)[list(some)] ** 2).sum()))
        for f, g in combinations(table, 2)
        for size in range(table.shape[1] + 1)
        for some in combinations(range(table.shape[1]), size)
    }
    longest = 0
    for e in {scale, *(norm for norm in norms if norm >= scale)}:
        for length in range(1, table.shape[1] + 1):
            for sequence in permutations(range(table.shape[1]), length):
                if all(_independent(table, sequence[:k], sequence[k], e) for k in range(length)):
                    longest = max(longest, length)
    return longest


@given(CLASSES, st.sampled_from([0.0, 0.2, 0.5, 0.9]))
def test_the_eluder_dimension_is_the_longest_of_all_sequences(table, scale):
    assert eluder_dimension(table, scale) == by_every_sequence(table, scale)


@given(CLASSES)
def test_the_eluder_dimension_falls_with_the_scale_and_is_at_most_the_number_of_examples(table):
    lengths = [eluder_dimension(table, scale) for scale in (0.0, 0.3, 0.6, 1.0, 2.0)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] <= table.shape[1]
    assert lengths[-1] == 0  # no two values differ by more


def test_linear_functions_have_an_eluder_dimension_of_about_their_dimension():
    random = np.random.default_rng(0)
    directions, rows = random.normal(size=(12, 2)), random.normal(size=(2, 8))
    assert 2 <= eluder_dimension(directions @ rows, 0.5) <= 8


def by_every_deviation_and_norm(table, chances, least_norm):
    deviations = np.abs(table - table[0])
    norms = np.sqrt((deviations**2 * chances).sum(axis=1))
    found = 0.0
    for norm in {max(float(norm), least_norm) for norm in norms} - {0.0}:
        for deviation in set(deviations.ravel()):
            below = deviation * (1 - 1e-12)
            some = [(deviations[m] > below) for m in range(len(table)) if norms[m] <= norm]
            found = max(found, below**2 * float(chances @ np.any(some, axis=0)) / norm**2)
    return found


@given(CLASSES, st.sampled_from([0.0, 0.1, 0.4]), st.integers(0, 2**32))
def test_value_disagreement_is_the_largest_over_all_deviations_and_norms(table, least_norm, seed):
    chances = np.random.default_rng(seed).dirichlet(np.ones(table.shape[1]))
    found = value_disagreement(table, weights=chances, least_norm=least_norm)
    assert found == pytest.approx(by_every_deviation_and_norm(table, chances, least_norm), rel=1e-9)


def test_one_other_member_disagrees_no_more_than_its_norm():
    table = np.random.default_rng(1).uniform(size=(2, 6))
    assert 0 < value_disagreement(table) <= 1  # Markov's inequality
    assert value_disagreement(table[:1]) == 0


def test_bad_classes_are_refused():
    with pytest.raises(InputError, match="at most 16 examples, got 17"):
        eluder_dimension(np.zeros((2, 17)), 0.5)
    with pytest.raises(InputError, match="scale must be"):
        eluder_dimension(np.zeros((2, 3)), -1)
    with pytest.raises(InputError, match="truth must be the index of a member"):
        value_disagreement(np.zeros((2, 3)), truth=2)
