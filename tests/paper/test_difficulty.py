"""Disagreement coefficients: cases solved by hand, brute force, and what theory says about them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from coalface.errors import InputError
from coalface.paper import difficulty, every_combination
from coalface.paper.problems import certain_best, confused_pair, loud_errors

SIXTEENTHS = st.integers(0, 16).map(lambda k: k / 16)  # sums of them are exact
CLASSES = arrays(
    np.float64, st.tuples(st.integers(1, 6), st.sampled_from([1, 2, 4]), st.integers(2, 4)), elements=SIXTEENTHS
)


def by_brute_force(table):
    """The definitions, word by word: every radius, every threshold, every pair of members."""
    members, examples, labels = table.shape
    h = [[int(np.argmin(table[f, x])) for x in range(examples)] for f in range(members)]
    regret = [
        sum(table[0, x, h[f][x]] - table[0, x, h[0][x]] for x in range(examples)) / examples for f in range(members)
    ]
    apart = [sum(h[f][x] != h[0][x] for x in range(examples)) / examples for f in range(members)]
    thetas = [0.0, 0.0, 0.0]
    tiny = 1e-9
    for r in {max(r, tiny) for r in apart}:
        ball = [f for f in range(members) if apart[f] <= r]
        share = sum(any(h[f][x] != h[g][x] for f in ball for g in ball) for x in range(examples)) / examples
        thetas[0] = max(thetas[0], share / r)
    for r in {max(r, tiny) for r in regret}:
        ball = [f for f in range(members) if regret[f] <= r]
        width = [
            [max(table[f, x, y] for f in ball) - min(table[f, x, y] for f in ball) for y in range(labels)]
            for x in range(examples)
        ]
        in_dispute = [
            [any(h[f][x] == y != h[g][x] for f in ball for g in ball) for y in range(labels)] for x in range(examples)
        ]
        for psi in {width[x][y] - tiny for x in range(examples) for y in range(labels) if width[x][y] > 0}:
            asked = [[width[x][y] > psi and in_dispute[x][y] for y in range(labels)] for x in range(examples)]
            thetas[1] = max(thetas[1], psi / r * sum(map(any, asked)) / examples)
            thetas[2] = max(thetas[2], psi / r * sum(map(sum, asked)) / examples)
    return [np.inf if theta > 1e6 else theta for theta in thetas]


@settings(deadline=None, max_examples=150)
@given(CLASSES)
def test_the_coefficients_are_those_of_the_definition(table):
    found = difficulty(table)
    assert [found.by_labels, found.by_examples, found.by_costs] == pytest.approx(by_brute_force(table), rel=1e-6)


@given(CLASSES)
def test_costs_are_between_examples_and_all_labels_of_them(table):
    found = difficulty(table)
    if found.by_examples < np.inf:
        assert found.by_examples <= found.by_costs + 1e-9
        assert found.by_costs <= table.shape[2] * found.by_examples + 1e-9
    assert found.by_labels == 0 or found.by_labels >= 1 - 1e-9  # the farthest member alone gives 1


@given(CLASSES, st.randoms())
def test_neither_the_order_of_members_nor_of_examples_matters(table, random):
    others = [0, *random.sample(range(1, len(table)), len(table) - 1)]
    rows = random.sample(range(table.shape[1]), table.shape[1])
    assert difficulty(table[others][:, rows]) == difficulty(table)


@given(CLASSES)
def test_an_example_twice_as_likely_is_the_example_twice(table):
    twice = np.concatenate([table[:, :1], table], axis=1)
    weights = np.ones(table.shape[1])
    weights[0] = 2
    found, expected = difficulty(table, weights=weights), difficulty(twice)
    for name in ("by_labels", "by_examples", "by_costs"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name))


@pytest.mark.parametrize("m", [2, 7, 30])
def test_the_papers_third_example_has_the_coefficients_the_paper_says(m):
    found = difficulty(loud_errors(m).predictions)
    assert (found.by_labels, found.by_examples) == pytest.approx((m, 4 * m))
    assert found.by_costs == pytest.approx(4 * m)  # the cost of label 0 is known


def test_certainty_about_the_best_label_leaves_nothing_to_disagree_about():
    found = difficulty(certain_best(20, 6).predictions)
    assert (found.by_labels, found.by_examples, found.by_costs) == (0, 0, 0)


@pytest.mark.parametrize("labels", [3, 10])
def test_a_confused_pair_counts_as_two_of_all_labels(labels):
    found = difficulty(confused_pair(20, labels).predictions)
    assert (found.by_examples, found.by_costs) == pytest.approx((20, 40))


def test_all_combinations_choose_a_member_for_each_label():
    rng = np.random.default_rng(0)
    base = rng.uniform(size=(3, 4, 2))
    every = every_combination(base)
    assert every.shape == (9, 4, 2)
    expected = {(f, g): np.c_[base[f, :, 0], base[g, :, 1]] for f in range(3) for g in range(3)}
    assert all(any(np.array_equal(member, want) for member in every) for want in expected.values())
    assert np.array_equal(every[0], base[0])


def test_more_members_never_make_it_easier():
    rng = np.random.default_rng(3)
    table = rng.uniform(size=(8, 10, 3))
    all_of_them, some = difficulty(table), difficulty(table[:5])
    # Adding members enlarges every ball, so what can be disputed within a radius only grows.
    assert all_of_them.by_labels >= some.by_labels
    assert all_of_them.by_costs >= some.by_costs


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: difficulty(np.zeros((2, 3))), "axes"),
        (lambda: difficulty(np.zeros((2, 3, 2)), truth=2), "truth"),
        (lambda: difficulty(np.zeros((2, 3, 2)), weights=[1, -1, 1]), "weights"),
        (lambda: every_combination(np.zeros((10, 10, 12))), "combinations"),
    ],
)
def test_bad_input_is_one_clear_line(call, words):
    with pytest.raises(InputError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
