"""Which rows of a batch are alike, against a plain double loop."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from coalface.data.near_duplicates import _BLOCK, near_duplicates
from coalface.data.rows import check_rows

from ..problems import csr

tables = st.integers(1, 6).flatmap(
    lambda width: st.lists(
        st.lists(st.sampled_from([0, 1, 2, -2]), min_size=width, max_size=width), min_size=1, max_size=14
    )
)
similarities = st.sampled_from([1.0, 0.999, 0.9, 0.6, 0.3])


def leaders(X, alike):
    """The first leading row that each row is like, from the sentences of the docstring."""
    largest = np.abs(X).max(axis=0, initial=0)
    scaled = X / np.where(largest > 0, largest, 1)
    found = []
    for i, row in enumerate(scaled):
        for j in dict.fromkeys(found):
            size = row @ row + scaled[j] @ scaled[j]
            if size == 0 or 2 * (row @ scaled[j]) / size >= alike - 1e-12:
                found.append(j)
                break
        else:
            found.append(i)
    return found


def groups(numbers):
    """The rows that share a number, as sets."""
    numbers = list(numbers)
    return {frozenset(i for i, other in enumerate(numbers) if other == number) for number in numbers if number >= 0}


@given(tables, similarities)
def test_rows_share_a_number_if_they_are_like_the_same_leader(table, alike):
    X = np.array(table, float)
    expected = {group for group in groups(leaders(X, alike)) if len(group) > 1}
    for rows in (X, sparse.csr_array(X), np.hstack([X, np.zeros((len(X), 40))])):  # dense and sparse products
        twins = near_duplicates(check_rows(rows), alike)
        assert groups(twins) == expected
        assert set(twins.tolist()) - {-1} == set(range(len(expected)))


@given(tables, similarities, st.lists(st.integers(-30, 30), min_size=6, max_size=6))
def test_the_units_of_features_do_not_matter(table, alike, exponents):
    X = np.array(table, float)
    units = 2.0 ** np.array(exponents[: X.shape[1]])
    np.testing.assert_array_equal(near_duplicates(check_rows(X), alike), near_duplicates(check_rows(X * units), alike))


def test_many_rows_are_compared_across_blocks():
    X = np.eye(_BLOCK + 50)
    X[-1] = X[3]
    X[-2, 3] = 1.0
    for alike in (1.0, 0.99):
        twins = near_duplicates(check_rows(X), alike)
        assert groups(twins) == {frozenset({3, _BLOCK + 49})}
    assert groups(near_duplicates(check_rows(X), 0.6)) == {frozenset({3, _BLOCK + 48, _BLOCK + 49})}


def test_a_stored_zero_is_no_difference():
    rows = csr([1.0, 0.0, 1.0], [0, 2, 0], indptr=[0, 2, 3])
    rows = sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(2, 3))
    assert near_duplicates(check_rows(rows)).tolist() == near_duplicates(check_rows(rows), 0.9).tolist() == [0, 0]
