"""Krippendorff's alpha against a worked example, against the formula written out, and its laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coalface.data.agreement import agreement, krippendorff_alpha
from coalface.errors import InputError

_ = np.nan
# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", C and D: 4 observers, 12 units, missing values.
WORKED = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
        [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
    ]
).T


@pytest.mark.parametrize(("metric", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_the_published_example(metric, published):
    assert krippendorff_alpha(WORKED, metric) == pytest.approx(published, abs=5e-4)


def written_out(table, metric):
    """1 - (n - 1) * sum of pairs within units / sum of all pairs, with loops and no matrix."""
    units = [[value for value in row if not np.isnan(value)] for row in table]
    units = [unit for unit in units if len(unit) > 1]
    pooled = [value for unit in units for value in unit]

    def apart(one, other):
        if metric == "nominal":
            return float(one != other)
        if metric == "interval":
            return (one - other) ** 2
        low, high = min(one, other), max(one, other)
        between = sum(low <= value <= high for value in pooled)
        return 0.0 if low == high else (between - (pooled.count(low) + pooled.count(high)) / 2) ** 2

    within = 0.0
    for unit in units:
        pairs = [(i, j) for i in range(len(unit)) for j in range(len(unit)) if i != j]
        within += sum(apart(unit[i], unit[j]) for i, j in pairs) / (len(unit) - 1)
    n = len(pooled)
    across = sum(apart(pooled[i], pooled[j]) for i in range(n) for j in range(n) if i != j)
    return 1 - (n - 1) * within / across if across else np.nan


TABLES = st.lists(
    st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.0, np.nan]), min_size=3, max_size=3), min_size=1, max_size=8
)


@settings(max_examples=60, deadline=None)
@given(TABLES, st.sampled_from(["interval", "ordinal", "nominal"]))
def test_alpha_is_the_formula_written_out(table, metric):
    np.testing.assert_allclose(krippendorff_alpha(table, metric), written_out(table, metric), rtol=1e-9, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(TABLES, st.floats(0.1, 10), st.floats(-5, 5))
def test_alpha_does_not_depend_on_the_unit_of_the_costs(table, factor, shift):
    moved = np.asarray(table) * factor + shift
    np.testing.assert_allclose(krippendorff_alpha(moved), krippendorff_alpha(table), rtol=1e-6, atol=1e-6)


def test_the_interval_holds_alpha_narrows_with_more_examples_and_repeats():
    rng = np.random.default_rng(3)

    def table(n):
        truth = rng.choice([0.0, 0.5, 1.0], (n, 1))
        return np.where(rng.random((n, 2)) < 0.8, truth, rng.choice([0.0, 0.5, 1.0], (n, 2)))

    few, many = agreement(table(40)), agreement(table(1000))
    assert few.low < few.alpha < few.high
    assert many.high - many.low < (few.high - few.low) / 2
    values = table(50)
    assert agreement(values) == agreement(values)
    for metric in ("interval", "ordinal"):
        assert agreement(values, metric=metric).low < 1.0


def test_the_bootstrap_draws_whole_examples():
    """Ten copies of a unit within an example say no more than one: the interval stays as wide."""
    rng = np.random.default_rng(5)
    values = rng.choice([0.0, 1.0], (30, 2))
    once = agreement(values, np.arange(30))
    tenfold = agreement(np.repeat(values, 10, axis=0), np.repeat(np.arange(30), 10))
    assert tenfold.high - tenfold.low == pytest.approx(once.high - once.low, rel=0.1)
    assert (tenfold.units, tenfold.examples) == (300, 30)


def test_without_pairs_or_without_differences_there_is_no_alpha():
    assert np.isnan(krippendorff_alpha([[1.0, np.nan]]))
    assert np.isnan(krippendorff_alpha([[0.3, 0.3], [0.3, 0.3]]))
    assert np.isnan(agreement(np.zeros((0, 2))).low)


@pytest.mark.parametrize(
    ("values", "more", "what"),
    [([1.0], {}, "table"), ([[np.inf, 1.0]], {}, "finite"), ([[1, 2]], {"metric": "ratio"}, "ratio")],
)
def test_wrong_input_is_refused(values, more, what):
    with pytest.raises(InputError, match=what):
        agreement(values, **more)
    with pytest.raises(InputError, match="one entry per unit"):
        agreement([[1.0, 2.0]], examples=[1, 2])
